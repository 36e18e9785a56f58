# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Steps in a world with joint servos: repeated until their torques are consistent.

Saturation of a servo's torque depends on the contact forces, and these on the torque: see
simulation/stepping/joint_servo.py.
"""

from __future__ import annotations

from rbd_ros.compiler.loops import compiled
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import UNCONVERGED
from rbd_ros.simulation.records.workspace import PhysicsRecord
from rbd_ros.simulation.scene.islands import node_of
from rbd_ros.simulation.scene.scene_state import ContactState, NOW
from rbd_ros.simulation.scene.scene_step import take_scene_substep
from rbd_ros.simulation.stepping.free_bodies import restore_objects, save_objects
from rbd_ros.simulation.stepping.joint_servo import JOINT_ROUNDS, move_servos, SINGLE_ROUNDS
from rbd_ros.simulation.stepping.linear import copy


@compiled
def is_in_contact(model: SimulationModel, contact_state: ContactState) -> bool:
    """Return whether the robot is at any contact of this step."""
    for c in range(contact_state.counts[NOW]):
        for side in range(2):
            if node_of(model.scene, contact_state.contacts.body_id[c, side]) == 0:
                return True
    return False


@compiled
def take_servo_substep(physics: PhysicsRecord, h: float) -> bool:
    """Advance by h; return False if a velocity is not finite."""
    model, state, work, objects = physics.model, physics.state, physics.work, physics.objects
    before, rounds = work.before, 0
    # Repeated from the same state, counters included, or events would count twice.
    copy(state.q, before.q)
    copy(state.v, before.v)
    copy(state.counters, before.counters)
    save_objects(objects, before.objects)
    while True:
        done: bool = take_scene_substep(
            model,
            state,
            physics.external_forces,
            physics.contacts,
            objects,
            physics.contact_state,
            work,
            h,
        )
        # Without contacts, `take_integrator_step` has moved the servos, before loops were closed.
        if not done or not is_in_contact(model, physics.contact_state):
            break
        # Fixed point of saturation and contact forces, which is finite: a servo is at its limit or
        # not.
        if not move_servos(model, state, work.motion.next_v, rounds):
            break
        rounds += 1
        copy(before.q, state.q)
        copy(before.v, state.v)
        copy(before.counters, state.counters)
        restore_objects(objects, before.objects)
    # The last step is kept, and counted as unconverged.
    if rounds > JOINT_ROUNDS + SINGLE_ROUNDS:
        state.counters[UNCONVERGED] += 1
    return done
