# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shared helpers of the writers of the call routine (call_routine.py).

They access the table `api`, the routine's entries of the interpreter, and the table `%d` of the
called kernel (call_table.py).
"""

from __future__ import annotations

from rbd_ros.compiler.runtime.memory_layouts import (
    API,
    AT,
    DESCR,
    DOUBLE,
    FLAGS,
    SHAPE,
    SHAPES,
    TUPLE_ITEMS,
    TYPE,
)
from rbd_ros.compiler.targets.llvm.routine import Routine


class CallWriter(Routine):
    """Writes one of the routine's functions."""

    def api(self, name: str, kind: str = 'ptr') -> str:
        """Return the entry of the table `api`."""
        return self.get('@api', kind, str(API.index(name)))

    def word(self, name: str, kind: str = 'i64') -> str:
        """Return the number of the kernel's table."""
        return self.get('%d', kind, str(AT[name]))

    def element(self, first: int, index: str, kind: str = 'i64') -> str:
        """Return the element of a part of the kernel's table."""
        return self.get('%d', kind, self.value(f'add i64 {index}, {first}'))

    def is_type(self, obj: str, name: str) -> str:
        """Return whether an object is of exactly this type."""
        # No subclass, which may define its items or memory otherwise.
        return self.same(self.field(obj, TYPE, 'ptr'), self.api(name))

    def is_plain(self, array: str, flags: int) -> str:
        """Return whether an array holds native float64, with these flags."""
        found = self.value(f'and i32 {self.field(array, FLAGS, "i32")}, {flags}')
        right = self.same(found, str(flags), 'i32')
        # NumPy has one descriptor of native float64; other byte orders have others.
        return self.both(self.same(self.field(array, DESCR, 'ptr'), self.api('float64')), right)

    def shape(self, j: str) -> str:
        """Return the index of an output's part of the table: axes, elements, shape."""
        return self.value(f'mul i64 {j}, {SHAPE}')

    def returns_several(self) -> str:
        """Return whether the kernel has several outputs, in a named tuple."""
        return self.value(f'icmp ne i64 {self.word("result_type")}, 0')

    def axes_of_rows(self, rows: str) -> str:
        """Return the number of axes before those of a state: 1 for a batch, 0 for a state (-1)."""
        return self.value(f'zext i1 {self.value(f"icmp sge i64 {rows}, 0")} to i64')

    def is_array(self, j: str, rows: str) -> str:
        """Return whether an output is an array, not a number: all are for a batch."""
        own = self.element(SHAPES, self.shape(j))
        return self.value(
            f'icmp ne i64 {self.value(f"add i64 {own}, {self.axes_of_rows(rows)}")}, 0'
        )

    def new_array(self, axes: str, dims: str) -> str:
        """Return the array of float64, or null with the error set."""
        return self.value(
            f'call ptr {self.api("new_array")}(ptr {self.api("ndarray")}, i32 {axes}, ptr {dims}, '
            f'i32 {DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null)'
        )

    def item(self, result: str, j: str) -> str:
        """Return the item of a named tuple, which has the layout of a tuple."""
        return self.get(self.at(result, 'i8', str(TUPLE_ITEMS)), 'ptr', j)

    def put_item(self, result: str, j: str, item: str) -> None:
        """Set an item of a tuple, which then owns it, replacing a previous one or null."""
        last = self.item(result, j)
        self.put(self.at(result, 'i8', str(TUPLE_ITEMS)), 'ptr', item, j)
        self.do(f'call void {self.api("release")}(ptr {last})')
