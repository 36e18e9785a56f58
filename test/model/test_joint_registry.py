# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint types registered by users: consistent ones are accepted, others are rejected."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from support.contributing import as_a_file

from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import joint_registry, joints, load_urdf, ModelError, register_joint_type
from rbd_ros.model.joint_checks import check_joint_type
from rbd_ros.model.joints import Helical, JointType, Planar, Revolute, Spherical, Universal
from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector
from rbd_ros.spatial.linear3 import ZERO3

ARM = resource_path('urdf', 'two_link_arm.urdf')


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch):
    monkeypatch.setattr(joint_registry, '_registered', {})


@dataclass(frozen=True)
class Screw(Helical):
    """A screw by another name."""

    @classmethod
    def examples(cls):
        return (cls((0.0, 0.0, 1.0), 0.2),)


def test_a_registered_type_is_known_to_files():
    assert register_joint_type(Screw) is Screw
    assert register_joint_type(Screw) is Screw
    name = load_urdf(ARM).joint_names[0]
    entry = {'type': 'screw', 'axis': [0, 1, 0], 'pitch': 0.1}
    model = load_urdf(ARM, extension={'joints': {name: entry}})
    assert model.body(1).joint == Screw((0.0, 1.0, 0.0), 0.1)
    register_joint_type(Screw, 'lead_screw')
    load_urdf(ARM, extension={'joints': {name: {**entry, 'type': 'lead_screw'}}})


def test_a_type_is_known_to_files_by_its_file(tmp_path, monkeypatch):
    with as_a_file('A new joint type', joints, 'cam', tmp_path, monkeypatch) as module:
        name = load_urdf(ARM).joint_names[0]
        model = load_urdf(ARM, extension={'joints': {name: {'type': 'cam', 'radius': 0.1}}})
        assert model.body(1).joint == module.Cam(0.1)


def test_every_type_of_the_package_passes():
    for entry in joint_registry.registered_joint_types().values():
        check_joint_type(entry.kind)


def variant(base, **verbs):
    """Return the class like another one, but for some verbs."""
    examples = base.examples()

    def own(cls):
        return tuple(cls(**vars(joint)) for joint in examples)

    return dataclass(frozen=True)(type('Wrong', (base,), {**verbs, 'examples': classmethod(own)}))


def scaled(subspace, factor):
    return MotionSubspace([column * factor for column in subspace.columns])


WRONG = {
    'motion_subspace: it has 2': variant(
        Revolute,
        motion_subspace=lambda self, q: MotionSubspace([MotionVector(self.axis, ZERO3)] * 2),
    ),
    'motion_subspace: it is not': variant(
        Revolute, motion_subspace=lambda self, q: scaled(Revolute.motion_subspace(self, q), -1.0)
    ),
    'motion_subspace_rate': variant(
        Universal,
        motion_subspace_rate=lambda self, q, qd: scaled(
            Universal.motion_subspace_rate(self, q, qd), -1.0
        ),
    ),
    'constraint_forces: they do work': variant(
        Revolute,
        constraint_forces=lambda self, q: tuple(
            ForceVector.from_array(row) for row in np.eye(6)[[0, 1, 2, 3, 4]].tolist()
        ),
    ),
    'constraint_forces: they are not 5 ': variant(
        Revolute,
        constraint_forces=lambda self, q: (
            *Revolute.constraint_forces(self, q),
            Revolute.constraint_forces(self, q)[0],
        ),
    ),
    'constraint_forces: they are not 5': variant(
        Revolute, constraint_forces=lambda self, q: Revolute.constraint_forces(self, q)[:4]
    ),
    'neutral': variant(Helical, neutral=lambda self: (0.5,)),
    'neutral has 2': variant(Helical, neutral=lambda self: (0.0, 0.0)),
    'position_rate': variant(Planar, position_rate=lambda self, q, v: (v[0], v[1], v[2])),
    'difference': variant(Planar, difference=lambda self, a, b: (0.0, 0.0, 0.0)),
    'transform': variant(Spherical, transform=lambda self, q: 1 / 0),
    'nq is 9': variant(Revolute, nq=9),
    'returns no joints': type('None_', (Revolute,), {'examples': classmethod(lambda cls: ())}),
    'lacks': type('Empty', (JointType,), {}),
    'JointType': int,
}  # fmt: skip


@pytest.mark.parametrize('words', WRONG)
def test_verbs_that_contradict_each_other_are_rejected_by_name(words):
    kind = WRONG[words]
    with pytest.raises(ModelError) as caught:
        register_joint_type(kind)
    assert words in str(caught.value)
    assert kind.__name__ in str(caught.value)
    assert kind.__name__.lower() not in joint_registry.registered_joint_types()


def test_names_that_are_taken_or_odd_are_rejected():
    with pytest.raises(ModelError, match='is the name of Helical'):
        register_joint_type(Screw, 'helical')
    with pytest.raises(ModelError, match='another name'):
        register_joint_type(Screw, 'os:system')


def test_parameters_that_no_file_can_give_are_rejected():
    @dataclass(frozen=True)
    class Chosen(Revolute):
        color: str = 'red'

        @classmethod
        def examples(cls):
            return (cls((0.0, 0.0, 1.0)),)

    with pytest.raises(ModelError, match='float and Vector3'):
        register_joint_type(Chosen)
    assert replace(Screw.examples()[0], pitch=1.0).pitch == 1.0


def test_types_that_cannot_be_distinguished_are_rejected():
    class Plain(Spherical):
        __hash__ = None

        @classmethod
        def examples(cls):
            return (cls(),)

    with pytest.raises(ModelError, match='cannot be hashed'):
        register_joint_type(Plain)
