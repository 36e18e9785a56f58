# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Swing-up of an underpowered arm: model predictive control by iLQR (Tassa and others, 2012).

python examples/model_predictive_control.py

The shoulder cannot lift the stretched arm. The controller predicts with `Simulator` and its
`step_derivatives`, in steps of 20 ms; the arm is simulated in steps of 1 ms, with friction that
the prediction lacks.
"""

import argparse
import re

import numpy as np

from rbd_ros import Robot, Simulator
from rbd_ros.lookup.robots import load_robot

STEP, HORIZON = 0.02, 40  # [s], steps
EFFORT = 12.0  # at both joints; 14 N m hold the stretched arm [N m]
START, GOAL = np.array([2.6, 0.0]), np.zeros(2)  # nearly hanging, upright [rad]
# Weights of position and velocity, of the final ones, and of torques.
WEIGHT, LAST, TORQUE = np.diag([1.0, 1.0, 0.05, 0.05]), 50.0, 1e-3


def make_simulator(timestep, ideal):
    """Return the arm with weak motors; the ideal one has no friction and no other limits."""
    text = re.sub('effort="[0-9]+"', f'effort="{EFFORT}"', load_robot('two_link_arm').text)
    if ideal:
        text = re.sub('friction="[0-9.]+"', '', text).replace('"revolute"', '"continuous"')
    return Simulator(Robot.from_urdf(text), timestep, enforce_velocity_limits=not ideal)


def predicted(simulator, state, torques, gains=None, before=None):
    """Return the states of the horizon, (steps + 1, 4), their torques and their cost.

    Gains feed back the deviation from the previous states.
    """
    simulator.reset(*np.split(state, 2))
    states, taken = [state], []
    for k, tau in enumerate(torques):
        if gains is not None:
            tau = tau + gains[k] @ (states[-1] - before[k])
        taken.append(np.clip(tau, -EFFORT, EFFORT))
        simulator.step(taken[-1])
        states.append(np.concatenate([simulator.q, simulator.v]))
    states, taken = np.array(states), np.array(taken)
    away = states - np.concatenate([GOAL, np.zeros(2)])
    cost = np.einsum('ki,ij,kj->', away, WEIGHT, away) + LAST * away[-1] @ WEIGHT @ away[-1]
    return states, taken, cost + TORQUE * (taken**2).sum()


def improved(simulator, state, torques):
    """Return better torques for the horizon: one iteration of iLQR."""
    states, torques, cost = predicted(simulator, state, torques)
    simulator.reset(*np.split(state, 2))
    D = simulator.step_derivatives(torques)
    A = np.block([[D.dq_dq, D.dq_dv], [D.dv_dq, D.dv_dv]])
    B = np.concatenate([D.dq_dtau, D.dv_dtau], axis=1)
    away = states - np.concatenate([GOAL, np.zeros(2)])
    V, slope = (1.0 + LAST) * WEIGHT, (1.0 + LAST) * WEIGHT @ away[-1]
    changes, gains = np.zeros_like(torques), np.zeros((len(torques), 2, 4))
    for k in reversed(range(len(torques))):
        Q_uu = TORQUE * np.eye(2) + B[k].T @ V @ B[k] + 1e-6 * np.eye(2)
        Q_ux = B[k].T @ V @ A[k]
        Q_u = TORQUE * torques[k] + B[k].T @ slope
        changes[k], gains[k] = -np.linalg.solve(Q_uu, Q_u), -np.linalg.solve(Q_uu, Q_ux)
        slope = WEIGHT @ away[k] + A[k].T @ slope + Q_ux.T @ changes[k]
        V = WEIGHT + A[k].T @ V @ A[k] + Q_ux.T @ gains[k]
        V = 0.5 * (V + V.T)
    for part in 0.5 ** np.arange(6):
        found = predicted(simulator, state, torques + part * changes, gains, states)
        if found[2] < cost:
            return found[1]
    return torques


def main():
    """Swing up, and print the arm's distance from upright."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=3.0)
    arguments = parser.parse_args()
    arm, model = make_simulator(1e-3, ideal=False), make_simulator(STEP, ideal=True)
    arm.reset(START)
    torques = np.zeros((HORIZON, 2))
    for tick in range(round(arguments.seconds / STEP)):
        state = np.concatenate([arm.q, arm.v])
        torques = improved(model, state, torques)
        arm.step(torques[0], n=round(STEP / arm.timestep))
        torques = np.concatenate([torques[1:], torques[-1:]])  # the next horizon begins later
        if tick % 25 == 0:
            print(f'{arm.time:.2f} s: joints at {arm.q.round(2)} rad')
    print(f'at the end {np.abs(arm.q - GOAL).max():.3f} rad from upright')


if __name__ == '__main__':
    main()
