# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Extension files: their effect on a model, and rejections."""

from dataclasses import dataclass, replace
import math
import time

from hypothesis import given, HealthCheck, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.urdf_text import chain
import yaml

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import Frame, load_urdf, LoopJoint, Model, ModelError
from rbd_ros.model.extension import read_extension
from rbd_ros.model.joint_registry import registered_joint_types
from rbd_ros.model.joints import (
    Cylindrical,
    Helical,
    Planar,
    RackAndPinion,
    Reversed,
    Revolute,
    SphereInCylinder,
    Spherical,
    Universal,
)
from rbd_ros.robot.assembled import assembled
from rbd_ros.spatial import PluckerTransform

INERTIA = '<inertia ixx="0.2" iyy="0.3" izz="0.25" ixy="0.01" ixz="-0.02" iyz="0.03"/>'


def link(name, mass=0.0):
    if not mass:
        return f'<link name="{name}"/>'
    return (
        f'<link name="{name}"><inertial><origin xyz="0.1 -0.2 0.15"/><mass value="{mass}"/>'
        f'{INERTIA}</inertial></link>'
    )


def joint(name, parent, child, axis='0 0 1', xyz='0 0 0', kind='revolute', rpy='0 0 0'):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
        '<limit lower="-2" upper="2" effort="9" velocity="5"/></joint>'
    )


def wrist(second=0.0):
    """Return the arm of one hinge with a wrist of three, the links within it without mass."""
    return (
        '<robot name="arm">'
        + link('base')
        + link('upper', 2.0)
        + link('w1', second)
        + link('w2')
        + link('hand', 1.0)
        + link('tool', 0.3)
        + joint('shoulder', 'base', 'upper', '0 1 0', '0 0 0.4')
        + joint('yaw', 'upper', 'w1', '0 0 1', '0.5 0 0.1', rpy='0.3 0 0')
        + joint('pitch', 'w1', 'w2', '0 1 0')
        + joint('roll', 'w2', 'hand', '1 0 0')
        + joint('grip', 'hand', 'tool', '1 0 0', '0.2 0.1 0')
        + '</robot>'
    )


WRIST = wrist()
GROUP = {'wrist': {'type': 'spherical', 'replaces': ['yaw', 'pitch', 'roll']}}


def written(tmp_path, content):
    path = tmp_path / 'extension.yaml'
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


# -- joints


def test_three_hinges_become_a_ball_joint_with_the_same_dynamics(rng):
    hinged = Robot.from_urdf(WRIST)
    ball = Robot.from_urdf(WRIST, extension={'joints': GROUP})
    assert ball.joint_names == ('shoulder', 'wrist', 'grip')
    assert isinstance(ball.model.body(2).joint, Spherical)
    for _ in range(5):
        q, v = rng.uniform(-1, 1, 5), rng.normal(size=5)
        poses = hinged.forward_kinematics(q)
        R = np.linalg.inv(poses['upper'])[:3, :3] @ poses['hand'][:3, :3]
        R0 = (
            np.linalg.inv(hinged.forward_kinematics(np.zeros(5))['upper'])[:3, :3]
            @ (hinged.forward_kinematics(np.zeros(5))['hand'][:3, :3])
        )
        relative = R0.T @ R
        w = np.sqrt(1.0 + np.trace(relative)) / 2.0
        quaternion = [
            w,
            (relative[2, 1] - relative[1, 2]) / (4 * w),
            (relative[0, 2] - relative[2, 0]) / (4 * w),
            (relative[1, 0] - relative[0, 1]) / (4 * w),
        ]
        at = np.concatenate([q[:1], quaternion, q[4:]])
        for name in ('hand', 'tool'):
            assert_allclose(ball.forward_kinematics(at)[name], poses[name], atol=1e-13)
        jacobians = [r.jacobian(x, 'hand') for r, x in ((hinged, q), (ball, at))]
        rates = np.linalg.pinv(jacobians[1][:3, 1:4]) @ (jacobians[0][:3, 1:4] @ v[1:4])
        moved = np.concatenate([v[:1], rates, v[4:]])
        assert_allclose(ball.energy(at, moved).kinetic, hinged.energy(q, v).kinetic, rtol=1e-12)
        assert_allclose(
            ball.energy(at, moved).potential, hinged.energy(q, v).potential, rtol=1e-12
        )


