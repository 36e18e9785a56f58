# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""An arm behind the topics that waits for its controller: one step for each command received.

However slow the machine is, the controller sees every state and the arm every command, so a test
of what the controller does never depends on how long something took.
"""

import time

import numpy as np
import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from support.waiting import CEILING

from rbd_ros.wire import ClockWriter, JointStateReader, JointStateWriter

TIMESTEP = 1e-3
CLOCK_STEPS = 10


class MujocoArm:
    """MuJoCo as an arm: another author's physics and another reader of the URDF.

    :param mujoco: the module
    :param xml: URDF without meshes, its joints in the order of `robot`
    """

    def __init__(self, mujoco, robot, xml):
        self._mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.model.opt.timestep = TIMESTEP
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        self.data = mujoco.MjData(self.model)
        joints = [self.model.joint(name) for name in robot.joint_names]
        self._q = np.array([joint.qposadr[0] for joint in joints])
        self._v = np.array([joint.dofadr[0] for joint in joints])
        self.model.dof_frictionloss[self._v] = robot.friction
        self.model.dof_damping[self._v] = robot.damping
        # Dry friction, not MuJoCo's soft one, which creeps: it stops a joint within one step.
        self.model.dof_solref[:] = -1e-6, -0.95 / TIMESTEP
        self.model.dof_solimp[:] = 0.9999, 0.9999, 0.001, 0.5, 2

    def reset(self, q):
        self.data.qpos[self._q] = q
        self.data.qvel[:] = 0.0

    def state(self):
        return self.data.qpos[self._q], self.data.qvel[self._v]

    def step(self, torque):
        self.data.qfrc_applied[self._v] = torque
        self._mujoco.mj_step(self.model, self.data)


class LockstepArm:
    """Publishes the state of an arm and steps it when the torque for that state has come.

    :param ros: domain of the test
    :param arm: as `SimulatedPlant` of support/closed_loop.py
    :param joint_names: its joints
    """

    def __init__(self, ros, arm, joint_names):
        self._arm, self._count = arm, len(joint_names)
        # On a node without executor: commands are taken explicitly, when they are needed.
        node = self._node = rclpy.create_node('arm', context=ros.context)
        self._states = node.create_publisher(JointState, 'joint_states', 1)
        self._clock = node.create_publisher(Clock, '/clock', 1)
        profile = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
        self._commands = node.create_subscription(
            JointState, 'joint_commands', lambda message: None, profile, raw=True
        )
        self._writer, self._clock_writer = JointStateWriter(joint_names), ClockWriter()
        self._reader = JointStateReader()
        self._steps = 1
        self.torque = np.zeros(self._count)

    @property
    def time_ns(self):
        return self._steps * round(TIMESTEP * 1e9)

    def close(self):
        self._node.destroy_node()

    def run(self, seconds):
        """Let simulated time pass; return the positions of the arm at each step, (steps, n)."""
        rows = []
        for _ in range(round(seconds / TIMESTEP)):
            self.torque = self._answer()
            self._arm.step(self.torque)
            self._steps += 1
            rows.append(self._arm.state()[0].copy())
        return np.array(rows)

    def _answer(self):
        """Return the torque for the present state."""
        q, v = self._arm.state()
        self._writer.position[:], self._writer.velocity[:] = q, v
        self._writer.set_stamp_ns(self.time_ns)
        if self._steps % CLOCK_STEPS == 0:
            self._clock_writer.set_stamp_ns(self.time_ns)
            self._clock.publish(self._clock_writer.data())
        begin = sent = time.monotonic()
        self._states.publish(self._writer.data())
        while True:
            taken = self._commands.handle.take_message(JointState, True)
            if taken is not None:
                message = self._reader.read(taken[0])
                if message.stamp == self.time_ns:
                    return message.effort.copy()
                continue
            now = time.monotonic()
            if now - sent > 0.5:  # best effort: a state may be lost before both know each other
                self._states.publish(self._writer.data())
                sent = now
            assert now - begin < CEILING, 'the controller does not answer'
            time.sleep(2e-5)
