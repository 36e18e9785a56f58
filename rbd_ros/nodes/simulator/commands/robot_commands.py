# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Commands for one of several robots of a simulation, with its own joint names."""

from __future__ import annotations

from rbd_ros.nodes.messages.joint_names import JointNames
from rbd_ros.nodes.simulator.commands.command_messages import Commands
from rbd_ros.nodes.simulator.commands.control_tag import NO_TAG


class RobotCommands(Commands):
    """Commands for the joints of one robot, which share the drives of the whole simulation.

    Each robot has its own message patterns. Timeouts and reports belong to the whole: it reports
    both the begin and the end of a timeout.

    :param whole: commands of all joints
    :param prefix: prefix of the robot's joint names in the whole, such as 'left/'
    """

    def __init__(self, whole: Commands, prefix: str):
        self.reports = whole.reports
        self.names, self.at_q, self.at_v = whole.names, whole.at_q, whole.at_v
        self.driven, self.drives, self.record = whole.driven, whole.drives, whole.record
        self.sent, self.sent_record = whole.sent, whole.sent_record
        # Joints of other robots get names that no message contains.
        own = [n[len(prefix) :] if n.startswith(prefix) else f'\0{n}' for n in whole.names]
        passive = frozenset(
            name[len(prefix) :] for name in whole._passive if name.startswith(prefix)
        )
        commanded = [own[k] for k in self.driven if whole.names[k].startswith(prefix)]
        joints = JointNames(own)
        self._read_by(joints, passive, joints.naming(commanded), NO_TAG)
