# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults: declarations with targets and times, and their YAML format.

The files of kinds/ define their effects; `FaultInjector` applies them when they are due.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Dict, List, Mapping, Sequence, Tuple, Union

from rbd_ros.extension_points import declared_in
from rbd_ros.hil.faults import kinds
from rbd_ros.hil.faults.kinds import FaultKind
from rbd_ros.model.errors import ModelError
from rbd_ros.model.extension.extension_document import (
    Document,
    parse_document,
    read_document,
)
from rbd_ros.model.extension.fields import Field

PAGE = 'docs/hil_reference.md'

#: Channels in which messages can be disturbed: states, commands or both.
CHANNELS = ('state', 'command', 'both')


#: All kinds of faults by name.
FAULT_KINDS: Mapping[str, FaultKind] = {kind.name: kind for kind in declared_in(kinds, FaultKind)}


class FaultError(ModelError):
    """An invalid fault; the message names file, line, entry and cure."""


@dataclass(frozen=True)
class Fault:
    """One fault, and its time.

    :param kind: one of `FAULT_KINDS`
    :param value: its value, depending on the kind
    :param joints: affected joints; empty: all
    :param channel: affected messages, one of `CHANNELS`
    :param link: link that carries a payload
    :param center_of_mass: center of mass of the payload in coordinates of that link, (3,) [m]
    :param start_time: start [s]
    :param duration: duration [s]
    """

    kind: str
    value: float = 0.0
    joints: Tuple[str, ...] = ()
    channel: str = 'both'
    link: str = ''
    center_of_mass: Tuple[float, float, float] = (0.0, 0.0, 0.0)
    start_time: float = 0.0
    duration: float = math.inf

    @property
    def end(self) -> float:
        """Time of its end [s]."""
        return self.start_time + self.duration

    def is_active(self, time: float) -> bool:
        """Return whether it is active at a time [s]."""
        return self.start_time <= time < self.end

    def __str__(self) -> str:
        words = [self.kind]
        if FAULT_KINDS[self.kind].quantity:
            words.append(f'{self.value:g}')
        if self.joints:
            words.append('of ' + ', '.join(self.joints))
        if FAULT_KINDS[self.kind].scope == 'messages':
            words.append(
                {'both': 'fraction of all messages'}.get(self.channel, f'of {self.channel}s')
            )
        if self.link:
            words.append(f'at {self.link}')
        return ' '.join(words)


def read_faults(
    source: Union[str, Mapping[str, object]], joints: Sequence[str], links: Sequence[str] = ()
) -> Tuple[Fault, ...]:
    """Return the faults of a YAML text or a mapping, under the key `faults`.

    :param source: YAML text of a list or of a mapping, or a mapping with the same content
    :param joints: joints of the robot that may have faults
    :raises FaultError: if it is invalid, with line, entry and cure

    >>> from rbd_ros.hil import read_faults
    >>> text = 'faults: [{fault: joint_lock, joints: [elbow], start_time: 2, duration: 0.5}]'
    >>> fault, = read_faults(text, ['shoulder', 'elbow'])
    >>> str(fault), fault.is_active(1.9), fault.is_active(2.0), fault.is_active(2.5)
    ('joint_lock of elbow', False, True, False)
    """
    example = 'faults: [...]'
    try:
        if isinstance(source, str):
            document = parse_document(source, 'faults', example, PAGE, 'faults')
        else:
            document = read_document(source, 'faults', example, page=PAGE)
        entries = _top(document).mapping(['faults'])
        return faults_of(entries['faults'], joints, links)
    except FaultError:
        raise
    except ModelError as error:
        raise FaultError(str(error)) from None


def _top(document: Document) -> Field:
    return Field(document, document.item, 'top')


def faults_of(field: Field, joints: Sequence[str], links: Sequence[str]) -> Tuple[Fault, ...]:
    """Return the faults of a list of entries; see `read_faults`."""
    return tuple(_fault(entry, joints, links) for entry in field.sequence())


#: Keys of an entry besides `fault`, `start_time` and `duration`, by scope.
_KEYS: Dict[str, List[str]] = {
    'joints': ['joints'],
    'messages': ['channel'],
    'link': ['link', 'center_of_mass'],
    'robot': [],
}


def _fault(field: Field, joints: Sequence[str], links: Sequence[str]) -> Fault:
    named = field.mapping(['fault'], None)['fault'].choice(FAULT_KINDS)
    kind = FAULT_KINDS[named]
    required = ['fault', *(['value'] if kind.quantity else [])]
    if kind.scope == 'link':
        required.append('link')
    entries = field.mapping(required, ['start_time', 'duration', *_KEYS[kind.scope]])
    value = 0.0
    if kind.quantity:
        value = entries['value'].number(kind.minimum)
        if value > kind.maximum:
            raise entries['value'].error(
                f'{value:g} is above {kind.maximum:g}; it is the {kind.quantity}'
            )
    concerned: Tuple[str, ...] = ()
    if 'joints' in entries:
        for each in entries['joints'].sequence():
            each.choice(joints)
        concerned = entries['joints'].names()
        if not concerned:
            raise entries['joints'].error('it is empty; name joints, or leave it out for all')
    channel = entries['channel'].choice(CHANNELS) if 'channel' in entries else 'both'
    link = entries['link'].choice(links) if 'link' in entries else ''
    start_time = entries['start_time'].number(0.0) if 'start_time' in entries else 0.0
    duration = math.inf
    if 'duration' in entries:
        duration = entries['duration'].number()
        if duration <= 0.0:
            raise entries['duration'].error(f'{duration:g} must be greater than 0 [s]')
    center = (0.0, 0.0, 0.0)
    if 'center_of_mass' in entries:
        center = entries['center_of_mass'].vector()
    return Fault(named, value, concerned, channel, link, center, start_time, duration)
