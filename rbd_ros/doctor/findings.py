# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Findings of a check: level, subject, message and cure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Dict, Iterable, List

#: From harmless to severe.
LEVELS = OK, WARN, ERROR = 'ok', 'warn', 'error'


@dataclass(frozen=True)
class Finding:
    """One finding.

    :param level: one of `LEVELS`
    :param subject: a link, a joint, a topic, a part of the machine
    :param message: description
    :param cure: cure; '' if none is needed

    >>> from rbd_ros.doctor.findings import Finding
    >>> Finding('warn', 'cache', 'there is none', 'set RBD_ROS_CACHE_DIR').text()
    ['warn   cache: there is none', '       -> set RBD_ROS_CACHE_DIR']
    """

    level: str
    subject: str
    message: str
    cure: str = ''

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f'the level {self.level!r} must be one of {", ".join(LEVELS)}')

    def text(self) -> List[str]:
        """Return the lines for a terminal."""
        lines = [f'{self.level:<5}  {self.subject}: {self.message}']
        return [*lines, f'       -> {self.cure}'] if self.cure else lines

    def as_dict(self) -> Dict[str, Any]:
        """Return the fields in JSON types.

        >>> from rbd_ros.doctor.findings import Finding
        >>> Finding('ok', 'cache', 'it is used').as_dict()['subject']
        'cache'
        """
        return asdict(self)


def finding_lines(findings: Iterable[Finding]) -> List[str]:
    """Return the lines of some findings for a terminal, the worst first."""
    ordered = sorted(findings, key=lambda finding: -LEVELS.index(finding.level))
    return [f'  {line}' for finding in ordered for line in finding.text()]


def counted(findings: Iterable[Finding]) -> str:
    """Return the numbers of errors and warnings as text."""
    levels = [finding.level for finding in findings]
    return ', '.join(
        f'{levels.count(level)} {name}{"" if levels.count(level) == 1 else "s"}'
        for level, name in ((ERROR, 'error'), (WARN, 'warning'))
    )


def worst_level(findings: Iterable[Finding]) -> str:
    """Return the worst level of findings, 'ok' without any."""
    return max((finding.level for finding in findings), key=LEVELS.index, default=OK)
