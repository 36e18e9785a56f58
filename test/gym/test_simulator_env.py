# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A simulation as a Gymnasium environment: Gymnasium's checker, and the simulator's own motion."""

import warnings

import numpy as np
from numpy.testing import assert_array_equal
import pytest
from support import outside

from rbd_ros import Robot, Simulator

outside.load('gymnasium')

from gymnasium.utils.env_checker import check_env  # noqa: E402

from rbd_ros.gym import ReachEnv, SimulatorEnv  # noqa: E402

ARM = Robot.from_urdf('urdf/six_axis_arm.urdf')
QUADRUPED = Robot.from_urdf('urdf/quadruped.urdf', floating_base=True)


class Still(SimulatorEnv):
    """Rewards rest."""

    def reward(self):
        return -np.abs(self.simulator.v).max()


class Standing(Still):
    """Begins on four feet, with random joints, and ends where the trunk is low."""

    def start(self, rng):
        q = QUADRUPED.neutral()
        q[7:] = [0.0, 0.8, -1.6] * 4 + rng.uniform(-0.1, 0.1, 12)
        self.simulator.reset(self.simulator.standing_configuration(q))

    def terminated(self):
        return self.simulator.q[6] < 0.2


def servo_simulator():
    simulator = Simulator(ARM)
    simulator.set_joint_pd(kp=1000.0, kd=100.0)
    return simulator


@pytest.mark.parametrize(
    'make',
    [
        lambda: Still(Simulator(ARM)),
        lambda: Still(servo_simulator(), action='position', delay=(0, 3)),
        lambda: Standing(Simulator(QUADRUPED, ground=True)),
        ReachEnv,
    ],
    ids=['torque', 'position', 'standing', 'reach'],
)
def test_gymnasium_accepts_an_environment(make):
    with warnings.catch_warnings():
        # It recommends bounded observations and actions of size 1, and warns of nothing else.
        warnings.filterwarnings('ignore', '.*(is infinity|is -infinity|symmetric and normalized)')
        warnings.simplefilter('error', append=True)
        check_env(make())


def test_an_action_acts_as_the_torque_of_its_time_steps():
    environment, simulator = Still(Simulator(ARM), steps=7), Simulator(ARM)
    observation, _ = environment.reset(seed=1)
    assert_array_equal(observation, np.concatenate([simulator.q, simulator.v]))
    tau = np.array([1.0, -2.0, 3.0, 0.5, 0.25, -0.125])
    for _ in range(3):
        observation, reward, *_ = environment.step(tau)
        simulator.step(tau, n=7)
        assert_array_equal(observation, np.concatenate([simulator.q, simulator.v]))
        assert reward == -np.abs(simulator.v).max()


def test_an_action_sets_the_goals_of_servos():
    environment, simulator = Still(servo_simulator(), action='position', steps=5), Simulator(ARM)
    environment.reset(seed=1)
    goal = simulator.q + 0.1
    simulator.set_joint_pd(goal, kp=1000.0, kd=100.0)
    for _ in range(3):
        observation = environment.step(goal)[0]
        simulator.step(n=5)
        assert_array_equal(observation[:6], simulator.q)


def test_actions_are_those_of_the_motors_of_a_floating_robot():
    environment = Standing(Simulator(QUADRUPED, ground=True))
    assert environment.action_space.shape == (12,)
    assert_array_equal(environment.action_space.high, QUADRUPED.effort_limits[6:])
    environment.reset(seed=1)
    tau = np.zeros(12)
    tau[4] = 1.0
    environment.step(tau)
    assert_array_equal(environment.simulator.tau[6:], tau)
    assert_array_equal(environment.simulator.tau[:6], 0.0)


@pytest.mark.parametrize('action', ['torque', 'position'])
def test_a_late_action_acts_after_as_many_others(action):
    late = Still(servo_simulator(), action, delay=2)
    prompt = Still(servo_simulator(), action)
    start = late.reset(seed=1)[0][:6]
    prompt.reset(seed=1)
    before = np.zeros(6) if action == 'torque' else start
    rng = np.random.default_rng(1)
    actions = [start + rng.uniform(-0.1, 0.1, 6) for _ in range(5)]
    for given, acts in zip(actions, [before, before, *actions]):
        assert_array_equal(late.step(given)[0], prompt.step(acts)[0])


def test_each_reset_draws_a_delay():
    environment = Still(Simulator(ARM), delay=(1, 3))
    found = set()
    for seed in range(30):
        environment.reset(seed=seed)
        for count in range(1, 5):
            environment.step(np.full(6, 5.0))
            if environment.simulator.tau.any():
                found.add(count - 1)
                break
    assert found == {1, 2, 3}


def test_an_episode_that_is_not_finite_is_terminated_with_the_reason():
    class Thrown(Still):
        speed = 1e200

        def start(self, rng):
            self.simulator.reset(v=np.full(18, self.speed))

    environment = Thrown(Simulator(QUADRUPED))
    start, _ = environment.reset(seed=1)
    observation, _, terminated, truncated, info = environment.step(np.zeros(12))
    assert terminated and not truncated and 'not finite' in info['diverged']
    assert_array_equal(observation, start)
    environment.speed = 0.0
    environment.reset(seed=1)
    _, _, terminated, _, info = environment.step(np.zeros(12))
    assert not terminated and info == {}


@pytest.mark.parametrize(
    'arguments, message',
    [
        ({'action': 'velocity'}, "unknown action 'velocity'; there are torque, position"),
        ({'action': 'position'}, 'needs servos; set their gains by Simulator.set_joint_pd'),
        ({'steps': 0}, 'steps must be a whole number from 1 on, got 0'),
        ({'steps': 1.5}, 'steps must be a whole number'),
        ({'delay': -1}, 'delay must be'),
        ({'delay': (2, 1)}, 'delay must be'),
        ({'delay': 0.5}, 'delay must be a whole number'),
        ({'delay': (1, 2, 3)}, 'delay must be'),
    ],
)
def test_errors_name_argument_and_value(arguments, message):
    with pytest.raises(ValueError, match=message):
        Still(Simulator(ARM), **arguments)


@pytest.mark.parametrize('action', [np.zeros(5), np.full(6, np.nan), np.zeros((1, 6))])
def test_actions_of_another_shape_or_not_finite_are_rejected(action):
    environment = Still(Simulator(ARM))
    environment.reset(seed=1)
    with pytest.raises(ValueError, match='action must be 6 finite numbers'):
        environment.step(action)


def test_an_environment_without_a_reward_is_rejected():
    environment = SimulatorEnv(Simulator(ARM))
    environment.reset(seed=1)
    with pytest.raises(NotImplementedError, match='SimulatorEnv must define reward'):
        environment.step(np.zeros(6))
