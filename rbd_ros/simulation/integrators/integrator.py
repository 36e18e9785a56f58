# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Declaration of an integrator: its step, and the requirements of the step; list of all."""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Optional, TYPE_CHECKING

from rbd_ros.extension_points import declared_in
from rbd_ros.simulation import integrators as folder
from rbd_ros.simulation.records.workspace import NoBuffers, Substep

if TYPE_CHECKING:
    from rbd_ros.simulation.differentiated_step import Point, System

#: Result of a step: nothing finite, the velocity, or position as well.
NOTHING, VELOCITY, EVERYTHING = 0, 1, 2

#: Inertia that damping and springs add to a kernel: none, or that of forces at the end or middle.
NONE, AT_END, IN_MIDDLE = 'none', 'at_end', 'in_middle'

#: Number of fixed-point iterations of friction in midpoint, each with C at the last mean velocity.
FRICTION_ROUNDS = 2


class Integrator(NamedTuple):
    """An integrator, declared in the file of its name.

    :param order: its order of convergence in smooth motion
    :param step: compiled function that computes `next_v`, and `next_q` as well if nothing stops
        the motion, and returns `NOTHING`, `VELOCITY` or `EVERYTHING`; a `NamedFunction` is
        imported only to compile it
    :param kernel: algorithm whose kernel it calls, as `SimulationModel.dynamics`; not with loops
    :param inertia: inertia of damping and springs in the kernel
    :param buffers: class of its arrays, `Workspace.integrator`, declared by `floats`
    :param derivative: step of length h and its derivative; None, also as a result: by finite
        differences
    :param forces_in_middle: whether the step evaluates its forces in the middle
    :param with_loops: whether it supports kinematic loops
    :param with_loops_in_world: whether it does in a world
    """

    name: str
    order: int
    step: Callable[[Substep], int]
    kernel: str
    inertia: str = NONE
    buffers: type = NoBuffers
    derivative: Optional[Callable[[System, Point, float], Optional[Point]]] = None
    forces_in_middle: bool = True
    with_loops: bool = False
    with_loops_in_world: bool = False


def integrators() -> Dict[str, Integrator]:
    """Return the integrators that the files of this folder declare, by name."""
    return {each.name: each for each in declared_in(folder, Integrator)}