@pytest.mark.parametrize(
    'entry, expected',
    [
        ({'type': 'helical', 'pitch': 0.2}, Helical((0.0, 1.0, 0.0), 0.2)),
        ({'type': 'helical', 'pitch': '1e-3', 'axis': [0, 0, 4]}, Helical((0.0, 0.0, 1.0), 1e-3)),
        ({'type': 'cylindrical'}, Cylindrical((0.0, 1.0, 0.0))),
        ({'type': 'planar'}, Planar.about((0.0, 1.0, 0.0))),
        ({'type': 'rack_and_pinion', 'radius': 0.1}, RackAndPinion(0.1)),
        (
            {'type': 'rack_and_pinion', 'radius': 0.1, 'reversed': True},
            Reversed(RackAndPinion(0.1)),
        ),
        ({'type': 'sphere_in_cylinder'}, SphereInCylinder((0.0, 1.0, 0.0))),
        ({'type': 'revolute', 'reversed': True}, Revolute((0.0, -1.0, 0.0))),
    ],
)
def test_one_joint_becomes_another_type_about_the_same_axis(entry, expected):
    model = load_urdf(WRIST, extension={'joints': {'shoulder': entry}})
    assert repr(model.body(1).joint) == repr(expected).replace('-0.0', '0.0') or (
        model.body(1).joint == expected
    )
    assert model.body(1).tree_transform == load_urdf(WRIST).body(1).tree_transform


def test_two_hinges_become_a_universal_joint_of_the_same_positions(rng):
    group = {'cardan': {'type': 'universal', 'replaces': ['yaw', 'pitch']}}
    hinged, cardan = Robot.from_urdf(WRIST), Robot.from_urdf(WRIST, extension={'joints': group})
    assert isinstance(cardan.model.body(2).joint, Universal)
    q, v, a = rng.uniform(-1, 1, (3, 5))
    for name in ('hand', 'tool'):
        poses = [r.forward_kinematics(q)[name] for r in (hinged, cardan)]
        assert_allclose(poses[1], poses[0], atol=1e-14)
    taus = [r.inverse_dynamics(q, v, a) for r in (hinged, cardan)]
    assert_allclose(taus[1], taus[0], atol=1e-12)


def test_the_origin_moves_the_joint_and_not_the_links(rng):
    entry = {
        'type': 'revolute',
        'axis': [0, 0, 1],
        'origin': {'xyz': [0.1, 0.2, -0.3], 'rpy': [0.4, -0.5, 0.6]},
    }
    robot = Robot.from_urdf(WRIST, extension={'joints': {'grip': entry, 'roll': entry}})
    plain = Robot.from_urdf(WRIST)
    for name in plain.link_names:
        poses = [r.forward_kinematics(np.zeros(5))[name] for r in (plain, robot)]
        assert_allclose(poses[1], poses[0], atol=1e-14)
    hand = plain.forward_kinematics(np.zeros(5))['hand']
    center = hand @ [0.1, 0.2, -0.3, 1.0]
    q = np.array([0.0, 0.0, 0.0, 0.8, 0.0])
    turned = robot.forward_kinematics(q)['hand'] @ np.linalg.inv(hand)
    assert_allclose(turned @ center, center, atol=1e-14)
    energies = [r.energy(np.zeros(5), np.zeros(5)).potential for r in (plain, robot)]
    assert_allclose(energies[1], energies[0], rtol=1e-13)


@pytest.mark.parametrize(
    'joints, words',
    [
        ({'wrist': {'type': 'sperical', 'replaces': ['yaw']}}, ["'sperical'", "'spherical'"]),
        ({'wrist': {'type': 'spherical', 'replaces': ['yaw', 'roll']}}, ["'roll'", 'follow']),
        ({'wrist': {'type': 'spherical', 'replaces': ['pitch', 'yaw']}}, ["'yaw'", 'follow']),
        ({'wrist': {'type': 'spherical', 'replaces': ['yaw', 'jaw']}}, ["'jaw'", "'yaw'"]),
        ({'wrist': {'type': 'spherical', 'replaces': ['yaw', 'yaw']}}, ["'yaw'", 'twice']),
        ({'wrist': {'type': 'spherical', 'replaces': []}}, ['list of joints is empty']),
        ({'wrist': {'type': 'spherical'}}, ["'wrist'"]),
        ({'roll': {'type': 'spherical', 'replaces': ['yaw', 'pitch']}}, ['choose another']),
        ({'wrist': {'type': 'spherical', 'replaces': ['shoulder', 'yaw']}}, ["'upper'", 'mass']),
        ({'wrist': {'type': 'fixed', 'replaces': ['yaw']}}, ['must move']),
        ({'shoulder': {'type': 'helical'}}, ['pitch', 'add']),
        ({'shoulder': {'type': 'helical', 'pitch': 'nan'}}, ["'nan'", 'finite']),
        ({'shoulder': {'type': 'cylindrical', 'axis': [0, 0, 0]}}, ['direction']),
        ({'shoulder': {'type': 'cylindrical', 'axis': [0, 1]}}, ['3 numbers']),
        ({'shoulder': {'type': 'cylindrical', 'pitch': 1}}, ["'pitch'", 'key']),
        ({'shoulder': {'type': 'os:system'}}, ["'os:system'", 'there are']),
        ({'shoulder': {'type': 'universal', 'first': [1, 0, 0]}}, ['second']),
        (
            {**GROUP, 'other': {'type': 'revolute', 'replaces': ['roll']}},
            ["'roll'", 'belongs to'],
        ),
    ],
)
def test_bad_joints_are_rejected_with_their_line(tmp_path, joints, words):
    with pytest.raises(ModelError) as caught:
        load_urdf(WRIST, extension={'joints': joints})
    for word in words:
        assert word in str(caught.value)
    with pytest.raises(ModelError) as caught:
        load_urdf(WRIST, extension=written(tmp_path, {'joints': joints}))
    for word in (*words, 'extension.yaml', 'line ', ';'):
        assert word in str(caught.value)


