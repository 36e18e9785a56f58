# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A monitor that judges every torque that a node publishes, by the times of publication.

There is one rule for any two messages: they differ by no more than `torque_rate_limit` times the
time between them. No torque is ever beyond the limits of the robot description.
"""

from node_harness import reliable
import numpy as np
from sensor_msgs.msg import JointState

#: Rounding of torques [N m], and of times that the middleware gives in nanoseconds [s].
TORQUE_ROUNDING, TIME_ROUNDING = 1e-9, 1e-8


def excess_of_rate(times, efforts, rate):
    """Return how far torques changed beyond a rate, over any stretch of time [N m].

    :param times: of publication, (N,) [s]
    :param efforts: (N, n) [N m]
    """
    worst = -np.inf
    for sign in (1.0, -1.0):
        height = sign * np.asarray(efforts) - rate * np.asarray(times)[:, None]
        lowest = np.minimum.accumulate(height, axis=0)
        worst = max(worst, float((height[1:] - lowest[:-1]).max(initial=-np.inf)))
    return worst


class TorqueMonitor:
    """Listener to `joint_commands` of a namespace, which keeps and judges everything.

    :param ros: the ROS domain
    :param namespace: of the node
    :param limits: effort limits of the robot description, (n,) [N m]
    :param rate: largest change of torque [N m/s]
    """

    def __init__(self, ros, namespace, limits, rate):
        self.limits, self.rate = np.array(limits, dtype=float), rate
        self._heard = []
        ros.node.create_subscription(
            JointState, f'{namespace}/joint_commands', self._on_torque, reliable(5000)
        )

    def _on_torque(self, message, information):
        self._heard.append((information['source_timestamp'], np.array(message.effort)))

    def __len__(self):
        return len(self._heard)

    @property
    def last(self):
        """The last torque, (n,)."""
        return self._heard[-1][1]

    def judge(self):
        """Judge all torques so far."""
        stamps = [at for at, _ in self._heard]
        efforts = np.array([effort for _, effort in self._heard])
        assert len(stamps) > 1
        assert np.isfinite(efforts).all()
        assert (np.abs(efforts) <= self.limits + TORQUE_ROUNDING).all()
        times = np.array([at - stamps[0] for at in stamps]) * 1e-9
        excess = excess_of_rate(times, efforts, self.rate)
        assert excess <= TORQUE_ROUNDING + self.rate * TIME_ROUNDING, f'{excess} N m too much'
