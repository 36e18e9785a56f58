# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torque nodes of robots with loops, over DDS: actuator torques, for any measured joints."""

import math

import numpy as np
import pytest
from support import outside
from support.four_bar_statics import holding_torque, positions, slope

outside.load('rclpy')

from node_harness import effort_by_name, Feed, joint_state
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
import yaml

from rbd_ros.lookup.resources import resource_path

FOUR_BAR = str(resource_path('urdf', 'four_bar.urdf'))
PIN = str(resource_path('config', 'four_bar.yaml'))
CRANK = 'crank_joint'

#: An arm whose first link a cylinder and its piston move, a triangle of sides L1 and L2.
L1, L2, ARM, FOREARM = 0.9, 0.6, 1.1, 0.7
MASSES = {'arm': (4.0, 0.5), 'cylinder': (1.5, 0.2), 'piston': (0.8, -0.15), 'forearm': (2.0, 0.3)}


def triangle_urdf():
    def link(name):
        mass, x = MASSES[name]
        return (
            f'<link name="{name}"><inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/>'
            '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )

    def joint(name, kind, parent, child, x, axis, limit):
        return (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{x} 0 0"/><axis xyz="{axis}"/>{limit}</joint>'
        )

    passive = '<limit lower="-9" upper="9" effort="0" velocity="9"/>'
    return (
        '<robot name="triangle"><link name="base"/>'
        + ''.join(map(link, MASSES))
        + joint('arm_joint', 'revolute', 'base', 'arm', 0.0, '0 -1 0', passive)
        + joint('tilt', 'revolute', 'base', 'cylinder', L1, '0 -1 0', passive)
        + joint('stroke', 'prismatic', 'cylinder', 'piston', 0.0, '1 0 0',
                '<limit lower="0" upper="2" effort="900" velocity="1"/>')
        + joint('elbow', 'revolute', 'arm', 'forearm', ARM, '0 -1 0',
                '<limit lower="-3" upper="3" effort="60" velocity="2"/>')
        + '</robot>'
    )  # fmt: skip


TRIANGLE_LOOPS = {
    'loops': {
        'rod': {
            'type': 'revolute',
            'axis': [0, -1, 0],
            'predecessor': {'frame': 'arm', 'xyz': [L2, 0, 0]},
            'successor': 'piston',
        }
    }
}


def triangle_positions(angle, elbow):
    """Return the arm, tilt, stroke and elbow by plane trigonometry."""
    x, z = L2 * math.cos(angle) - L1, L2 * math.sin(angle)
    return np.array([angle, math.atan2(z, x), math.hypot(x, z), elbow])


def triangle_potential(angle, elbow):
    _, tilt, stroke, _ = triangle_positions(angle, elbow)
    height = {
        'arm': MASSES['arm'][1] * math.sin(angle),
        'cylinder': MASSES['cylinder'][1] * math.sin(tilt),
        'piston': (stroke + MASSES['piston'][1]) * math.sin(tilt),
        'forearm': ARM * math.sin(angle) + MASSES['forearm'][1] * math.sin(angle + elbow),
    }
    return 9.81 * sum(MASSES[name][0] * height[name] for name in MASSES)


def triangle_torques(angle, elbow):
    """Return the force of the piston and torque of the elbow by virtual work."""
    work = slope(lambda a: triangle_potential(a, elbow), angle)
    stroke = slope(lambda a: triangle_positions(a, elbow)[2], angle)
    return {
        'stroke': work / stroke,
        'elbow': slope(lambda e: triangle_potential(angle, e), elbow),
    }


class Rig:
    """A node, a publisher of states, and everything the node has published."""

    def __init__(self, ros, kind, parameters):
        self.ros = ros
        self.by_name = ros.listen(JointState, 'joint_commands')
        self.by_order = ros.listen(Float64MultiArray, 'effort_commands')
        self.process = ros.start(kind, parameters)
        self.states = ros.publisher(JointState, 'joint_states')

    def feed(self, names, position, velocity=None):
        velocity = np.zeros(len(names)) if velocity is None else velocity
        return Feed(self.states, joint_state(names, position=position, velocity=velocity))

    def torque(self):
        """Return a torque sent from now on, on both topics."""
        for received in (self.by_name, self.by_order):
            count = len(received)
            self.ros.until(lambda r=received, n=count: len(r) > n + 1, 'a torque')
        return effort_by_name(self.by_name[-1])

    def end(self):
        assert self.process.stop() == 0
        assert 'Traceback' not in self.process.output()
        self.ros.processes.remove(self.process)
        finite = [x for m in self.by_name for x in m.effort]
        assert finite and np.isfinite(finite).all()


@pytest.fixture(scope='module')
def rig(ros):
    rig = Rig(
        ros, 'gravity_compensation', {'robot_description_file': FOUR_BAR, 'extension_file': PIN}
    )
    yield rig
    rig.end()


def crank_at(rig, angle):
    """Lead the crank to an angle, so that the assembly stays."""
    q = positions(angle)
    return q, rig.feed(['crank_joint', 'coupler_joint', 'rocker_joint'], q)


@pytest.mark.parametrize('angle', [0.6, 1.4])
def test_the_motor_holds_the_linkage_as_virtual_work_says(rig, angle):
    q, feed = crank_at(rig, angle)
    with feed:
        holds = pytest.approx(holding_torque(angle), abs=1e-6)
        rig.ros.until(lambda: rig.torque()[CRANK] == holds, 'the torque of this angle')
        since = rig.ros.mark()
    assert list(rig.by_order[-1].data) == pytest.approx([holding_torque(angle)], abs=1e-6)
    rig.ros.until_status('last torque sent', 'torque', since=since)
    with rig.feed([CRANK], [angle + 0.01]):
        rig.ros.until(
            lambda: rig.torque()[CRANK] == pytest.approx(holding_torque(angle + 0.01), abs=1e-6),
            'the torque with the motor measured alone',
        )


def test_the_other_assembly_has_other_torques(rig):
    q = positions(0.9, -1.0)
    with rig.feed(['rocker_joint', CRANK], [q[2], q[0]]):
        rig.ros.until(
            lambda: rig.torque()[CRANK] == pytest.approx(holding_torque(0.9, -1.0), abs=1e-6),
            'the torque of the other assembly',
        )


def test_a_state_that_contradicts_the_loops_stops_the_torque(rig):
    q, feed = crank_at(rig, 0.9)
    with feed:
        rig.torque()
        since = rig.ros.mark()
        feed.message = joint_state([CRANK, 'rocker_joint'], position=[q[0], q[2] + 0.4])
        rig.ros.until_status("position of joint 'rocker_joint'", 'joint_states', since=since)
        rig.ros.until_status('last torque sent: zero', 'torque', since=since)
        rig.ros.until(lambda: rig.by_name[-1].effort[0] == 0.0, 'zero torque')
        feed.message = joint_state([CRANK, 'rocker_joint'], position=[q[0], q[2]])
        assert rig.torque()[CRANK] == pytest.approx(holding_torque(0.9), abs=1e-6)


@pytest.mark.parametrize('value', [math.nan, math.inf, 1e300])
def test_invalid_states_stop_the_torque(rig, value):
    _, feed = crank_at(rig, 0.9)
    with feed:
        rig.torque()
        since = rig.ros.mark()
        feed.message = joint_state([CRANK], position=[value])
        rig.ros.until_status('last torque sent: zero', 'torque', since=since)


def test_torques_stay_within_the_limits(rig):
    rig.ros.set_parameter('/gravity_compensation', 'effort_limits', [0.5])
    q, feed = crank_at(rig, 0.6)
    with feed:
        rig.ros.until(lambda: rig.torque() == {CRANK: 0.5}, 'the limit')
    rig.ros.set_parameter('/gravity_compensation', 'effort_limits', [])


def test_a_payload_hangs_on_the_linkage_too(rig):
    for name, value in (('payload_link', 'rocker'), ('payload_center_of_mass', [0.4, 0.0, 0.0])):
        rig.ros.set_parameter('/gravity_compensation', name, value)
    rig.ros.set_parameter('/gravity_compensation', 'payload_mass', 0.5)
    q, feed = crank_at(rig, 0.8)
    with feed:
        expected = pytest.approx(holding_torque(0.8, payload=0.5), abs=1e-6)
        rig.ros.until(lambda: rig.torque()[CRANK] == expected, 'the torque with the payload')
    rig.ros.set_parameter('/gravity_compensation', 'payload_mass', 0.0)


def test_piston_and_elbow_hold_the_triangle_arm(ros, tmp_path, rig):
    file = tmp_path / 'triangle.yaml'
    file.write_text(yaml.safe_dump(TRIANGLE_LOOPS))
    q = triangle_positions(0.7, -0.9)
    arm = Rig(
        ros,
        'gravity_compensation',
        {'robot_description': triangle_urdf(), 'extension_file': str(file)},
    )
    names = ['arm_joint', 'tilt', 'stroke', 'elbow']
    expected = {k: pytest.approx(x, rel=1e-6) for k, x in triangle_torques(0.7, -0.9).items()}
    with arm.feed(names, q):
        ros.until(lambda: arm.torque() == expected, 'piston and elbow')
        since = ros.mark()
    ros.until_status('last torque sent', 'torque', since=since)  # all states are out of date
    with arm.feed(['elbow', 'stroke'], [q[3], q[2]]):
        ros.until(lambda: arm.torque() == expected, 'piston and elbow, measured alone')
    arm.end()
