# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joints with prescribed accelerations attain them, for any motion of other joints."""

import numpy as np
import pytest
from support.loop_mechanisms import four_bar
from support.simulated_robots import joint, link, robot
from test_drives import Driven

from rbd_ros.simulation.stepping.drives import ACCELERATION, EFFORT, GRAVITY, POSITION, ZERO


def chain(
    damping=(0.0, 0.0, 0.0), friction=(0.0, 0.0, 0.0), effort=1e6, stiffness=None, **options
):
    """Return three links, of which the last one slides."""
    parts = [link('l0')]
    for k in range(3):
        parts.append(link(f'l{k + 1}', 1.0 + k, (0.02, 0.03, 0.04), (0.1, 0.02, 0.2)))
        inside = (
            f'<dynamics damping="{damping[k]}" friction="{friction[k]}"/>'
            f'<limit lower="-3" upper="3" effort="{effort}" velocity="50"/>'
        )
        kind = 'prismatic' if k == 2 else 'revolute'
        parts.append(
            joint(f'j{k}', f'l{k}', f'l{k + 1}', kind, (0, 1, 0), (0.1, 0.1, 0.3), inside)
        )
    made = robot(*parts, **options)
    if stiffness is None:
        return made
    return type(made)(made.model.with_springs(stiffness))


def driven(subject, modes, integrator='semi_implicit'):
    made = Driven(subject, integrator)
    made.simulator.reset([0.3, -0.2, 0.1], [0.5, -0.4, 0.2])
    made.drives.mode[:] = modes
    return made


@pytest.mark.parametrize(
    'modes',
    [
        (ACCELERATION, ZERO, EFFORT),
        (EFFORT, ACCELERATION, GRAVITY),
        (ACCELERATION, ACCELERATION, ACCELERATION),
        (POSITION, GRAVITY, ACCELERATION),
    ],
)
@pytest.mark.parametrize(
    'options',
    [
        {},
        {'damping': (0.5, 3.0, 2.0)},
        {'damping': (0.0, 1.0, 0.0), 'stiffness': {'j0': 30.0, 'j1': 50.0, 'j2': 70.0}},
        {'friction': (0.4, 0.2, 0.3)},
    ],
)
def test_a_joint_has_the_acceleration_that_it_is_given(modes, options):
    made = driven(chain(**options), modes)
    desired = np.array([2.0, -3.0, 1.5])
    made.drives.acceleration[:] = desired
    made.drives.effort[:] = 1.0, 2.0, -1.0
    given = np.array(modes) == ACCELERATION
    for _ in range(20):
        made.simulator.step(made.torque()[0])
        assert made.simulator.a[given] == pytest.approx(desired[given], abs=1e-7)
    if not given.all():
        assert not np.allclose(made.simulator.a[~given], desired[~given], atol=1e-3)


def test_joints_that_are_free_get_the_torque_that_they_were_given_and_no_more():
    made = driven(chain(), (ACCELERATION, EFFORT, ZERO))
    made.drives.effort[1] = 2.5
    torque, finite = made.torque()
    assert finite and list(torque[1:]) == [2.5, 0.0] and torque[0] != 0.0


def test_an_acceleration_beyond_the_effort_limit_is_cut_and_reported():
    made = driven(chain(effort=5.0), (ACCELERATION, ZERO, ZERO))
    made.drives.acceleration[0] = 1e4
    made.simulator.step(made.torque()[0])
    assert made.simulator.tau[0] == 5.0 and made.simulator.saturated[0]
    assert made.simulator.status.saturated_steps == 1 and made.simulator.a[0] < 1e4


def test_a_joint_at_rest_breaks_away_from_its_own_friction():
    made = driven(chain(friction=(0.0, 2.0, 0.0)), (GRAVITY, ACCELERATION, POSITION))
    made.simulator.reset([0.3, -0.2, 0.1])
    made.drives.position[:] = 0.3, -0.2, 0.1
    made.drives.acceleration[1] = 0.5
    made.simulator.step(made.torque()[0], n=1)
    assert made.simulator.a[1] == pytest.approx(0.5, abs=1e-7)


def test_behind_joints_that_move_no_mass_an_acceleration_is_inverse_dynamics():
    light = robot(
        link('l0'),
        link('l1', 1.0, (0.1, 0.1, 0.1), (0.2, 0, 0)),
        link('l2'),
        joint('j0', 'l0', 'l1'),
        joint('j1', 'l1', 'l2'),
    )
    from rbd_ros import Robot

    made = Driven(Robot(light.model.with_armature({'j1': 1e-9})), 'semi_implicit')
    made.drives.mode[:] = ACCELERATION, ZERO
    made.drives.acceleration[0] = 3.0
    torque, finite = made.torque()
    assert finite and np.isfinite(torque).all()
    made.simulator.step(torque)
    assert made.simulator.a[0] == pytest.approx(3.0, abs=1e-6)


def test_a_crank_of_a_linkage_has_the_acceleration_that_it_is_given():
    linkage = four_bar()
    made = Driven(linkage)
    crank = linkage.joint_names.index(linkage.model.actuated_joints[0])
    made.drives.mode[crank] = ACCELERATION
    made.drives.acceleration[crank] = 4.0
    for _ in range(10):
        made.simulator.step(made.torque()[0])
        assert made.simulator.a[crank] == pytest.approx(4.0, rel=2e-2)
