# SPDX-License-Identifier: Apache-2.0
"""The end of a step: what was found becomes the state."""

from __future__ import annotations

from rbd_ros.compiler.loops import compiled
from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import State
from rbd_ros.simulation.records.workspace import Motion
from rbd_ros.simulation.stepping.linear import copy


@compiled
def commit_step(
    model: SimulationModel, state: State, motion: Motion, impulse: FloatArray, h: float
) -> None:
    """Make `next_q` and `next_v` the state.

    :param impulse: generalized impulse of friction, limits and contacts, (nv,)
    """
    for i in range(len(state.v)):
        state.constraint_force[i] = impulse[i] / h
    # Only here: until now, a step that fails has changed neither.
    copy(motion.next_v, state.v)
    copy(motion.next_q, state.q)
