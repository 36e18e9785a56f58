# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`robot.articulated`: articulated bodies, their handles and their assembly (book ch. 7)."""

from __future__ import annotations

from typing import Dict, Iterable, Tuple

from numpy.typing import ArrayLike

from rbd_ros.algorithms.kinds import FRAMES, REFERENCE, Reference
from rbd_ros.robot.kernels import Array, Compiled, computes, Forces, Kernels, Out, Outs
from rbd_ros.robot.other_names import with_former_names
from rbd_ros.textbook.articulated_body.articulated_inertias import ArticulatedInertias
from rbd_ros.textbook.articulated_body.bodies_in_base import AssembledDynamics
from rbd_ros.textbook.articulated_body.multi_handle_response import MultiHandleResponse


@with_former_names
class ArticulatedFunctions(Compiled):
    """Articulated bodies, their handles and their assembly (book ch. 7)."""

    def __init__(self, kernels: Kernels):
        super().__init__(kernels)
        self._handles: Dict[Tuple[Tuple[str, ...], str], Handles] = {}

    def handles(self, names: Iterable[str], reference: Reference = 'body') -> Handles:
        """Return the functions of several frames at once.

        A handle, in the book, is a frame of a body at which forces act and motion is observed
        (section 7.1): a possible connection to another body.

        :param names: names of links or joints
        :param reference: coordinates of motions and forces, as for `Robot.jacobian`
        :raises ValueError: for an unknown frame or reference, or none

        >>> hands = robot.articulated.handles(('forearm_link', 'tool0'))
        >>> hands.names
        ('forearm_link', 'tool0')
        """
        key = (names if isinstance(names, str) else tuple(names), reference)
        found = self._handles.get(key)  # type: ignore[arg-type]
        if found is None:
            found = Handles(self._kernels, *key)  # type: ignore[arg-type]
            self._handles[key] = found  # type: ignore[index]
        return found

    @computes('articulated_inertias')
    def inertias(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> ArticulatedInertias:
        """Return the articulated-body inertia and bias force of each body, handle of its subtree.

        Body i of `Robot.body_names` is moved by the force f = IA a + pA of its parent, which is
        Ia a' + pa by the acceleration a' of the parent; all in the coordinates of body i, with the
        accelerations less that of gravity.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N]
        :param out: arrays for the results
        :return: IA and Ia, (bodies, 6, 6) [kg m^2, kg m, kg], pA and pa, (bodies, 6) [N m, N]
        :raises ModelError: if joints mimic others
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them

        >>> bodies = robot.articulated.inertias(q, v, tau)
        >>> bodies.IA.shape, bodies.pA.shape
        ((6, 6, 6), (6, 6))
        >>> last = robot.model.bodies[-1].inertia  # that carries nothing
        >>> np.allclose(bodies.IA[-1], last.matrix())
        True
        """
        return self._call('inertias', (q, v, tau), external_forces, out)

    @computes('inverse_assembly_dynamics')
    def assembly_by_inverse_inertia(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> AssembledDynamics:
        """Return the forward dynamics by inverse inertias and constraint forces.

        Variant 1 of table 7.2; its handles need not move freely.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N]
        :param out: arrays for the results
        :return: the acceleration a, (nv,) [rad/s^2, m/s^2], and for each body the part of the
            force from its parent that does no work, in coordinates of the body, (bodies, 6) [N m,
            N]
        :raises ModelError: if joints mimic others, or a body has no inverse inertia
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them

        >>> result = robot.articulated.assembly_by_inverse_inertia(q, v, tau)
        >>> np.allclose(result.a, a), result.constraint_forces.shape
        (True, (6, 6))
        """
        return self._call('assembly_by_inverse_inertia', (q, v, tau), external_forces, out)

    @computes('constraint_assembly_dynamics')
    def by_constraint_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> AssembledDynamics:
        """Return the forward dynamics by inertias and constraint forces.

        Variant 2 of table 7.2.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N]
        :param out: arrays for the results
        :return: the acceleration a, (nv,) [rad/s^2, m/s^2], and for each body the part of the
            force from its parent that does no work, in coordinates of the body, (bodies, 6) [N m,
            N]
        :raises ModelError: if joints mimic others, or a body has no inverse inertia
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them

        >>> result = robot.articulated.by_constraint_forces(q, v, tau)
        >>> reactions = robot.reactions(q, v, a)  # those of the joints' drives included
        >>> np.allclose(result.constraint_forces[0], reactions[0] * [1, 1, 0, 1, 1, 1])
        True
        """
        return self._call('by_constraint_forces', (q, v, tau), external_forces, out)

    @computes('sparse_elimination_dynamics')
    def by_sparse_elimination(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> AssembledDynamics:
        """Return the forward dynamics, eliminating all accelerations and joint forces at once.

        The sparse system is that of all bodies and all joints; its graph is a tree.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N]
        :param out: arrays for the results
        :return: the acceleration a, (nv,) [rad/s^2, m/s^2], and for each body the part of the
            force from its parent that does no work, in coordinates of the body, (bodies, 6) [N m,
            N]
        :raises ModelError: if joints mimic others, or a body has no inverse inertia
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them

        >>> np.allclose(robot.articulated.by_sparse_elimination(q, v, tau).a, a)
        True
        """
        return self._call('by_sparse_elimination', (q, v, tau), external_forces, out)

    @computes('divide_and_conquer_dynamics')
    def divide_and_conquer(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> AssembledDynamics:
        """Return the forward dynamics by recursive assembly of halves (book 7.5).

        A chain of N bodies takes log2 N steps of assembly one after the other.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N]
        :param out: arrays for the results
        :return: the acceleration a, (nv,) [rad/s^2, m/s^2], and for each body the part of the
            force from its parent that does no work, in coordinates of the body, (bodies, 6) [N m,
            N]
        :raises ModelError: if joints mimic others, or a body has no inverse inertia
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them

        >>> result = robot.articulated.divide_and_conquer(q, v, tau)
        >>> np.allclose(result.a, robot.forward_dynamics(q, v, tau))
        True
        """
        return self._call('divide_and_conquer', (q, v, tau), external_forces, out)


class Handles(Compiled):
    """Several handles: frames at which forces act, and how each responds to all (book eq 7.4).

    :param names: names of links or joints
    :param reference: coordinates of motions and forces, as for `Robot.jacobian`
    :raises ValueError: for an unknown frame or reference, or none
    """

    def __init__(self, kernels: Kernels, names: Tuple[str, ...], reference: Reference):
        FRAMES.resolve(kernels.model, names)
        REFERENCE.resolve(kernels.model, reference)
        super().__init__(kernels, frames=names, reference=reference)
        self.names, self.reference = names, reference

    @computes('multi_handle_inverse_inertia')
    def inverse_inertia(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the accelerations of the h frames that unit forces on each cause, (6 h, 6 h).

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them

        >>> hands = robot.articulated.handles(('forearm_link', 'tool0'))
        >>> Phi = hands.inverse_inertia(q)
        >>> one = robot.frame('tool0').inverse_operational_inertia(q)
        >>> Phi.shape, np.allclose(Phi[6:, 6:], one)
        ((12, 12), True)
        """
        return self._call('inverse_inertia', (q,), None, out)

    @computes('multi_handle_response')
    def response(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> MultiHandleResponse:
        """Return the accelerations a = Phi f + b of the h frames with one more force f on each.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N], for any reference
        :param out: arrays for both
        :return: Phi, (6 h, 6 h), and b, (6 h,) [rad/s^2, m/s^2]
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them

        >>> hands = robot.articulated.handles(('forearm_link', 'tool0'))
        >>> Phi, b = hands.response(q, v, tau)
        >>> np.allclose(b[:6], robot.frame('forearm_link').acceleration(q, v, a))
        True
        """
        return self._call('response', (q, v, tau), external_forces, out)
