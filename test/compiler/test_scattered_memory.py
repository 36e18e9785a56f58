# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Machine code in a process whose free memory lies in gaps more than 2 GB apart.

This happens in processes with large libraries and threads. By default, LLVM places code, constants
and unwind tables in any gap, and aborts if they are too far apart.
"""

from pathlib import Path

from support import fresh_python

ARM = Path(__file__).parents[2] / 'urdf' / 'six_axis_arm.urdf'
CODE = """
import ctypes
import sys

from rbd_ros.robot import Robot

library = ctypes.CDLL(None, use_errno=True)
library.mmap.restype = ctypes.c_void_p
library.mmap.argtypes = [
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
]
library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
NOTHING, READ, PRIVATE_ANONYMOUS, NO_RESERVE, PAGE = 0, 1, 0x22, 0x4000, 4096


def reserve(size, protection=NOTHING):
    return library.mmap(None, size, protection, PRIVATE_ANONYMOUS | NO_RESERVE, -1, 0)


def fill_gaps_above(lowest):
    for size in (PAGE << k for k in range(14, 0, -1)):
        while (block := reserve(size)) > lowest:
            pass
        library.munmap(block, size)


robot = Robot.from_urdf(sys.argv[1])
q = [0.3] * robot.nq
robot.gravity_torque(q)  # what is loaded on first use is loaded
starts = [int(line.split('-')[0], 16) for line in open('/proc/self/maps')]
fill_gaps_above(min(start for start in starts if start > 0x7000 << 32))
# Neighbors of different protection stay apart, so that every second one leaves a gap of a page.
pages = [reserve(PAGE, (NOTHING, READ)[k % 2]) for k in range(2000)]
fill_gaps_above(reserve(3 << 30))
for page in pages[::2]:
    library.munmap(page, PAGE)
force = robot.inverse_dynamics(q, q, q)
print(abs(robot.forward_dynamics(q, q, force) - 0.3).max())
"""


def test_code_finds_its_constants_wherever_there_is_room(tmp_path):
    done = fresh_python.run(CODE, str(ARM), RBD_ROS_CACHE_DIR=str(tmp_path))
    assert float(done.stdout) < 1e-9
