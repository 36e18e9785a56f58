# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Stand-in for ros2_control_node with hardware by topics, as a separate process.

Each contract was checked against the source (branches jazzy; main of the hardware interface):

loop controller_manager/src/ros2_control_node.cpp, main(): wait_until_started(), then sleep_for(1 /
            update_rate), then a sleep of one period of real time, then for ever read(), update(),
            write() at now() of the clock, and sleep_until(previous + period)
            (sleeping_policies.cpp, sleep_for_sim_time()) sleep rclcpp/src/rclcpp/clock.cpp,
            Clock::sleep_until(): compares now() and waits for a jump of the clock, without a lock
            against one in between; wait_until_started(): until the first time that is not zero.
            When time goes back, it sleeps on clock rclcpp/src/rclcpp/time_source.cpp: best effort,
            depth 1, in a thread of each node; rcl_set_ros_time_override() notifies sleepers only
            of another time hardware joint_state_topic_hardware_interface.cpp: a separate node in
            the executor takes the newest state in its callback; read() copies it; write()
            publishes the commands of all joints, NaN without a controller, unless they are within
            trigger_joint_command_threshold of the states (-1: always); their stamp is the time of
            that node's own clock, which may lag behind activation controller_manager.cpp, update()
            -> manage_switch(): controllers get active in a cycle; resource_manager.cpp, write():
            only active hardware writes trajectory joint_trajectory_controller.cpp,
            validate_trajectory_msg(): one that ends in the past is rejected; trajectory.cpp,
            sample(): from the state at its arrival to its first point

A real one (controller_manager 4.46.0, joint_trajectory_controller 4.42.1, the hardware interface
1.1.0, rclcpp 28.1.6, Fast DDS) ran in lockstep with the simulator and in the bench, with and
without real-time priority: one cycle per period, and bitwise identical runs.

It writes one line per cycle: [time, measured period, position of the state read, active].
"""

import argparse
import json
import math
import sys
import threading
import time

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

CLOCK_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
HARDWARE_ACTIVE = 3  # cycles before the hardware is
SWITCHED = 6  # and before the controllers are, usually
LATE_CYCLES = 3  # of controllers that have just become active


class SimulatedTime:
    """Clock of a node, with a separate thread."""

    def __init__(self):
        self.changed, self.now = threading.Condition(), 0

    def hear(self, message):
        now = message.clock.sec * 10**9 + message.clock.nanosec
        if now != self.now:
            with self.changed:
                self.now = now
                self.changed.notify_all()

    def sleep_until(self, until, miss=False):
        """Sleep; a wake-up that is missed comes between the comparison and the wait."""
        with self.changed:
            while self.now < until or miss:
                self.changed.wait()
                if miss and self.now >= until:
                    miss = False
                    self.changed.wait()


class Manager:
    def __init__(self, options):
        self.options = options
        self.joints = options.joints.split(',')
        self.miss_at = options.miss * 1e6
        self.clock, self.latest, self.trajectory = SimulatedTime(), None, None
        self.log = open(options.log, 'a', buffering=1)
        # The clock's own thread, and the executor's.
        self.manager = rclpy.create_node('controller_manager')
        self.manager.create_subscription(Clock, '/clock', self.clock.hear, CLOCK_QOS)
        self.hardware = rclpy.create_node('simulated_hardware')
        self.hardware.create_subscription(
            JointState, 'joint_states', self.hear, qos_profile_sensor_data
        )
        self.hardware.create_subscription(JointTrajectory, 'joint_trajectory', self.follow, 1)
        self.out = None
        for node in (self.manager, self.hardware):
            threading.Thread(target=self.spin, args=(node,), daemon=True).start()

    @staticmethod
    def spin(node):
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        try:
            executor.spin()
        except ExternalShutdownException:
            pass

    def hear(self, state):
        time.sleep(self.options.slow)  # of a busy machine
        self.latest = state

    def follow(self, message):
        start = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        points = [
            (start + p.time_from_start.sec * 10**9 + p.time_from_start.nanosec, p.positions)
            for p in message.points
        ]
        if start and points[-1][0] < self.clock.now:
            print('Received trajectory with non-zero start time that ends in the past', flush=True)
        else:
            self.trajectory = points

    def run(self):
        """Run the thread of ros2_control_node."""
        period, cycles = 10**9 // self.options.update_rate, 0
        self.clock.sleep_until(1)
        self.clock.sleep_until(self.clock.now + round(1e9 / self.options.update_rate))
        previous = self.clock.now
        time.sleep(period * 1e-9)
        while True:
            now = self.clock.now
            measured, previous = now - previous, now
            state = self.latest  # read()
            if cycles == HARDWARE_ACTIVE:
                self.out = self.hardware.create_publisher(JointState, 'joint_commands', 1)
            active = cycles >= self.options.switched and state is not None
            commands = self.update(state, now) if active else [math.nan] * len(self.joints)
            position = None if state is None else list(state.position)
            self.log.write(json.dumps([now, measured, position, active]) + '\n')
            if self.out is not None:
                late = SWITCHED <= cycles < SWITCHED + LATE_CYCLES
                time.sleep(self.options.late * late)
                self.write(commands, now - period)
            cycles += 1
            miss = now >= self.miss_at
            self.miss_at = math.inf if miss else self.miss_at
            self.clock.sleep_until(previous + period, miss)

    def update(self, state, now):
        order = [list(state.name).index(name) for name in self.joints]
        q, v = ([values[i] for i in order] for values in (state.position, state.velocity))
        desired = self.desired(now)
        if desired is None:  # continued motion: a function of the state alone
            return [2.0 * b * (1.0 - b * b) for b in v]
        return [20.0 * (x - a) - 2.0 * b for x, a, b in zip(desired, q, v)]

    def desired(self, now):
        points = self.trajectory
        if points is None:
            return None
        if now <= points[0][0]:
            return points[0][1]
        for (begin, a), (end, b) in zip(points, points[1:]):
            if begin < now <= end:
                s = (now - begin) / (end - begin)
                return [x + s * (y - x) for x, y in zip(a, b)]
        return points[-1][1]

    def write(self, efforts, stamp):
        message = JointState(name=self.joints, effort=efforts)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        self.out.publish(message)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('log')
    parser.add_argument('--joints', default='shoulder,elbow')
    parser.add_argument('--update-rate', type=int, default=100)
    parser.add_argument('--slow', type=float, default=0.0, help='callback of the state [s]')
    parser.add_argument('--late', type=float, default=0.0, help='first active cycles take it [s]')
    parser.add_argument(
        '--miss', type=float, default=math.inf, help='when a wake-up is missed [ms]'
    )
    parser.add_argument('--switched', type=float, default=SWITCHED, help='cycle of activation')
    options = parser.parse_args(sys.argv[1:])
    rclpy.init()
    try:
        Manager(options).run()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
