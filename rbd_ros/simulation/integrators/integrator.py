# SPDX-License-Identifier: Apache-2.0
"""What an integrator declares beside its step."""

from __future__ import annotations

from typing import Mapping, NamedTuple, Tuple

#: Result of a step: nothing that is finite, the velocity, or position as well.
NOTHING, VELOCITY, EVERYTHING = 0, 1, 2

#: Inertia that damping and springs add to a kernel: none, or where they act in the step.
NONE, AT_END, IN_MIDDLE = 'none', 'at_end', 'in_middle'


class Integrator(NamedTuple):
    """An integrator, declared in the file of its step.

    :param name: its name
    :param order: its order of convergence in smooth motion
    :param kernels: algorithm, and the inertia added to it, by fields of `SimulationModel`, for a
        robot without loops
    :param forces_in_middle: whether the step takes its forces in the middle
    :param with_loops: whether it supports kinematic loops
    :param with_loops_in_world: whether it does in a world
    """

    name: str
    order: int
    kernels: Mapping[str, Tuple[str, str]]
    forces_in_middle: bool = True
    with_loops: bool = False
    with_loops_in_world: bool = False
