# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Memory of the compiler, given back to the system when it is done."""

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

    LLVM is some hundred megabytes of code, of which loading a kernel touches a third. These pages
    are those of its file, unchanged, so the system reads them again if they are needed.
    """
    if not sys.platform.startswith('linux'):
        return
    # What only cycles keep alive is freed first, so that it is given back with the rest.
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
    """Yield the mappings of LLVM's library none of whose pages was changed.

    Address, and size [bytes].
    """
    begin = end = 0
    with open('/proc/self/smaps', encoding='utf-8', errors='replace') as file:
        for line in file:
            mapping = _MAPPING.match(line)
            if mapping:
                begin, end = int(mapping[1], 16), int(mapping[2], 16)
                # Dropping a changed page would lose the change, and a writable one may be changed
                # at any time.
                if 'w' in mapping[3] or not re.search(r'/lib(llvmlite|LLVM)[^/]*$', mapping[4]):
                    begin = end
            # Pages that are copies of their own ("anonymous") are those that were changed.
            elif line.startswith('Anonymous:') and end > begin and line.split()[1] == '0':
                yield begin, end - begin
