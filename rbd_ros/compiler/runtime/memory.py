# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Release of the compiler's memory after use."""

from __future__ import annotations

import ctypes
import gc
import re
import sys
from typing import Iterator, Tuple

_DONTNEED = 4  # MADV_DONTNEED of Linux
_MAPPING = re.compile(r'([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)')


def release_memory() -> None:
    """Release the memory that the compiler rarely needs again; only on Linux.

    LLVM is some hundred megabytes of code, of which a kernel touches a third. Its unchanged pages
    are read from the file again if they are needed.
    """
    if not sys.platform.startswith('linux'):
        return
    # Garbage in cycles is freed first, so that it is released as well.
    gc.collect()
    try:
        c = ctypes.CDLL(None)
        if hasattr(c, 'malloc_trim'):  # not every C library has it
            c.malloc_trim(0)
        for begin, size in _clean_pages_of_llvm():
            c.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(size), _DONTNEED)
    except (OSError, ValueError):
        return


def _clean_pages_of_llvm() -> Iterator[Tuple[int, int]]:
    """Yield address and size [bytes] of the unchanged mappings of LLVM's library."""
    begin = end = 0
    with open('/proc/self/smaps', encoding='utf-8', errors='replace') as file:
        for line in file:
            mapping = _MAPPING.match(line)
            if mapping:
                begin, end = int(mapping[1], 16), int(mapping[2], 16)
                # Dropping a changed page would lose the change, and writable ones may change at
                # any time.
                if 'w' in mapping[3] or not re.search(r'/lib(llvmlite|LLVM)[^/]*$', mapping[4]):
                    begin = end
            # Private copies of pages ("anonymous") are the changed ones.
            elif line.startswith('Anonymous:') and end > begin and line.split()[1] == '0':
                yield begin, end - begin
