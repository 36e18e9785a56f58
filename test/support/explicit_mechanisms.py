# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Planar mechanisms of two DoFs, and their equations in two explicit coordinates.

They have positions of links by elementary geometry, derivatives by complex steps and Richardson's
scheme, and Lagrange's equations, independent of the package.
"""

from functools import lru_cache
from typing import Callable, NamedTuple

import numpy as np

from rbd_ros import Robot
from rbd_ros.model import LoopJoint
from support.all_joints import slope
from support.loop_mechanisms import Bar, frame, GRAVITY, HINGE, robot_of, STEP, unit


class Explicit:
    """Equations of motion M(y) ydd + c(y, yd) + V'(y) = Q.

    :param links: pairs of a `Bar` and a function of y that returns its first joint and its
        direction, two vectors (2,) that may be complex
    """

    def __init__(self, *links):
        self.links = links

    @staticmethod
    def rates(function, y):
        """Return the derivatives of a function of y, one per coordinate."""
        return np.array([function(y + 1j * STEP * e).imag / STEP for e in np.eye(len(y))])

    @staticmethod
    def center_and_direction(bar, place, y):
        first, direction = place(y)
        return np.concatenate([first + bar.center * direction, direction])

    def motions(self, y):
        """Yield rates of the centers of mass, (n, 2) each, and angular velocities, (n,) each."""
        for bar, place in self.links:
            rates = self.rates(lambda x, b=bar, f=place: self.center_and_direction(b, f, x), y)
            (centers, du), u = np.split(rates, 2, axis=1), place(y)[1]
            yield bar, centers, u[0] * du[:, 1] - u[1] * du[:, 0]

    def inertia(self, y):
        return sum(
            bar.mass * c @ c.T + bar.inertia * np.outer(w, w) for bar, c, w in self.motions(y)
        )

    def acceleration(self, y, yd, force):
        """Return the acceleration ydd, (n,), for generalized forces Q on y, (n,)."""
        D = np.array([slope(lambda t, e=e: self.inertia(y + t * e)) for e in np.eye(len(y))])
        bias = np.einsum('kij,j,k', D, yd, yd) - 0.5 * np.einsum('ijk,j,k', D, yd, yd)
        weight = -sum(bar.mass * c @ GRAVITY[:2] for bar, c, _ in self.motions(y))
        return np.linalg.solve(self.inertia(y), force - bias - weight)


class Mechanism(NamedTuple):
    """A mechanism with two degrees of freedom.

    :param robot: the robot
    :param equations: its explicit equations
    :param position: joint variables by body, as functions of y
    :param driven: bodies whose joints are driven
    :param rates: their velocities per unit of yd, as a function of y, (driven, 2)
    """

    robot: Robot
    equations: Explicit
    position: Callable
    driven: tuple
    rates: Callable

    def ordered(self, values):
        """Return the numbers by body in the order of the robot's variables, (4,)."""
        return np.array([values.get(body.name, 0.0) for body in self.robot.model.bodies])


def number(tree, name):
    return [body.name for body in tree.model.bodies].index(name) + 1


def angle(u):
    return np.arctan2(u[1], u[0])


def length(x):
    return np.sqrt(x @ x)


ARM, FOREARM = Bar(1.1, 1.4, 0.5, 0.12), Bar(0.8, 0.7, 0.35, 0.04)
CYLINDER, PISTON = Bar(0.5, 0.6, 0.2, 0.02), Bar(0.4, 0.3, -0.15, 0.006)
FOOT, HEAD = np.array([0.9, 0.0]), 0.6


@lru_cache(maxsize=None)
def triangle_arm():
    """Return an arm moved by a hydraulic cylinder, with a forearm on it (book figure 8.3)."""
    tree = robot_of(
        ARM.urdf('base', 'arm', (0, 0, 0)),
        CYLINDER.urdf('base', 'cylinder', (*FOOT, 0)),
        PISTON.urdf('cylinder', 'piston', (0, 0, 0), 'prismatic', '1 0 0'),
        FOREARM.urdf('arm', 'forearm', (ARM.length, 0, 0)),
    )
    ends = frame(number(tree, 'arm'), HEAD), frame(number(tree, 'piston'), 0.0)
    robot = Robot(tree.model.with_loops([LoopJoint('pin', *ends, HINGE)]))

    def stroke(y):
        return HEAD * unit(y[0]) - FOOT

    def along(y):
        return stroke(y) / length(stroke(y))

    equations = Explicit(
        (ARM, lambda y: (np.zeros(2), unit(y[0]))),
        (CYLINDER, lambda y: (FOOT, along(y))),
        (PISTON, lambda y: (HEAD * unit(y[0]), along(y))),
        (FOREARM, lambda y: (ARM.length * unit(y[0]), unit(y[0] + y[1]))),
    )

    def position(y):
        return {
            'arm': y[0],
            'cylinder': angle(stroke(y)),
            'piston': length(stroke(y)),
            'forearm': y[1],
        }

    def rates(y):
        lifted = Explicit.rates(lambda x: np.atleast_1d(length(stroke(x))), y)[:, 0]
        return np.array([lifted, [0.0, 1.0]])

    return Mechanism(robot, equations, position, ('piston', 'forearm'), rates)


SIDE, REACH = Bar(0.25, 0.5, 0.11, 0.004), Bar(0.5, 0.7, 0.22, 0.016)
SPAN = np.array([0.2, 0.0])


@lru_cache(maxsize=None)
def five_bar():
    """Return two cranks on the ground, connected by two rods that are never stretched."""
    tree = robot_of(
        SIDE.urdf('base', 'left', (0, 0, 0)),
        REACH.urdf('left', 'left_rod', (SIDE.length, 0, 0)),
        SIDE.urdf('base', 'right', (*SPAN, 0)),
        REACH.urdf('right', 'right_rod', (SIDE.length, 0, 0)),
    )
    ends = [frame(number(tree, f'{side}_rod'), REACH.length) for side in ('left', 'right')]
    robot = Robot(tree.model.with_loops([LoopJoint('pin', *ends, HINGE)]))

    def elbows(y):
        return SIDE.length * unit(y[0]), SPAN + SIDE.length * unit(y[1])

    def tip(y):
        B, D = elbows(y)
        w = D - B
        # The rods are equally long, so their joint is beside the midpoint of the elbows.
        return B + 0.5 * w + np.sqrt(REACH.length**2 / (w @ w) - 0.25) * np.array([-w[1], w[0]])

    def rod(y, k):
        elbow = elbows(y)[k]
        return elbow, (tip(y) - elbow) / REACH.length

    equations = Explicit(
        (SIDE, lambda y: (np.zeros(2), unit(y[0]))),
        (REACH, lambda y: rod(y, 0)),
        (SIDE, lambda y: (SPAN, unit(y[1]))),
        (REACH, lambda y: rod(y, 1)),
    )

    def position(y):
        return {
            'left': y[0],
            'left_rod': angle(rod(y, 0)[1]) - y[0],
            'right': y[1],
            'right_rod': angle(rod(y, 1)[1]) - y[1],
        }

    return Mechanism(robot, equations, position, ('left', 'right'), lambda y: np.eye(2))
