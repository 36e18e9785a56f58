# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joints of a URDF: their tree, and mimic joints as gears (book 9.6)."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Set, Tuple

from rbd_ros.model.errors import ModelError
from rbd_ros.model.model import Coupling
from rbd_ros.model.urdf.schema import MAX_MAGNITUDE
from rbd_ros.model.urdf.urdf_document import quote

_SINGLE = ('revolute', 'continuous', 'prismatic')


def find_root(links: Mapping[str, Any], joints: Mapping[str, Any]) -> str:
    """Return the name of the root, the only link that is not a child of a joint.

    :raises ModelError: for joints between unknown links, links with two parents, several roots,
        no root, and cycles
    """
    parents: Dict[str, Any] = {}
    for joint in joints.values():
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in links:
                raise ModelError(
                    f'joint {quote(joint.name)}: its {role} link {quote(link)} does not exist; '
                    'correct the name or add the link'
                )
        if joint.parent == joint.child:
            raise ModelError(
                f'joint {quote(joint.name)} connects link {quote(joint.child)} to itself; '
                'give it a parent and a child that differ'
            )
        if joint.child in parents:
            raise ModelError(
                f'link {quote(joint.child)} is the child of two joints, '
                f'{quote(parents[joint.child].name)} and {quote(joint.name)}; '
                'a URDF is a tree, remove one of them'
            )
        parents[joint.child] = joint
    roots = [name for name in links if name not in parents]
    if len(roots) > 1:
        raise ModelError(
            f'{len(roots)} links have no parent: {_names(roots)}; a robot has one root, '
            'connect the others by joints (of type fixed if they do not move)'
        )
    _reject_cycles(links, parents)
    return roots[0]


def _reject_cycles(links: Mapping[str, Any], parents: Mapping[str, Any]) -> None:
    safe: Set[str] = set()  # links from which the path to a root is known to end
    for link in links:
        path: Dict[str, None] = {}
        while link in parents and link not in safe:
            if link in path:
                cycle = list(path)[list(path).index(link) :]
                names = [parents[name].name for name in cycle]
                raise ModelError(
                    f'links {_names(cycle)} form a cycle (joints {_names(names)}); '
                    'a URDF is a tree, remove one of these joints'
                )
            path[link] = None
            link = parents[link].parent
        safe.update(path)


def depth_first_joints(
    root: str, links: Mapping[str, Any], joints: Mapping[str, Any]
) -> List[str]:
    """Return names of the joints, parents before children, siblings in the order of the file."""
    children: Dict[str, List[Any]] = {}
    for joint in joints.values():
        children.setdefault(joint.parent, []).append(joint)
    order, stack = [], list(reversed(children.get(root, [])))
    while stack:
        joint = stack.pop()
        order.append(joint.name)
        stack.extend(reversed(children.get(joint.child, [])))
    return order


def _names(names: List[str]) -> str:
    shown = ', '.join(quote(name) for name in names[:10])
    return shown if len(names) <= 10 else f'{shown} and {len(names) - 10} more'


class _Gear(NamedTuple):
    """Gear q = ratio * q_master + offset; a joint without a master is fixed at the offset."""

    master: Optional[str]
    ratio: float
    offset: float


class Gears:
    """Mimic joints of a description, each a gear on the joint at the end of its chain.

    A joint that mimics an unknown one is independent and listed in `dangling`, unless `strict`.

    :param joints: parsed joints by name
    :param strict: whether it is an error to mimic an unknown joint
    :raises ModelError: for cycles, and for joints without exactly one degree of freedom
    """

    def __init__(self, joints: Mapping[str, Any], strict: bool = False):
        self._joints = joints
        self.dangling = [
            name
            for name, joint in joints.items()
            if _mimics(joint) and joint.mimic.joint not in joints
        ]
        self._independent = frozenset(self.dangling)
        if strict and self.dangling:
            name = self.dangling[0]
            raise ModelError(
                f'joint {quote(name)} mimics joint {quote(joints[name].mimic.joint)}, '
                'which does not exist; correct the name or remove the <mimic>'
            )
        self._gears: Dict[str, _Gear] = {}
        for name, joint in joints.items():
            if _mimics(joint):
                self._resolve(name)

    def frozen(self, name: str) -> Optional[float]:
        """Return the position of a joint that mimics a fixed one, and thus is fixed, or None."""
        gear = self._gears.get(name)
        return gear.offset if gear is not None and gear.master is None else None

    def couplings(self, numbers: Mapping[str, int]) -> Tuple[Coupling, ...]:
        """Return the gear constraints between bodies, in the order of their numbers.

        :param numbers: number of the body of each moving joint, by joint name
        """
        return tuple(
            Coupling(numbers[name], numbers[gear.master], gear.ratio, gear.offset)
            for name, gear in sorted(self._gears.items(), key=lambda item: numbers.get(item[0], 0))
            if gear.master is not None
        )

    def _resolve(self, name: str) -> None:
        chain: Dict[str, None] = {}
        while (
            name not in self._gears
            and _mimics(self._joints[name])
            and name not in self._independent
        ):
            chain[name] = None
            name = self._master(name, chain)
        gear = self._gears.get(name)
        if gear is None:
            fixed = self._joints[name].type == 'fixed'
            gear = _Gear(None, 0.0, 0.0) if fixed else _Gear(name, 1.0, 0.0)
        for follower in reversed(list(chain)):
            mimic = self._joints[follower].mimic
            ratio = 1.0 if mimic.multiplier is None else mimic.multiplier
            offset = 0.0 if mimic.offset is None else mimic.offset
            gear = _Gear(gear.master, ratio * gear.ratio, ratio * gear.offset + offset)
            if max(abs(gear.ratio), abs(gear.offset)) > MAX_MAGNITUDE:
                raise ModelError(
                    f'joint {quote(follower)}: the multipliers and offsets of the joints that it '
                    'mimics are too large; correct its <mimic>'
                )
            self._gears[follower] = gear

    def _master(self, name: str, chain: Mapping[str, None]) -> str:
        joint = self._joints[name]
        master: str = joint.mimic.joint
        if joint.type not in _SINGLE:
            raise ModelError(
                f'joint {quote(name)} is {joint.type} and cannot mimic another; remove its <mimic>'
            )
        if master == name:
            raise ModelError(
                f'joint {quote(name)} mimics itself; '
                'name the joint that drives it in <mimic joint="...">'
            )
        if master in chain:
            raise ModelError(
                f'joints {", ".join(map(quote, list(chain)[:10]))} mimic one another in a circle; '
                'remove the <mimic> of the one that drives the others'
            )
        kind = self._joints[master].type
        if kind not in (*_SINGLE, 'fixed'):
            raise ModelError(
                f'joint {quote(name)} mimics joint {quote(master)}, which is {kind}; '
                'only revolute, continuous and prismatic joints can be mimicked'
            )
        return master


def _mimics(joint: Any) -> bool:
    """Return whether a joint mimics another one; a <mimic> in a fixed joint is ignored."""
    return joint.mimic is not None and joint.type != 'fixed'
