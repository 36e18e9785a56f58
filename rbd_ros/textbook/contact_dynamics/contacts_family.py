# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`robot.contacts`: point contacts between bodies, and their equations (book ch. 11)."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.robot.kernels import Array, Compiled, computes, Forces, Kernels, Outs
from rbd_ros.textbook.contact_dynamics.contact_constraints import ContactConstraints
from rbd_ros.textbook.contact_dynamics.contact_equations import ContactEquations
from rbd_ros.textbook.contact_dynamics.contact_kinds import CONTACTS
from rbd_ros.textbook.contact_dynamics.rolling_constraints import RollingConstraints
from rbd_ros.textbook.contact_dynamics.surface_rates import SurfaceRates

#: Names of predecessor and successor; None is the fixed base.
Pair = Tuple[Optional[str], Optional[str]]


class ContactFunctions:
    """Point contacts between bodies of a robot, and with the fixed base (book ch. 11)."""

    def __init__(self, kernels: Kernels):
        self._kernels = kernels
        self._contacts: Dict[Any, PointContacts] = {}

    def between(self, pairs: Iterable[Pair], tangents: bool = False) -> PointContacts:
        """Return the functions of some contacts, given by pairs of bodies in contact.

        :param pairs: predecessor and successor of each contact, as names of links or joints; None
            for the fixed base. A contact force acts on the successor, its opposite on the
            predecessor
        :param tangents: whether each contact has two tangents beside its normal
        :raises ValueError: for an unknown name, two that move together, or no pair at all

        >>> touch = robot.contacts.between([(None, 'tool0')])  # the ground and the tool
        >>> touch.pairs, touch.tangents
        (((None, 'tool0'),), False)
        """
        given: Any = pairs
        if not isinstance(pairs, str):  # anything but a pair is rejected by its own name
            given = tuple(pair if isinstance(pair, str) else tuple(pair) for pair in pairs)
        key = (given, bool(tangents))
        found = self._contacts.get(key)
        if found is None:
            found = self._contacts[key] = PointContacts(self._kernels, *key)
        return found


