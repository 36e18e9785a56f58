# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Managed nodes that only respond to messages."""

from __future__ import annotations

from typing import Any, Dict, Generic, Mapping, Optional, TypeVar

from rbd_ros.nodes.common.diagnostics import Diagnostics, OK
from rbd_ros.nodes.common.managed import ACTIVE, ManagedNode, UNCONFIGURED
from rbd_ros.nodes.common.node_interface import NodeInterface
from rbd_ros.nodes.common.parameter_table import ParameterTable
from rbd_ros.robot import Robot

Prepared = TypeVar('Prepared')


class AnsweringNode(ManagedNode, Generic[Prepared]):
    """A node that answers messages, given a robot and parameters.

    A subclass implements `_prepare` and ends its constructor by `bring_up`.

    :param interface: interface of the node
    :param subject: diagnostics subject of the answers
    """

    def __init__(self, interface: NodeInterface, subject: str):
        super().__init__(interface)
        self.robot: Optional[Robot] = None
        self._subject = subject
        self._prepared: Optional[Prepared] = None
        self.parameters = ParameterTable(self, interface.parameters, self._prepare, self._commit)
        self.diagnostics = Diagnostics(self)
        self.diagnostics.add_values(subject, self._values)
        self.parameters.free = lambda: self.state == UNCONFIGURED

    def deactivate(self) -> None:
        """Answer nothing."""
        self.diagnostics.condition(self._subject, OK, 'not active', code='not active')

    def shutdown(self) -> None:
        """Answer nothing any more."""
        self.deactivate()

    def cleanup(self) -> None:
        """Drop the robot."""
        self.robot = self._prepared = None
        self.deactivate()

    def stop(self) -> None:
        """Publish the remaining diagnostics."""
        self.diagnostics.flush()

    @property
    def active(self) -> bool:
        """True if messages are answered."""
        return self.state == ACTIVE

    def _prepare(self, values: Mapping[str, Any]) -> Optional[Prepared]:
        """Return the settings computed from the parameters; None without a robot.

        :raises ValueError: if the parameters cannot be used
        """
        raise NotImplementedError

    def _commit(self, prepared: Optional[Prepared], changed: Dict[str, Any]) -> None:
        self._prepared = prepared

    def _values(self) -> Dict[str, Any]:
        """Return the key-value pairs for the diagnostics."""
        raise NotImplementedError
