# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Copies of simulations, and other copied and pickled objects or their errors."""

import copy
from functools import cached_property
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.collision import RobotInWorld
from rbd_ros.contact import ContactParameters, HalfSpace
from rbd_ros.hil import Fault
from rbd_ros.hil.scenario.payloads import with_payloads
from rbd_ros.identification import Recording
from rbd_ros.lookup.resources import resource_path
from rbd_ros.simulation import Physics
from rbd_ros.viewer.motion_recording import MotionRecording

DUPLICATES = [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))]
IDS = ['copy', 'deepcopy', 'pickle']
FAMILIES = [name for name, each in vars(Robot).items() if isinstance(each, cached_property)]
TORQUE = np.array([5.0, -20.0, 10.0, 1.0, 2.0, 0.5])


def arm():
    return Robot.from_urdf(resource_path('urdf/six_axis_arm.urdf'))


def in_a_world():
    simulator = Simulator(
        arm(),
        timestep=5e-4,
        world=resource_path('config/table_world.yaml'),
        restitution_model='poisson',
        solver_tolerance=1e-9,
        solver_iterations=200,
        speed_limit=50.0,
        enforce_velocity_limits=False,
    )
    simulator.remove_object('peg')
    ball = {'type': 'sphere', 'radius': 0.05, 'static': False, 'mass': 0.2}
    simulator.add_object('another', {**ball, 'xyz': [0.6, -0.3, 0.5]})
    simulator.set_joint_pd(kp=50.0, kd=1.0)
    simulator.apply_wrench('another', [0, 0, 0, 1.0, 0, 0], duration=0.03)
    return simulator


def on_soft_ground():
    contact = ContactParameters(friction=0.3)
    return Simulator(
        arm(),
        integrator='semi_implicit',
        ground=HalfSpace(),
        contact=contact,
        contact_links=['wrist_3_link'],
    )


def changed():
    """With a payload, friction and weaker motors, as faults of the bench have them."""
    robot = arm()
    simulator = Simulator(robot, integrator='rk4')
    simulator.physics.change_inertias(with_payloads(robot, [Fault('payload', 2.0, link='tool0')]))
    simulator.physics.allow_friction()
    simulator.physics.model.friction[:] = 3.0
    simulator.physics.model.effort[:] = 15.0
    return simulator


def of_objects():
    ball = {'type': 'sphere', 'radius': 0.1, 'xyz': [0, 0, 0.3], 'static': False, 'mass': 1.0}
    return Simulator(None, world={'objects': {'floor': {'type': 'plane'}, 'ball': ball}})


def on_rigid_ground():
    contact = ContactParameters(friction=0.4)
    return Simulator(arm(), ground=True, contact=contact)


def state(simulator):
    arrays = simulator.snapshot().arrays
    return {**arrays, 'time': np.array(simulator.time)}


def assert_same(one, other):
    ours, theirs = state(one), state(other)
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize('duplicate', DUPLICATES, ids=IDS)
@pytest.mark.parametrize(
    'make', [in_a_world, on_soft_ground, changed, of_objects, on_rigid_ground]
)
def test_a_copy_continues_identically_and_independently(make, duplicate):
    original = make()
    torque = TORQUE[: original.robot.nv]
    original.step(torque, n=40)
    other = duplicate(original)
    assert type(other) is Simulator
    assert_same(original, other)
    assert original.warnings == other.warnings and repr(original) == repr(other)
    before = state(original)
    other.step(torque, n=40)
    # What the copy does, the other one does not notice.
    for name, array in before.items():
        np.testing.assert_array_equal(state(original)[name], array)
    original.step(torque, n=40)
    assert_same(original, other)
    assert original.status.steps == 80 and original.status == other.status
    original.reset()
    other.reset()
    original.step(torque, n=5)
    other.step(torque, n=5)
    assert_same(original, other)


def test_a_copy_shares_robot_and_surroundings():
    simulator = of_objects()
    assert copy.deepcopy(simulator).world is simulator.world
    simulator = changed()
    assert copy.deepcopy(simulator).robot is simulator.robot


def test_a_copy_is_made_with_all_arguments():
    simulator = in_a_world()
    _, (_, arguments, _) = simulator.__reduce__()
    assert list(arguments) == list(inspect.signature(Simulator).parameters)
    assert arguments['enforce_velocity_limits'] is False and arguments['speed_limit'] == 50.0
    assert copy.copy(copy.copy(simulator)).physics.model.speed.max() == 50.0


#: What another process does with methods and their arguments.
CALL = """
import pickle, sys
calls = pickle.load(sys.stdin.buffer)
pickle.dump([call(*given) for call, *given in calls], sys.stdout.buffer)
"""


