# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Solve a friction problem by Siconos, in the Python that has it (Debian: python3-siconos).

    python3 siconos_solver.py NSGS 1e-8 100000 problem.npz solution.npz

It needs NumPy and nothing of this package. The solution has the forces and the processor time.
"""

import sys
import time

import numpy as np
import siconos.numerics as siconos


def main(solver: str, tolerance: str, iterations: str, problem: str, solution: str) -> None:
    """Solve the problem G, g, mu of a file and write forces and processor time [s] to another."""
    given = np.load(problem)
    options = siconos.SolverOptions(getattr(siconos, f'SICONOS_FRICTION_3D_{solver}'))
    options.dparam[siconos.SICONOS_DPARAM_TOL] = float(tolerance)
    options.iparam[siconos.SICONOS_IPARAM_MAX_ITER] = int(iterations)
    free = given['g']
    contacts = siconos.FrictionContactProblem(3, len(free) // 3, given['G'], free, given['mu'])
    force, velocity = np.zeros(len(free)), np.zeros(len(free))
    begin = time.process_time()
    siconos.fc3d_driver(contacts, force, velocity, options)
    np.savez(solution, force=force, time=time.process_time() - begin)


if __name__ == '__main__':
    main(*sys.argv[1:])
