"""The text of compiled loops: what of it is compiled, and what its machine code depends on.

A field of a record that is a bool decides what is compiled. Where a function asks `if plant.flag:`
(or `not`, or `... if plant.flag else ...`) of a parameter annotated with the class of that record,
the answer is put in its place before numba sees the function. And loops over a `range` become
`while` loops: an iterator is four times the LLVM text, to the same machine code.
"""

from __future__ import annotations

import ast
from functools import lru_cache
import hashlib
from pathlib import Path
from types import FunctionType
from typing import Any, Dict, List, Sequence, Set

# Of the process that compiles: values of the bools, by class of record and name of field.
_constants: Dict[str, Dict[str, bool]] = {}

# Names of what takes the place of functions, which array_types.py has.
_OF_TWO = {'min': 'minimum', 'max': 'maximum'}


def specialise(kinds: Sequence[tuple]) -> None:
    """Let functions be specialised to records of these kinds from now on."""
    for name, fields in kinds:
        for field, what, detail in fields:
            if what == 'record':
                specialise([detail])
            elif what == 'constant':
                _constants.setdefault(name, {})[field] = detail


class _Specialisation(ast.NodeTransformer):
    """Replaces what is known, drops the branches that are then not taken, unfolds ranges.

    :param classes: class of record of each parameter that is one
    """

    def __init__(self, classes: Dict[str, str]):
        self._classes = classes
        self._loops = 0

    def visit_For(self, node: ast.For) -> Any:
        call = node.iter
        is_range = isinstance(call, ast.Call) and getattr(call.func, 'id', '') == 'range'
        if not is_range or node.orelse:
            return self.generic_visit(node)
        first, end, step = '0', '', '1'
        texts = [ast.unparse(self.visit(each)) for each in call.args]
        if len(texts) == 1:
            (end,) = texts
        else:
            first, end, step = (*texts, step)[:3]
        self._loops += 1
        following, last = f'_next{self._loops}', f'_end{self._loops}'
        # The next number is found first, so that `continue` needs nothing more.
        text = f'{following}, {last} = {first}, {end}\n'
        text += f'while {following} {">" if step.startswith("-") else "<"} {last}:\n'
        text += f'    {ast.unparse(node.target)} = {following}\n    {following} += {step}\n'
        setting, loop = ast.parse(text).body
        # Numba reports the line of whatever it does not like.
        for made in (setting, loop):
            for each in ast.walk(made):
                ast.copy_location(each, node)
        loop.body += [new for old in node.body for new in _listed(self.visit(old))]
        return [setting, loop]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = getattr(node.func, 'id', '')
        if name in _OF_TWO and len(node.args) >= 2:
            # Numba would compile a function of its own for each number of arguments and type.
            result, *others = node.args
            for other in others:
                function = ast.Name(_OF_TWO[name], ast.Load())
                result = ast.copy_location(ast.Call(function, [result, other], []), node)
            return result
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        known = {}
        if isinstance(node.value, ast.Name):
            known = _constants.get(self._classes.get(node.value.id, ''), {})
        if node.attr in known:
            return ast.copy_location(ast.Constant(known[node.attr]), node)
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        node.operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not) and _is_known(node.operand):
            return ast.copy_location(ast.Constant(not node.operand.value), node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        values, decisive = [], isinstance(node.op, ast.Or)
        for value in map(self.visit, node.values):
            if not _is_known(value):
                values.append(value)
            elif value.value == decisive:
                values.append(value)
                break
        if not values:
            return ast.copy_location(ast.Constant(not decisive), node)
        node.values = values
        return values[0] if len(values) == 1 else node

    def visit_If(self, node: ast.If) -> Any:
        node.test = self.visit(node.test)
        if _is_known(node.test):
            taken = node.body if node.test.value else node.orelse
            return [each for old in taken for each in _listed(self.visit(old))] or ast.Pass()
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = self.visit(node.test)
        if _is_known(node.test):
            return self.visit(node.body if node.test.value else node.orelse)
        return self.generic_visit(node)


def _is_known(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _listed(node: Any) -> list:
    return node if isinstance(node, list) else [node]


def specialised(function: FunctionType) -> FunctionType:
    """Function as numba is to see it."""
    classes = {
        name: kind if isinstance(kind, str) else kind.__name__
        for name, kind in function.__annotations__.items()
    }
    code = function.__code__
    definition = _definitions(code.co_filename)[code.co_firstlineno]
    definition.decorator_list = []  # marks, which have done their work
    module = ast.Module([_Specialisation(classes).visit(definition)], [])
    ast.fix_missing_locations(module)
    made: Dict[str, Any] = {}
    exec(compile(module, code.co_filename, 'exec'), function.__globals__, made)
    return made[function.__name__]


@lru_cache(maxsize=None)
def _definitions(path: str) -> Dict[int, ast.FunctionDef]:
    """Functions at the top of a file, by their first line or that of their first decorator."""
    tree = ast.parse(Path(path).read_text(encoding='utf-8'))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {min([f.lineno, *(d.lineno for d in f.decorator_list)]): f for f in functions}


def digest(function: FunctionType) -> str:
    """Digest of a function and of all that it depends on: functions it calls, and constants.

    Neither docstrings nor comments, nor anything else in the same modules, are part of it.
    """
    parts: List[str] = []
    _gather(function, set(), parts)
    return hashlib.sha256('\n'.join(parts).encode()).hexdigest()


def _gather(function: FunctionType, seen: Set[FunctionType], parts: List[str]) -> None:
    if function in seen:
        return
    seen.add(function)
    own = function.__module__.split('.')[0]
    code = function.__code__
    # Byte code, not text: comments, line numbers and names of files are not in it.
    constants = [each for each in code.co_consts if each != function.__doc__]
    parts.append(
        f'{function.__qualname__} {function.__annotations__} {code.co_code.hex()} {constants} '
        f'{code.co_names} {code.co_varnames}'
    )
    # Names that a function uses but does not define: what it calls, and constants of its module.
    for name in code.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType) and value.__module__.split('.')[0] == own:
            _gather(value, seen, parts)
        elif isinstance(value, (bool, int, float)):
            parts.append(f'{name} = {value!r}')
