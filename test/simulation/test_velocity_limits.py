# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Velocity limits of the description, and limits of mimic joints, in simulation."""

from dataclasses import replace

import numpy as np
import pytest
from support import loop_mechanisms
from support.simulated_robots import collision, joint, link, robot, turntable

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.lookup.resources import resource_path

INTEGRATORS = ['semi_implicit', 'midpoint', 'rk4']
each = pytest.mark.parametrize('integrator', INTEGRATORS)
SLOW = '<limit effort="5" velocity="2"/>'
SURROUNDINGS = [{}, {'world': {}}, {'ground': HalfSpace(offset=-9.0)}]


def wheel(**options):
    return turntable(0.1, limit=SLOW, **options)


def gripper():
    """Return the joint m from -1 to 1 at 5 rad/s.

    f = 0.1 - 2 m stays between -0.5 and 0.3, at 1 rad/s.
    """
    wide = '<limit lower="-1" upper="1" effort="10" velocity="5"/>'
    narrow = '<limit lower="-0.5" upper="0.3" effort="3" velocity="1"/>'
    mimic = '<mimic joint="m" multiplier="-2" offset="0.1"/>'
    return robot(
        link('base'),
        link('a', 1.0, (0.01,) * 3),
        link('b', 1.0, (0.01,) * 3),
        joint('m', 'base', 'a', 'revolute', (0, 0, 1), inside=wide),
        joint('f', 'base', 'b', 'revolute', (0, 0, 1), (0, 1, 0), inside=narrow + mimic),
    )


@each
@pytest.mark.parametrize('around', SURROUNDINGS, ids=['alone', 'world', 'compliant'])
def test_a_joint_accelerates_up_to_its_velocity_limit(integrator, around):
    simulator = Simulator(wheel(), 1e-3, integrator, **around)
    simulator.step([5.0], 30)
    assert simulator.v[0] == pytest.approx(0.03 * 5.0 / 0.1, rel=1e-12)  # below it, nothing acts
    assert simulator.status.velocity_clamped_steps == 0
    simulator.step([5.0], 970)
    assert simulator.v[0] == pytest.approx(2.0, rel=1e-14)
    assert simulator.status.velocity_clamped_steps == 961 and simulator.status.limit_steps == 0
    assert simulator.constraint_force[0] == pytest.approx(-5.0, rel=1e-9)
    # It leaves its limit as soon as it is braked.
    simulator.step([-5.0], 10)
    assert simulator.v[0] == pytest.approx(2.0 - 0.01 * 5.0 / 0.1, rel=1e-9)
    assert simulator.constraint_force[0] == pytest.approx(0.0, abs=1e-9)


@each
def test_it_can_be_switched_off(integrator):
    simulator = Simulator(wheel(), 1e-3, integrator, enforce_velocity_limits=False)
    simulator.step([5.0], 1000)
    assert simulator.v[0] == pytest.approx(50.0, rel=1e-9)
    assert simulator.status.velocity_clamped_steps == 0


@each
def test_below_the_limits_the_motion_is_bitwise_that_without_them(integrator):
    arm = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    found = []
    for enforced in (True, False):
        simulator = Simulator(arm, 1e-3, integrator, enforce_velocity_limits=enforced)
        simulator.reset([0.1, -1.2, 1.0, 0.2, 0.3, 0.0])
        simulator.step(0.9 * arm.gravity_torque(simulator.q), 200)
        assert simulator.status.velocity_clamped_steps == 0
        found.append([*simulator.q, *simulator.v])
    assert found[0] == found[1] and np.abs(found[0][6:]).max() > 0.05


def test_a_limit_of_zero_counts_as_not_given():
    simulator = Simulator(turntable(0.1, limit='<limit effort="5" velocity="0"/>'))
    simulator.step([5.0], 100)
    assert simulator.v[0] == pytest.approx(5.0, rel=1e-9)


@each
def test_a_start_that_is_faster_is_slowed_down_and_reported(integrator):
    simulator = Simulator(wheel(), 1e-3, integrator)
    simulator.reset(v=[-7.0])
    (warning,) = simulator.warnings
    assert "'turn'" in warning and '-7' in warning and 'limit of 2' in warning
    simulator.step()
    assert simulator.v[0] == pytest.approx(-2.0, rel=1e-14)


@each
def test_velocity_limits_dissipate_the_energy_of_a_fall(integrator):
    """An arm that falls at its velocity limits loses energy and never gains any."""
    arm = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    simulator = Simulator(arm, 1e-3, integrator, world={} if integrator == 'midpoint' else None)
    simulator.reset([0.3, -0.6, 0.6, 0.2, 0.1, 0.0])
    energy, most = arm.energy(simulator.q, simulator.v).total, 0.0
    for _ in range(1500):
        guarded = simulator.status.velocity_clamped_steps
        simulator.step()
        assert (np.abs(simulator.v) <= arm.velocity_limits * (1 + 1e-12)).all()
        now = arm.energy(simulator.q, simulator.v).total
        if simulator.status.velocity_clamped_steps > guarded:
            most = max(most, now - energy)
        energy = now
    # Euler's own error is of the size of h P, of some 300 W.
    assert simulator.status.velocity_clamped_steps > 50 and most < 0.3


