# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Number of substeps of a step: by the rotation of joints, and by their inertia.

Without any force, the speeds of joints change with the inertia that the motion has:
M a = -C(q, v) v, and K a = k of loops. a grows with the square of the speed, so |a| / |v| is a
rate, at which the configuration passes from one inertia to another. If a heavy tip passes the end
of the reach of light links, these rotate within a hundredth of a radian as fast as the energy of
the tip allows. A step across such a place gains or loses energy, in a tree as in a loop.
"""

from __future__ import annotations

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.simulation.loops.loop_directions import correct, find_loops, respond
from rbd_ros.simulation.records.simulation_model import (
    MAX_SUBSTEPS,
    SimulationModel,
    TURN_PER_SUBSTEP,
)
from rbd_ros.simulation.records.simulation_state import State, WHOLE
from rbd_ros.simulation.records.workspace import Workspace
from rbd_ros.simulation.stepping.displacement import move_at
from rbd_ros.simulation.stepping.linear import (
    add_scaled,
    clear,
    copy,
    factorize,
    solve_factorized,
)

#: Maximum relative change of the speed by inertia alone in one substep.
CHANGE_PER_SUBSTEP = 0.2

#: Relative change of the speed in a step, by any cause, above which the next one tests inertia. It
#: is below the change in the step before the first one that must be divided.
NOTICED_CHANGE = 0.1

#: Maximum ratio of the rate to that of the same change by kinetic energy, sqrt(a' M a / v' M v).
MAX_BY_ENERGY, TINY = 20.0, 1e-300

#: Rotation of a joint in one step below which speeds count as this one [rad]: near rest, the
#: relative change of the speed is large in every step.
SMALL_TURN = 1e-3


@compiled
def fastest_rotation(model: SimulationModel, v: FloatArray) -> float:
    """Return the speed of the fastest shaft at a velocity or acceleration [rad/s, rad/s^2]."""
    fastest = 0.0
    for i in range(len(model.turning)):
        fastest = max(fastest, model.turning[i] * abs(v[i]))
    return fastest


@compiled
def count_substeps(model: SimulationModel, v: FloatArray) -> int:
    """Return the number of substeps that bounds the rotation of every joint in each of them.

    :param v: velocity at the beginning of the step, (nv,)
    """
    # The error of a step grows with the angle, so the angle is bounded.
    turn = model.timestep * fastest_rotation(model, v)
    if turn <= TURN_PER_SUBSTEP:
        return 1
    return int(min(np.ceil(turn / TURN_PER_SUBSTEP), MAX_SUBSTEPS))


@compiled
def needs_inertial_rate(model: SimulationModel, state: State) -> bool:
    """Return whether inertia alone may change the speed much in this step."""
    # After a start nothing is known. In a step divided by inertia, the speed may have changed and
    # returned.
    if state.counters[WHOLE] == 0:
        return True
    turn = max(model.timestep * fastest_rotation(model, state.v), SMALL_TURN)
    for i in range(len(model.turning)):
        change = model.timestep**2 * model.turning[i] * abs(state.acceleration[i])
        if change > NOTICED_CHANGE * turn:
            return True
    return False


@compiled
def find_substep(model: SimulationModel, state: State, work: Workspace, h: float) -> float:
    """Return the part of a step that inertia allows as one substep.

    :param h: rest of the step [s]
    """
    substep, min_substep = h, model.timestep / MAX_SUBSTEPS
    here = inertial_rate(model, state, work, 0.0)
    while substep > min_substep:
        # Also at the end of the motion: in the middle of such a place nothing changes for a
        # moment.
        rate = max(here, inertial_rate(model, state, work, substep))
        # Negated, so that NaN divides nothing.
        if not substep * rate > CHANGE_PER_SUBSTEP:
            break
        substep *= 0.5
    return substep


@compiled
def inertial_rate(model: SimulationModel, state: State, work: Workspace, ahead: float) -> float:
    """Return the rate at which inertia alone changes the speed, at the present velocity [1/s].

    A speed below that of `SMALL_TURN` counts as that.

    :param ahead: time for which this velocity has moved the joints [s]
    """
    dynamics, motion, tree = work.dynamics, work.motion, model.tree
    a, still = dynamics.acceleration, dynamics.bias
    # Kernels read `state`.
    copy(state.q, motion.kept_q)
    copy(state.v, motion.next_v)
    move_at(model, motion, state.q, state.v, ahead)
    copy(motion.next_q, state.q)
    call_kernel(model.mass_matrix, state.packed, dynamics.mass)
    call_kernel(model.bias_force, state.packed, a)
    if model.has_loops:
        find_loops(model, state, dynamics.mass, work.problem.loops)
    # Without velocity, the bias force is gravity.
    clear(state.v)
    call_kernel(model.bias_force, state.packed, still)
    copy(motion.next_v, state.v)
    for i in range(len(a)):
        a[i] = still[i] - a[i]
    if model.has_loops:
        loops = work.problem.loops
        respond(model, loops, a)
        correct(model, loops, loops.bias, loops.correction)
        add_scaled(1.0, loops.correction, a)
    else:
        factorize(dynamics.mass, tree)
        solve_factorized(dynamics.mass, tree, a)
    # At rest, the acceleration is rounding; so it is in a direction with almost no mass, which
    # changes no energy.
    call_kernel(model.mass_matrix, state.packed, dynamics.mass)
    copy(motion.kept_q, state.q)
    speed = max(fastest_rotation(model, state.v), SMALL_TURN / model.timestep)
    changing = twice_kinetic_energy(dynamics.mass, a)
    energy = max(twice_kinetic_energy(dynamics.mass, state.v), TINY)
    rate: float = fastest_rotation(model, a) / speed
    if changing < (rate / MAX_BY_ENERGY) ** 2 * energy:
        rate = MAX_BY_ENERGY * np.sqrt(max(changing, 0.0) / energy)
    return rate


@compiled
def twice_kinetic_energy(mass: FloatArray, v: FloatArray) -> float:
    """Return the square of a velocity, or an acceleration, in the metric of the mass matrix."""
    total = 0.0
    for i in range(len(v)):
        for j in range(len(v)):
            total += v[i] * mass[i, j] * v[j]
    return total