def test_links_with_mass_between_joints_are_not_lost():
    with pytest.raises(ModelError, match="link 'w1' between the joints has mass"):
        load_urdf(wrist(0.1), extension={'joints': GROUP})


def test_branches_between_joints_are_not_lost():
    branch = link('side', 1.0) + joint('branch', 'w1', 'side') + '</robot>'
    with pytest.raises(ModelError, match="'branch' is attached to link 'w1'"):
        load_urdf(WRIST.replace('</robot>', branch), extension={'joints': GROUP})


# -- gears, rotors, armature


def test_gears_are_those_of_mimic_joints():
    gears = {
        'grip': {'joint': 'roll', 'ratio': -2.0, 'offset': 0.3},
        'roll': {'joint': 'yaw', 'ratio': 0.5, 'offset': 0.7},
    }
    model = load_urdf(WRIST, extension={'gears': gears})
    mimic = '<mimic joint="{}" multiplier="{}" offset="{}"/><limit'
    parts = WRIST.split('<limit')
    text = '<limit'.join(parts[:4]) + mimic.format('yaw', 0.5, 0.7) + parts[4]
    text += mimic.format('roll', -2, 0.3) + parts[5]
    assert model.couplings == load_urdf(text).couplings
    assert model.joint_names == ('shoulder', 'yaw', 'pitch')


@pytest.mark.parametrize(
    'gears, words',
    [
        ({'grip': {'joint': 'grip'}}, ['cycle']),
        ({'grip': {'joint': 'yaw'}, 'yaw': {'joint': 'grip'}}, ['cycle']),
        ({'grip': {'joint': 'gripp'}}, ["'gripp'", "'grip'"]),
        ({'gripp': {'joint': 'grip'}}, ["'gripp'"]),
        ({'grip': {'ratio': 2}}, ['joint is missing']),
        ({'grip': {'joint': ['yaw', 'roll']}}, ['differential', 'explicit']),
        ({'grip': {'joint': 'yaw', 'ratio': 1e31}}, ['plausible']),
        (
            {'grip': {'joint': 'yaw', 'ratio': 1e20}, 'yaw': {'joint': 'roll', 'ratio': 1e20}},
            ['product of the ratios is too large'],
        ),
        ({'grip': 'yaw'}, ['mapping']),
        ([], ['mapping']),
    ],
)
def test_bad_gears_are_rejected(gears, words):
    with pytest.raises(ModelError) as caught:
        load_urdf(WRIST, extension={'gears': gears})
    for word in words:
        assert word in str(caught.value)


def test_a_ball_joint_has_no_gear():
    with pytest.raises(ModelError, match='3 degrees of freedom'):
        load_urdf(WRIST, extension={'joints': GROUP, 'gears': {'wrist': {'joint': 'grip'}}})


@pytest.mark.seed('GR03', kind='part')
def test_rotors_as_bodies_come_to_armature_when_they_are_fast(rng):
    ratio, reflected = 1e4, 0.7
    rotor = {'ratio': ratio, 'inertia': reflected / ratio**2}
    bodily = {'rotors': {'yaw': {**rotor, 'as': 'body', 'transverse_inertia': 0.0}}}
    exact = Robot.from_urdf(WRIST, extension=bodily)
    simple = Robot.from_urdf(WRIST, extension={'rotors': {'yaw': rotor}})
    given = Robot.from_urdf(WRIST, armature={'yaw': reflected})
    assert exact.joint_names == simple.joint_names == given.joint_names
    q, v, a = rng.uniform(-1, 1, (3, 5))
    for other in (simple, exact):
        tau = other.inverse_dynamics(q, v, a)
        assert_allclose(tau, given.inverse_dynamics(q, v, a), atol=5e-4)
    assert_allclose(simple.inverse_dynamics(q, v, a), given.inverse_dynamics(q, v, a), rtol=1e-14)


