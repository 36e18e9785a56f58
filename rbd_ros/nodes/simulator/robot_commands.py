"""Commands for one of several robots that are simulated as one, by its own names of joints."""

from __future__ import annotations

from typing import Dict, List, Tuple

from rbd_ros.nodes.common.joint_names import JointNames, Naming
from rbd_ros.nodes.common.wire import (
    Float64MultiArrayReader,
    JointStateReader,
    NameList,
    plain_array_pattern,
)
from rbd_ros.nodes.simulator.command_fields import NamedJoints
from rbd_ros.nodes.simulator.commands import _Known, Commands
from rbd_ros.nodes.simulator.control_tag import NO_TAG


class RobotCommands(Commands):
    """Commands that reach the same drives as those of the whole, for the joints of one robot.

    What machine code has learnt of messages is each robot's own; which commands are too old is
    the affair of the whole.

    :param whole: commands of all joints
    :param prefix: what the names of the robot's joints begin with there, such as 'left/'
    """

    def __init__(self, whole: Commands, prefix: str):
        self._whole, self._tag = whole, NO_TAG
        self._diagnostics = whole._diagnostics
        self.names, self.at_q, self.at_v = whole.names, whole.at_q, whole.at_v
        self.driven, self.drives, self.record = whole.driven, whole.drives, whole.record
        self._sent, self._sent_record = whole._sent, whole._sent_record
        # Joints of others have names here that no message can have.
        own = [n[len(prefix) :] if n.startswith(prefix) else f'\0{n}' for n in whole.names]
        self._joints = JointNames(own)
        self._passive = frozenset(
            name[len(prefix) :] for name in whole._passive if name.startswith(prefix)
        )
        self._by_name, self._by_order = JointStateReader(), Float64MultiArrayReader()
        self._namings: Dict[NameList, NamedJoints] = {}
        self.heard: Dict[Naming, None] = {}
        commanded: Tuple[str, ...] = tuple(
            own[k] for k in self.driven if whole.names[k].startswith(prefix)
        )
        self._array_order = order = self._joints.naming(commanded)
        self._known: List[_Known] = []
        self._known_array = self._learn(
            plain_array_pattern(order.size), NamedJoints(order, {}), {'effort': order.size}, False
        )

    # Of these there is one for all robots: who is told of a timeout is told of its end.

    @property
    def accepted(self) -> int:
        """How many messages have been taken."""
        return self._whole.accepted

    @accepted.setter
    def accepted(self, count: int) -> None:
        self._whole.accepted = count

    @property
    def refused(self) -> int:
        """How many messages have been refused."""
        return self._whole.refused

    @refused.setter
    def refused(self, count: int) -> None:
        self._whole.refused = count

    @property
    def _receiving(self) -> bool:
        return self._whole._receiving

    @_receiving.setter
    def _receiving(self, whether: bool) -> None:
        self._whole._receiving = whether

    @property
    def _accepted_before(self) -> int:
        return self._whole._accepted_before

    @_accepted_before.setter
    def _accepted_before(self, count: int) -> None:
        self._whole._accepted_before = count