class PointContacts(Compiled):
    """Point contacts: their normals in joint space, and the contact problem.

    Points and directions are in base coordinates and may differ in every call. A contact has one
    row, that of its normal, or three, with two tangents. For c contacts the points have
    the shape (c, 3), and so have the normals; with tangents `normals` has the shape (c, 3, 3): the
    normal and the two tangents of each contact. All may have a leading batch axis.

    :param pairs: names of predecessor and successor of each contact
    :param tangents: whether each contact has two tangents
    :raises ValueError: for an unknown name, two that move together, or no pair at all
    """

    def __init__(self, kernels: Kernels, pairs: Tuple[Pair, ...], tangents: bool = False):
        CONTACTS.resolve(kernels.model, pairs)
        super().__init__(kernels, contacts=pairs, tangents=tangents)
        self.pairs, self.tangents = pairs, tangents
        self._directions = (len(pairs), 3, 3) if tangents else (len(pairs), 3)

    @computes('contact_constraints')
    def constraints(
        self,
        q: ArrayLike,
        v: ArrayLike,
        points: ArrayLike,
        normals: ArrayLike,
        point_rates: ArrayLike,
        normal_rates: ArrayLike,
        *,
        out: Outs = None,
    ) -> ContactConstraints:
        """Return the contact normals in joint space, separation velocities and their rates' bias.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param points: contact points, (c, 3) [m]
        :param normals: unit normals from predecessor to successor, (c, 3), or normals and
            tangents, (c, 3, 3)
        :param point_rates: velocities at which the contact points move in space, (c, 3) [m/s]
        :param normal_rates: rates of the normals, or normals and tangents, of the same shape [1/s]
        :param out: arrays for all three
        :return: T, (nv, r), separation velocities T^T v, (r,) [m/s], and Tdot^T v, (r,) [m/s^2]
        :raises ValueError: for a wrong shape or dtype

        >>> touch = robot.contacts.between([(None, 'tool0')])
        >>> T, velocity, bias = touch.constraints(q, v, point, normal, still, still)
        >>> rises = robot.frame('tool0', 'aligned').velocity(q, v)[5]
        >>> np.allclose(T[:, 0] @ v, rises), np.allclose(velocity, rises)  # [m/s]
        (True, True)
        """
        geometry = self._geometry(points, normals, point_rates, normal_rates)
        return self._call('constraints', (q, v, *geometry), None, out, bind=False)

    @computes('contact_equations')
    def equations(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        points: ArrayLike,
        normals: ArrayLike,
        point_rates: ArrayLike,
        normal_rates: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> ContactEquations:
        """Return the coefficients of zeta_dot = M lambda + d, and of a = free + response lambda.

        `rbd_ros.constraints` solves for the separation accelerations zeta_dot and contact forces
        lambda.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param points: contact points, (c, 3) [m]
        :param normals: unit normals from predecessor to successor, (c, 3), or normals and
            tangents, (c, 3, 3)
        :param point_rates: velocities at which the contact points move in space, (c, 3) [m/s]
        :param normal_rates: rates of the normals, or normals and tangents, of the same shape [1/s]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N]
        :param out: arrays for all
        :return: M, (r, r) [1/kg], d, (r,) [m/s^2], T, (nv, r), velocity, (r,) [m/s], response,
            (nv, r), and free, (nv,) [rad/s^2, m/s^2]
        :raises ValueError: for a wrong shape or dtype
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them

        >>> touch = robot.contacts.between([(None, 'tool0')])
        >>> found = touch.equations(q, 0 * v, 0 * tau, point, normal, still, still)  # a limp arm
        >>> force = -found.d / found.M[0]  # that stops it from sinking [N]
        >>> np.allclose(found.T.T @ (found.free + found.response @ force), 0.0)
        True
        """
        geometry = self._geometry(points, normals, point_rates, normal_rates)
        return self._call('equations', (q, v, tau, *geometry), external_forces, out, bind=False)

    @computes('rolling_constraints')
    def rolling(
        self,
        q: ArrayLike,
        v: ArrayLike,
        points: ArrayLike,
        normals: ArrayLike,
        point_rates: ArrayLike,
        normal_rates: ArrayLike,
        *,
        out: Outs = None,
    ) -> RollingConstraints:
        """Return the constraints K v = 0 and K a = k of rolling without slipping, with tangents.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param points: contact points, (c, 3) [m]
        :param normals: unit normals and tangents, (c, 3, 3); without tangents, (c, 3), the bodies
            stay in contact and may slip
        :param point_rates: velocities at which the contact points move in space, (c, 3) [m/s]
        :param normal_rates: rates of the normals and tangents, of the same shape [1/s]
        :param out: arrays for all three
        :return: K, (r, nv), K v, (r,) [m/s], and k, (r,) [m/s^2]
        :raises ValueError: for a wrong shape or dtype

        >>> touch = robot.contacts.between([(None, 'tool0')], tangents=True)
        >>> axes = np.array([[[0, 0, 1], [1, 0, 0], [0, 1, 0]]], float)  # normal and tangents
        >>> found = touch.rolling(q, v, point, axes, still, np.zeros((1, 3, 3)))
        >>> J = robot.point_jacobian(q, 'tool0', [0.0, 0.0, 0.0])
        >>> np.allclose(found.K, J[[2, 0, 1]])
        True
        """
        geometry = self._geometry(points, normals, point_rates, normal_rates)
        return self._call('rolling', (q, v, *geometry), None, out, bind=False)

    @computes('surface_rates')
    def surface_rates(
        self,
        q: ArrayLike,
        v: ArrayLike,
        points: ArrayLike,
        normals: ArrayLike,
        curvatures: ArrayLike,
        radii: ArrayLike,
        *,
        out: Outs = None,
    ) -> SurfaceRates:
        """Return the rates of points and normals of smooth surfaces, for the other methods.

        A sphere of radius r has radii r 1 as a successor and curvatures 1/r as a predecessor; a
        bowl has curvatures -1/r, a plane zeros; a vertex has radii of zeros.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param points: contact points, (c, 3) [m]
        :param normals: unit normals from predecessor to successor, (c, 3), or normals and
            tangents, (c, 3, 3)
        :param curvatures: change of the outward normal of each predecessor per motion of the point
            over its surface, in base coordinates, (c, 3, 3) [1/m]
        :param radii: motion of the point over each successor's surface per change of its outward
            normal, in base coordinates, (c, 3, 3) [m]
        :param out: arrays for both
        :return: point_rates, (c, 3) [m/s], and normal_rates, of the shape of the normals [1/s]
        :raises ValueError: for a wrong shape or dtype

        >>> touch = robot.contacts.between([(None, 'tool0')])  # a ball of 10 mm on a plane
        >>> plane, ball = np.zeros((1, 3, 3)), 0.01 * np.eye(3)[None]
        >>> rates = touch.surface_rates(q, v, point, normal, plane, ball)
        >>> rates.normal_rates, rates.point_rates.shape  # [1/s]: the plane stays
        (array([[0., 0., 0.]]), (1, 3))
        """
        matrices = (len(self.pairs), 3, 3)
        geometry = (
            _flat('points', points, matrices[:2]),
            _flat('normals', normals, self._directions),
            _flat('curvatures', curvatures, matrices),
            _flat('radii', radii, matrices),
        )
        rows = out
        # The kernel has one axis of directions. It rejects arrays that are not contiguous.
        if out is not None and self.tangents and out[1].flags.c_contiguous:
            rows = (out[0], out[1].reshape(*out[1].shape[:-3], -1, 3))
        found: SurfaceRates = self._call(
            'surface_rates', (q, v, *geometry), None, rows, bind=False
        )
        if not self.tangents:
            return found
        shape = (*found.normal_rates.shape[:-2], *self._directions)
        directions = found.normal_rates.reshape(shape) if out is None else out[1]
        return SurfaceRates(found.point_rates, directions)

    def _geometry(
        self, points: Any, normals: Any, point_rates: Any, normal_rates: Any
    ) -> Tuple[Array, ...]:
        point, direction = (len(self.pairs), 3), self._directions
        return (
            _flat('points', points, point),
            _flat('normals', normals, direction),
            _flat('point_rates', point_rates, point),
            _flat('normal_rates', normal_rates, direction),
        )


def _flat(name: str, given: Any, shape: Tuple[int, ...]) -> Array:
    """Return the array of one state or of a batch, with one axis for all of a state.

    :raises ValueError: for another shape
    """
    array = np.asarray(given)
    if array.ndim in (len(shape), len(shape) + 1) and array.shape[-len(shape) :] == shape:
        return array.reshape(*array.shape[: -len(shape)], -1)
    raise ValueError(
        f'{name} must have shape {shape} or (N, {", ".join(map(str, shape))}), got {array.shape}'
    )
