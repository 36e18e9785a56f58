# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`robot.impacts`: impulses and collisions (book 11.7)."""

from __future__ import annotations

from typing import Dict, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.robot.kernels import Array, Compiled, computes, Forces, Kernels, Out, Outs
from rbd_ros.textbook.contact_dynamics.collision import Collision, PAIR
from rbd_ros.textbook.contact_dynamics.sticking_collision import StickingCollision


class ImpactFunctions(Compiled):
    """Step changes of the velocity by impulses and collisions (book 11.7).

    Rigid bodies have no waves: the real propagation of an impact through a mechanism, with
    compression waves and compliant bearings, may differ from these equations.
    """

    def __init__(self, kernels: Kernels):
        super().__init__(kernels)
        self._pairs: Dict[Tuple[Optional[str], Optional[str]], ImpactPair] = {}

    @computes('impulse_response')
    def impulse_response(
        self, q: ArrayLike, impulse: ArrayLike, external_forces: Forces = None, *, out: Out = None
    ) -> Array:
        """Step change of the velocity by impulses, H^-1 (u + J^T iota), (nv,).

        :param q: configuration, (nq,) [rad, m]
        :param impulse: generalized impulse u of the joints, (nv,) [N m s, N s]
        :param external_forces: spatial IMPULSE iota = [moment; linear impulse] on each link named,
            in BASE coordinates, (6,) [N m s, N s]
        :param out: array for the result
        :return: dv, (nv,) [rad/s, m/s]
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> kick = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0])  # at the elbow [N m s]
        >>> dv = robot.impacts.impulse_response(q, kick)
        >>> np.allclose(robot.mass_matrix(q) @ dv, kick)
        True
        """
        return self._call('impulse_response', (q, impulse), external_forces, out)

    def apply_impulse(
        self,
        q: ArrayLike,
        v: ArrayLike,
        link: str,
        impulse: ArrayLike,
        point: Optional[ArrayLike] = None,
    ) -> Array:
        """Return the velocity after a link has received an impulse (book eq 11.58).

        :param q: configuration, (nq,) or (N, nq) [rad, m]
        :param v: velocity before, likewise [rad/s, m/s]
        :param link: name of the link
        :param impulse: spatial impulse [moment; linear impulse] in base coordinates, (6,); or,
            with a point, the linear impulse there, (3,) [N m s, N s]
        :param point: point of application of the linear impulse, in base coordinates, (3,) [m];
            None if `impulse` is a spatial one
        :return: velocity afterwards, likewise
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> tip = robot.frame('tool0').pose(q)[:3, 3]
        >>> after = robot.impacts.apply_impulse(q, v, 'tool0', [0.0, 0.0, 1.0], tip)  # 1 N s up
        >>> after - v  # [rad/s]
        array([ 0.203,  0.131, -0.208, -2.458,  7.523,  1.199])
        """
        iota = np.asarray(impulse, dtype=float)
        if point is not None:
            if iota.shape[-1:] != (3,):
                raise ValueError(
                    f'an impulse through a point must have shape (3,), got {iota.shape}'
                )
            moment = np.cross(np.asarray(point, dtype=float), iota)
            iota = np.concatenate([moment, np.broadcast_to(iota, moment.shape)], axis=-1)
        before = np.asarray(v, dtype=float)
        rest = np.zeros(self._kernels.model.nv)
        after: Array = before + self.impulse_response(q, rest, {link: iota})
        return after

    def between(self, predecessor: Optional[str], successor: Optional[str]) -> ImpactPair:
        """Return the collisions of two links, of which one may be the fixed base.

        :param predecessor: name of a link or joint, None for the fixed base
        :param successor: name of another one; the normal points from the predecessor to it
        :raises ValueError: for an unknown link, or two that are fixed to one another

        >>> hit = robot.impacts.between(None, 'tool0')  # the tool, and the ground
        >>> hit.predecessor, hit.successor
        (None, 'tool0')
        """
        found = self._pairs.get((predecessor, successor))
        if found is None:
            found = ImpactPair(self._kernels, predecessor, successor)
            self._pairs[predecessor, successor] = found
        return found


class ImpactPair(Compiled):
    """Collisions of two links, created by `ImpactFunctions.between`.

    Arguments of the methods are the configuration q, (nq,) [rad, m], the velocity before, (nv,)
    [rad/s, m/s], the contact point in base coordinates, (3,) [m], the unit normal there from the
    predecessor to the successor in base coordinates, (3,), the coefficient of restitution e, and
    `out`, arrays for the results. If the bodies separate already, nothing changes.

    :param predecessor: name of a link or joint
    :param successor: name of another one
    :raises ValueError: for an unknown link, or two that are fixed to one another
    """

    def __init__(self, kernels: Kernels, predecessor: Optional[str], successor: Optional[str]):
        frames = (predecessor, successor)
        PAIR.resolve(kernels.model, frames)
        super().__init__(kernels, frames=frames)
        self.predecessor, self.successor = frames

    @computes('frictionless_collision')
    def frictionless(
        self,
        q: ArrayLike,
        v: ArrayLike,
        point: ArrayLike,
        normal: ArrayLike,
        restitution: ArrayLike = 0.0,
        *,
        out: Outs = None,
    ) -> Collision:
        """Return the collision without friction: the normal velocity is reversed, times e.

        :param out: arrays for both
        :return: velocity afterwards, (nv,) [rad/s, m/s], and the impulse along the normal [N s]
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them

        >>> tip, up = robot.frame('tool0').pose(q)[:3, 3], [0.0, 0.0, 1.0]
        >>> down = -robot.point_jacobian(q, 'tool0', [0, 0, 0])[2]  # it sinks
        >>> hit = robot.impacts.between(None, 'tool0').frictionless(q, down, tip, up, 0.5)
        >>> np.allclose(down @ hit.v, -0.5 * down @ down), bool(hit.impulse > 0.0)
        (True, True)
        """
        return self._call('frictionless', (q, v, point, normal, restitution), None, out)

    @computes('sticking_collision')
    def sticking(
        self,
        q: ArrayLike,
        v: ArrayLike,
        point: ArrayLike,
        normal: ArrayLike,
        restitution: ArrayLike = 0.0,
        *,
        out: Outs = None,
    ) -> StickingCollision:
        """Return the collision with friction that stops all sliding, without tangential rebound.

        :param out: arrays for both
        :return: velocity afterwards, (nv,) [rad/s, m/s], and the linear impulse on the successor
            along the axes of the base, (3,) [N s]
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them

        >>> tip, up = robot.frame('tool0').pose(q)[:3, 3], [0.0, 0.0, 1.0]
        >>> J = robot.point_jacobian(q, 'tool0', [0, 0, 0])
        >>> hit = robot.impacts.between(None, 'tool0').sticking(q, -J[2], tip, up)
        >>> np.allclose(J @ hit.v, 0.0)  # it neither slides nor rebounds
        True
        """
        return self._call('sticking', (q, v, point, normal, restitution), None, out)