def test_a_rotor_as_a_body_is_a_link_geared_to_the_joint(rng):
    entry = {'ratio': -30.0, 'inertia': 2e-3, 'mass': 0.4, 'transverse_inertia': 1e-3}
    robot = Robot.from_urdf(WRIST, extension={'rotors': {'yaw': {**entry, 'as': 'body'}}})
    spin = (
        '<link name="rotor"><inertial><mass value="0.4"/><inertia ixx="1e-3" iyy="1e-3" '
        'izz="2e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        + joint('motor', 'upper', 'rotor', '0 0 1', '0.5 0 0.1', rpy='0.3 0 0').replace(
            '<limit', '<mimic joint="yaw" multiplier="-30"/><limit'
        )
        + '</robot>'
    )
    other = Robot.from_urdf(WRIST.replace('</robot>', spin))
    q, v, a = rng.uniform(-1, 1, (3, 5))
    assert robot.joint_names == other.joint_names
    assert_allclose(robot.inverse_dynamics(q, v, a), other.inverse_dynamics(q, v, a), rtol=1e-11)


def test_former_armature_files_are_extensions(tmp_path):
    for text in ('yaw: 0.25\nroll: 1e-3\n', 'armature:\n  yaw: 0.25\n  roll: 0.001\n'):
        model = load_urdf(WRIST, extension=written(tmp_path, text))
        assert [b.armature for b in model.bodies] == [0.0, 0.25, 0.0, 0.001, 0.0]
        plain = load_urdf(WRIST, armature=written(tmp_path, text))
        assert plain.bodies == model.bodies


@pytest.mark.parametrize(
    'content, words',
    [
        ({'armature': {'yaw': -1}}, ['yaw', 'below the minimum of 0']),
        ({'armature': {'jaw': 1}}, ["'jaw'", "'yaw'"]),
        ({'rotors': {'yaw': {'ratio': 3}}}, ['inertia is missing']),
        ({'rotors': {'yaw': {'ratio': 3, 'inertia': -1}}}, ['below the minimum of 0']),
        ({'rotors': {'yaw': {'ratio': 3, 'inertia': 1, 'as': 'magic'}}}, ["'magic'"]),
        ({'rotors': {'yaw': {'ratio': 3, 'inertia': 1, 'mass': 1}}}, ['as: body']),
        ({'actuated': ['jaw']}, ["'jaw'"]),
        ({'actuated': []}, ['list is empty']),
        ({'actuated': ['yaw', 'yaw']}, ['twice']),
        ({'actuated': 'yaw'}, ['list']),
        ({'lops': {'a': {}}}, ["'lops'", "'loops'"]),
    ],
)
def test_other_bad_entries_are_rejected(content, words):
    with pytest.raises(ModelError) as caught:
        load_urdf(WRIST, extension=content)
    for word in (*words, ';'):
        assert word in str(caught.value)


# -- loops

FOUR_BAR = resource_path('urdf', 'four_bar.urdf')
PIN = {
    'type': 'revolute',
    'axis': [0, -1, 0],
    'predecessor': {'frame': 'coupler', 'xyz': [0.45, 0, 0]},
    'successor': {'frame': 'rocker', 'xyz': [0.4, 0, 0]},
}


def test_loops_are_joints_between_frames_however_they_are_given():
    at = (PluckerTransform.translation((x, 0.0, 0.0)) for x in (0.45, 0.4))
    ends = [Frame(body, X) for body, X in zip((2, 3), at)]
    expected = LoopJoint('pin', *ends, Revolute((0.0, -1.0, 0.0)))
    ways = (
        {'extension': {'loops': {'pin': PIN}}},
        {'extension': resource_path('config', 'four_bar.yaml')},
        {'loops': [{'name': 'pin', **PIN}]},
        {'loops': [expected]},
    )
    for way in ways:
        assert load_urdf(FOUR_BAR, **way).loops == (expected,)


def test_a_loop_that_is_open_at_neutral_is_assembled_and_redundancy_reported():
    robot = Robot.from_urdf(FOUR_BAR, extension={'loops': {'pin': PIN}})
    assert any('open by 0.15 ' in warning for warning in robot.warnings)
    assert any('rank 2' in w and "'pin' (3 of 5)" in w for w in robot.warnings)
    q = robot.loops.project(robot.neutral(), starts=40)
    assert np.abs(robot.loops.closure(q).residual).max() < 1e-10
    assert robot.model.actuated_joints == robot.joint_names  # by their effort limits


