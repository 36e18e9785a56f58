# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The kernel alone against Pinocchio's C++, compiled for this CPU: no Python on either side.

Our machine code is called from a compiled loop (a dozen lines of LLVM), Pinocchio from
pinocchio_kernel.cpp in a separate process, which runs block by block, so the two alternate. Both
iterate over the same number of states and read their own processor time.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from pathlib import Path
import shutil
import subprocess
import tempfile
import time
from typing import Callable, List, Optional

from measurement import Comparison, PinocchioPeer, random_states
from measurement.timing import BLOCK, summary
import numpy as np
import robots

from rbd_ros import Robot
from rbd_ros.compiler.targets import c99

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / 'output' / 'benchmark'
FLAGS = (
    '-std=c++17',
    '-O3',
    '-march=native',
    '-DNDEBUG',
    '-w',
    # as in Pinocchio's CMake targets
    '-DBOOST_MPL_LIMIT_LIST_SIZE=30',
    '-DBOOST_MPL_LIMIT_VECTOR_SIZE=30',
    '-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS',
    '-DBOOST_FUSION_INVOKE_MAX_ARITY=12',
)
PEER_NAMES = {'inverse_dynamics': 'rnea', 'mass_matrix': 'crba', 'forward_dynamics': 'aba'}
_STATES = 64
_EIGEN = ('/usr/include/eigen3', '/usr/local/include/eigen3', '/opt/homebrew/include/eigen3')

_LOOP = """
define void @repeat(ptr %f, ptr %in, ptr %out, i64 %size, i64 %states, i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %k = phi i64 [ 0, %entry ], [ %k_next, %loop ]
  %offset = mul i64 %k, %size
  %row = getelementptr double, ptr %in, i64 %offset
  call void %f(ptr %row, ptr %out)
  %k1 = add i64 %k, 1
  %around = icmp eq i64 %k1, %states
  %k_next = select i1 %around, i64 0, i64 %k1
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


class Unavailable(RuntimeError):
    """The comparison is not possible; the message has the reason."""


def build(announce=lambda text: None) -> Path:
    """Compile the peer's program, unless it is compiled already.

    :param announce: called before compilation, which takes minutes
    :raises Unavailable: if a compiler, Eigen or Pinocchio's headers are missing
    """
    compiler = next(
        filter(None, map(shutil.which, (os.environ.get('CXX') or 'g++', 'clang++'))), None
    )
    if compiler is None:
        raise Unavailable('there is no C++ compiler')
    prefix = robots.cmeel_prefix()
    if prefix is None or not (prefix / 'include' / 'pinocchio' / 'multibody.hpp').is_file():
        raise Unavailable("there are no headers of Pinocchio 4 (pip install 'pin>=4')")
    eigen = next(
        (
            place
            for place in (
                os.environ.get('EIGEN3_INCLUDE_DIR', ''),
                prefix / 'include' / 'eigen3',
                *_EIGEN,
            )
            if place and (Path(place) / 'Eigen' / 'Core').is_file()
        ),
        None,
    )
    if eigen is None:
        raise Unavailable('there are no headers of Eigen (Debian: libeigen3-dev)')
    source = HERE / 'pinocchio_kernel.cpp'
    made_of = [compiler, *FLAGS, str(prefix), str(eigen), _cpu(), source.read_text()]
    program = BUILD / f'pinocchio_kernel-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]}'
    if program.is_file():
        return program
    announce('compiling Pinocchio for this CPU (some minutes, once)')
    BUILD.mkdir(parents=True, exist_ok=True)
    unfinished = program.with_suffix(f'.{os.getpid()}')
    done = subprocess.run(
        [
            compiler,
            *FLAGS,
            '-isystem',
            prefix / 'include',
            '-isystem',
            eigen,
            source,
            '-o',
            unfinished,
            f'-L{prefix / "lib"}',
            '-lboost_serialization',
            f'-Wl,-rpath,{prefix / "lib"}',
        ],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        unfinished.unlink(missing_ok=True)
        lines = [line for line in done.stderr.splitlines() if 'error' in line]
        raise Unavailable(f'the C++ does not compile: {(lines or ["no message"])[0][:300]}')
    os.replace(unfinished, program)
    return program


def _cpu() -> str:
    from measurement import machine

    return machine()['cpu']


class _Peer:
    """Pinocchio's program for one robot and one function."""

    def __init__(self, program: Path, peer: PinocchioPeer, function: str, folder: str):
        model, states = Path(folder) / 'model.txt', Path(folder) / 'states.bin'
        peer.model.saveToText(str(model))
        rows = [np.concatenate(state) for state in peer.states(_STATES, np.random.default_rng(0))]
        np.array(rows).tofile(states)
        self._process = subprocess.Popen(
            [program, model, PEER_NAMES[function], states],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def time(self, count: int) -> float:
        """Return the time of one call [ns]."""
        self._process.stdin.write(f'{count}\n')
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise Unavailable(f'the C++ program ended with code {self._process.wait()}')
        return float(line)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class _Ours:
    """Our code in a compiled loop.

    :param robot: robot of the kernel
    :param function: name of the function
    :param address: address of a function of two pointers, to all inputs and to all outputs
    """

    def __init__(self, robot: Robot, function: str, address: int):
        import llvmlite.binding as llvm

        kernel = robot.kernel(function)
        self._address = address
        inputs = random_states(robot, _STATES, np.random.default_rng(0))
        self._in = np.hstack(inputs[: len(kernel.input_sizes)])
        self._out = np.empty(kernel.output_size)
        target = llvm.Target.from_default_triple().create_target_machine(jit=True)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_LOOP), target)
        self._engine.finalize_object()
        self._repeat = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 3)(
            self._engine.get_function_address('repeat')
        )

    def time(self, count: int) -> float:
        """Return the time of one call [ns]."""
        start = time.process_time()
        self._repeat(
            self._address,
            self._in.ctypes.data,
            self._out.ctypes.data,
            self._in.shape[1],
            len(self._in),
            count,
        )
        return 1e9 * (time.process_time() - start) / count


