# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`robot.floating_base`: dynamics of a robot with a floating base (book 9.3 to 9.5)."""

from __future__ import annotations

from typing import Dict, Tuple

from numpy.typing import ArrayLike

from rbd_ros.algorithms.kinds import FRAME, REFERENCE, Reference
from rbd_ros.model import ModelError
from rbd_ros.model.floating_model import not_floating
from rbd_ros.robot.kernels import Array, Compiled, computes, Forces, Kernels, Out, Outs
from rbd_ros.textbook.floating_base.floating_aba import FloatingForwardDynamics
from rbd_ros.textbook.floating_base.floating_equations import FloatingEquations
from rbd_ros.textbook.floating_base.floating_inverse_dynamics import FloatingInverseDynamics
from rbd_ros.textbook.floating_base.floating_momentum import FloatingMomentum
from rbd_ros.textbook.floating_base.floating_reduced import ReducedEquations


class FloatingBaseFunctions(Compiled):
    """Dynamics of a floating base, moved by external forces only (book 9.3 to 9.5).

    The acceleration of the base, a0, and forces on it are spatial vectors in coordinates of the
    base, apart from those of the joints, whose arrays have nv - 6 elements. Configurations q,
    (nq,), and velocities v, (nv,), are those of the whole robot, the base first. External forces
    on the base are external forces on its link.

    :raises ModelError: if the robot has no floating base
    """

    def __init__(self, kernels: Kernels):
        problem = not_floating(kernels.model)
        if problem:
            raise ModelError(problem)
        super().__init__(kernels)
        self._frames: Dict[Tuple[str, str], FloatingBaseFrame] = {}

    @computes('floating_forward_dynamics')
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> FloatingForwardDynamics:
        """Return the accelerations of base and joints that forces of the joints cause.

        Book table 9.4.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces of the joints, (nv - 6,) [N m, N]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates (those
            of the world), (6,) [N m, N]
        :param out: arrays for a0 and qdd
        :return: a0, (6,), and qdd, (nv - 6,) [rad/s^2, m/s^2]
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> a0, qdd = robot.floating_base.forward_dynamics(q, v, tau)
        >>> np.allclose(robot.forward_dynamics(q, v, np.r_[np.zeros(6), tau]), np.r_[a0, qdd])
        True
        """
        return self._call('forward_dynamics', (q, v, tau), external_forces, out)

    @computes('floating_inverse_dynamics')
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        qdd: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> FloatingInverseDynamics:
        """Return the base acceleration and joint forces of given joint accelerations.

        Book table 9.6.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param qdd: acceleration of the joints, (nv - 6,) [rad/s^2, m/s^2]
        :param external_forces: as for `forward_dynamics`
        :param out: arrays for a0 and tau
        :return: a0, (6,) [rad/s^2, m/s^2], and tau, (nv - 6,) [N m, N]
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> a0, forces = robot.floating_base.inverse_dynamics(q, v, qdd)
        >>> a0.shape, forces.shape
        ((6,), (6,))
        >>> forces = robot.inverse_dynamics(q, v, np.r_[a0, qdd])
        >>> np.allclose(forces[:6], 0.0)  # nothing holds the base
        True
        """
        return self._call('inverse_dynamics', (q, v, qdd), external_forces, out)

    @computes('floating_equations_of_motion')
    def equations_of_motion(
        self, q: ArrayLike, v: ArrayLike, external_forces: Forces = None, *, out: Outs = None
    ) -> FloatingEquations:
        """Return the coefficients of [[I0c, F], [F^T, H]] [a0; qdd] + [p0c; C] = [0; tau].

        Book eq 9.13.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param external_forces: as for `forward_dynamics`
        :param out: arrays for all five
        :return: I0c, (6, 6), F, (6, nv - 6), H, (nv - 6, nv - 6), p0c, (6,), and C, (nv - 6,)
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> terms = robot.floating_base.equations_of_motion(q, v)
        >>> np.allclose(robot.mass_matrix(q)[:6], np.hstack([terms.I0c, terms.F]))
        True
        """
        return self._call('equations_of_motion', (q, v), external_forces, out)

    @computes('floating_reduced_equations')
    def reduced_equations(
        self, q: ArrayLike, v: ArrayLike, external_forces: Forces = None, *, out: Outs = None
    ) -> ReducedEquations:
        """Return the equation of motion H_fl qdd + C_fl = tau of the joints alone (book eq 9.14).

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param external_forces: as for `forward_dynamics`
        :param out: arrays for both
        :return: H_fl, (nv - 6, nv - 6), and C_fl, (nv - 6,)
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> H_fl, C_fl = robot.floating_base.reduced_equations(q, v)
        >>> qdd = robot.floating_base.forward_dynamics(q, v, tau).qdd
        >>> np.allclose(H_fl @ qdd + C_fl, tau)
        True
        """
        return self._call('reduced_equations', (q, v), external_forces, out)

    @computes('floating_momentum')
    def momentum(self, q: ArrayLike, v: ArrayLike, *, out: Outs = None) -> FloatingMomentum:
        """Return the momentum h = I0c v0 + F qd in base coordinates, and kinetic energy T.

        Example 9.3 of the book.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: arrays for both
        :return: h, (6,) [N m s, N s], and T [J], rotors included
        :raises ValueError: for a wrong shape or dtype

        >>> h, T = robot.floating_base.momentum(q, v)
        >>> np.allclose(h, robot.momentum(q, v)), np.allclose(T, robot.energy(q, v).kinetic)
        (True, True)
        """
        return self._call('momentum', (q, v), None, out)

    def frame(self, name: str, reference: Reference = 'body') -> FloatingBaseFrame:
        """Return the functions of a link or joint frame, for repeated calls.

        :param name: name of a link, or of a joint
        :param reference: coordinates of motions, as for `Robot.jacobian`
        :raises ValueError: for an unknown frame or reference

        >>> robot.floating_base.frame('tool0').jacobian(q).shape
        (6, 6)
        """
        found = self._frames.get((name, reference))
        if found is None:
            found = FloatingBaseFrame(self._kernels, name, reference)
            self._frames[name, reference] = found
        return found

    def jacobian(
        self, q: ArrayLike, frame: str, reference: Reference = 'body', *, out: Out = None
    ) -> Array:
        """Return the generalized Jacobian of a link or joint frame (example 9.4), (6, nv - 6).

        Times a change of the joints' velocities, as of an impulse within the robot, it is the
        change of the frame's velocity, including the motion of the base.

        :param q: configuration, (nq,) [rad, m]
        :param frame: name of a link, or of a joint
        :param reference: coordinates of the velocity, as for `Robot.jacobian`
        :param out: array for the result
        :raises ValueError: for an unknown frame or reference, or a wrong shape or dtype

        >>> J = robot.floating_base.jacobian(q, 'tool0', 'aligned')
        >>> fixed = robot.jacobian(q, 'tool0', 'aligned')[:, 6:]
        >>> bool(np.linalg.norm(J[3:]) < np.linalg.norm(fixed[3:]))  # the base yields
        True
        """
        return self.frame(frame, reference).jacobian(q, out=out)


class FloatingBaseFrame(Compiled):
    """Motion of a frame of a robot with a floating base; see `FloatingBaseFunctions.frame`.

    :param name: name of the link or joint
    :param reference: coordinates of motions, as for `Robot.jacobian`
    :raises ValueError: for an unknown frame or reference
    """

    def __init__(self, kernels: Kernels, name: str, reference: Reference = 'body'):
        FRAME.resolve(kernels.model, name)
        REFERENCE.resolve(kernels.model, reference)
        super().__init__(kernels, frame=name, reference=reference)
        self.name, self.reference = name, reference

    @computes('floating_jacobian')
    def jacobian(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the generalized Jacobian of the frame, angular rows first, (6, nv - 6).

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype

        >>> J = robot.floating_base.frame('tool0').jacobian(q)
        >>> M = robot.mass_matrix(q)
        >>> base = -np.linalg.solve(M[:6, :6], M[:6, 6:])  # its motion per joint velocity
        >>> whole = robot.jacobian(q, 'tool0')
        >>> np.allclose(J, whole[:, :6] @ base + whole[:, 6:])
        True
        """
        return self._call('jacobian', (q,), None, out)
