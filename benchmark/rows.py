# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A row of the benchmark: measured value and goal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

SHORT = {'inverse_dynamics': 'RNEA', 'mass_matrix': 'CRBA', 'forward_dynamics': 'ABA'}


@dataclass
class Row:
    """One line of the table.

    :param section: section of the table
    :param robot: name of the robot, or of a node
    :param function: measured function
    :param unit: 'x' for a ratio, where more is better; else that of a quantity, where less is
        better
    :param floor: the goal, None without one
    :param value: measured value
    :param skipped: reason for a missing measurement
    :param freedoms: degrees of freedom of our model and of the peer's
    :param detail: data of the value; ours_ns, theirs_ns and ratio_quartiles are shown
    """

    section: str
    robot: str
    function: str
    unit: str
    floor: Optional[float]
    value: Optional[float] = None
    skipped: str = ''
    freedoms: Optional[List[int]] = None
    detail: Dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """PASS or BELOW, empty without a floor, skipped without a measurement."""
        if self.value is None:
            return 'skipped'
        if self.floor is None:
            return ''
        good = self.value >= self.floor if self.unit == 'x' else self.value <= self.floor
        return 'PASS' if good else 'BELOW'

    def fill(self, comparison: Any) -> None:
        """Set the value to the ratio of a `Comparison`."""
        self.value, self.detail = comparison.ratio, comparison.as_dict()
