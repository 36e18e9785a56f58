# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recording of a simulated arm on a trajectory: joint states with noise, as CSV.

rbd_ros excitation-trajectory six_axis_arm -o excitation.yaml --range elbow_joint=0.5:2.5
python examples/record_simulated_arm.py excitation.yaml run.csv

Its payload of 1.5 kg is not in the description: rbd_ros identify is to find it.
"""

import argparse

import numpy as np

from rbd_ros import Robot, Simulator
from rbd_ros.control.motion.trajectory_files import read_trajectory
from rbd_ros.lookup.robots import load_robot
from rbd_ros.model import load_urdf
from rbd_ros.spatial import RigidBodyInertia

RATE = 250  # joint states a second
CENTER, INERTIA = (0.01, 0.02, 0.08), np.diag([0.006, 0.005, 0.004])  # [m], [kg m^2]


def main() -> None:
    """Follow the trajectory and write the recording."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('trajectory', help='as rbd_ros excitation-trajectory writes it')
    parser.add_argument('recording', help='CSV file to write')
    parser.add_argument('--mass', type=float, default=1.5, help='of the payload [kg]')
    parser.add_argument('--seed', type=int, default=1, help='of the noise')
    arguments = parser.parse_args()

    model = load_urdf(load_robot('six_axis_arm').source)
    if arguments.mass > 0.0:
        scale = arguments.mass / 1.5
        payload = RigidBodyInertia.from_mass_center(arguments.mass, CENTER, scale * INERTIA)
        model = model.with_link_inertia('tool0', payload, add=True)
    robot = Robot(model)
    trajectory = read_trajectory(arguments.trajectory).for_joints(robot.joint_names)
    simulator = Simulator(robot, timestep=1e-3)
    simulator.reset(trajectory.positions[0])
    rng = np.random.default_rng(arguments.seed)
    rows = []
    for step in range(round(1000 * trajectory.duration)):
        q, v, a = trajectory.sample(trajectory.start_time + 1e-3 * step)
        desired = a + 400.0 * (q - simulator.q) + 40.0 * (v - simulator.v)
        effort = robot.inverse_dynamics(simulator.q, simulator.v, desired)
        effort += robot.damping * v + robot.friction * np.tanh(v / 1e-3)
        if step % (1000 // RATE) == 0:
            # Torques as from motor currents, positions as from encoders.
            measured = effort + 0.004 * robot.effort_limits * rng.normal(size=robot.nv)
            counts = 2.0 * np.pi / 2**18
            position = np.round(simulator.q / counts) * counts
            rows.append([1e-3 * step, *position, *measured])
        simulator.step(effort)
    names = robot.joint_names
    head = ['time', *(f'{n}.position' for n in names), *(f'{n}.effort' for n in names)]
    with open(arguments.recording, 'w') as file:
        file.write(','.join(head) + '\n')
        file.writelines(','.join(f'{x:.9g}' for x in row) + '\n' for row in rows)
    print(f'{len(rows)} joint states in {arguments.recording}')


if __name__ == '__main__':
    main()
