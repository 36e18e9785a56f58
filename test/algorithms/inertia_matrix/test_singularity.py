# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Names of the joints that make the mass matrix singular."""

import numpy as np
import pytest
from support import example_robots
from support.urdf_text import inertial, joint, LIMIT, link, robot

from rbd_ros.algorithms.inertia_matrix.singularity import (
    massless_joints,
    require_regular_mass_matrix,
    singular_joints,
)
from rbd_ros.model import load_urdf, ModelError, SingularMassMatrixError


def arm(tip, inside=LIMIT, kind='revolute', axis='0 0 1', middle=None):
    """Return two joints j, k; the last link holds the elements `tip`, the middle one `middle`."""
    return robot(
        link('a'),
        link('b', middle),
        link('c', tip),
        joint('j', 'a', 'b'),
        joint('k', 'b', 'c', kind, inside, axis),
    )


def test_a_regular_arm_has_no_massless_joints():
    model = load_urdf(arm(None))
    assert massless_joints(model) == singular_joints(model) == ()


@pytest.mark.parametrize('floating_base', [False, True])
@pytest.mark.parametrize('kind', ['revolute', 'prismatic', 'planar', 'floating'])
def test_a_massless_last_link_is_named_by_its_joint(kind, floating_base):
    model = load_urdf(arm('', kind=kind), floating_base)
    assert massless_joints(model) == singular_joints(model) == ('k',)


def test_a_point_mass_on_the_axis_turns_nothing():
    on_axis = inertial(inertia=(0,) * 6, xyz='0 0 0.3')
    for find in (massless_joints, singular_joints):
        assert find(load_urdf(arm(on_axis))) == ('k',)
        assert find(load_urdf(arm(on_axis, axis='1 0 0'))) == ()


def test_armature_is_inertia():
    assert massless_joints(load_urdf(arm(''), armature={'k': 1e-6})) == ()
    assert singular_joints(load_urdf(arm(''), armature={'k': 1e-6})) == ()


def test_a_small_finger_on_a_heavy_arm_is_not_massless():
    tip = inertial(mass='1e-4', inertia=('1e-10', 0, 0, '1e-10', 0, '1e-10'))
    heavy = inertial(mass='1000', inertia=(100, 0, 0, 100, 0, 100))
    model = load_urdf(arm(tip, middle=heavy))
    assert massless_joints(model) == singular_joints(model) == ()


def test_two_joints_on_one_axis_with_nothing_between_share_a_dof():
    model = load_urdf(arm(None, middle=''))
    assert massless_joints(model) == ()
    assert singular_joints(model) == ('j', 'k')


@pytest.mark.parametrize('share, joints', [(1.5e-6, ('j', 'k', 'l')), (0.5e-6, ('k', 'l'))])
def test_a_joint_that_takes_part_by_less_than_a_millionth_does_not(share, joints):
    """Three slides of one body in a plane; two that are all but parallel oppose each other."""
    text = robot(
        link('a'),
        link('b', ''),
        link('c', ''),
        link('d'),
        joint('j', 'a', 'b', 'prismatic', axis='0 1 0'),
        joint('k', 'b', 'c', 'prismatic', axis='1 0 0'),
        joint('l', 'c', 'd', 'prismatic', axis=f'1 {2.0**0.5 * share} 0'),
    )
    assert singular_joints(load_urdf(text)) == joints


@pytest.mark.parametrize('diagonal', [None, (0.1, 0.0), (0.1, 0.1)])
def test_a_positive_diagonal_makes_any_arm_regular(diagonal):
    model, chosen = load_urdf(arm('')), {} if diagonal is None else {'diagonal': diagonal}
    if diagonal is not None and min(diagonal) > 0.0:
        require_regular_mass_matrix(model, (), chosen)
    else:
        with pytest.raises(SingularMassMatrixError, match="joint 'k'"):
            require_regular_mass_matrix(model, (), chosen)


@pytest.mark.parametrize('between, joints', [('2e-12', ('j', 'k')), ('8e-12', ())])
def test_inertia_between_two_joints_on_one_axis_counts_unless_it_is_rounding(between, joints):
    """The smallest eigenvalue of what H is at unit diagonal is half of it."""
    tip, middle = (inertial(mass='1e-20', inertia=(0, 0, 0, 0, 0, izz)) for izz in ('1', between))
    assert singular_joints(load_urdf(arm(tip, middle=middle))) == joints


def test_a_massless_mimic_joint_is_carried_by_its_master():
    mimic = LIMIT + '<mimic joint="j"/>'
    assert massless_joints(load_urdf(arm('', mimic))) == ()


def test_singularity_is_found_at_a_given_configuration():
    # two turns about z, one about y between: singular where the y turn is zero
    text = robot(
        link('a'),
        link('b', ''),
        link('c', ''),
        link('d', inertial(inertia=(1, 0, 0, 1, 0, 1.5))),
        joint('j', 'a', 'b'),
        joint('k', 'b', 'c', axis='0 1 0'),
        joint('l', 'c', 'd'),
    )
    model = load_urdf(text)
    assert singular_joints(model) == ()
    assert singular_joints(model, np.zeros(3)) == ('j', 'l')


@pytest.mark.parametrize(
    'name, joints',
    [('romeo', ('LHand', 'RHand')), ('romeo_laas_small', ('l_gripper_joint', 'r_gripper_joint'))],
)
def test_the_massless_hands_of_romeo_are_named(robot_paths, name, joints):
    model = load_urdf(robot_paths[name])
    assert massless_joints(model) == singular_joints(model) == joints


@pytest.mark.slow
def test_all_other_real_robots_are_regular(robot_paths):
    for name, path in example_robots.distinct().items():
        if not name.startswith('romeo'):
            try:
                model = load_urdf(path)
            except ModelError:
                continue
            assert singular_joints(model) == (), name
