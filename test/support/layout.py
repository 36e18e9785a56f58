# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""An independent reading of a URDF: the order of joints, the size of q and v, and random states.

It implements the specification (depth-first, siblings in file order, no degrees of freedom of
mimic and fixed joints) without code of the package.
"""

from dataclasses import dataclass, field
from pathlib import Path
import xml.etree.ElementTree as ElementTree

import numpy as np

NQ = {'revolute': 1, 'continuous': 1, 'prismatic': 1, 'planar': 3, 'floating': 7}
NV = {'revolute': 1, 'continuous': 1, 'prismatic': 1, 'planar': 3, 'floating': 6}


@dataclass
class Joint:
    """One independent joint and its places in q and v."""

    name: str
    type: str
    q: slice
    v: slice


@dataclass
class Layout:
    """Order of joints and links of a URDF."""

    joints: list = field(default_factory=list)
    links: list = field(default_factory=list)  # depth-first
    mimics: dict = field(
        default_factory=dict
    )  # follower: (leader, ratio, offset), leader independent
    types: dict = field(default_factory=dict)  # of all joints that move
    parent_link: dict = field(default_factory=dict)  # joint: link
    child_link: dict = field(default_factory=dict)
    nq: int = 0
    nv: int = 0

    def random_positions(self, rng, n=None):
        """Return random configurations, (nq,) or (n, nq).

        Angles over the whole circle, lengths within half a meter.
        """
        q = np.empty((1 if n is None else n, self.nq))
        for joint in self.joints:
            rows = q[:, joint.q]
            if joint.type == 'prismatic':
                rows[:] = rng.uniform(-0.5, 0.5, rows.shape)
            elif joint.type == 'floating':
                quaternion = rng.normal(size=(len(q), 4))
                rows[:, :4] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
                rows[:, 4:] = rng.uniform(-1.0, 1.0, (len(q), 3))
            elif joint.type == 'planar':
                rows[:] = rng.uniform(-1.0, 1.0, rows.shape) * [np.pi, 1.0, 1.0]
            else:
                rows[:] = rng.uniform(-np.pi, np.pi, rows.shape)
        return q[0] if n is None else q

    def random_states(self, rng, n=None):
        """Return random positions, velocities and accelerations."""
        shape = (self.nv,) if n is None else (n, self.nv)
        return self.random_positions(rng, n), rng.uniform(-2, 2, shape), rng.uniform(-4, 4, shape)

    def position_rates(self, q, v):
        """Return the rate of positions at velocity v, (nq,), for all types of joints."""
        rates = np.empty(np.shape(q)[:-1] + (self.nq,))
        for joint in self.joints:
            p, u = q[..., joint.q], v[..., joint.v]
            if joint.type == 'floating':
                w, x, y, z = np.moveaxis(p[..., :4], -1, 0)
                omega, linear = u[..., :3], u[..., 3:]
                product = np.stack(
                    [  # quaternion times (0, omega), book eq 4.13
                        -x * omega[..., 0] - y * omega[..., 1] - z * omega[..., 2],
                        w * omega[..., 0] + y * omega[..., 2] - z * omega[..., 1],
                        w * omega[..., 1] - x * omega[..., 2] + z * omega[..., 0],
                        w * omega[..., 2] + x * omega[..., 1] - y * omega[..., 0],
                    ],
                    axis=-1,
                )
                R = np.stack(
                    [
                        np.stack(
                            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                            axis=-1,
                        ),
                        np.stack(
                            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                            axis=-1,
                        ),
                        np.stack(
                            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
                            axis=-1,
                        ),
                    ],
                    axis=-2,
                )
                rates[..., joint.q] = np.concatenate(
                    [product / 2, (R @ linear[..., None])[..., 0]], axis=-1
                )
            elif joint.type == 'planar':
                c, s = np.cos(p[..., 0]), np.sin(p[..., 0])
                rates[..., joint.q] = np.stack(
                    [u[..., 0], c * u[..., 1] - s * u[..., 2], s * u[..., 1] + c * u[..., 2]],
                    axis=-1,
                )
            else:
                rates[..., joint.q] = u
        return rates


def read(path_or_xml, floating_base=False):
    """Return the layout of a URDF file or text."""
    text = str(path_or_xml)
    if '<' not in text:
        text = Path(path_or_xml).read_text()
    tree = ElementTree.fromstring(text)
    layout = Layout()
    children = {}
    for joint in tree.findall('joint'):
        name = joint.get('name')
        layout.parent_link[name] = joint.find('parent').get('link')
        layout.child_link[name] = joint.find('child').get('link')
        children.setdefault(layout.parent_link[name], []).append(name)
        if joint.get('type') == 'fixed':
            continue
        layout.types[name] = joint.get('type')
        mimic = joint.find('mimic')
        if mimic is not None:
            layout.mimics[name] = (
                mimic.get('joint'),
                float(mimic.get('multiplier') or 1.0),
                float(mimic.get('offset') or 0.0),
            )
    moving = set(layout.types)  # in some files a fixed joint is called floating_base, too
    layout.mimics = {
        name: mimic for name, mimic in layout.mimics.items() if mimic[0] in layout.types
    }
    for name in layout.mimics:
        _resolve(layout.mimics, name)

    if floating_base:
        layout.types['floating_base'] = 'floating'
        _append(layout, 'floating_base')
    all_children = set(layout.child_link.values())
    (root,) = [
        link.get('name') for link in tree.findall('link') if link.get('name') not in all_children
    ]
    stack = [(None, root)]
    while stack:
        joint, link = stack.pop()
        layout.links.append(link)
        if joint in moving and joint not in layout.mimics:
            _append(layout, joint)
        stack.extend((name, layout.child_link[name]) for name in reversed(children.get(link, [])))
    return layout


def _append(layout, name):
    type_ = layout.types[name]
    layout.joints.append(
        Joint(
            name,
            type_,
            slice(layout.nq, layout.nq + NQ[type_]),
            slice(layout.nv, layout.nv + NV[type_]),
        )
    )
    layout.nq += NQ[type_]
    layout.nv += NV[type_]


def _resolve(mimics, name):
    """Follow a chain of mimic joints to the independent one."""
    leader, ratio, offset = mimics[name]
    while leader in mimics:
        leader, r, o = mimics[leader]
        ratio, offset = ratio * r, ratio * o + offset
    mimics[name] = (leader, ratio, offset)
