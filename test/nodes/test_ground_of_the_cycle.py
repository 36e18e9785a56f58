# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ground of the simulator node, rigid or compliant, without a node."""

import pytest
from support import outside

outside.load('rclpy')

from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray
from test_world_interface import G, PRESS, Rig

from rbd_ros.world import extend_world

#: What is computed is asked, not how quickly: see conftest.py.
OPTIMIZED = False

HEIGHT = 0.15  # 6 cm below the foot [m]
BALL = {'type': 'sphere', 'radius': 0.05, 'xyz': [1, 0, 0.5], 'static': False, 'mass': 1.0}


@pytest.fixture(scope='module')
def rig(tmp_path_factory):
    folder = tmp_path_factory.mktemp('rigid')
    options = {'ground_height': HEIGHT, 'contact_friction': 0.3, 'command_timeout': 0.0}
    return Rig(folder, world='', ground=True, **options)


def test_rigid_ground_is_a_world_and_holding_brakes_nonetheless(rig):
    rig.cycle.reset()
    world = rig.simulator.world
    assert world.names == ('robot', 'ground')
    assert world['ground'].pose[2, 3] == HEIGHT
    assert world.surface_between('robot/foot', 'ground').surface.friction == (0.3, 0.3)
    rig.run(20)
    assert rig.simulator.status.steps == 0 and rig.simulator.q[0] == 0.0


def test_contacts_with_rigid_ground_are_reported_as_in_a_world(rig):
    rig.cycle.reset()
    rig.ports.by_order.append(serialize_message(Float64MultiArray(data=[0.0])))
    rig.run(400)
    assert rig.simulator.q[0] == pytest.approx(HEIGHT + 0.05 - 0.26, abs=1e-4)
    (wrench,) = (each for each in rig.world.wrenches[-1:] if each.header.frame_id == 'foot')
    assert wrench.wrench.force.z == pytest.approx(PRESS * G, rel=1e-6)
    assert rig.cycle.world_interface.values()['residual_contact'] < 1e-8


def test_brakes_are_off_when_an_object_comes_that_moves(rig):
    rig.cycle.reset()
    world = extend_world(rig.simulator.world, {'objects': {'ball': BALL}})
    rig.cycle.change_world(rig.cycle.prepared_world(world))
    rig.run(20)
    assert rig.simulator.status.steps == 20
    assert rig.simulator.object_pose('ball')[2, 3] < 0.5
    assert rig.simulator.q[0] == pytest.approx(0.0, abs=1e-6)  # held by its servo


def test_compliant_ground_is_available_on_request(tmp_path):
    soft = {'contact_stiffness': 1e4, 'contact_damping': 1e2, 'initial_command': 'zero'}
    rig = Rig(
        tmp_path,
        world='',
        ground=True,
        ground_contact_model='compliant',
        ground_height=HEIGHT,
        **soft,
    )
    assert rig.simulator.world is None and rig.cycle.world_interface is None
    assert rig.simulator.ground.offset == HEIGHT
    rig.run(2000)
    assert rig.simulator.q[0] == pytest.approx(HEIGHT - 0.21 - PRESS * G / 1e4, abs=1e-6)
