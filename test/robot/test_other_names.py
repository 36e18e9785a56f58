# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Former names work with a warning; names of other libraries raise an error with ours."""

import pickle
import re
import warnings

import numpy as np
import pytest
from support.api_pages import COMING_FROM, updated_names

from rbd_ros import Robot, Simulator
from rbd_ros.robot.families.derivatives_family import DerivativeFunctions
from rbd_ros.robot.families.regressors_family import RegressorFunctions
from rbd_ros.robot.frame import RobotFrame
from rbd_ros.robot.other_names import FOREIGN, RENAMED
from rbd_ros.textbook.articulated_body.articulated_family import ArticulatedFunctions

CLASSES = {
    each.__name__: each
    for each in (Robot, ArticulatedFunctions, DerivativeFunctions, RegressorFunctions)
}
ARM = 'urdf/six_axis_arm.urdf'


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(ARM)


@pytest.mark.parametrize(
    ('kind', 'old', 'new'), [(k, o, n) for k, names in RENAMED.items() for o, n in names.items()]
)
def test_a_former_name_is_the_present_one_and_warns(kind, old, new):
    with pytest.warns(DeprecationWarning, match=rf'{kind}\.{old} is deprecated; use .*\.{new}$'):
        assert getattr(CLASSES[kind], old) == getattr(CLASSES[kind], new)


def test_former_names_of_objects_compute_the_same(robot):
    q, v, a = robot.neutral(), np.ones(robot.nv), np.ones(robot.nv)
    with pytest.warns(DeprecationWarning, match='inverse_dynamics_second_order'):
        function = robot.derivatives.inverse_dynamics_twice
    assert function == robot.derivatives.inverse_dynamics_second_order
    with pytest.warns(DeprecationWarning, match='combine'):
        both = Robot.together({'a': robot, 'b': robot})
    assert both.nv == 2 * robot.nv and robot.inverse_dynamics(q, v, a).shape == (robot.nv,)


def test_british_spelling_is_a_synonym(robot):
    q = robot.neutral()
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert np.array_equal(robot.centre_of_mass(q), robot.center_of_mass(q))
        assert robot.centre_of_mass_jacobian(q).shape == (3, robot.nv)
        assert robot.derivatives.centre_of_mass_jacobian(q).J.shape == (3, robot.nv)
        assert np.array_equal(robot.function('centre_of_mass')(q), robot.center_of_mass(q))


@pytest.mark.parametrize('row', FOREIGN, ids=lambda row: row.name)
def test_a_name_of_another_library_leads_to_one_that_exists(robot, row):
    for path in row.here.split(', '):
        home, *names = re.sub(r'\(\w*\)', '', path).split('.')
        found = {'Robot': Robot, 'Simulator': Simulator}[home]
        if names[0] == 'frame' and len(names) > 1:
            found, names = RobotFrame, names[1:]
        elif len(names) > 1:  # a family of functions
            found, names = getattr(robot, names[0]), names[1:]
        (name,) = names
        assert hasattr(found, name)
    if not hasattr(Robot, row.name):
        with pytest.raises(
            AttributeError, match=rf"^Robot has no '{row.name}': that is "
        ) as error:
            getattr(robot, row.name)
        assert str(error.value).endswith(row.here)


def test_names_of_other_libraries_are_given_once():
    assert len({row.name for row in FOREIGN}) == len(FOREIGN) >= 40


def test_a_simulation_has_them_as_well(robot):
    simulator = Simulator(robot)
    with pytest.raises(AttributeError, match="Simulator has no 'qpos': that is Simulator.q"):
        simulator.qpos
    with pytest.raises(AttributeError, match="no attribute 'tme'") as error:
        simulator.tme
    assert (error.value.name, error.value.obj) == ('tme', simulator)


def test_no_other_attribute_is_affected(robot):
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert pickle.loads(pickle.dumps(robot)).nv == robot.nv
        assert not hasattr(robot, '__array__') and not hasattr(robot, 'no_such_name')


def test_the_error_of_a_property_is_seen():
    class Broken(Robot):
        @property
        def odd(self):
            raise AttributeError('inner')

    with pytest.raises(AttributeError, match='^inner$'):
        Broken(Robot.from_urdf(ARM).model).odd


def test_the_page_has_the_table():
    text = COMING_FROM.read_text('utf-8')
    assert updated_names(text) == text, 'run scripts/update_python_api'