def kernel_address(robot: Robot, function: str, folder: str) -> int:
    """Return the address of the machine code of a kernel."""
    return robot.kernel(function).address


def generated_address(robot: Robot, function: str, folder: str) -> int:
    """Return the address of the C code of `rbd_ros codegen`, compiled like Pinocchio.

    :raises Unavailable: if there is no compiler
    """
    compiler = next(
        filter(None, map(shutil.which, (os.environ.get('CC') or 'gcc', 'clang'))), None
    )
    if compiler is None:
        raise Unavailable('there is no C compiler')
    program = robot.kernel(function).definition.program()
    ends = np.cumsum([0, *(size for _, size in program.inputs)])
    arrays = ', '.join([*(f'in + {end}' for end in ends[:-1]), 'out'])
    text = c99.source(program, 'generated')
    text += f'void run(const double *in, double *out) {{ generated({arrays}); }}\n'
    source, library = Path(folder, 'generated.c'), Path(folder, 'generated.so')
    source.write_text(text)
    flags = ('-std=gnu99', '-O3', '-march=native', '-shared', '-fPIC')  # gnu99 contracts products
    subprocess.run([compiler, *flags, '-o', library, source, '-lm'], check=True)
    return ctypes.cast(ctypes.CDLL(str(library)).run, ctypes.c_void_p).value


def measure(
    program: Path,
    robot: Robot,
    peer: PinocchioPeer,
    function: str,
    seconds: float,
    code: Callable[[Robot, str, str], int] = kernel_address,
) -> Comparison:
    """Compare one function of a robot.

    :param code: returns the address of our code, given robot, function, and a temporary folder
    """
    with tempfile.TemporaryDirectory(prefix='rbd_ros-bench-') as folder:
        ours = _Ours(robot, function, code(robot, function, folder))
        sides: List = [ours, _Peer(program, peer, function, folder)]
        try:
            counts = []
            for side in sides:
                side.time(100)
                counts.append(max(1, round(1e9 * BLOCK / side.time(1000))))
            times, end = [], time.monotonic() + seconds
            while len(times) < 5 or time.monotonic() < end:
                times.append([side.time(count) for side, count in zip(sides, counts)])
            return summary(np.array(times))
        finally:
            sides[1].close()


def reason_against() -> Optional[str]:
    """Return why our machine code is unavailable; None if it is available."""
    from rbd_ros.compiler import unavailable_reason

    return unavailable_reason()
