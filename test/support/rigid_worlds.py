# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Worlds of balls and boxes for simulations with rigid contact, and measures of them."""

import numpy as np

from rbd_ros import Simulator

G = 9.81


def ball(x=0.0, y=0.0, z=0.1, radius=0.1, mass=1.0, velocity=(0, 0, 0), spin=(0, 0, 0), **surface):
    """Return a movable ball; further arguments describe its surface."""
    return {
        'type': 'sphere',
        'radius': radius,
        'xyz': [x, y, z],
        'static': False,
        'mass': mass,
        'velocity': {'linear': list(velocity), 'angular': list(spin)},
        'surface': surface,
    }


def cube(x=0.0, y=0.0, z=0.1, size=0.2, mass=1.0, velocity=(0, 0, 0), spin=(0, 0, 0), **surface):
    """Return a movable cube, likewise; `turned` is its roll, pitch and yaw."""
    turned = surface.pop('turned', (0.0, 0.0, 0.0))
    return {
        'type': 'box',
        'size': [size] * 3,
        'xyz': [x, y, z],
        'rpy': list(turned),
        'static': False,
        'mass': mass,
        'velocity': {'linear': list(velocity), 'angular': list(spin)},
        'surface': surface,
    }


def simulated(
    floor=True,
    gravity=(0.0, 0.0, -G),
    pairs=(),
    robot=None,
    h=1e-3,
    law=None,
    iterations=1000,
    **objects,
):
    """Return a simulation of objects."""
    if floor:
        objects = {'floor': {'type': 'plane'}, **objects}
    world = {'gravity': list(gravity), 'objects': objects, 'pairs': list(pairs)}
    options = {} if law is None else {'restitution_model': law}
    return Simulator(robot, world=world, timestep=h, solver_iterations=iterations, **options)


def kinetic_energy(simulator):
    """Return the kinetic energy of all objects [J]."""
    bodies, state = simulator.physics.model.scene.bodies, simulator.physics.objects
    total = 0.5 * bodies.mass @ (state.velocity**2).sum(axis=1)
    for name, inertia, momentum in zip(simulator.objects, bodies.inertia, state.angular_momentum):
        R = simulator.object_pose(name)[:3, :3]
        total += 0.5 * momentum @ R @ np.linalg.solve(inertia, R.T @ momentum)
    return total


def worst_residual(simulator):
    """Return the larger of the residuals that are zero even for sliding contacts."""
    return max(simulator.residuals.signorini, simulator.residuals.contact)
