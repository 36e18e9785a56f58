# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Constraints phi(q) = 0 that a user writes as a function of scalars (book 3.2, 3.4).

They may couple any number of bodies, unlike a joint. For example three discs inside a string, with
distances l_1, l_2 and l_3 of their centers, and l_1 + l_2 + l_3 + 2 pi r = p (book figure 3.2):

    def string(at):
        a, b, c = (at.point(disc) for disc in ('disc1', 'disc2', 'disc3'))
        return [distance(a, b) + distance(b, c) + distance(c, a) + 2.0 * pi * r - p]

Their gradient K and the acceleration k = -Kdot v follow. phi(q) >= 0, which a slack string obeys,
is an inequality constraint (book 11.4) with the same derivatives.
"""

from __future__ import annotations

from functools import cached_property
from typing import Callable, Dict, List, NamedTuple, Sequence

from rbd_ros.algorithms.closed_loops.jets import Jet, jet
from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.model.errors import unknown_name
from rbd_ros.spatial import PluckerTransform
from rbd_ros.spatial.linear3 import apply_transpose, dot, subtract, Vector3, vector3, ZERO3
from rbd_ros.spatial.scalar import Scalar, sqrt

Scalars = Sequence[Scalar]


class Places:
    """Positions of joints and links, arguments of a constraint function.

    :param model: system model
    :param q: independent configuration, (nq,) [rad, m], scalars of any kind
    """

    def __init__(self, model: Model, q: Scalars):
        self._model, self.q = model, q

    def joint(self, name: str) -> Scalars:
        """Return the position variables of an independent joint.

        :raises ValueError: for an unknown name
        """
        for i in self._model.independent:
            if self._model.body(i).joint_name == name:
                return self.q[self._model.independent_slices[i][0]]
        raise ValueError(unknown_name('joint', name, self._model.joint_names))

    def point(self, frame: str, point: Vector3 = ZERO3) -> Vector3:
        """Return the position of a point in base coordinates, (3,) [m].

        :param frame: link or joint
        :param point: coordinates of the point in that frame, its origin if none, (3,) [m]
        :raises ValueError: for an unknown frame
        """
        X = self._transform(frame)
        return X.inverse_point(vector3(point))

    def direction(self, frame: str, direction: Vector3) -> Vector3:
        """Return a direction fixed to a frame, in base coordinates, (3,).

        :param frame: link or joint
        :param direction: its components in that frame, (3,)
        :raises ValueError: for an unknown frame
        """
        return apply_transpose(self._transform(frame).E, vector3(direction))

    def _transform(self, name: str) -> PluckerTransform:
        frame = self._model.frame(name)
        return frame.placement * self._bodies[frame.body]

    @cached_property
    def _bodies(self) -> Dict[int, PluckerTransform]:
        return body_transforms(self._model, self._model.tree_position(self.q))


#: From places to the values of constraints, zero where they hold.
ConstraintFunction = Callable[[Places], Scalars]


class ConstraintMotion(NamedTuple):
    """Constraints in motion.

    :param phi: values, (m,)
    :param velocity: their rates K v, (m,)
    :param k: right-hand side of K a = k, -Kdot v, (m,)
    """

    phi: ResultArray
    velocity: ResultArray
    k: ResultArray


def distance(a: Vector3, b: Vector3) -> Scalar:
    """Return the distance of two points, which must not coincide.

    >>> from rbd_ros.textbook.closed_loops.implicit_constraints import distance
    >>> distance((0.0, 0.0, 0.0), (3.0, 4.0, 0.0))
    5.0
    """
    difference = subtract(a, b)
    return sqrt(dot(difference, difference))


def constraint_values(model: Model, phi: ConstraintFunction, q: Scalars) -> List[Scalar]:
    """Return the values of constraints, (m,).

    :param phi: constraint function
    :param q: independent configuration, (nq,) [rad, m]
    """
    return list(phi(Places(model, q)))


def constraint_motion(
    model: Model, phi: ConstraintFunction, q: Scalars, v: Scalars
) -> ConstraintMotion:
    """Return the values of constraints and their first two derivatives while no joint accelerates.

    The second derivative by time is K a + Kdot v, so that at a = 0 it is -k (book eq 3.11).

    :param phi: constraint function
    :param q: independent configuration, (nq,) [rad, m]
    :param v: independent velocity, (nv,) [rad/s, m/s]

    >>> from rbd_ros.textbook.closed_loops.implicit_constraints import constraint_motion
    >>> height = lambda at: [at.point('tool0')[2]]
    >>> motion = constraint_motion(model, height, q.tolist(), v.tolist())
    >>> np.allclose(motion[1][0], robot.frame('tool0', 'aligned').velocity(q, v)[5])  # [m/s]
    True
    """
    moving: List[Scalar] = [0.0] * model.nq
    for i, (at_q, at_v) in model.independent_slices.items():
        joint, rates = model.body(i).joint, v[at_v]
        first = joint.position_rate(q[at_q], rates)
        # The rate depends on q, and changes with it at constant velocity.
        second = joint.position_rate([Jet(x, d) for x, d in zip(q[at_q], first)], rates)
        moving[at_q] = [Jet(x, d, jet(dd).d) for x, d, dd in zip(q[at_q], first, second)]
    values = [jet(x) for x in phi(Places(model, moving))]
    return ConstraintMotion([x.x for x in values], [x.d for x in values], [-x.dd for x in values])
