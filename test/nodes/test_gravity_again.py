# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""gravity_compensation with all features, cleaned up and configured repeatedly."""

import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import InertiaStamped
from lifecycle_harness import ACTIVE, end_well, started
from node_harness import gravity_torque, reliable
import numpy as np
from safety_harness import gravity_of, POSE, states_at
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool
from visualization_msgs.msg import MarkerArray

AGAIN = ('deactivate', 'cleanup', 'configure', 'activate')


@pytest.fixture
def managed(ros):
    rigs = []
    yield started(ros, rigs)
    end_well(ros, rigs)


def on_its_side():
    """Return an IMU at rest on a base whose x axis points down."""
    message = Imu()
    message.header.frame_id = 'base'
    message.orientation_covariance[0] = -1.0
    message.linear_acceleration.x = -9.81
    return message


def endpoints(rig, topic):
    """Return how many of its publishers and subscriptions of a topic others see."""
    node, name = rig.ros.node, f'{rig.namespace}/{topic}'
    mine = 'gravity_compensation'
    found = (node.get_publishers_info_by_topic(name), node.get_subscriptions_info_by_topic(name))
    return [sum(each.node_name == mine for each in ends) for ends in found]


def test_hand_guiding_imu_payloads_and_markers_work_again_without_duplicates(managed):
    rig = managed(gravity_source='imu', gravity_slew_rate=100.0, payload_transition_time=0.0)
    rig.bring(ACTIVE)
    imu = rig.publisher(Imu, 'imu')
    payloads = rig.publisher(InertiaStamped, 'gravity_compensation/payload')
    topic = f'{rig.name}/model_markers'
    markers = rig.ros.listen(MarkerArray, topic, reliable(10))
    payload = InertiaStamped()
    payload.header.frame_id, payload.inertia.m = 'tool', 0.5
    tilted = {}
    for turn in range(3):
        with states_at(rig):
            rig.must_set(payload_mass=0.0)
            rig.flows(gravity_of(POSE))
            payloads.publish(payload)
            rig.flows(np.array(list(gravity_torque(POSE, 0.5).values())))
            count = len(rig.torques)
            rig.ros.until(
                lambda n=count: imu.publish(on_its_side()) or len(rig.torques) > n + 100,
                'torques with an IMU',
            )
            rig.ros.until(
                lambda: (
                    imu.publish(on_its_side())
                    or np.abs(rig.torques[-1].effort - gravity_of(POSE)).max() > 1.0
                ),
                'gravity of the IMU',
            )
            rig.ros.spin(0.3)
            tilted[turn] = rig.torques[-1].effort
            request = SetBool.Request(data=True)
            assert rig.ros.call(SetBool, f'{rig.name}/hand_guiding', request).success
            rig.ros.until_status('guiding', f'{rig.name[1:]}: hand_guiding')
            request.data = False
            assert rig.ros.call(SetBool, f'{rig.name}/hand_guiding', request).success
            seen = len(markers)
            rig.ros.until(lambda n=seen: len(markers) > n, 'markers')
        for name, ends in (
            ('joint_commands', [1, 0]),
            ('joint_states', [0, 1]),
            ('imu', [0, 1]),
            ('gravity_compensation/payload', [0, 1]),
            ('gravity_compensation/model_markers', [1, 0]),
        ):
            rig.ros.until(lambda n=name, e=ends: endpoints(rig, n) == e, f'one end of {name}')
        since = rig.ros.mark()
        rig.life.must(*AGAIN)
        rig.ros.spin(0.2)
        assert not rig.ros.status('Traceback', since=since)
    for turn in (1, 2):
        assert tilted[turn] == pytest.approx(tilted[0], abs=1e-6)


def test_outputs_for_servos_work_again(managed):
    rig = managed(servo_stiffness=[100.0], payload_transition_time=0.0, max_position_offset=1.0)
    rig.bring(ACTIVE)
    by_order = rig.ros.listen(Float64MultiArray, f'{rig.namespace}/position_commands')
    targets = rig.publisher(JointState, 'joint_targets')
    expected = np.array(POSE) + gravity_of(POSE) / 100.0
    for _ in range(3):
        with states_at(rig):
            count = len(by_order)
            rig.ros.spin(0.3)
            assert len(by_order) == count  # targets of an earlier life are forgotten
            targets.publish(JointState(name=['shoulder', 'elbow'], position=list(POSE)))
            rig.ros.until(
                lambda n=count: (
                    len(by_order) > n + 3 and np.abs(by_order[-1].data - expected).max() < 1e-9
                ),
                'positions',
            )
        assert endpoints(rig, 'position_commands') == [1, 0]
        rig.life.must(*AGAIN)
        rig.ros.until(targets.get_subscription_count, 'a subscription')
    rig.torques.clear()  # they are positions
