# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mass matrix, bias and inverse dynamics of a few robots against Drake, a third code."""

import numpy as np
import pytest
from support import example_robots, layout, outside
from support.errors import record, worst_relative_error

from rbd_ros import Robot

parsing = outside.load('pydrake.multibody.parsing')
plants = outside.load('pydrake.multibody.plant')
trees = outside.load('pydrake.multibody.tree')

STATES = 20
TOLERANCE = 1e-11  # measured below 1e-13
# HyQ is left out: its base inertia is not physical and Drake corrects it, a difference of 2e-6.
ROBOTS = ('ur5_robot', 'kinova', 'z1', 'xarm7', 'so101', 'solo12')


def drake_plant(text):
    """Return the plant of a URDF text, its root welded to the world."""
    plant = plants.MultibodyPlant(time_step=0.0)
    parsing.Parser(plant).AddModelsFromString(text, 'urdf')
    root = layout.read(text).links[0]
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root))
    plant.Finalize()
    return plant, plant.CreateDefaultContext()


@pytest.fixture(scope='module', params=ROBOTS)
def both(request):
    """Return our robot, the plant, and the places of our joints in Drake's vectors."""
    path = example_robots.path(request.param)
    text = example_robots.dynamics_xml(path.read_text())
    text = text.replace('"world"', '"world_link"')  # Drake's own world is called so
    plant, context = drake_plant(text)
    places = layout.read(text)
    order = [plant.GetJointByName(joint.name).velocity_start() for joint in places.joints]
    q, v, a = places.random_states(np.random.default_rng(1), STATES)
    return request.param, Robot.from_urdf(text), plant, context, order, (q, v, a), places


def check(name, what, ours, theirs):
    error = worst_relative_error(ours, np.array(theirs))
    record('compiled - Drake', what, name, error)
    assert error < TOLERANCE, f'{what} of {name}: relative error {error:.1e}'


def set_state(plant, context, order, q, v=None):
    full_q, full_v = np.zeros(plant.num_positions()), np.zeros(plant.num_velocities())
    full_q[order], full_v[order] = q, 0.0 if v is None else v
    plant.SetPositions(context, full_q)
    plant.SetVelocities(context, full_v)


@pytest.mark.seed('FM03', 'ID05')
def test_mass_matrix_and_gravity(both):
    name, robot, plant, context, order, (q, _, _), _ = both
    H, g = [], []
    for row in q:
        set_state(plant, context, order, row)
        H.append(plant.CalcMassMatrix(context)[np.ix_(order, order)])
        g.append(-plant.CalcGravityGeneralizedForces(context)[order])
    check(name, 'mass_matrix', robot.mass_matrix(q), H)
    check(name, 'gravity_torque', robot.gravity_torque(q), g)


@pytest.mark.seed('ID04', 'ID06')
def test_inverse_dynamics_and_velocity_products(both):
    name, robot, plant, context, order, (q, v, a), _ = both
    tau, coriolis, forces = [], [], trees.MultibodyForces(plant)
    for row in zip(q, v, a):
        set_state(plant, context, order, *row[:2])
        forces.SetZero()
        plant.CalcForceElementsContribution(context, forces)
        acceleration = np.zeros(plant.num_velocities())
        acceleration[order] = row[2]
        tau.append(plant.CalcInverseDynamics(context, acceleration, forces)[order])
        coriolis.append(plant.CalcBiasTerm(context)[order])
    check(name, 'inverse_dynamics', robot.inverse_dynamics(q, v, a), tau)
    check(name, 'C(q, v) v', robot.bias_force(q, v) - robot.gravity_torque(q), coriolis)


@pytest.mark.seed('MD06', 'MD08')
def test_pose_and_jacobian_of_the_last_link(both):
    name, robot, plant, context, order, (q, _, _), places = both
    link, poses, jacobians = places.links[-1], [], []
    frame, world = plant.GetFrameByName(link), plant.world_frame()
    for row in q:
        set_state(plant, context, order, row)
        poses.append(plant.CalcRelativeTransform(context, world, frame).GetAsMatrix4())
        jacobians.append(
            plant.CalcJacobianSpatialVelocity(
                context, trees.JacobianWrtVariable.kV, frame, [0, 0, 0], world, world
            )[:, order]
        )
    check(name, 'forward_kinematics', robot.forward_kinematics(q)[link], poses)
    check(name, 'jacobian aligned', robot.jacobian(q, link, reference='aligned'), jacobians)


@pytest.mark.seed('SV18', 'BL07')
def test_energy_and_center_of_mass(both):
    """Drake counts the link welded to the world, too.

    Only differences of potential energy compare.
    """
    name, robot, plant, context, order, (q, v, _), _ = both
    kinetic, potential = [], []
    for row in zip(q, v):
        set_state(plant, context, order, *row)
        kinetic.append([plant.CalcKineticEnergy(context)])
        potential.append([plant.CalcPotentialEnergy(context)])
    energy = robot.energy(q, v)
    check(name, 'kinetic energy', energy.kinetic[:, None], kinetic)
    check(
        name,
        'potential energy',
        (energy.potential - energy.potential[0])[:, None],
        np.array(potential) - potential[0],
    )
