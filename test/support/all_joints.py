# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""All joint types of rbd_ros/model/joints, and trees with them."""

import functools
import sys
import types

import numpy as np
import pytest

from rbd_ros.extension_points import declared_in
from rbd_ros.model import Body, joints as folder, Link, Model
from rbd_ros.model.joints import JointType, Prismatic, Revolute
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.rotation import rpy_rotation
from support.contributing import shown_in

STEP = 2e-3  # of Richardson's scheme of sixth order: 1e-16 / STEP against STEP^6


def joint_types():
    """Return all concrete types of the folder, and the example of CONTRIBUTING.md."""
    found = [each for each in declared_in(folder, JointType) if not each.__abstractmethods__]
    return sorted([worked_example(), *found], key=lambda kind: kind.__name__)


@functools.lru_cache(maxsize=None)
def worked_example(old='', new=''):
    """Return the joint type of CONTRIBUTING.md, after an edit of its text."""
    text = shown_in('A new joint type').replace(old, new)
    module = types.ModuleType('cam')
    sys.modules[module.__name__] = module  # where dataclasses look up their annotations
    exec(compile(text, 'CONTRIBUTING.md', 'exec'), module.__dict__)
    return module.Cam


def example_id(joint):
    return f'{type(joint).__name__}{type(joint).examples().index(joint)}'


JOINTS = [joint for kind in joint_types() for joint in kind.examples()]
every_joint = pytest.mark.parametrize('joint', JOINTS, ids=example_id)


def slope(function):
    """Return the derivative of a function of one number at zero, to sixth order."""
    weights = ((1, 3.0 / 4.0), (2, -3.0 / 20.0), (3, 1.0 / 60.0))
    return sum(w / STEP * (function(k * STEP) - function(-k * STEP)) for k, w in weights)


def tree(joint, seed):
    """Return a joint on a hinge, followed by a slider and the joint again."""
    rng = np.random.default_rng(seed)
    hinge, slider = Revolute((0.48, -0.6, 0.64)), Prismatic((0.0, 1.0, 0.0))

    def placement():
        E = np.transpose(rpy_rotation(*rng.uniform(-3.0, 3.0, 3)))
        return PluckerTransform(tuple(map(tuple, E.tolist())), tuple(rng.normal(size=3).tolist()))

    bodies, links = [], []
    for i, (kind, parent) in enumerate(((hinge, 0), (joint, 1), (slider, 2), (joint, 2)), 1):
        A = rng.normal(size=(3, 3))
        inertia = RigidBodyInertia.from_mass_center(
            rng.uniform(0.5, 2.0), tuple(rng.normal(size=3).tolist()), (A @ A.T).tolist()
        )
        bodies.append(
            Body(
                f'link{i}', parent, f'joint{i}', kind, placement(), inertia,
                armature=rng.uniform(0.0, 0.2),
            )
        )  # fmt: skip
        links.append(Link(f'link{i}', i, PluckerTransform.identity(), inertia))
    return Model.create('tree', bodies, links)
