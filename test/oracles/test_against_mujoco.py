# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mass matrix and bias force against MuJoCo, for robots with inertias that it accepts."""

import numpy as np
import pytest
from support import example_robots, lanes, layout, outside
from support.definitions import definition_of
from support.errors import record, worst_relative_error

from rbd_ros import Robot

mujoco = outside.load('mujoco')

STATES = 20
# MuJoCo stores inertias diagonalized, with quaternions for their axes: half the digits of tiny
# off-diagonal entries go into rounding. Measured below 1e-13.
TOLERANCE = 1e-11
NOT_ACCEPTED = ('inertia', 'mass', 'mj_balance')


def mujoco_model(text, floating_base):
    """Return the model of a URDF text, None where MuJoCo rejects its inertias."""
    options = (
        '<mujoco><compiler fusestatic="false" balanceinertia="false" discardvisual="true" '
        'boundmass="0" boundinertia="0"/></mujoco>'
    )
    text = text.replace('"world"', '"world_link"')  # MuJoCo's own world is called so
    spec = mujoco.MjSpec.from_string(text.replace('</robot>', options + '</robot>'))
    if floating_base:
        for body in list(spec.worldbody.bodies):
            body.add_freejoint(name='floating_base')
    try:
        return spec.compile()
    except ValueError as error:
        assert any(word in str(error) for word in NOT_ACCEPTED), error
        return None


class MujocoBridge:
    """Maps v_mujoco = P(q) v and its rate; a free joint has world-frame linear velocity first."""

    def __init__(self, model, places):
        self.model, self.data, self.places = model, mujoco.MjData(model), places
        # neither damping nor friction belongs to the comparison
        model.dof_damping[:], model.dof_frictionloss[:], model.dof_armature[:] = 0, 0, 0
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT

    def evaluate(self, q, v):
        """Return the mass matrix and bias force in our coordinates."""
        places, data = self.places, self.data
        P, rate = np.zeros((self.model.nv, places.nv)), np.zeros(self.model.nv)
        by_name = {joint.name: joint for joint in places.joints}
        for name in places.types:
            leader, ratio, offset = places.mimics.get(name, (name, 1.0, 0.0))
            place = by_name[leader]
            joint = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, name)
            at_q, at_v = self.model.jnt_qposadr[joint], self.model.jnt_dofadr[joint]
            if name == 'floating_base':
                quaternion, position = q[:4], q[4:7]
                data.qpos[at_q : at_q + 7] = [*position, *quaternion]
                R = np.zeros(9)
                mujoco.mju_quat2Mat(R, quaternion)
                R = R.reshape(3, 3)
                P[at_v : at_v + 3, 3:6], P[at_v + 3 : at_v + 6, :3] = R, np.eye(3)
                rate[at_v : at_v + 3] = R @ np.cross(v[:3], v[3:6])  # d/dt (R u) at constant u
            else:
                data.qpos[at_q] = ratio * q[place.q][0] + offset
                P[at_v, place.v] = ratio
        data.qvel[:] = P @ v
        mujoco.mj_forward(self.model, data)
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, data, M)
        bias = data.qfrc_bias + M @ rate
        return P.T @ M @ P, P.T @ bias


def cases():
    """Return every robot on both bases; whether MuJoCo accepts it shows when it is compiled."""
    return [(n, base) for n in example_robots.distinct() for base in ('fixed', 'floating')]


@pytest.mark.seed('FM03', 'ID10', 'FB02')
@pytest.mark.parametrize('name, base', cases())
def test_mass_matrix_and_bias_force(name, base):
    text = example_robots.dynamics_xml(
        example_robots.loadable()[name].read_text(), mimic=name != 'alex_psyonic_hands'
    )
    floating = base == 'floating'
    model = mujoco_model(text, floating)
    if model is None:
        pytest.skip('MuJoCo does not accept its inertias')
    places = layout.read(text, floating)
    robot = Robot.from_urdf(text, floating_base=floating)
    if robot.nv == 0:
        pytest.skip('nothing moves')
    bridge = MujocoBridge(model, places)
    q, v, _ = places.random_states(np.random.default_rng(len(text)), STATES)
    theirs = [bridge.evaluate(*row) for row in zip(q, v)]
    ours = {
        'mass_matrix': lanes.evaluate(definition_of(robot.model, 'mass_matrix'), q),
        'bias_force': lanes.evaluate(definition_of(robot.model, 'bias_force'), q, v),
    }
    for k, what in enumerate(ours):
        error = worst_relative_error(ours[what], np.array([row[k] for row in theirs]))
        record('algorithm - MuJoCo', what, f'{name}, {base} base', error)
        assert error < TOLERANCE, f'{what}: relative error {error:.1e}'


def test_most_robots_are_compared():
    """The comparison must not fade away through skips: MuJoCo 4.0 accepts about two thirds."""
    paths = example_robots.distinct()
    if not paths:
        pytest.skip(outside.problem('example_robot_data'))
    texts = [example_robots.dynamics_xml(path.read_text()) for path in paths.values()]
    accepted = sum(mujoco_model(text, False) is not None for text in texts)
    assert accepted > 0.6 * len(paths)
