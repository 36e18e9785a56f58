# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Random robots as URDF text, from a seed.

Branching, every joint type, arbitrary axes and origins, mimic joints.
"""

import numpy as np

ALL_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'planar', 'floating')
SIMPLE_TYPES = ('revolute', 'continuous', 'prismatic')
INERTIA_ENTRIES = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


def _numbers(values):
    return ' '.join(repr(float(value)) for value in values)


def _entries(inertia):
    return ' '.join(f'{k}="{float(x)!r}"' for k, x in zip(INERTIA_ENTRIES, inertia))


def physical_inertia(rng, mass):
    """Return the rotational inertia about the center of mass of a random cloud of points.

    Always physical, (3, 3).
    """
    points = rng.normal(size=(6, 3)) * rng.uniform(0.03, 0.2, 3)
    points -= points.mean(axis=0)
    return mass / 6 * sum(np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in points)


def inertial_element(rng):
    """Return <inertial> with random mass, center, orientation and inertia."""
    mass = rng.uniform(0.3, 4.0)
    inertia = physical_inertia(rng, mass)
    entries = _entries(inertia[np.triu_indices(3)])
    xyz, rpy = _numbers(rng.uniform(-0.2, 0.2, 3)), _numbers(rng.uniform(-3, 3, 3))
    return (
        f'<inertial><origin xyz="{xyz}" rpy="{rpy}"/>'
        f'<mass value="{mass!r}"/><inertia {entries}/></inertial>'
    )


def _axis(rng, type_, plain_planar):
    if type_ == 'planar' and plain_planar:
        return np.array([0.0, 0.0, 1.0])
    if rng.random() < 0.4:  # coordinate axes of both signs, which simplify expressions
        axis = np.zeros(3)
        axis[rng.integers(3)] = rng.choice([-1.0, 1.0])
        return axis
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def tree(seed, bodies=6, types=ALL_TYPES, mimics=0, branching=0.5, plain_planar=True):
    """Return the URDF text of a random tree.

    :param bodies: number of links besides the base
    :param types: joint types to choose from; each is used at least once if there are enough bodies
    :param mimics: number of extra one-degree-of-freedom joints that mimic another
    :param branching: 0 makes a chain, 1 hangs each link on any earlier one
    :param plain_planar: planar joints only about z of their frame, where x and y are unambiguous
    """
    rng = np.random.default_rng(seed)
    kinds = list(rng.permutation(types))[:bodies]
    kinds += list(rng.choice(types, bodies - len(kinds)))
    kinds += ['mimic'] * mimics
    links, joints, leaders = [f'<link name="base">{inertial_element(rng)}</link>'], [], []
    names = ['base']
    for i, kind in enumerate(kinds, start=1):
        parent = names[-1] if rng.random() > branching else names[rng.integers(len(names))]
        link, joint, extra = f'link{i}', f'joint{i}', ''
        if kind == 'mimic':
            if not leaders:
                continue
            leader = leaders[rng.integers(len(leaders))]
            kind = str(rng.choice(['revolute', 'prismatic']))
            extra = (
                f'<mimic joint="{leader}" multiplier="{float(rng.uniform(-2, 2))!r}" '
                f'offset="{float(rng.uniform(-0.5, 0.5))!r}"/>'
            )
        elif kind in SIMPLE_TYPES:
            leaders.append(joint)
        if kind in ('revolute', 'prismatic'):
            extra += '<limit lower="-3" upper="3" effort="100" velocity="10"/>'
        links.append(f'<link name="{link}">{inertial_element(rng)}</link>')
        joints.append(
            f'<joint name="{joint}" type="{kind}"><parent link="{parent}"/><child link="{link}"/>'
            f'<origin xyz="{_numbers(rng.uniform(-0.5, 0.5, 3))}" '
            f'rpy="{_numbers(rng.uniform(-3, 3, 3))}"/>'
            f'<axis xyz="{_numbers(_axis(rng, kind, plain_planar))}"/>{extra}</joint>'
        )
        names.append(link)
    return f'<robot name="random{seed}">{"".join(links)}{"".join(joints)}</robot>'


def mixed_tree(seed, plain_planar=True):
    """Return the tree of nine links with every joint type, one mimic joint and branches."""
    return tree(
        seed, bodies=8, types=ALL_TYPES, mimics=1, branching=0.6, plain_planar=plain_planar
    )


def chain(links):
    """Return the URDF text of a chain given link by link.

    :param links: dicts with `type`, `axis`, `xyz`, `rpy`, `mass`, `center`, `inertia` (its six
        `INERTIA_ENTRIES` about the center of mass), `extra` (XML inside the joint); all but `type`
        are optional
    """
    text, previous = ['<link name="base"/>'], 'base'
    for i, link in enumerate(links, start=1):
        entries = _entries(link.get('inertia', [0.0] * 6))
        center, mass = _numbers(link.get('center', [0, 0, 0])), float(link.get('mass', 0.0))
        xyz, rpy = _numbers(link.get('xyz', [0, 0, 0])), _numbers(link.get('rpy', [0, 0, 0]))
        type_, axis, extra = link['type'], link.get('axis', [0, 0, 1]), link.get('extra', '')
        text.append(
            f'<link name="link{i}"><inertial><origin xyz="{center}"/><mass value="{mass!r}"/>'
            f'<inertia {entries}/></inertial></link>'
            f'<joint name="joint{i}" type="{type_}"><parent link="{previous}"/>'
            f'<child link="link{i}"/><origin xyz="{xyz}" rpy="{rpy}"/>'
            f'<axis xyz="{_numbers(axis)}"/>'
            f'<limit lower="-10" upper="10" effort="1e4" velocity="1e3"/>{extra}</joint>'
        )
        previous = f'link{i}'
    return f'<robot name="chain">{"".join(text)}</robot>'


def chain_of_hinges(seed, joints):
    """Return the URDF text of a chain of hinges in general position.

    Shorter chains are the beginning of longer ones.
    """
    rng, links = np.random.default_rng(seed), []
    for _ in range(joints):
        axis, center, xyz = rng.uniform(-1.0, 1.0, (3, 3))
        links.append(
            {
                'type': 'revolute',
                'axis': axis / np.linalg.norm(axis),
                'xyz': xyz,
                'rpy': rng.uniform(-3.0, 3.0, 3),
                'mass': rng.uniform(0.5, 2.0),
                'center': center,
                'inertia': [0.3, 0.01, 0.02, 0.4, -0.03, 0.5],
            }
        )
    return chain(links)
