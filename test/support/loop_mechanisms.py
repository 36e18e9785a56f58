# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms with loops, and elementary mechanics of some of them.

The planar ones move in the x-y plane under gravity along -y. `Bars` are their equations in one
explicit coordinate, the crank's angle: positions of links by elementary geometry, derivatives by
complex steps and Richardson's scheme, and Lagrange's equation. They are independent of the
package.
"""

from functools import lru_cache

import numpy as np

from rbd_ros import Robot
from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.model import Frame, LoopJoint
from rbd_ros.model.joints import Revolute
from rbd_ros.spatial import PluckerTransform
from rbd_ros.spatial.rotation import rpy_rotation
from support import random_trees
from support.all_joints import slope
from support.dense import motion_transform

GRAVITY = (0.0, -9.81, 0.0)
Z = (0.0, 0.0, 1.0)
HINGE = Revolute(Z)
STEP = 1e-30


class Bar:
    """A link of a planar mechanism.

    :param length: from joint to joint [m]
    :param mass: mass [kg]
    :param center: distance of the center of mass from the first joint, along the link [m]
    :param inertia: about the center of mass [kg m^2]
    """

    def __init__(self, length, mass, center, inertia):
        self.length, self.mass, self.center, self.inertia = length, mass, center, inertia

    def urdf(self, parent, name, xyz, type_='continuous', axis='0 0 1'):
        """Return the link and joint as URDF."""
        origin = ' '.join(map(repr, map(float, xyz)))
        return (
            f'<link name="{name}"><inertial><origin xyz="{self.center!r} 0 0"/>'
            f'<mass value="{self.mass!r}"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" '
            f'iyz="0" izz="{self.inertia!r}"/></inertial></link>'
            f'<joint name="{name}_joint" type="{type_}"><parent link="{parent}"/>'
            f'<child link="{name}"/><origin xyz="{origin}"/><axis xyz="{axis}"/>'
            '<limit lower="-9" upper="9" effort="1e3" velocity="1e3"/></joint>'
        )


CRANK = Bar(0.3, 0.5, 0.12, 0.004)
COUPLER = Bar(0.45, 0.8, 0.2, 0.013)
ROCKER = Bar(0.4, 0.6, 0.23, 0.009)
GROUND = 0.5


def frame(body, x, y=0.0, z=0.0):
    return Frame(body, PluckerTransform.translation((x, y, z)))


def robot_of(*links):
    text = ''.join(links)
    return Robot.from_urdf(
        f'<robot name="planar"><link name="base"/>{text}</robot>', gravity=GRAVITY
    )


@lru_cache(maxsize=None)
def four_bar(joint=HINGE, cut='ground', copies=1):
    """Return the four-bar linkage.

    :param joint: type of the loop joint
    :param cut: where the loop is cut: at the 'ground', for a chain, or at the 'rocker', for two
        branches
    :param copies: number of identical loop joints
    """
    if cut == 'ground':
        tree = robot_of(
            CRANK.urdf('base', 'crank', (0, 0, 0)),
            COUPLER.urdf('crank', 'coupler', (CRANK.length, 0, 0)),
            ROCKER.urdf('coupler', 'rocker', (COUPLER.length, 0, 0)),
        )
        ends = frame(0, GROUND), frame(3, ROCKER.length)
    else:
        tree = robot_of(
            CRANK.urdf('base', 'crank', (0, 0, 0)),
            COUPLER.urdf('crank', 'coupler', (CRANK.length, 0, 0)),
            ROCKER.urdf('base', 'rocker', (GROUND, 0, 0)),
        )
        ends = frame(2, COUPLER.length), frame(3, ROCKER.length)
    loops = [LoopJoint(f'closing{k}', *ends, joint) for k in range(copies)]
    return Robot(tree.model.with_loops(loops))


class Bars:
    """Explicit equations of a planar mechanism: M(y) ydd + M'(y) yd^2 / 2 + V'(y) = Q.

    :param links: pairs of a `Bar` and a function of y that returns its first joint and its
        direction, two vectors (2,) that may be complex
    """

    def __init__(self, *links):
        self.links = links

    @staticmethod
    def rate(function, y):
        return function(y + 1j * STEP).imag / STEP

    def spins(self, y):
        """Return the angular velocities of the links per unit of yd."""
        result = []
        for _, place in self.links:
            u, du = place(y)[1].real, self.rate(lambda x, f=place: f(x)[1], y)
            result.append(u[0] * du[1] - u[1] * du[0])
        return np.array(result)

    def center_rates(self, y):
        """Return the velocities of the centers of mass per unit of yd."""

        def center(x, bar, place):
            start, direction = place(x)
            return start + bar.center * direction

        return [
            self.rate(lambda x, b=bar, f=place: center(x, b, f), y) for bar, place in self.links
        ]

    def inertia(self, y):
        bars = [bar for bar, _ in self.links]
        moving = zip(bars, self.center_rates(y), self.spins(y))
        return sum(bar.mass * c @ c + bar.inertia * w * w for bar, c, w in moving)

    def weight(self, y):
        """Return V'(y), the derivative of the potential energy."""
        g = np.array(GRAVITY[:2])
        moving = zip((bar for bar, _ in self.links), self.center_rates(y))
        return -sum(bar.mass * g @ c for bar, c in moving)

    def acceleration(self, y, yd, force):
        """Return the acceleration ydd for a generalized force Q on y."""
        bias = 0.5 * slope(lambda t: self.inertia(y + t)) * yd**2 + self.weight(y)
        return (force - bias) / self.inertia(y)


