# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A frame of a robot: its motion, Jacobians, and operational-space inertia."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.algorithms.kinds import FRAME, REFERENCE, Reference
from rbd_ros.robot.kernels import Array, Compiled, computes, Forces, Kernels, Out, Outs

if TYPE_CHECKING:
    # Result types: algorithms are imported on demand.
    from rbd_ros.algorithms.articulated_body.handle_equation import HandleEquation, HandleResponse
    from rbd_ros.algorithms.articulated_body.operational_dynamics import OperationalDynamics
    from rbd_ros.algorithms.derivatives.kinematic_derivatives import (
        FrameAccelerationDerivatives,
        FrameVelocityDerivatives,
        JacobianGradient,
    )
    from rbd_ros.robot.inverse_kinematics import InverseKinematics, InverseKinematicsSolver


class SingularTaskError(ValueError):
    """A frame cannot move in some direction, so its operational inertia does not exist.

    :param directions: impossible motions, (k, 6), or (k, 3) for a point, of length 1 in the units
        of the Jacobian's rows

    >>> from rbd_ros.robot.frame import SingularTaskError
    >>> try:
    ...     robot.frame('tool0').require_regular(np.zeros(6))
    ... except SingularTaskError as error:
    ...     error.directions.shape
    (3, 6)
    """

    def __init__(self, message: str, directions: Array):
        super().__init__(message)
        self.directions = directions


