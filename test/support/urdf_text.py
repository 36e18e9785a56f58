# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Small URDF documents from text fragments, for tests of one particular element."""

INERTIA = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
LIMIT = '<limit lower="-1" upper="1" velocity="2" effort="3"/>'


def robot(*elements, name='r'):
    """Return the document of some elements."""
    return f'<robot name="{name}">{"".join(elements)}</robot>'


def link(name, inside=None, mass=1.0):
    """Return a link with a plain inertia, or with the elements `inside`."""
    if inside is None:
        inside = f'<inertial><mass value="{mass}"/>{INERTIA}</inertial>'
    return f'<link name="{name}">{inside}</link>'


def joint(name, parent, child, kind='revolute', inside=None, axis='0 0 1'):
    """Return a joint about z with a limit, or with the elements `inside`.

    It has no <axis> if `axis` is None.
    """
    axis = '' if axis is None else f'<axis xyz="{axis}"/>'
    inside = LIMIT if inside is None else inside
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'{axis}{inside}</joint>'
    )


def chain(*kinds, inside=None):
    """Return the document of a chain: link l0, joint j1 of the first kind, link l1, ..."""
    links = [link(f'l{i}') for i in range(len(kinds) + 1)]
    joints = [
        joint(f'j{i}', f'l{i - 1}', f'l{i}', kind, inside) for i, kind in enumerate(kinds, start=1)
    ]
    return robot(*links, *joints)


def one_joint(kind='revolute', inside=None, axis='0 0 1'):
    """Return the document with one joint `j` between links `a` and `b`."""
    return robot(link('a'), link('b'), joint('j', 'a', 'b', kind, inside, axis))


def inertial(mass='1', inertia=(0.1, 0, 0, 0.1, 0, 0.1), xyz='0 0 0', rpy='0 0 0'):
    """Return <inertial> with ixx, ixy, ixz, iyy, iyz, izz."""
    entries = ' '.join(
        f'{key}="{value}"'
        for key, value in zip(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), inertia)
    )
    return (
        f'<inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/>'
        f'<inertia {entries}/></inertial>'
    )