def unit(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def four_bar_points(crank, mode=1.0):
    """Return the ends of crank and coupler, by one of two intersections of circles."""
    B, D = CRANK.length * unit(crank), np.array([GROUND, 0.0])
    w = D - B
    square = w @ w
    along = (COUPLER.length**2 - ROCKER.length**2 + square) / (2.0 * square)
    aside = mode * np.sqrt(COUPLER.length**2 / square - along**2)
    return B, B + along * w + aside * np.array([-w[1], w[0]])


def four_bar_bars(cut='ground', mode=1.0):
    """Return `Bars` of `four_bar`; with the cut at the rocker, its frame is at the ground."""

    def coupler(y):
        B, C = four_bar_points(y, mode)
        return B, (C - B) / COUPLER.length

    def rocker(y):
        _, C = four_bar_points(y, mode)
        D = np.array([GROUND, 0.0])
        if cut == 'ground':
            return C, (D - C) / ROCKER.length
        return D, (C - D) / ROCKER.length

    return Bars((CRANK, lambda y: (np.zeros(2), unit(y))), (COUPLER, coupler), (ROCKER, rocker))


def four_bar_position(y, cut='ground', mode=1.0):
    """Return the configuration gamma(y) of the tree, (3,)."""
    bars = four_bar_bars(cut, mode)
    angles = []
    for _, place in bars.links:
        u = place(y)[1]
        angles.append(np.arctan2(u[1], u[0]))
    first, second, third = angles
    return np.array([first, second - first, third - second if cut == 'ground' else third])


RELATIVE = {
    'ground': np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]),
    'rocker': np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
}


# -- random trees


def dense(X):
    """Return the matrix of a transform of the package, by the oracle's formula."""
    return motion_transform(np.array(X.E, dtype=float), np.array(X.r, dtype=float))


def random_placement(rng):
    E = np.transpose(rpy_rotation(*rng.uniform(-3.0, 3.0, 3)))
    return PluckerTransform(tuple(map(tuple, E.tolist())), tuple(rng.normal(size=3).tolist()))


def with_random_loops(model, joints, rng, pairs):
    """Return the model with open loop joints between pairs of bodies, at random frames."""
    loops = [
        LoopJoint(
            f'loop{k}', Frame(p, random_placement(rng)), Frame(s, random_placement(rng)), joint
        )
        for k, (joint, (p, s)) in enumerate(zip(joints, pairs))
    ]
    return model.with_loops(loops)


def closed_at(model, q, joints, rng, pairs):
    """Return the model with loop joints between pairs of bodies, closed at q, not at neutral."""
    X0 = body_transforms(model, model.tree_position(list(map(float, q))))
    loops = []
    for k, (joint, (p, s)) in enumerate(zip(joints, pairs)):
        predecessor = random_placement(rng)
        position = list(joint.sample(rng.random(joint.uniforms).tolist(), -0.7, 0.7))
        successor = (
            joint.transform(joint.normalize(position)) * predecessor * X0[p] * X0[s].inverse()
        )
        loops.append(LoopJoint(f'loop{k}', Frame(p, predecessor), Frame(s, successor), joint))
    return model.with_loops(loops)