@pytest.mark.parametrize(
    'entry, joint, redundant',
    [
        ({'type': 'sphere_in_cylinder', 'axis': [0, 1, 0]}, SphereInCylinder((0.0, 1.0, 0.0)), 0),
        ({'type': 'spherical'}, Spherical(), 1),
        (
            {'type': 'universal', 'first': [0, 1, 0], 'second': [1, 0, 0]},
            Universal((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)),
            2,
        ),
    ],
)
def test_loops_are_closed_by_joints_that_are_no_lower_pairs(entry, joint, redundant):
    """All of them let the planar linkage move as a hinge does."""
    rest = {k: v for k, v in PIN.items() if k not in ('axis', 'type')}
    robot = Robot.from_urdf(FOUR_BAR, extension={'loops': {'pin': {**rest, **entry}}})
    (loop,) = robot.model.loops
    assert loop.joint == joint and loop.joint.closes_loops
    hinged = Robot.from_urdf(FOUR_BAR, extension={'loops': {'pin': PIN}})
    q = robot.loops.project(robot.neutral(), starts=40)
    assert np.abs(hinged.loops.closure(q).residual).max() < 1e-9
    found = robot.loops.mobility(q)
    assert (found.rank, found.mobility, found.constraints) == (2, 1, 2 + redundant)
    reported = any('of rank' in warning for warning in robot.warnings)
    assert reported == bool(redundant)


def test_a_rack_and_pinion_closes_a_loop_and_stays_meshed():
    """A slide and a wheel that a rack couples: x = r angle."""
    text = (
        '<robot name="mesh">'
        + link('base')
        + link('slide', 1.0)
        + link('wheel', 1.0)
        + joint('along', 'base', 'slide', '1 0 0', kind='prismatic')
        + joint('turn', 'slide', 'wheel', '0 0 1')
        + '</robot>'
    )
    rack = {'type': 'rack_and_pinion', 'radius': 0.3, 'predecessor': 'base', 'successor': 'wheel'}
    robot = Robot.from_urdf(text, extension={'loops': {'mesh': rack}})
    q = robot.loops.project([0.3, 0.5], fixed=['turn'])
    assert_allclose(q, [0.15, 0.5], atol=1e-9)
    assert robot.loops.mobility(q).mobility == 1


@pytest.mark.parametrize('kind', sorted(set(registered_joint_types()) - {'floating'}))
def test_types_close_loops_if_they_give_their_constraints_from_frames(kind):
    entry = registered_joint_types()[kind]
    example = entry.kind.examples()[0]
    given = {
        name: list(value)
        if isinstance(value := getattr(example, name, (0, 1, 0)), tuple)
        else value
        for name in entry.parameters
    }
    rest = {k: v for k, v in PIN.items() if k not in ('axis', 'type')}
    loops = {'pin': {**rest, 'type': kind, **given}}
    if example.closes_loops:
        assert load_urdf(FOUR_BAR, extension={'loops': loops}).loops[0].joint.closes_loops
    else:
        with pytest.raises(ModelError, match='cut the loop at another joint'):
            load_urdf(FOUR_BAR, extension={'loops': loops})


@pytest.mark.parametrize('length', [2.0, 5.0])
def test_an_impossible_loop_is_rejected_with_the_distance_that_remains(tmp_path, length):
    far = {**PIN, 'successor': {'frame': 'ground', 'xyz': [length - 0.5, 0, 0]}}
    gap = length - 0.5 - 0.75
    path = written(tmp_path, {'loops': {'pin': far}})
    with pytest.raises(ModelError) as caught:
        Robot.from_urdf(FOUR_BAR, extension=path)
    for word in ('extension.yaml', 'line 2', "'pin'", f'open by {gap:.4g} ', ';'):
        assert word in str(caught.value)


def test_a_loop_in_the_wrong_plane_is_rejected():
    apart = {**PIN, 'successor': {'frame': 'rocker', 'xyz': [0.4, 0.2, 0]}}
    with pytest.raises(ModelError, match='open by 0.'):
        Robot.from_urdf(FOUR_BAR, extension={'loops': {'pin': apart}})


def test_loop_constraints_that_contradict_each_other_are_rejected():
    second = {**PIN, 'successor': {'frame': 'rocker', 'xyz': [0.35, 0, 0]}}
    with pytest.raises(ModelError, match='closest assembly'):
        Robot.from_urdf(FOUR_BAR, extension={'loops': {'pin': PIN, 'other': second}})


