# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bodies pressed between fixed ones (CN03): no hang, no NaN, and bounded penetration."""

import numpy as np
import pytest
from support.rigid_worlds import ball, simulated, worst_residual
from support.simulated_robots import sled


def slot(width):
    """Return two walls that stand so far apart."""
    wall = {'type': 'box', 'size': [0.1, 1.0, 1.0]}
    side = 0.5 * width + 0.05
    return {'left': {**wall, 'xyz': [-side, 0, 0]}, 'right': {**wall, 'xyz': [side, 0, 0]}}


@pytest.mark.seed('CN03', kind='part')
@pytest.mark.parametrize('width', [0.1999, 0.199, 0.15])
def test_a_ball_driven_into_a_slot_that_is_too_narrow_jams(width):
    """At its mouth, by the wedge that corners and ball make; it never falls through."""
    start = ball(z=0.7, velocity=(0, 0, -5.0), friction=0.5)
    simulator = simulated(floor=False, disc=start, **slot(width))
    simulator.apply_wrench('disc', [0, 0, 0, 0, 0, -1e4], 10.0)
    simulator.step(n=1000)
    assert simulator.status.unconverged_steps == 0 and worst_residual(simulator) < 1e-6
    assert np.abs(simulator.object_velocity('disc')).max() < 1e-7
    # Where a circle of 0.1 m touches the edges of the walls.
    assert simulator.object_pose('disc')[2, 3] == pytest.approx(
        0.5 + np.sqrt(0.1**2 - (0.5 * width) ** 2), abs=1e-3
    )
    assert max(abs(contact.depth) for contact in simulator.contacts) < 1e-3


def box_on_a_rail(limit):
    """Return a box along x with a lower limit."""
    return sled(1.0, 'box size="0.2 0.2 0.2"', limit, 1.0, velocity=10.0)


@pytest.mark.seed('CN03', kind='part')
def test_a_servo_that_presses_a_ball_against_a_wall_stops_where_nothing_gives_way():
    wall = {'type': 'box', 'size': [0.1, 1.0, 1.0], 'xyz': [0.45, 0, 0]}
    simulator = simulated(
        robot=box_on_a_rail(-1.0), floor=False, wall=wall,
        low={'type': 'plane', 'xyz': [0, 0, -0.1]},
        disc=ball(0.3, z=0.0, mass=0.1, friction=0.5),
    )  # fmt: skip
    simulator.reset([0.09])
    simulator.set_joint_pd([0.2], kp=1e6, kd=2e3)
    simulator.step(n=1000)
    assert simulator.status.unconverged_steps == 0
    assert simulator.q[0] == pytest.approx(0.1, abs=1e-4) and abs(simulator.v[0]) < 1e-6
    assert simulator.tau[0] == pytest.approx(1e6 * (0.2 - simulator.q[0]), rel=1e-3)
    assert max(contact.depth for contact in simulator.contacts) < 1e-3


@pytest.mark.seed('CN03', kind='part')
@pytest.mark.parametrize('beyond', [0.05, 0.001])
def test_a_joint_beyond_its_limit_that_a_wall_keeps_there_stays_at_the_wall(beyond):
    wall = {'type': 'box', 'size': [0.1, 1.0, 1.0], 'xyz': [0.15 - beyond, 0, 0]}
    simulator = simulated(robot=box_on_a_rail(0.0), floor=False, wall=wall)
    simulator.reset([-beyond])
    assert any('outside its limits' in text for text in simulator.warnings)
    simulator.step([0.0], n=1000)
    assert simulator.status.unconverged_steps == 0 and abs(simulator.v[0]) < 1e-9
    assert simulator.q[0] == pytest.approx(-beyond, abs=1e-3)
