# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of models: measured loss of accuracy, with warnings if it is too large."""

import json
import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import random_trees
from support.assembled_mechanisms import crank_slider, crank_slider_joints
from support.random_trees import chain
from support.textbook_trees import every_tree, named_tree

from rbd_ros import Robot
from rbd_ros.cli.main import main
from rbd_ros.model import Body, Link, Model
from rbd_ros.model.joints import Revolute, SphericalYawPitchRoll
from rbd_ros.robot.accuracy_diagnosis import diagnose
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia

SOLID = {'inertia': [0.02, 0.0, 0.0, 0.03, 0.0, 0.04], 'mass': 2.0}


def hinges(*links):
    return Robot.from_urdf(chain([{'type': 'revolute', **SOLID, **link} for link in links]))


@pytest.mark.seed('AE01')
@every_tree
def test_numbers_are_those_of_the_bodies_and_matrices(name):
    tree = named_tree(name)
    model, robot = tree.model, Robot(tree.model)
    q = tree.states[0].q
    found = robot.diagnose(q)
    expected = np.linalg.cond(tree.book.mass_matrix(q))
    assert found.condition_number == pytest.approx(expected, rel=1e-9)
    assert found.loop_condition_number is None
    for i, body in model.outward():
        I = body.inertia.matrix()
        m, skew = I[3, 3], I[:3, 3:] / I[3, 3]
        about_center = I[:3, :3] - m * skew @ skew.T
        center = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        gyration = math.sqrt(0.5 * np.trace(about_center) / m)
        expected = np.linalg.norm(center) / gyration
        assert found.center_ratios[body.name] == pytest.approx(expected, rel=1e-9)
        others = [j for j, _ in model.outward() if i in model.support(j) and j != i]
        carried = sum(model.body(j).inertia.mass for j in others)
        assert found.mass_ratios[body.name] == pytest.approx(carried / m, rel=1e-12)


@pytest.mark.seed('AE01')
def test_ordinary_robots_give_no_warning():
    for seed in range(5):
        model = Robot.from_urdf(random_trees.mixed_tree(seed)).model
        assert diagnose(model).warnings == ()


@pytest.mark.seed('AE01')
@pytest.mark.parametrize('ratio', [20.0, 50.0, 1e4])
def test_a_center_of_mass_far_from_its_frame_gets_a_warning(ratio):
    """A warning says how many digits the book's rule, the square of the distance, takes."""
    gyration = math.sqrt(0.5 * 0.09 / 2.0)
    robot = hinges({}, {'center': [0.0, ratio * gyration, 0.0]})
    found = robot.diagnose()
    assert found.center_ratios['link2'] == pytest.approx(ratio, rel=1e-6)
    about = [x for x in found.warnings if 'center of mass' in x]
    assert len(about) == (ratio > 30.0)
    if about:
        assert "body 'link2'" in about[0] and f'{2 * math.log10(ratio):.1f} digits' in about[0]


@pytest.mark.seed('AE01')
@pytest.mark.parametrize('mass, warned', [(0.1, False), (1e-4, True)])
def test_a_light_body_that_carries_heavy_ones_gets_a_warning(mass, warned):
    robot = hinges({'mass': mass}, {'xyz': [0.1, 0, 0]}, {'xyz': [0.1, 0, 0]})
    found = robot.diagnose()
    assert found.mass_ratios == pytest.approx({'link1': 4.0 / mass, 'link2': 1.0, 'link3': 0.0})
    warnings = [x for x in found.warnings if 'times its mass' in x]
    assert len(warnings) == warned and all("body 'link1'" in x for x in warnings)


@pytest.mark.seed('AE01', kind='full')
def test_warnings_fire_on_models_that_are_made_for_it():
    """One model for each cause, each with its own warning and no other's, and one with none."""
    far, heavy = {'center': [100.0, 0, 0]}, {'mass': 1e4, 'inertia': [1e4] * 3 + [2e4, 0, 2e4]}
    small = {'inertia': [1e-10, 0, 0, 1e-10, 0, 1e-10], 'mass': 1e-3}
    causes = {
        'center of mass is': hinges(far),
        'times its mass': hinges({'mass': 1.0}, heavy),
        'mass matrix is': hinges({}, {**small, 'axis': [1, 0, 0]}),
    }
    for words, robot in causes.items():
        others = [key for key in causes if key != words]
        warnings = robot.diagnose().warnings
        assert any(words in x for x in warnings), (words, warnings)
        if words != 'times its mass':  # which makes the mass matrix a bad one as well
            assert not any(key in x for key in others for x in warnings), (words, warnings)
    assert hinges({}, {'xyz': [0.1, 0, 0]}).diagnose().warnings == ()


