# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Machine code in memory: processes with mappings of many gigabytes."""

import math
import subprocess
import sys

import pytest
from support.waiting import CEILING

from rbd_ros.compiler.runtime import native

pytestmark = pytest.mark.skipif(
    native.unavailable_reason() is not None, reason='there is no compiler'
)

# In a process of its own, since LLVM aborts where code cannot reach a constant or a function.
# Single pages are left free above a mapping of 3 GB, everything else is filled: a section of one
# page comes above it, a longer one below, and the C library is above.
FAR_APART = """
import ctypes, mmap, sys
from rbd_ros.compiler.runtime import native

library = ctypes.CDLL(None)
library.mmap.restype = ctypes.c_void_p
library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
RESERVED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE: addresses only


def taken(size):
    place = library.mmap(None, size, 0, RESERVED, -1, 0)
    assert place not in (None, 2**64 - 1), 'no address space'
    return place


def fill_holes():
    for power in range(24, 12, -1):
        for _ in range(300):
            taken(1 << power)


with native.compile_lock:
    code = native.emit(native.llvm.parse_assembly(sys.stdin.read()))
native.MachineCode(code)  # libraries and buffers of a load are mapped now
fill_holes()
pages = []
for _ in range(60):
    taken(1 << 16)
    pages.append(taken(4096))
taken(1 << 16)
taken(3 << 30)
fill_holes()
for page in pages:
    library.munmap(page, 4096)
loaded = native.MachineCode(code)
function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(loaded.address('entry'))
print(repr(function(0.5)))
"""

FACTORS = [1 + k / 2**20 for k in range(400)]


@pytest.mark.parametrize('is_calling', [False, True])
def test_code_runs_far_from_its_constants_and_the_c_library(is_calling):
    lines = ['define double @entry(double %r0) {']
    lines += [f'%r{k + 1} = fmul double %r{k}, {x!r}' for k, x in enumerate(FACTORS)]
    if is_calling:
        lines += [f'%s{k} = call double @sin(double %r{k})' for k in range(len(FACTORS))]
        lines += ['ret double %s399', '}', 'declare double @sin(double)']
    else:
        lines += ['ret double %r399', '}']
    done = subprocess.run(
        [sys.executable, '-c', FAR_APART],
        input='\n'.join(lines),
        capture_output=True,
        text=True,
        timeout=CEILING,
    )
    assert done.returncode == 0, done.stderr
    expected = math.prod([0.5, *FACTORS[:399]])
    assert float(done.stdout) == pytest.approx(
        math.sin(expected) if is_calling else expected, rel=1e-12
    )