@pytest.mark.parametrize(
    'change, words',
    [
        ({'predecessor': 'copler'}, ["'copler'", "'coupler'"]),
        ({'successor': {'frame': 'rocket'}}, ["'rocket'", "'rocker'"]),
        ({'successor': 'crank_joint', 'predecessor': 'crank'}, ['one body']),
        ({'type': 'universal', 'axis': None}, ['key']),
        ({'type': 'hinge'}, ["'hinge'"]),
        ({'axis': [0, math.nan, 0]}, ['finite']),
        ({'axis': [0, 0, 0]}, ['direction']),
        ({'predecessor': {'xyz': [0, 0, 0]}}, ['frame is missing']),
        ({'predecessor': {'frame': 'coupler', 'xyz': [1]}}, ['3 numbers']),
        ({'predecessor': {'frame': 'coupler', 'rpy': [1e9, 0, 0]}}, ['too large for an angle']),
        ({'predecessor': 7}, ["'7'"]),
        ({'color': 'red'}, ["'color'"]),
    ],
)
def test_bad_loops_are_rejected_with_their_line(tmp_path, change, words):
    entry = {**PIN, **change}
    for way in (
        {'extension': {'loops': {'pin': entry}}},
        {'extension': written(tmp_path, {'loops': {'pin': entry}})},
        {'loops': [{'name': 'pin', **entry}]},
    ):
        with pytest.raises(ModelError) as caught:
            load_urdf(FOUR_BAR, **way)
        for word in (*words, 'pin', ';'):
            assert word in str(caught.value)
        if not isinstance(way.get('extension'), dict) and 'loops' not in way:
            assert 'line ' in str(caught.value)


@pytest.mark.parametrize(
    'loops, word',
    [
        ([PIN], 'name is missing'),
        ([3], 'mapping'),
        ([{'name': 'crank_joint', **PIN}], 'another joint'),
        ([{'name': 'pin', **PIN}, {'name': 'pin', **PIN}], 'another joint'),
        ([{'name': 'u', **PIN, 'type': 'rack_and_pinion', 'radius': 1}], 'key'),
    ],
)
def test_bad_loops_of_an_argument_are_rejected(loops, word):
    with pytest.raises(ModelError, match=word):
        load_urdf(FOUR_BAR, loops=loops)


# -- files


@pytest.mark.parametrize(
    'data, words',
    [
        (b'loops: [', ['line 1']),
        (b'just text', ['mapping']),
        (b'- 1\n- 2\n', ['mapping']),
        (b'gears:\n  grip: {joint: yaw}\n  grip: {joint: roll}\n', ['line 3', 'twice', 'line 2']),
        (b'armature: {yaw: &a 1, roll: *a}', ['aliases', 'line 1']),
        (b'armature:\n  yaw: !!python/object/apply:os.system [ls]', ['line 2', 'not supported']),
        (b'<<: {a: 1}', ['name']),
        (b'[' * 100_000, ['levels']),
        (b'\xff\xfe\xff', ['UTF-8']),
        (b'j1: 1\n' * 300_000, ['limit of 1048576']),
        (b''.join(b'j%d: 1\n' % i for i in range(50_000)), ['entries']),
        (b'armature:\n  yaw: .nan', ['line 2', 'finite']),
        (b'armature:\n  yaw: true', ['line 2', 'finite']),
        (b'armature:\n\n  1: 2', ['line 3', 'quotes']),
        (b'loops:\n  pin:\n    typ: revolute\n', ['line 3', 'type is missing']),
        (b'gears:\n  grip:\n    joint: 12\n', ['line 3', 'quotes']),
        (b'a: 1\n---\nb: 2\n', ['line']),
    ],
)
def test_bad_files_are_rejected_by_line(tmp_path, data, words):
    path = tmp_path / 'extension.yaml'
    path.write_bytes(data)
    begin = time.monotonic()
    with pytest.raises(ModelError) as caught:
        load_urdf(WRIST, extension=path)
    assert time.monotonic() - begin < 30.0
    for word in (*words, 'extension.yaml', ';'):
        assert word in str(caught.value)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize('source', ['/nonexistent.yaml', '.', 3, [1], ''])
def test_a_path_that_is_not_a_file_is_rejected(source):
    with pytest.raises(ModelError, match=';'):
        load_urdf(WRIST, extension=source)


def test_an_empty_extension_changes_nothing(tmp_path):
    plain = load_urdf(WRIST)
    for source in ({}, written(tmp_path, ''), {'loops': None}, {'loops': {}}):
        assert load_urdf(WRIST, extension=source) == plain


# -- arbitrary documents

