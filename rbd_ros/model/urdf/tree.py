# SPDX-License-Identifier: Apache-2.0
"""Tree structure of a URDF: its root, and its joints in depth-first order."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Set

from rbd_ros.model.errors import ModelError
from rbd_ros.model.urdf.urdf_document import quote


def find_root(links: Mapping[str, Any], joints: Mapping[str, Any]) -> str:
    """Return the name of the root, the only link that is not a child of a joint.

    :raises ModelError: for joints between unknown links, links with two parents, several roots,
        none, and cycles
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
    _refuse_cycles(links, parents)
    return roots[0]


def _refuse_cycles(links: Mapping[str, Any], parents: Mapping[str, Any]) -> None:
    safe: Set[str] = set()  # links from which the way to a root is known to end
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
