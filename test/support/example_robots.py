# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Real robots: the URDF files of the pip package example-robot-data."""

import functools
import hashlib
from pathlib import Path
import re
import xml.etree.ElementTree as ElementTree

import pytest

from support import outside

TEST_FOLDER = Path(__file__).resolve().parents[1]

# An empty <robot> without a name.
EMPTY = ('ur3',)
# Singular mass matrix with a fixed base in every state: the last links of some branches have no
# inertia.
SINGULAR = ('icub', 'romeo', 'romeo_laas_small')
# Some of their joints move no mass, which simulations reject.
MASSLESS = ('romeo', 'romeo_laas_small')
# Robots on a static base; all others walk, fly or swim.
FIXED = (
    *('TwoDofs', 'double_pendulum', 'double_pendulum_continuous', 'double_pendulum_simple'),
    *('allegro_left_hand', 'allegro_right_hand', 'baxter', 'finger_edu', 'kinova'),
    *('panda', 'panda_collision', 'pr2', 'so100', 'so101', 'talos_left_arm'),
    *('tiago', 'tiago_dual', 'tiago_no_hand', 'tiago_pro', 'xarm7', 'z1'),
    *('ur10_joint_limited_robot', 'ur10_robot', 'ur3_gripper', 'ur3_joint_limited_robot'),
    *('ur3_robot', 'ur5_gripper', 'ur5_joint_limited_robot', 'ur5_robot'),
)

# Variants of other robots of the list: what is in them, is in those.
VARIANTS = (
    *('alex_nub_hands', 'alex_sake_hands', 'alexander_v1.lowerBodyOnly', 'allegro_left_hand'),
    *('b1', 'double_pendulum_simple', 'g1_29dof_rev_1_0', 'go2', 'icub_reduced', 'iris_simple'),
    *('laikago', 'quadruped', 'simple_humanoid_classical', 'so100', 'talos_full_v2_box'),
    *('talos_reduced_box', 'talos_reduced_corrected', 'tiago', 'tiago_no_hand'),
    *('ur10_joint_limited_robot', 'ur3_gripper', 'ur3_joint_limited_robot', 'ur3_robot'),
    'ur5_joint_limited_robot',
)


def paths():
    """Return the path of every URDF by short name: its file name, with a folder if ambiguous.

    It is empty if the package is not installed, which the end of the run then reports.
    """
    if outside.problem('example_robot_data') is not None:
        return {}
    return dict(_paths(outside.example_robots_folder()))


@functools.lru_cache(maxsize=None)
def _paths(folder):
    files = sorted(folder.rglob('*.urdf'))
    names = [file.stem for file in files]
    return {
        file.stem
        if names.count(file.stem) == 1
        else f'{file.relative_to(folder).parts[0]}/{file.stem}': file
        for file in files
    }


def path(name):
    """Return the path of a URDF by short name; without the package the test is skipped."""
    known = paths()
    if not known:
        pytest.skip(outside.problem('example_robot_data'))
    return known[name]


def without_losses(name):
    """Return the text of a robot without limits, friction and damping.

    All forces on it are conservative.
    """
    text = path(name).read_text()
    text = re.sub(r'<(visual|collision)\b.*?</\1>', '', text, flags=re.S)
    text = re.sub(r'<(limit|dynamics|mimic|safety_controller)\b[^>]*/>', '', text)
    return re.sub(r'type\s*=\s*"revolute"', 'type="continuous"', text)


def loadable():
    """Return the paths of the well-formed robots by short name."""
    return {name: path for name, path in paths().items() if name not in EMPTY}


def varied():
    """Return the distinct robots without variants of others."""
    return {name: path for name, path in distinct().items() if name not in VARIANTS}


def distinct():
    """Return the loadable robots whose dynamics differ.

    Of files that differ only in shapes, limits or names of materials, it has one.
    """
    return dict(_distinct(tuple(loadable().items())))


@functools.lru_cache(maxsize=None)
def _distinct(robots):
    chosen, seen = {}, set()
    for name, path in robots:
        digest = hashlib.sha256(dynamics_xml(path.read_text()).encode()).hexdigest()
        if digest not in seen:
            seen.add(digest)
            chosen[name] = path
    return chosen


@functools.lru_cache(maxsize=None)
def dynamics_xml(text, mimic=True):
    """Return the URDF text reduced to the dynamics.

    External oracles fail on missing meshes, on which the dynamics does not depend.
    """
    tree = ElementTree.fromstring(text)
    kept = {
        'robot': ('link', 'joint'),
        'link': ('inertial',),
        'joint': ('origin', 'parent', 'child', 'axis') + (('mimic',) if mimic else ()),
    }
    out = ElementTree.Element('robot', name='robot')
    for element in tree:
        if element.tag not in kept['robot']:
            continue
        copy = ElementTree.SubElement(out, element.tag, element.attrib)
        copy.extend(child for child in element if child.tag in kept[element.tag])
        if element.tag == 'joint' and element.get('type') in ('revolute', 'prismatic'):
            ElementTree.SubElement(
                copy, 'limit', lower='-10', upper='10', effort='1e3', velocity='1e3'
            )
    for element in out.iter():
        element.tail = element.text = None
    return ElementTree.tostring(out, encoding='unicode')