NAMES = st.sampled_from(
    ['yaw', 'pitch', 'roll', 'grip', 'shoulder', 'upper', 'hand', 'pin', '', 'x' * 300, 'é']
)
SCALARS = st.one_of(
    NAMES,
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.sampled_from(['spherical', 'revolute', 'planar', 'universal', 'armature', 'body', '1e3']),
)
KEYS = st.sampled_from(
    ['type', 'axis', 'pitch', 'replaces', 'joint', 'ratio', 'offset', 'inertia', 'as', 'mass',
     'predecessor', 'successor', 'frame', 'xyz', 'rpy', 'origin', 'reversed', 'first', 'second']
)  # fmt: skip
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(KEYS, NAMES), inner, max_size=5)
    ),
    max_leaves=12,
)
SECTIONS = st.sampled_from(['joints', 'gears', 'rotors', 'loops', 'armature', 'actuated', 'odd'])
CHUNKS = ('', ':', '- ', '{', ']', '\n', '  ', '&a ', '*a', '!x ', '\0')
many = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def outcome(source):
    try:
        assert isinstance(load_urdf(WRIST, extension=source), Model)
    except ModelError as error:
        assert ';' in str(error), error
        assert len(str(error)) < 3000


@pytest.mark.slow
@many
@given(st.dictionaries(SECTIONS, st.one_of(TREES, st.dictionaries(NAMES, TREES)), max_size=4))
def test_any_mapping_is_a_model_or_a_model_error(content):
    outcome(content)


@pytest.mark.slow
@many
@given(st.dictionaries(SECTIONS, st.dictionaries(NAMES, TREES), max_size=3), st.data())
def test_any_broken_file_is_a_model_or_a_model_error(tmp_path_factory, content, data):
    text = yaml.safe_dump(content, allow_unicode=True)
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(text)))
        chunk = data.draw(st.sampled_from(CHUNKS))
        text = text[:at] + chunk + text[at + data.draw(st.integers(0, 3)) :]
    path = tmp_path_factory.mktemp('fuzz') / 'extension.yaml'
    path.write_text(text, encoding='utf-8')
    outcome(path)


@dataclass(frozen=True)
class Mine(Revolute):
    """An unregistered joint type."""


def test_a_type_that_is_not_registered_is_unknown():
    for word in ('mine', 'Mine', f'{__name__}:Mine'):
        with pytest.raises(ModelError, match='unknown type'):
            load_urdf(WRIST, extension={'joints': {'yaw': {'type': word}}})


def test_former_chains_still_load():
    assert load_urdf(chain('revolute', 'fixed')).joint_names == ('j1',)


@pytest.mark.parametrize('far', [1e3, 1e15, 1e30])
def test_loops_of_any_size_are_closed_or_rejected(far):
    loop = {**PIN, 'successor': {'frame': 'rocker', 'xyz': [far, -far, far]}}
    with pytest.raises(ModelError, match='closest assembly'):
        Robot.from_urdf(FOUR_BAR, extension={'loops': {'pin': loop}})


def test_link_poses_at_zero_do_not_depend_on_joint_frames(rng):
    text = WRIST.replace(
        joint('pitch', 'w1', 'w2', '0 1 0'),
        joint('pitch', 'w1', 'w2', '0 1 0', '0.1 0.2 -0.3', rpy='0.4 0.5 -0.6'),
    ).replace(
        joint('roll', 'w2', 'hand', '1 0 0'),
        joint('roll', 'w2', 'hand', '1 0 0', '-0.2 0.1 0.4', rpy='-0.7 0.2 0.3'),
    )
    plain, ball = Robot.from_urdf(text), Robot.from_urdf(text, extension={'joints': GROUP})
    poses = [r.forward_kinematics(r.neutral()) for r in (plain, ball)]
    for name in ('upper', 'hand', 'tool'):
        assert_allclose(poses[1][name], poses[0][name], atol=1e-14)
    # the axes of the joints replaced, as the last link sees them
    group = {'cardan': {'type': 'universal', 'replaces': ['pitch', 'roll']}}
    cardan = Robot.from_urdf(text, extension={'joints': group}).model.body(3).joint
    J = plain.jacobian(plain.neutral(), 'hand')[:3, 2:4]
    R = poses[0]['hand'][:3, :3]
    found = np.array([cardan.first, cardan.second]).T
    assert any(np.allclose(found, E, atol=1e-12) for E in (J, R.T @ J))


def test_geared_joints_are_not_replaced_and_limits_are_the_smallest():
    geared = WRIST.replace('<limit', '<mimic joint="shoulder"/><limit', 5).replace(
        '<mimic joint="shoulder"/>', '', 3
    )
    with pytest.raises(ModelError, match="'roll' mimics another joint or is mimicked"):
        load_urdf(geared, extension={'joints': GROUP})
    parts = WRIST.split('effort="9" velocity="5"')
    limits = ['effort="9" velocity="5"', 'effort="4" velocity="5"', 'effort="9" velocity="3"']
    text = ''.join(a + b for a, b in zip(parts, [*limits, limits[0], limits[0], '']))
    found = load_urdf(text, extension={'joints': GROUP}).body(2).limits
    assert (found.effort, found.velocity, found.lower, found.upper) == (4, 3, -math.inf, math.inf)
    one = load_urdf(text, extension={'joints': {'yaw': {'type': 'helical', 'pitch': 1}}}).body(2)
    assert one.limits == load_urdf(text).body(2).limits


