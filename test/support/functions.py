# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The public functions of a robot and their arguments, for tests of all of them."""

import numpy as np

ARGUMENTS = {
    'inverse_dynamics': 'qva',
    'forward_dynamics': 'qvt',
    'mass_matrix': 'q',
    'gravity_torque': 'q',
    'bias_force': 'qv',
    'coriolis_matrix': 'qv',
    'center_of_mass': 'q',
    'center_of_mass_jacobian': 'q',
    'momentum': 'qv',
    'energy': 'qv',
    'forward_kinematics': 'q',
    'integrate': 'qv',
    'jacobian': 'q',
    'jacobian_derivative': 'qv',
    'point_jacobian': 'qp',
    'point_jacobian_derivative': 'qvp',
}
FRAME_FUNCTIONS = (
    'jacobian',
    'jacobian_derivative',
    'point_jacobian',
    'point_jacobian_derivative',
)


class State:
    """States of a robot by argument letter: q, v, a, t (torque of that motion), p (a point)."""

    def __init__(self, robot, layout, rng, n):
        self.q, self.v, self.a = layout.random_states(rng, n)
        self.t = robot.inverse_dynamics(self.q, self.v, self.a)
        self.p = np.broadcast_to(rng.normal(size=3), (n, 3)).copy()

    def of(self, name):
        """Return the argument arrays of a function."""
        return [getattr(self, letter) for letter in ARGUMENTS[name]]


def call(robot, name, arrays, frame):
    """Call a function by its public name; the result is always one array."""
    if name in FRAME_FUNCTIONS:
        q, *others = arrays
        if name.startswith('point'):
            *others, point = others
            return getattr(robot, name)(q, *others, frame, point)
        return getattr(robot, name)(q, *others, frame)
    result = getattr(robot, name)(*arrays)
    if name == 'energy':
        return np.stack([np.asarray(result.kinetic), np.asarray(result.potential)], axis=-1)
    if name == 'forward_kinematics':
        return np.stack([result[link] for link in robot.link_names], axis=-3)
    return result


def kernel(robot, name, frame):
    """Return the kernel behind a function."""
    return robot.kernel(name, **({'frame': frame} if name in FRAME_FUNCTIONS else {}))
