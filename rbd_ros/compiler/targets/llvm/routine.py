# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A writer of LLVM routines with variables, loops and conditions, for code besides arithmetic.

Variables are allocated in memory at the entry, so a routine reads like one in C.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator, List, Set


class Routine:
    """Text of one function, written statement by statement.

    :param head: its type, name and parameters, such as 'i64 @f(ptr %a)'
    """

    def __init__(self, head: str):
        self._head = head
        self._entry: List[str] = []
        self._lines: List[str] = []
        self._count = 0
        #: Label of the present block
        self.here = 'entry'
        #: Declarations of the functions called by `call`
        self.declarations: Set[str] = set()

    def text(self, attribute: str = '') -> str:
        """Return the text of the whole function.

        :param attribute: a further LLVM attribute
        """
        body = '\n'.join(['entry:', *self._entry, *self._lines])
        return f'define {self._head} nounwind {attribute} {{\n{body}\n}}\n'

    @property
    def size(self) -> int:
        """Number of lines of its body."""
        return len(self._entry) + len(self._lines)

    def do(self, text: str) -> None:
        """Write an instruction without result."""
        self._lines.append(f'  {text}')

    def value(self, text: str) -> str:
        """Write an instruction and return the name of its result."""
        name = self._name('v')
        self.do(f'{name} = {text}')
        return name

    def first(self, text: str) -> str:
        """Write an instruction at the entry, and return its result for the whole function."""
        name = self._name('v')
        self._entry.append(f'  {name} = {text}')
        return name

    def new_name(self) -> str:
        """Return an unused name, for a result that is used before it is written."""
        return self._name('v')

    def _name(self, kind: str) -> str:
        self._count += 1
        return f'%{kind}{self._count}'

    def call(self, name: str, *arguments: str) -> str:
        """Return the result of an external function of floats."""
        kinds = ', '.join('double' for _ in arguments)
        self.declarations.add(f'declare double @{name}({kinds})')
        passed = ', '.join(f'double {each}' for each in arguments)
        return self.value(f'call double @{name}({passed})')

    # -- memory

    def array(self, kind: str, size: int) -> str:
        """Return memory for `size` values of a kind, 'i64', 'double' or 'ptr'."""
        # At the entry: in a loop it would take more stack in each round, and LLVM keeps only
        # memory allocated there in registers.
        name = self._name('a')
        self._entry.append(f'  {name} = alloca {kind}, i64 {size}, align 8')
        return name

    def variable(self, kind: str, initial: str) -> str:
        """Return memory for one value, set at the entry."""
        name = self.array(kind, 1)
        self._entry.append(f'  store {kind} {initial}, ptr {name}')
        return name

    def get(self, pointer: str, kind: str, index: str = '0') -> str:
        """Return the element of an array, or the value of a variable."""
        return self.value(f'load {kind}, ptr {self.at(pointer, kind, index)}')

    def put(self, pointer: str, kind: str, value: str, index: str = '0') -> None:
        """Set an element of an array, or a variable."""
        self.do(f'store {kind} {value}, ptr {self.at(pointer, kind, index)}')

    def at(self, pointer: str, kind: str, index: str) -> str:
        """Return the address of an element."""
        # No instruction for index 0: opaque pointers have no element type.
        if index == '0':
            return pointer
        return self.value(f'getelementptr {kind}, ptr {pointer}, i64 {index}')

    def field(self, pointer: str, offset: int, kind: str) -> str:
        """Return the field of a structure at an offset in bytes."""
        return self.value(f'load {kind}, ptr {self.at(pointer, "i8", str(offset))}')

    # -- control

    def label(self, name: str) -> None:
        """Place a label for `when`, `unless` and `go`, which is reached from above too."""
        # LLVM's blocks end with an explicit jump.
        self.go(name)
        self._begin(name)

    def _begin(self, label: str) -> None:
        self._lines.append(f'{label}:')
        self.here = label

    @property
    def ended(self) -> bool:
        """Whether the code at this point is unreachable."""
        # LLVM rejects a block with instructions after its jump.
        return bool(self._lines) and self._lines[-1].lstrip().startswith(('br ', 'ret '))

    def go(self, label: str, remark: str = '') -> None:
        """Branch to a label.

        :param remark: LLVM metadata of the branch
        """
        if not self.ended:
            self.do(f'br label %{label}{remark}')

    def when(self, condition: str, label: str) -> None:
        """Branch to a label if a condition holds."""
        after = self._name('l')[1:]
        self.do(f'br i1 {condition}, label %{label}, label %{after}')
        self._begin(after)

    def unless(self, condition: str, label: str) -> None:
        """Branch to a label if a condition does not hold."""
        after = self._name('l')[1:]
        self.do(f'br i1 {condition}, label %{after}, label %{label}')
        self._begin(after)

    def new_label(self) -> str:
        """Return an unused label."""
        return self._name('l')[1:]

    def choose(self, condition: str, label: str, other: str) -> None:
        """Branch to the first label if a condition holds, else to the other."""
        self.do(f'br i1 {condition}, label %{label}, label %{other}')

    @contextmanager
    def loop(self, count: str) -> Iterator[str]:
        """Run the body `count` times; yields the index, from 0."""
        counter, head, end = self.array('i64', 1), self.new_label(), self.new_label()
        # Here, not at the entry: the loop may be nested in another one.
        self.put(counter, 'i64', '0')
        self.label(head)
        index = self.get(counter, 'i64')
        self.unless(self.value(f'icmp slt i64 {index}, {count}'), end)
        yield index
        self.put(counter, 'i64', self.value(f'add i64 {index}, 1'))
        self.go(head)
        # Only the loop's jump reaches it.
        self._begin(end)

    @contextmanager
    def only_if(self, condition: str) -> Iterator[None]:
        """Run the body if a condition holds."""
        end = self.new_label()
        self.unless(condition, end)
        yield
        self.label(end)

    # -- comparisons

    def same(self, a: str, b: str, kind: str = 'ptr') -> str:
        """Return whether two values are equal."""
        return self.value(f'icmp eq {kind} {a}, {b}')

    def both(self, a: str, b: str) -> str:
        """Return whether two conditions hold."""
        return self.value(f'and i1 {a}, {b}')