class RobotFrame(Compiled):
    """Motion and operational-space inertia of a link or joint frame, see `Robot.frame`.

    Arguments of the methods are the configuration q, (nq,) [rad, m], the velocity v, (nv,) [rad/s,
    m/s], the acceleration a, (nv,) [rad/s^2, m/s^2], and `out`, an array for the result. A wrong
    shape or dtype raises ValueError.

    :param name: name of the link or joint
    :param reference: reference frame of motions: 'body', 'base' or 'aligned', see
        `Robot.jacobian`
    :raises ValueError: for an unknown frame or reference

    >>> tool = robot.frame('tool0')
    >>> tool.name, tool.reference
    ('tool0', 'body')
    """

    def __init__(self, kernels: Kernels, name: str, reference: Reference = 'body'):
        FRAME.resolve(kernels.model, name)
        REFERENCE.resolve(kernels.model, reference)
        super().__init__(kernels, frame=name, reference=reference)
        self.name, self.reference = name, reference

    def __repr__(self) -> str:
        return f'<RobotFrame {self.name!r}, reference {self.reference!r}>'

    @computes('frame_pose')
    def pose(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the pose in the base frame, for any reference, (4, 4): p_base = T p_frame.

        >>> T = robot.frame('tool0').pose(q)
        >>> T[:3, 3]  # position [m]
        array([0.22 , 0.187, 0.838])
        >>> T @ [0.0, 0.0, 0.1, 1.0]  # base coordinates of a point 0.1 m in front of the tool
        array([0.214, 0.241, 0.922, 1.   ])
        """
        return self._call('pose', (q,), None, out)

    def inverse_kinematics(
        self,
        pose: ArrayLike,
        start: Optional[ArrayLike] = None,
        *,
        weights: ArrayLike = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
        posture: Optional[ArrayLike] = None,
        tolerance: float = 1e-9,
        starts: int = 100,
        seed: int = 0,
    ) -> InverseKinematics:
        """Return a configuration within the joint limits in which the frame has a pose.

        A search that gets stuck is followed by others with other start values, from a fixed
        sequence that is the same on each machine. If no search reaches the pose, the result is the
        nearest one, with its errors. Joints that do not move the frame, and a floating base, keep
        their start values. The reference is ignored. See docs/inverse_kinematics.md.

        :param pose: pose in the base frame as of `pose`, (4, 4) [1, m], or many, (N, 4, 4), solved
            in several threads; or scipy's RigidTransform
        :param start: configuration in which the first search begins, (nq,) [rad, m], or one for
            each pose, (N, nq); None: the first one of the fixed sequence, and neutral for joints
            that do not move the frame
        :param weights: weights of the errors about the axes x, y, z of the pose, then along them,
            (6,); a weight of 0 frees that direction, so `(0, 0, 0, 1, 1, 1)` is a position target
        :param posture: preferred joint positions, used as far as the pose permits, (nq,) [rad, m];
            None: none
        :param tolerance: tolerance of both errors [m, rad]
        :param starts: maximum number of searches; 1: only from the start
        :param seed: selects another sequence of start values, which may give another configuration
        :raises ModelError: for a robot with kinematic loops, and a frame that no joint moves
        :raises ValueError: for a wrong shape or dtype, or an invalid pose

        >>> tool = robot.frame('tool0')
        >>> found = tool.inverse_kinematics(tool.pose(q), start=q + 0.2)
        >>> found.reached, np.allclose(found.q, q)
        (True, True)
        >>> T = tool.pose(q)
        >>> T[0, 3] += 5.0  # out of reach
        >>> far = tool.inverse_kinematics(T)
        >>> far.reached, round(far.position_error, 2), far.starts  # [m]
        (False, 4.31, 100)
        """
        return self._inverse_kinematics.solve(
            pose, start, weights, posture, tolerance, starts, seed
        )

    @cached_property
    def _inverse_kinematics(self) -> InverseKinematicsSolver:
        # Imported on demand: most frames do not need it.
        from rbd_ros.robot.inverse_kinematics import InverseKinematicsSolver

        return InverseKinematicsSolver(self._kernels, self.name)

    @computes('frame_velocity')
    def velocity(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Return the spatial velocity, angular part first, (6,) [rad/s, m/s].

        >>> robot.frame('tool0', 'aligned').velocity(q, v)  # [rad/s], [m/s]
        array([ 0.339,  0.64 ,  1.368, -0.139,  0.076, -0.062])
        """
        return self._call('velocity', (q, v), None, out)

    @computes('frame_acceleration')
    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Out = None) -> Array:
        """Return the componentwise rate of `velocity` without gravity, (6,) [rad/s^2, m/s^2].

        That is the spatial acceleration for the references 'body' and 'base', and for 'aligned'
        the classical acceleration of the frame's origin (book 2.11).

        >>> tool = robot.frame('tool0', 'aligned')
        >>> tool.acceleration(q, v, a)[3:]  # of the tool's origin [m/s^2]
        array([-0.759,  0.119,  0.769])
        """
        return self._call('acceleration', (q, v, a), None, out)

    @computes('jacobian')
    def jacobian(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the Jacobian J of the velocity J v, angular rows first, (6, nv).

        >>> force = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 10.0])  # 10 N up, along the base's z axis
        >>> robot.frame('tool0', 'aligned').jacobian(q).T @ force  # what pushes so hard [N m]
        array([ 0.   , -2.198, -4.235, -0.935,  0.537,  0.   ])
        """
        return self._call('jacobian', (q,), None, out)

    @computes('jacobian_derivative')
    def jacobian_derivative(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Return the elementwise time derivative of `jacobian`, (6, nv).

        >>> tool = robot.frame('tool0', 'base')
        >>> bias = tool.jacobian_derivative(q, v) @ v  # acceleration at constant velocity
        >>> np.allclose(bias, tool.acceleration(q, v, np.zeros(6)))
        True
        """
        return self._call('jacobian_derivative', (q, v), None, out)

    @computes('frame_velocity_derivatives')
    def velocity_derivatives(
        self, q: ArrayLike, v: ArrayLike, *, out: Outs = None
    ) -> FrameVelocityDerivatives:
        """Return `velocity` with its derivatives, component by component.

        Those by q are along the velocities (book 4.4).

        :param out: arrays for all three
        :return: velocity, (6,), dvelocity_dq and dvelocity_dv = J, (6, nv) each

        >>> D = robot.frame('tool0').velocity_derivatives(q, v)
        >>> np.allclose(D.dvelocity_dv, robot.frame('tool0').jacobian(q)), D.dvelocity_dq.shape
        (True, (6, 6))
        """
        return self._call('velocity_derivatives', (q, v), None, out)

    @computes('frame_acceleration_derivatives')
    def acceleration_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Outs = None
    ) -> FrameAccelerationDerivatives:
        """Return `acceleration` with its derivatives, component by component.

        Those by q are along the velocities (book 4.4).

        :param out: arrays for all four
        :return: acceleration, (6,), dacceleration_dq, dacceleration_dv and dacceleration_da = J,
            (6, nv) each

        >>> D = robot.frame('tool0').acceleration_derivatives(q, v, a)
        >>> np.allclose(D.dacceleration_da, robot.frame('tool0').jacobian(q))
        True
        """
        return self._call('acceleration_derivatives', (q, v, a), None, out)

    @computes('jacobian_gradient')
    def jacobian_gradient(self, q: ArrayLike, *, out: Outs = None) -> JacobianGradient:
        """Return `jacobian` with its derivatives by q along the velocities.

        :param out: arrays for both
        :return: J, (6, nv), and dJ_dq, (6, nv, nv): element i, j, k is the derivative of J_ij
            along degree of freedom k

        >>> J, dJ_dq = robot.frame('tool0').jacobian_gradient(q)
        >>> np.allclose(dJ_dq @ v, robot.frame('tool0').jacobian_derivative(q, v))
        True
        """
        return self._call('jacobian_gradient', (q,), None, out)

    @computes('point_jacobian')
    def point_jacobian(self, q: ArrayLike, point: ArrayLike, *, out: Out = None) -> Array:
        """Return the Jacobian of the velocity of a point of the frame, along base axes, (3, nv).

        :param point: coordinates of the point in the frame, (3,) [m]

        >>> tool = robot.frame('tool0', 'aligned')
        >>> np.allclose(tool.point_jacobian(q, [0, 0, 0]), tool.jacobian(q)[3:])
        True
        """
        return self._call('point_jacobian', (q, point), None, out)

    @computes('point_jacobian_derivative')
    def point_jacobian_derivative(
        self, q: ArrayLike, v: ArrayLike, point: ArrayLike, *, out: Out = None
    ) -> Array:
        """Return the elementwise time derivative of `point_jacobian`, (3, nv).

        :param point: coordinates of the point in the frame, (3,) [m]

        >>> robot.frame('tool0').point_jacobian_derivative(q, v, [0.0, 0.0, 0.1]).shape
        (3, 6)
        """
        return self._call('point_jacobian_derivative', (q, v, point), None, out)

    @computes('inverse_operational_inertia')
    def inverse_operational_inertia(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the acceleration per spatial force on the frame, J H^-1 J^T, (6, 6).

        :raises SingularMassMatrixError: if joints move no mass, with their names

        >>> tool = robot.frame('tool0')
        >>> J = tool.jacobian(q)
        >>> mobility = J @ robot.inverse_mass_matrix(q) @ J.T
        >>> np.allclose(tool.inverse_operational_inertia(q), mobility)
        True
        """
        return self._call('inverse_operational_inertia', (q,), None, out)

    @computes('operational_inertia')
    def operational_inertia(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the inertia of the whole robot at the frame, (J H^-1 J^T)^-1, (6, 6).

        It is unbounded if the Jacobian loses rank; `require_regular` checks that.

        :raises ModelError: if fewer than six degrees of freedom move the frame
        :raises SingularMassMatrixError: if joints move no mass, with their names

        >>> tool = robot.frame('tool0', 'aligned')
        >>> tool.operational_inertia(q)[5, 5].round(2)  # felt by a pure lift [kg]
        5.56
        """
        return self._call('operational_inertia', (q,), None, out)

    @computes('operational_dynamics')
    def operational_dynamics(
        self, q: ArrayLike, v: ArrayLike, *, out: Outs = None
    ) -> OperationalDynamics:
        """Return the equation of motion of the frame: Lambda a + mu + p = F, with tau = J^T F.

        It is unbounded if the Jacobian loses rank; `require_regular` checks that.

        :param out: arrays for all five
        :return: Lambda, (6, 6), mu and p, (6,) [N m, N], the dynamically consistent generalized
            inverse J_bar of the Jacobian, (nv, 6), and the projection N on generalized forces that
            do not accelerate the frame, (nv, nv)
        :raises ModelError: if fewer than six degrees of freedom move the frame
        :raises SingularMassMatrixError: if joints move no mass, with their names

        >>> tool = robot.frame('tool0', 'aligned')
        >>> task = tool.operational_dynamics(q, v)
        >>> F = task.Lambda @ np.zeros(6) + task.mu + task.p  # let the tool move on uniformly
        >>> qdd = robot.forward_dynamics(q, v, tool.jacobian(q).T @ F)
        >>> np.allclose(tool.acceleration(q, v, qdd), 0.0)
        True
        """
        return self._call('operational_dynamics', (q, v), None, out)

    @computes('translational_operational_dynamics')
    def translational_operational_dynamics(
        self, q: ArrayLike, v: ArrayLike, *, out: Outs = None
    ) -> OperationalDynamics:
        """Return the equation of motion of the frame's origin along the axes of the base.

        Like `operational_dynamics` with three dimensions instead of six, for any reference; the
        Jacobian is that of the origin, `point_jacobian` of (0, 0, 0).

        :param out: arrays for all five
        :raises ModelError: if fewer than three degrees of freedom move the frame
        :raises SingularMassMatrixError: if joints move no mass, with their names

        >>> task = robot.frame('tool0').translational_operational_dynamics(q, v)
        >>> task.Lambda.shape, task.p  # p: gravity as felt at the tool [N]
        ((3, 3), array([35.153, 28.592, 52.85 ]))
        """
        return self._call('translational_operational_dynamics', (q, v), None, out)

    def require_regular(
        self, q: ArrayLike, *, translational: bool = False, tolerance: float = 1e-6
    ) -> None:
        """Raise an error if the frame cannot move in all directions.

        Then `operational_inertia` and `operational_dynamics` are unbounded, with huge numbers or
        NaN. They do not check that themselves, since the check takes longer.

        :param q: configuration, (nq,) [rad, m], or a batch, (N, nq)
        :param translational: whether to check the frame's origin only
        :param tolerance: relative singular value of the Jacobian that counts as zero
        :raises SingularTaskError: with the frame and the impossible directions

        >>> robot.frame('tool0').require_regular(q)  # nothing is lost
        >>> robot.frame('tool0').require_regular(np.zeros(6))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        rbd_ros.robot.frame.SingularTaskError: frame 'tool0' can move in 3 of 6 directions: ...
        """
        if translational:
            J = np.asarray(self.point_jacobian(q, np.zeros(3)))
        else:
            J = np.asarray(self.jacobian(q))
        for k, one in enumerate(J if J.ndim == 3 else [J]):
            U, values, _ = np.linalg.svd(one)
            rank = int((values > tolerance * values.max(initial=0.0)).sum())
            size = len(one)
            if rank == size:
                continue
            lost = [np.array2string(x, separator=', ') for x in np.round(U.T[rank:], 3) + 0.0]
            raise SingularTaskError(
                f'frame {self.name!r} can move in {rank} of {size} directions'
                + (f' in state {k}' if J.ndim == 3 else '')
                + f': not along {", ".join(lost)} '
                + (
                    '(x, y, z of the base)'
                    if size == 3
                    else f'(turning, moving; {self.reference})'
                ),
                U.T[rank:],
            )

    @computes('handle_response')
    def response(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> HandleResponse:
        """Return Phi and b of the acceleration a = Phi f + b for an additional force f (eq 7.3).

        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: spatial force [n; f] on each named link, in BASE coordinates, (6,)
            [N m, N], for any reference
        :param out: arrays for both
        :return: the articulated-body inverse inertia Phi, (6, 6), and the bias acceleration b,
            (6,) [rad/s^2, m/s^2]
        :raises SingularMassMatrixError: if joints move no mass, with their names

        >>> Phi, b = robot.frame('tool0').response(q, v, tau)
        >>> np.allclose(b, robot.frame('tool0').acceleration(q, v, a))  # without another force
        True
        >>> (Phi @ [0.0, 0.0, 0.0, 0.0, 0.0, 1.0])[5].round(3)  # what 1 N along z adds [m/s^2]
        0.351
        """
        return self._call('response', (q, v, tau), external_forces, out)

    @computes('handle_equation')
    def articulated_inertia(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> HandleEquation:
        """Return the force f = I a + p on the frame for an acceleration a (book eq 7.2).

        The inertia I is `operational_inertia`, unbounded if the Jacobian loses rank. Arguments are
        those of `response`.

        :param out: arrays for both
        :return: the articulated-body inertia I, (6, 6) [kg m^2, kg m, kg], and the bias force p,
            (6,) [N m, N]
        :raises ModelError: if fewer than six degrees of freedom move the frame
        :raises SingularMassMatrixError: if joints move no mass, with their names

        >>> tool = robot.frame('tool0')
        >>> I, p = tool.articulated_inertia(q, v, tau)
        >>> np.allclose(I @ tool.acceleration(q, v, a) + p, 0.0)  # no force is on it
        True
        """
        return self._call('articulated_inertia', (q, v, tau), external_forces, out)
