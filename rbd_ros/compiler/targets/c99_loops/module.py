# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""From entry points of loops to C text: structs, tables of constants, functions."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Sequence, Set, Tuple

from rbd_ros.compiler.loops.front_end import entry, translate
from rbd_ros.compiler.loops.instances import Instance, Instances
from rbd_ros.compiler.loops.loop_types import (
    ArrayType,
    BOOL,
    FLOAT,
    INT,
    NOTHING,
    NumberType,
    RecordType,
    Type,
)
from rbd_ros.compiler.targets.c99_loops.c99_operations import HELPERS
from rbd_ros.compiler.targets.c99_loops.c99_records import Records, StructType
from rbd_ros.compiler.targets.c99_loops.c99_statements import function_text
from rbd_ros.compiler.targets.c99_loops.c99_values import C_NUMBERS

_RESERVED = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while bool true false int64_t isfinite isnan
    sqrt fabs floor ceil copysign sin cos tan asin acos atan exp log sinh cosh tanh atan2 pow fmod
""".split()


class LoopModule(NamedTuple):
    """Loops in C.

    :param structs: declarations of the structs
    :param source: the rest: tables of constants and static functions
    :param entries: names of the functions of the entry points in C
    :param record: name of the struct that they take by its address
    :param kernels: addresses of the called kernels
    :param places: place of each array in that struct, by names of fields joined by dots
    """

    structs: str
    source: str
    entries: Tuple[str, ...]
    record: str
    kernels: Tuple[int, ...]
    places: Dict[str, str]


def loop_module(
    entries: Sequence[Tuple[Callable[..., int], Sequence[type]]],
    record: Tuple[Any, ...],
    constants: Sequence[str],
    kernels: Callable[[int], str],
    prefix: str = 'loop_',
) -> LoopModule:
    """Return the text of entry points that take one record, and numbers.

    :param entries: functions marked `compiled`, and the types of their numbers
    :param record: the record, with all its arrays
    :param constants: fields of it that are records of constants
    :param kernels: C name of the kernel of an address, a void function of packed inputs and
        outputs
    :param prefix: prefix of the names of functions
    :raises ValueError: if something cannot be written, naming function and line
    """
    module = _Module(kernels, prefix)
    kind = module.records.struct(record, set(constants))
    # Tables are global in C: no local name may shadow one.
    module.reserved |= set(module.records.tables)
    numbers = {int: INT, float: FLOAT, bool: BOOL}
    tops = [
        entry(module.instances, function, (kind, *(numbers[each] for each in types)))
        for function, types in entries
    ]
    written = translate(module.instances, lambda function: function_text(module, function))
    # All prototypes come first, as functions may call each other in any order.
    prototypes, texts = zip(*written)
    source = '\n'.join(
        [
            # Used ones only: compilers warn about unused static data, and tables of meshes are
            # large.
            *(text for name, text in module.records.tables.items() if name in module.tables),
            '',
            *module.results,
            *module.helpers.values(),
            *prototypes,
            '',
            *texts,
        ]
    )
    return LoopModule(
        module.records.structs,
        source,
        tuple(map(module.name_of, tops)),
        kind.name,
        tuple(module.called),
        dict(_places(kind)),
    )


def _places(kind: StructType, path: str = '', name: str = '') -> Iterator[Tuple[str, str]]:
    for field, value in kind.places.items():
        text = f'{path}{value.text}'
        if isinstance(value.type, ArrayType):
            yield f'{name}{field}', value._replace(text=text).pointer
        elif not value.type.is_constant:
            yield from _places(value.type, f'{text}.', f'{name}{field}.')


class _Module:
    """Data that the functions of a text share."""

    def __init__(self, kernels: Callable[[int], str], prefix: str):
        self.instances, self.records = Instances(has_shapes=True), Records()
        self.reserved: Set[str] = set(_RESERVED)
        #: Names of the tables of constants that functions use
        self.tables: Set[str] = set()
        self.helpers: Dict[str, str] = {}
        self.results: List[str] = []
        self.called: Dict[int, str] = {}
        self._kernels, self._prefix = kernels, prefix
        self._names: Dict[str, str] = {}
        self._result_names: Dict[Type, str] = {}

    def name_of(self, instance: Instance) -> str:
        """Return the name of a function in C."""
        # Instances for other types of arguments get a number; C has no overloading.
        if instance.name not in self._names:
            plain = f'{self._prefix}{instance.name.rpartition(".")[0]}'
            name, k = plain, 1
            while name in self._names.values():
                k += 1
                name = f'{plain}_{k}'
            self._names[instance.name] = name
        return self._names[instance.name]

    def kernel(self, address: int) -> str:
        """Return the name in C of the kernel with an address."""
        # The caller names them: kernels are C functions of other files.
        if address not in self.called:
            self.called[address] = self._kernels(address)
        return self.called[address]

    def helper(self, name: str) -> str:
        """Return the name of an auxiliary function, and add it to the text."""
        # As a static function: the text needs only math.h.
        full = f'{self._prefix}{name}'
        head, body = HELPERS[name]
        self.helpers[name] = f'static {head.format(full)}\n{{\n    {body}\n}}\n'
        return full

    def declaration(self, kind: Type, name: str, is_const: bool = False) -> str:
        """Return the declaration of a variable, const if requested."""
        const = 'const ' * is_const
        # No `restrict`: arrays of a record may be views of one another (c99_records.py).
        if isinstance(kind, ArrayType):
            return f'{"const " * kind.is_constant}{C_NUMBERS[kind.number]} *{const}{name}'
        if isinstance(kind, RecordType):
            return f'struct {kind.name} *{const}{name}'
        return f'{const}{self.result_type(kind)} {name}'

    def result_type(self, kind: Type) -> str:
        """Return the type in C of the result of a function."""
        if isinstance(kind, NumberType):
            return C_NUMBERS[kind]
        if kind == NOTHING:
            return 'void'
        # C returns one value: several become a struct, declared once per tuple of types.
        if kind not in self._result_names:
            items = ' '.join(
                f'{self.declaration(x, f"item_{k}")};'
                for k, x in enumerate(kind.items)
                if not isinstance(x, RecordType) or not x.is_constant
            )
            name = f'struct {self._prefix}result_{len(self.results)}'
            self.results.append(f'{name} {{ {items} }};')
            self._result_names[kind] = name
        return self._result_names[kind]