@each
def test_steps_at_a_velocity_limit_have_no_derivatives(integrator):
    simulator = Simulator(wheel(), 0.01, integrator)
    simulator.reset(v=[1.9])
    assert simulator.step_derivatives([1.0]).dv_dv == pytest.approx(1.0)
    with pytest.raises(ValueError, match='not smooth'):
        simulator.step_derivatives([5.0])


@each
@pytest.mark.parametrize('around', SURROUNDINGS, ids=['alone', 'world', 'compliant'])
def test_a_joint_returns_to_its_limits_no_faster_than_its_velocity_limit(integrator, around):
    """It is driven back at that speed, and what moves its position besides leaves it so."""
    narrow = '<limit lower="-1" upper="1" effort="5" velocity="2"/>'
    simulator = Simulator(
        turntable(0.1, limit=narrow, kind='revolute'), 1e-3, integrator, **around
    )
    simulator.reset([1.5])
    positions = [1.5]
    for _ in range(400):
        simulator.step([-5.0])
        positions.append(simulator.q[0])
    assert positions[-1] < 1.0
    assert -np.diff(positions).min() == pytest.approx(2e-3, rel=1e-9)


def test_a_body_leaves_an_overlap_no_faster_than_its_velocity_limit():
    """At that speed it needs no correction, and does not count as one that stays."""
    slider = robot(
        link('base'),
        link('slider', 0.5, (0.01,) * 3, shape=collision('sphere radius="0.1"')),
        joint(
            'slide', 'base', 'slider', 'prismatic', (1, 0, 0),
            inside='<limit lower="-1" upper="1" effort="100" velocity="0.8"/>',
        ),
    )  # fmt: skip
    post = {'type': 'sphere', 'radius': 0.1, 'xyz': [-0.12, 0.0, 0.0]}
    simulator = Simulator(slider, 1e-3, world={'objects': {'post': post}})
    positions = [0.0]
    for _ in range(100):
        simulator.step([100.0])
        positions.append(simulator.q[0])
    assert simulator.v[0] == pytest.approx(0.8, rel=1e-12)
    assert np.diff(positions)[10:].min() == pytest.approx(0.8e-3, rel=1e-9)
    assert np.diff(positions).max() == pytest.approx(0.8e-3, rel=1e-9)
    assert simulator.status.unresolved_overlap_steps == 0


def test_rollouts_keep_them():
    simulator = Simulator(wheel())
    torque = np.full((3, 500, 1), 5.0) * np.array([1.0, -1.0, 0.1])[:, None, None]
    found = simulator.rollout(torque=torque)
    simulator.step([5.0], 500)
    assert found.v[0, -1, 0] == simulator.v[0] == pytest.approx(2.0, rel=1e-14)
    assert found.v[1, -1, 0] == pytest.approx(-2.0, rel=1e-14)
    assert found.v[2, -1, 0] == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize('around', SURROUNDINGS[:2], ids=['alone', 'world'])
def test_a_servo_drives_no_faster(around):
    simulator = Simulator(wheel(), **around)
    simulator.set_joint_pd([3.0], kp=50.0, kd=0.5)
    speeds = []
    for _ in range(1200):
        simulator.step()
        speeds.append(simulator.v[0])
    assert max(speeds) == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
def test_loops_keep_them_of_each_joint(integrator):
    model = loop_mechanisms.four_bar().model
    rocker = replace(model.bodies[2], limits=replace(model.bodies[2].limits, velocity=0.7))
    linkage = Robot(replace(model, bodies=(*model.bodies[:2], rocker)))
    simulator = Simulator(linkage, 1e-3, integrator)
    push = np.zeros(linkage.nv)
    push[0] = 20.0
    speeds = []
    for _ in range(800):
        simulator.step(push)
        speeds.append(abs(simulator.v[2]))
    # Also where the rocker is reversed within a step, at some 1000 rad/s^2.
    assert max(speeds) == pytest.approx(0.7, rel=1e-12) and np.median(speeds) > 0.69
    assert np.abs(simulator.loop_errors).max() < 1e-9


@each
@pytest.mark.parametrize('around', SURROUNDINGS, ids=['alone', 'world', 'compliant'])
def test_a_mimic_joint_goes_where_it_can_at_the_speed_that_it_can(integrator, around):
    simulator = Simulator(gripper(), 1e-3, integrator, **around)
    simulator.step([5.0], 100)
    assert -2.0 * simulator.v[0] == pytest.approx(-1.0, rel=1e-12)
    simulator.step([5.0], 1900)
    assert 0.1 - 2.0 * simulator.q[0] == pytest.approx(-0.5, abs=1e-9)
    assert simulator.v[0] == pytest.approx(0.0, abs=1e-12)
    simulator.step([-50.0], 2000)
    assert simulator.tau[0] == -6.0 and simulator.saturated[0]  # 3 N m at the follower
    assert 0.1 - 2.0 * simulator.q[0] == pytest.approx(0.3, abs=1e-9)


def test_a_start_outside_the_limits_of_a_mimic_joint_is_reported_and_moved_back():
    simulator = Simulator(gripper())
    simulator.reset([0.8])
    (warning,) = simulator.warnings
    assert "'m'" in warning and '[-0.1, 0.3]' in warning
    simulator.step(n=2000)
    assert simulator.q[0] == pytest.approx(0.3, abs=1e-9)