def test_pickled_objects_work_alike_in_another_process():
    robot = arm()
    linkage = Robot.from_urdf(
        resource_path('urdf/four_bar.urdf'), extension=resource_path('config/four_bar.yaml')
    )
    simulator, motion = Simulator(robot, enforce_velocity_limits=False), MotionRecording(robot)
    q, v, a = np.random.default_rng(1).normal(size=(3, 6))
    motion.add(0.0, q)
    tool = robot.frame('tool0', 'aligned')
    measured = Recording(robot.joint_names, [0.0, 1.0], np.stack([q, v]), np.stack([a, a]))
    calls = [
        (robot.forward_dynamics, q, v, a),
        (robot.derivatives.inverse_dynamics, q, v, a),
        (robot.regressors.torque, q, v, a),
        (robot.centroidal.momentum, q, v),
        (linkage.loops.equations_of_motion, np.zeros(3), np.ones(3), [0.0]),
        (tool.velocity, q, v),
        (tool.inverse_kinematics, tool.pose(q)),
        (simulator.rollout, q, v, a, 3),
        (motion.poses,),
        (measured.part, 0.0, 1.0),
    ]
    done = subprocess.run(
        [sys.executable, '-c', CALL], input=pickle.dumps(calls), capture_output=True, check=True
    )
    theirs = pickle.loads(done.stdout)
    ours = [call(*given) for call, *given in calls]
    assert vars(theirs[-1]).keys() == vars(ours[-1]).keys()
    np.testing.assert_equal(
        [*theirs[:-1], *vars(theirs[-1]).values()], [*ours[:-1], *vars(ours[-1]).values()]
    )


@pytest.mark.parametrize('name', FAMILIES)
def test_every_family_is_copied(name):
    robot = Robot.from_urdf(resource_path('urdf/six_axis_arm.urdf'), floating_base=True)
    for duplicate in DUPLICATES:
        found = duplicate(getattr(robot, name))
        assert type(found) is type(getattr(robot, name)) and found._kernels.model.nv == robot.nv


def test_a_method_of_a_simulation_travels_with_it():
    simulator = of_objects()
    step = pickle.loads(pickle.dumps(simulator.step))
    step(n=3)
    assert (simulator.status.steps, step.__self__.status.steps) == (0, 3)


def test_physics_alone_cannot_be_copied():
    physics = Physics(arm())
    for duplicate in DUPLICATES:
        with pytest.raises(TypeError, match='copy or pickle its Simulator'):
            duplicate(physics)


@pytest.mark.parametrize('duplicate', DUPLICATES, ids=IDS)
def test_families_and_frames_are_copied_before_and_after_use(duplicate):
    robot = arm()
    q, v, a = np.random.default_rng(1).normal(size=(3, 6))
    for _ in range(2):
        frame, dynamics = duplicate(robot.frame('tool0')), duplicate(robot.derivatives)
        np.testing.assert_array_equal(frame.pose(q), robot.frame('tool0').pose(q))
        for ours, theirs in zip(
            dynamics.inverse_dynamics(q, v, a), robot.derivatives.inverse_dynamics(q, v, a)
        ):
            np.testing.assert_array_equal(ours, theirs)
        pose = duplicate(robot.frame('tool0').pose)
        np.testing.assert_array_equal(pose(q), robot.frame('tool0').pose(q))


def test_kernels_are_not_pickled_and_the_error_names_the_cure():
    robot = arm()
    kernel = robot.kernel('inverse_dynamics')
    function = robot.function('gravity_torque', ['gravity'])
    for each in (kernel, function):
        with pytest.raises(TypeError, match='pickle the robot'):
            pickle.dumps(each)
    assert copy.copy(kernel) is copy.deepcopy(kernel) is kernel


@pytest.mark.parametrize('duplicate', DUPLICATES, ids=IDS)
def test_a_robot_in_a_world_is_copied_with_its_pairs(duplicate):
    pairs = [('robot/wrist_3_link', 'ball'), ('robot/forearm_link', 'box')]
    ours = RobotInWorld(arm(), resource_path('config/table_world.yaml'), pairs)
    theirs = duplicate(ours)
    assert theirs.pairs == ours.pairs and set(ours.pairs) == set(pairs)
    q = 0.1 * np.arange(6.0)
    np.testing.assert_array_equal(theirs.distances(q).distance, ours.distances(q).distance)


@pytest.mark.parametrize('given', ['x.urdf', None, 7])
def test_a_robot_is_made_of_a_model(given):
    with pytest.raises(ValueError, match=r'must be a Model, got \w+: Robot\.from_urdf'):
        Robot(given)