def test_losses_are_the_largest_unless_given():
    text = WRIST.replace('<limit', '<dynamics damping="0.1" friction="0.4"/><limit', 3).replace(
        'damping="0.1" friction="0.4"', 'damping="0.7" friction="0.2"', 2
    )
    found = load_urdf(text, extension={'joints': GROUP}).body(2)
    assert (found.damping, found.friction) == (0.7, 0.4)
    given = {'wrist': {**GROUP['wrist'], 'damping': 0.3, 'friction': 0}}
    found = load_urdf(text, extension={'joints': given}).body(2)
    assert (found.damping, found.friction) == (0.3, 0.0)


def test_armature_and_rotor_of_a_joint_add_up_and_the_argument_replaces_both():
    both = {'armature': {'yaw': 0.25}, 'rotors': {'yaw': {'ratio': 10, 'inertia': 0.01}}}
    assert load_urdf(WRIST, extension=both).body(2).armature == 1.25
    assert load_urdf(WRIST, extension=both, armature={'yaw': 3}).body(2).armature == 3.0


def test_ends_of_loops_are_placed_relative_to_the_frame_that_is_named():
    fixed = (
        link('plate', 0.1)
        + joint('mount', 'hand', 'plate', xyz='0.1 0.2 0.3', rpy='0.5 -0.4 0.3', kind='fixed')
        + '</robot>'
    )
    text = WRIST.replace('</robot>', fixed)
    end = {'frame': 'plate', 'xyz': [0.3, -0.1, 0.2], 'rpy': [0.2, 0.6, -0.5]}
    loops = {'pin': {'type': 'spherical', 'predecessor': 'base', 'successor': end}}
    (found,) = load_urdf(text, extension={'loops': loops}).loops
    deeper = (
        link('end')
        + joint('end', 'plate', 'end', xyz='0.3 -0.1 0.2', rpy='0.2 0.6 -0.5', kind='fixed')
        + '</robot>'
    )
    expected = load_urdf(text.replace('</robot>', deeper)).frame('end')
    assert found.successor.body == expected.body
    placements = [np.array(X.matrix()) for X in (found.successor.placement, expected.placement)]
    assert_allclose(*placements, atol=1e-14)


def test_axes_become_unit_vectors_and_have_three_numbers():
    def closed_about(axis, **more):
        rest = {'loops': {'pin': {**PIN, 'axis': axis, **more}}}
        return load_urdf(FOUR_BAR, extension=rest).loops[0].joint

    assert_allclose(closed_about([0, -3, 4]).axis, [0.0, -0.6, 0.8], rtol=1e-15)
    assert closed_about([0, -1, 0], reversed=False) == Revolute((0.0, -1.0, 0.0))
    assert isinstance(closed_about([0, -1, 0], reversed=True), (Reversed, Revolute))
    assert closed_about([0, -1, 0], reversed=True) != Revolute((0.0, -1.0, 0.0))
    for axis, word in (([0, 0, 1, 0], 'expected 3 numbers, got 4'), ([0, 'x', 1], r'axis\[2\]')):
        with pytest.raises(ModelError, match=word):
            closed_about(axis)


def test_assembled_models_keep_their_warnings_and_are_closed():
    extension = read_extension({'loops': {'pin': PIN}})
    model = replace(load_urdf(FOUR_BAR, extension=extension), warnings=('as before',))
    warned, q = assembled(model, extension)
    assert warned.warnings[0] == 'as before' and len(warned.warnings) == 3
    assert np.abs(Robot(model).loops.closure(q).residual).max() < 1e-10
    text = (
        f'<robot name="mesh">{link("base")}{link("slide", 1.0)}{link("wheel", 1.0)}'
        + joint('along', 'base', 'slide', '1 0 0', kind='prismatic')
        + joint('turn', 'slide', 'wheel', '0 0 1')
        + '</robot>'
    )
    rack = {'type': 'rack_and_pinion', 'radius': 0.3, 'predecessor': 'base', 'successor': 'wheel'}
    extension = read_extension({'loops': {'mesh': rack}})
    (reported,) = assembled(load_urdf(text, extension=extension), extension)[0].warnings
    assert 'open by' not in reported