@lru_cache(maxsize=None)
def closed_robot(seed, joints, pairs, gears=False, bodies=8, branching=0.5):
    """Return a random tree with loops, and a state with closed positions and velocities."""
    text = random_trees.tree(
        seed, bodies, ('revolute', 'continuous', 'prismatic'), 2 if gears else 0, branching
    )
    tree, rng = Robot.from_urdf(text), np.random.default_rng(seed)
    q = tree.random_configuration(rng)
    robot = Robot(closed_at(tree.model, q, joints, rng, pairs))
    K = robot.loops.closure(q).K
    v = rng.normal(size=robot.nv)
    return text, robot, q, v - np.linalg.pinv(K) @ (K @ v), rng.normal(size=robot.nv)


@lru_cache(maxsize=None)
def crank_slider(joint=HINGE):
    """Return the crank, connecting rod, and a slider along x on the ground: two branches."""
    slider = Bar(1.0, 1.3, 0.0, 0.02)
    tree = robot_of(
        CRANK.urdf('base', 'crank', (0, 0, 0)),
        COUPLER.urdf('crank', 'rod', (CRANK.length, 0, 0)),
        slider.urdf('base', 'slider', (0, 0, 0), 'prismatic', '1 0 0'),
    )
    ends = frame(2, COUPLER.length), frame(3, 0.0)
    return Robot(tree.model.with_loops([LoopJoint('pin', *ends, joint)])), slider


def crank_slider_bars(slider, mode=1.0):
    def pin(y):
        B = CRANK.length * unit(y)
        return B, np.array([B[0] + mode * np.sqrt(COUPLER.length**2 - B[1] ** 2), 0.0 * B[1]])

    def rod(y):
        B, C = pin(y)
        return B, (C - B) / COUPLER.length

    # the slider does not rotate: its direction does not depend on y
    still = (slider, lambda y: (pin(y)[1], np.array([1.0, 0.0]) + 0.0 * y))
    return Bars((CRANK, lambda y: (np.zeros(2), unit(y))), (COUPLER, rod), still), pin


def crank_slider_position(y, mode=1.0):
    bars, pin = crank_slider_bars(Bar(1.0, 1.0, 0.0, 1.0), mode)
    u = bars.links[1][1](y)[1]
    return np.array([y, np.arctan2(u[1], u[0]) - y, pin(y)[1][0]])


@lru_cache(maxsize=None)
def parallelogram(joint=HINGE):
    """Return two equal cranks on the ground, a coupler that stays parallel to it."""
    tree = robot_of(
        CRANK.urdf('base', 'crank', (0, 0, 0)),
        COUPLER.urdf('crank', 'coupler', (CRANK.length, 0, 0)),
        CRANK.urdf('base', 'other', (COUPLER.length, 0, 0)),
    )
    ends = frame(2, COUPLER.length), frame(3, CRANK.length)
    return Robot(tree.model.with_loops([LoopJoint('pin', *ends, joint)]))


RHOMBUS = Bar(0.3, 0.5, 0.15, 0.004)


@lru_cache(maxsize=None)
def two_rhombi():
    """Return two four-bar linkages of four equal lengths each, with a crank in common.

    n = 5, N_L = 2.

    Coordinates: crank, coupler and rocker of one, coupler and rocker of the other.
    """
    side = RHOMBUS.length
    tree = robot_of(
        RHOMBUS.urdf('base', 'crank', (0, 0, 0)),
        RHOMBUS.urdf('crank', 'coupler1', (side, 0, 0)),
        RHOMBUS.urdf('base', 'rocker1', (side, 0, 0)),
        RHOMBUS.urdf('crank', 'coupler2', (side, 0, 0)),
        RHOMBUS.urdf('base', 'rocker2', (side, 0, 0)),
    )
    names = [body.name for body in tree.model.bodies]
    number = {name: names.index(name) + 1 for name in names}
    loops = [
        LoopJoint(
            f'pin{k}', frame(number[f'coupler{k}'], side), frame(number[f'rocker{k}'], side), HINGE
        )
        for k in (1, 2)
    ]
    return Robot(tree.model.with_loops(loops))


def two_rhombi_position(robot, crank, mode1='parallel', mode2='parallel'):
    """Return the closed configuration.

    A loop is a parallelogram, or its crank lies on the ground.

    :param mode1: 'parallel', or the angle of the rocker that swings about the folded crank
    """
    angles = {'crank': crank}
    for k, mode in (('1', mode1), ('2', mode2)):
        rocker = crank if mode == 'parallel' else mode
        coupler = 0.0 if mode == 'parallel' else mode
        angles[f'coupler{k}'], angles[f'rocker{k}'] = coupler - crank, rocker
    return np.array([angles[body.name] for body in robot.model.bodies])
