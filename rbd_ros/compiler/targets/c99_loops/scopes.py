# SPDX-License-Identifier: Apache-2.0
"""Places in a C function where variables of Python can be declared."""

from __future__ import annotations

import ast
from typing import Dict, List, Set, Tuple

_Path = Tuple[Tuple[int, int], ...]


class Scopes:
    """Variables of a function, and the statements that may declare them.

    :param tree: syntax tree of the function
    """

    def __init__(self, tree: ast.FunctionDef):
        self._stores: Dict[str, List[_Path]] = {}
        self._uses: Dict[str, List[_Path]] = {}
        self._reads: Set[str] = set()
        #: Variables of `for`, by how many loops count with them
        self.counters: Dict[str, int] = {}
        self._statements: Dict[Tuple[int, int], ast.stmt] = {}
        self._parameters = {each.arg for each in tree.args.args}
        self._block(tree.body, ())

    def _block(self, statements: List[ast.stmt], path: _Path) -> None:
        for k, each in enumerate(statements):
            here = (*path, (id(statements), k))
            self._statements[here[-1]] = each
            inner = [
                block
                for name in ('body', 'orelse')
                for block in [getattr(each, name, None)]
                if isinstance(block, list)
            ]
            if isinstance(each, ast.For) and isinstance(each.target, ast.Name):
                name = each.target.id
                self.counters[name] = self.counters.get(name, 0) + 1
            for node in _own_nodes(each):
                if isinstance(node, ast.Name):
                    self._uses.setdefault(node.id, []).append(here)
                    if isinstance(node.ctx, ast.Store):
                        self._stores.setdefault(node.id, []).append(here)
                    else:
                        self._reads.add(node.id)
                    if isinstance(each, ast.AugAssign) and node is each.target:
                        self._reads.add(node.id)
            for block in inner:
                self._block(block, here)

    def names(self) -> Set[str]:
        """Return the names of all that is assigned."""
        return set(self._stores)

    def is_assigned_once(self, name: str) -> bool:
        """Return whether one place alone assigns a variable."""
        return len(self._stores.get(name, ())) == 1

    def is_constant(self, name: str) -> bool:
        """Return whether a variable or parameter, once it has a value, keeps it."""
        return len(self._stores.get(name, ())) + (name in self._parameters) <= 1

    def only_counts(self, name: str) -> bool:
        """Return whether nothing but `for` assigns a variable."""
        return self.counters.get(name) == len(self._stores[name])

    def is_read(self, name: str) -> bool:
        """Return whether anything reads a variable."""
        return name in self._reads

    def declaring(self, name: str) -> int:
        """Return the identity of the assignment that can declare a variable where it stands, or 0.

        Every other use of it is behind that statement, in the same block or within it.
        """
        paths = self._uses[name]
        depth = 0
        while all(len(path) > depth + 1 for path in paths) and len({p[depth] for p in paths}) == 1:
            depth += 1
        if len({path[depth][0] for path in paths}) > 1:
            return 0
        first = min(paths, key=lambda path: path[depth][1])[depth]
        statement = self._statements[first]
        direct = any(path[-1] == first for path in self._stores[name])
        return id(statement) * (direct and isinstance(statement, (ast.Assign, ast.AnnAssign)))


def _own_nodes(statement: ast.stmt) -> List[ast.AST]:
    """Return the nodes of a statement without those of the statements in it."""
    found: List[ast.AST] = []
    stack: List[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        found.append(node)
        if isinstance(node, ast.AnnAssign):
            stack += [x for x in (node.target, node.value) if x is not None]
            continue
        stack += [x for x in ast.iter_child_nodes(node) if not isinstance(x, ast.stmt)]
    return found