@pytest.mark.seed('AE01', 'CL14', kind='part')
def test_loops_near_a_singular_configuration_get_a_warning():
    """A crank-slider whose rod is as long as its crank: folded, it can do something else.

    Redundant constraints, three of the five, are no warning.
    """
    robot = Robot(crank_slider())

    def q(theta):
        return [crank_slider_joints(theta)[name] for name in robot.joint_names]

    found = robot.diagnose(q(0.8))
    values = np.linalg.svd(robot.loops.closure(q(0.8)).K)[1]
    assert found.loop_condition_number == pytest.approx(values[0] / values[1], rel=1e-9)
    assert found.warnings == ()
    # no rod leads from a crank at 90 degrees to a slider straight below
    near = robot.diagnose([math.pi / 2 - 1e-6, 0.0, -math.pi / 2 + 1e-6])
    assert near.loop_condition_number > 1e4
    assert any('loop constraints' in x for x in near.warnings)


@pytest.mark.seed('JM07', 'AE01')
def test_a_joint_near_its_singularity_gets_a_warning():
    inertia = RigidBodyInertia.from_mass_center(1.0, (0.1, 0.2, 0.3), np.eye(3).tolist())
    X = PluckerTransform.identity()
    kinds = Revolute((0.0, 0.0, 1.0)), SphericalYawPitchRoll()
    bodies = [Body(f'b{i}', i, f'j{i}', kind, X, inertia) for i, kind in enumerate(kinds)]
    links = [Link(f'b{i}', i + 1, X, inertia) for i in range(2)]
    robot = Robot(Model.create('gimbal', bodies, links))
    assert robot.diagnose().warnings == ()
    (warning,) = robot.diagnose([0.3, 0.2, math.radians(89.0), 0.1]).warnings
    assert warning.startswith("joint 'j1': its pitch of 89.0 deg is at the singularity")
    # where it is singular, so is the mass matrix
    assert any('mass matrix' in x for x in robot.diagnose([0, 0, math.pi / 2, 0]).warnings)


def test_points_and_frames_without_mass_have_no_ratio():
    robot = Robot.from_urdf(chain([
        {'type': 'revolute'},
        {'type': 'revolute', 'mass': 1.0, 'center': [0.3, 0.4, 0.5]},
    ]))  # fmt: skip
    found = robot.diagnose()
    assert found.center_ratios == {} and found.mass_ratios == {'link2': 0.0}
    assert diagnose(Model.create('nothing', [], [])).condition_number == 1.0
    rng, X = np.random.default_rng(0), PluckerTransform.identity()
    for _ in range(30):  # any rounding error of the radius of gyration of a point
        center = tuple(rng.normal(size=3).tolist())
        point = RigidBodyInertia.from_mass_center(rng.uniform(), center, np.zeros((3, 3)).tolist())
        bodies = [Body('a', 0, 'j', Revolute((0.0, 0.0, 1.0)), X, point)]
        model = Model.create('point', bodies, [Link('a', 1, X, point)])
        assert diagnose(model).center_ratios == {}


def test_a_singular_mass_matrix_has_no_condition():
    robot = Robot.from_urdf(chain([{'type': 'revolute'}]))
    assert robot.diagnose().condition_number == math.inf
    assert 'singular at this configuration' in robot.diagnose().warnings[0]


@pytest.mark.parametrize('q', [[], [0.0], [0.0] * 3])
def test_a_configuration_of_wrong_shape_is_rejected(q):
    with pytest.raises(ValueError, match=r'q must have shape \(2,\)'):
        hinges({}, {}).diagnose(q)


@pytest.mark.seed('AE01')
def test_info_shows_the_condition_number_and_the_problem(tmp_path, capsys):
    path = tmp_path / 'arm.urdf'
    text = chain([{'type': 'revolute', **SOLID, 'center': [100.0, 0, 0]}])
    path.write_text(text)
    assert main(['info', str(path)]) == 0
    printed = capsys.readouterr().out
    assert 'Condition number of the mass matrix at the neutral configuration: 1\n' in printed
    assert "Accuracy:\n  - body 'link1': its center of mass is" in printed
    assert main(['info', '--json', str(path)]) == 0
    facts = json.loads(capsys.readouterr().out)
    found = Robot.from_urdf(text).diagnose()
    assert facts['accuracy']['condition_number'] == found.condition_number == 1.0
    assert facts['accuracy']['warnings'] == list(found.warnings)
    assert_allclose(facts['accuracy']['center_ratios']['link1'], found.center_ratios['link1'])
    path.write_text(chain([{'type': 'revolute'}]))
    assert main(['info', str(path)]) == 0
    printed = capsys.readouterr().out
    assert 'Condition number' not in printed and 'singular' in printed
