# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Commands for one of several robots that are simulated as one, by its own names of joints."""

from __future__ import annotations

from rbd_ros.nodes.messages.joint_names import JointNames
from rbd_ros.nodes.simulator.commands.command_messages import Commands
from rbd_ros.nodes.simulator.commands.control_tag import NO_TAG


class RobotCommands(Commands):
    """Commands that reach the same drives as those of the whole, for the joints of one robot.

    What machine code has learned of messages is each robot's own; which commands are too old, and
    the reports, are the affair of the whole: a reported timeout gets its end reported.

    :param whole: commands of all joints
    :param prefix: what the names of the robot's joints begin with there, such as 'left/'
    """

    def __init__(self, whole: Commands, prefix: str):
        self.reports = whole.reports
        self.names, self.at_q, self.at_v = whole.names, whole.at_q, whole.at_v
        self.driven, self.drives, self.record = whole.driven, whole.drives, whole.record
        self.sent, self.sent_record = whole.sent, whole.sent_record
        # Joints of others have names here that no message can have.
        own = [n[len(prefix) :] if n.startswith(prefix) else f'\0{n}' for n in whole.names]
        passive = frozenset(
            name[len(prefix) :] for name in whole._passive if name.startswith(prefix)
        )
        commanded = [own[k] for k in self.driven if whole.names[k].startswith(prefix)]
        joints = JointNames(own)
        self._read_by(joints, passive, joints.naming(commanded), NO_TAG)
