# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Depth of spanning trees and condition of the mass matrix (book 10.2)."""

import numpy as np
import pytest

from rbd_ros.model import Body, Link, Model
from rbd_ros.model.joints import Revolute
from rbd_ros.robot.accuracy_diagnosis import diagnose
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.textbook.models import assemble, Connection

HINGE = Revolute((0.0, 0.0, 1.0))
MOMENTS = (np.diag([0.0, 1.0, 1.0]) / 12.0).tolist()
ROD = RigidBodyInertia.from_mass_center(1.0, (0.5, 0.0, 0.0), MOMENTS)
END = PluckerTransform.translation((1.0, 0.0, 0.0))


def rods(parents):
    """Return the rods of unit length and mass in a plane, each hinged to the end of its parent."""
    here = PluckerTransform.identity()
    bodies = [
        Body(f'rod{i}', parent, f'joint{i}', HINGE, END if parent else here, ROD)
        for i, parent in enumerate(parents, start=1)
    ]
    links = [Link(f'rod{i}', i, here, ROD) for i in range(1, len(parents) + 1)]
    return Model.create('rods', bodies, links)


def ring(bodies, loop_joints=()):
    """Return the rods that hang from the base at both ends of their row."""
    names = ['base', *(f'rod{i}' for i in range(bodies)), 'base']
    here = PluckerTransform.identity()
    joints = [
        Connection(f'joint{k}', one, other, HINGE, here if one == 'base' else END)
        for k, (one, other) in enumerate(zip(names, names[1:]))
    ]
    inertias = dict.fromkeys(names[1:-1], ROD)
    return assemble('ring', 'base', inertias, joints, loop_joints=loop_joints)


def conditions(model, rng, count=40):
    configurations = rng.uniform(-np.pi, np.pi, (count, model.nv))
    return [diagnose(model, q).condition_number for q in configurations]


@pytest.mark.seed('AE05', kind='full')
@pytest.mark.parametrize('bodies', [7, 15, 31])
def test_a_binary_tree_is_better_conditioned_than_a_chain_of_the_same_bodies(bodies):
    """At nearly any two random configurations, and the more the more bodies there are."""
    rng = np.random.default_rng(3)
    chain = rods(range(bodies))
    tree = rods([i // 2 for i in range(1, bodies + 1)])
    assert chain.parent_array.depth == bodies
    assert tree.parent_array.depth == np.log2(bodies + 1)
    deep, flat = (np.array(conditions(model, rng)) for model in (chain, tree))
    assert np.mean(deep[:, None] > flat) > 0.9
    assert np.median(deep) / np.median(flat) > bodies / 2


@pytest.mark.seed('AE05', 'MD02')
@pytest.mark.parametrize('bodies', [4, 8, 12])
def test_the_spanning_tree_of_minimum_depth_is_better_conditioned(bodies):
    """Of a ring: two chains of half the length rather than one."""
    rng = np.random.default_rng(4)
    shallow, deep = ring(bodies), ring(bodies, loop_joints=[f'joint{bodies}'])
    assert (shallow.parent_array.depth, deep.parent_array.depth) == (bodies // 2, bodies)
    assert len(shallow.loops) == len(deep.loops) == 1
    ratios = [one / other for one, other in zip(conditions(deep, rng), conditions(shallow, rng))]
    assert np.median(ratios) > 4.0
    assert np.mean(np.array(ratios) > 1.0) > 0.9
