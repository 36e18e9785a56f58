# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mimic joints: exact gears on independent joints."""

import numpy as np
import pytest
from support.urdf_text import joint, LIMIT, link, robot

from rbd_ros.model import Coupling, load_urdf, ModelError


def fingers(*mimics, kinds=None):
    """Return the star of joints j0, j1, ...; `mimics` by joint number.

    (master, multiplier, offset).
    """
    kinds = kinds or ['revolute'] * len(mimics)
    links = [link('a')] + [link(f'l{i}') for i in range(len(mimics))]
    joints = [
        joint(
            f'j{i}',
            'a',
            f'l{i}',
            kind,
            LIMIT
            + (
                f'<mimic joint="{mimic[0]}" multiplier="{mimic[1]}" offset="{mimic[2]}"/>'
                if mimic
                else ''
            ),
        )
        for i, (mimic, kind) in enumerate(zip(mimics, kinds))
    ]
    return robot(*links, *joints)


@pytest.mark.seed('GR01')
def test_a_mimic_joint_adds_no_dof():
    model = load_urdf(fingers(None, ('j0', -2, 0.5)))
    assert (model.nv, model.tree_nv, model.joint_names) == (1, 2, ('j0',))
    assert model.couplings == (Coupling(2, 1, -2.0, 0.5),)
    assert model.tree_position([3.0]) == [3.0, -5.5]


def test_multiplier_and_offset_default_to_one_and_zero():
    text = robot(
        link('a'),
        link('b'),
        link('c'),
        joint('m', 'a', 'b'),
        joint('f', 'a', 'c', inside=LIMIT + '<mimic joint="m"/>'),
    )
    assert load_urdf(text).couplings == (Coupling(2, 1, 1.0, 0.0),)


def test_a_master_may_come_after_its_follower():
    model = load_urdf(fingers(('j1', 3, 0.25), None))
    assert model.couplings == (Coupling(1, 2, 3.0, 0.25),)
    assert model.tree_position([2.0]) == [6.25, 2.0]


def test_a_mimic_of_a_mimic_is_composed():
    # q0 = 2 q1 + 1, q1 = 3 q2 + 4 -> q0 = 6 q2 + 9
    model = load_urdf(fingers(('j1', 2, 1), ('j2', 3, 4), None))
    assert model.couplings == (Coupling(1, 3, 6.0, 9.0), Coupling(2, 3, 3.0, 4.0))


def test_a_mimic_of_a_fixed_joint_is_fixed_at_its_offset_with_a_notice():
    model = load_urdf(
        fingers(None, ('j0', 2, 0.5), ('j1', 2, 0.25), kinds=['fixed'] + ['revolute'] * 2)
    )
    assert (model.nv, model.links['l1'].body) == (0, 0)
    for name, angle in (('l1', 0.5), ('l2', 1.25)):
        pose = model.links[name].placement.pose()
        assert np.allclose(pose[:2, 0], [np.cos(angle), np.sin(angle)])
    assert any('mimic a fixed joint' in warning and 'j1' in warning for warning in model.warnings)


def test_a_mimic_tag_in_a_fixed_joint_is_ignored():
    model = load_urdf(fingers(None, ('nowhere', 1, 0), kinds=['revolute', 'fixed']))
    assert (model.nv, model.couplings, model.warnings) == (1, (), ())


@pytest.mark.parametrize(
    'mimics, kinds, words',
    [
        ([('j0', 1, 0)], None, ["'j0'", 'itself']),
        ([('j1', 1, 0), ('j0', 1, 0)], None, ["'j0'", "'j1'", 'circle']),
        ([('j1', 1, 0), ('j2', 1, 0), ('j1', 1, 0)], None, ["'j1'", "'j2'", 'circle']),
        ([None, ('j0', 1, 0)], ['floating', 'revolute'], ["'j1'", "'j0'", 'floating']),
        ([None, ('j0', 1, 0)], ['planar', 'revolute'], ["'j1'", "'j0'", 'planar']),
        ([None, ('j0', 1, 0)], ['revolute', 'planar'], ["'j1'", 'planar']),
        ([('j1', 'nan', 0), None], None, ["'j0'", 'multiplier']),
        ([('j1', 1, 'x'), None], None, ["'j0'", 'offset']),
        ([('j1', '1e20', 0), ('j2', '1e20', 0), None], None, ["'j0'", 'too large']),
    ],
)
def test_an_invalid_mimic_is_rejected_by_name(mimics, kinds, words):
    with pytest.raises(ModelError) as caught:
        load_urdf(fingers(*mimics, kinds=kinds))
    for word in words:
        assert word in str(caught.value)


def test_a_mimic_of_a_joint_that_does_not_exist_is_independent_with_a_notice():
    model = load_urdf(fingers(('nope', 1, 0), ('j0', 2, 0.5)))
    assert model.joint_names == ('j0',)
    assert model.couplings == (Coupling(2, 1, 2.0, 0.5),)
    warning, narrower = model.warnings
    assert 'speed 1 instead of 2' in narrower
    assert 'mimic a joint that does not exist' in warning and 'j0' in warning


def test_strict_rejects_a_mimic_of_a_joint_that_does_not_exist():
    with pytest.raises(ModelError, match="joint 'j0' mimics joint 'nope', which does not exist"):
        load_urdf(fingers(('nope', 1, 0)), strict=True)
