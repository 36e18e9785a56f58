# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`robot.loops`: kinematic loops (book ch. 8)."""

from __future__ import annotations

from functools import cached_property
from typing import (
    Any,
    Callable,
    get_args,
    Literal,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    TYPE_CHECKING,
)

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.algorithms.closed_loops.constraint_forces_first import (
    constraint_forces_by_forward_dynamics,
    constraint_forces_first,
)
from rbd_ros.algorithms.closed_loops.constraint_rank import (
    constraint_rank,
    ConstraintRank,
    RANK_TOLERANCE,
)
from rbd_ros.algorithms.closed_loops.direct_solution import direct_solution
from rbd_ros.algorithms.closed_loops.loop_assembly import assemble_loops, LoopClosureError
from rbd_ros.algorithms.closed_loops.loop_closure import LoopClosure
from rbd_ros.algorithms.closed_loops.loop_constraints import LoopConstraints
from rbd_ros.algorithms.closed_loops.loop_equations import LoopEquations
from rbd_ros.algorithms.closed_loops.loop_motion import LoopMotion
from rbd_ros.algorithms.closed_loops.mobility import Mobility, mobility
from rbd_ros.algorithms.closed_loops.null_space import null_space_solution
from rbd_ros.algorithms.closed_loops.stabilization import stabilization
from rbd_ros.algorithms.inertia_matrix.singularity import singularity
from rbd_ros.array_types import ResultArray
from rbd_ros.model.errors import SingularMassMatrixError, unknown_name
from rbd_ros.robot.kernels import Array, Compiled, computes, Forces, Kernels, Out, Outs

if TYPE_CHECKING:  # rarely used with loops
    from rbd_ros.textbook.closed_loops.explicit_loops import LoopFunction
    from rbd_ros.textbook.closed_loops.explicit_loops_family import ExplicitLoops
    from rbd_ros.textbook.closed_loops.implicit_constraints import ConstraintFunction
    from rbd_ros.textbook.closed_loops.implicit_constraints_family import ImplicitConstraints

Solution = Tuple[Array, Array]

#: Methods for the equations of motion of a closed-loop system.
Method = Literal['kkt', 'forces', 'null_space', 'articulated_body']
METHODS = get_args(Method)
#: Methods that need the inverse inertia of the spanning tree.
NEED_REGULAR_INERTIA = ('forces', 'articulated_body')


class ClosedLoopMotion(NamedTuple):
    """Motion of a closed-loop system under forces.

    :param a: accelerations of the spanning tree, (nv,) [rad/s^2, m/s^2]
    :param multipliers: constraint force variables lambda of the loop joints, (n^c,) [N m, N]: the
        smallest ones, if the constraints are redundant
    :param rank: number of independent constraints; n^c - rank of them are redundant, and nv - rank
        is the mobility. -1 for a state with NaN
    :param mismatch: largest element of K a - k - k_stab [rad/s^2, m/s^2]: above rounding only for
        contradictory constraints, such as redundant ones with errors
    """

    a: ResultArray
    multipliers: ResultArray
    rank: Any
    mismatch: Any


class LoopFunctions(Compiled):
    """Constraints and motion of kinematic loops, with all loop joints in order (book ch. 8).

    The constraints of a loop joint are in the order of its type's constraint forces T, n^c in
    total, and its degrees of freedom in the order of its type's motion subspace S.
    """

    @computes('loop_closure')
    def closure(self, q: ArrayLike, *, out: Outs = None) -> LoopClosure:
        """Return the position errors of the loops and the Jacobian of their constraints.

        :param q: configuration, (nq,) [rad, m]
        :param out: arrays for both
        :return: residual, (n,) [rad, m], zero for closed loops, and K, (n, nv): K v is the
            velocity of the errors there
        :raises ValueError: for a wrong shape or dtype

        >>> residual, K = robot.loops.closure(q)
        >>> np.allclose(residual, 0.0), np.allclose(K @ v, 0.0)  # closed, and v keeps it closed
        (True, True)
        """
        return self._call('closure', (q,), None, out)

    @computes('loop_constraints')
    def constraints(self, q: ArrayLike, v: ArrayLike, *, out: Outs = None) -> LoopConstraints:
        """Return the constraints K a = k of the loops on accelerations, and their errors.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: arrays for all
        :return: position errors delta, velocity errors K v, K and k
        :raises ValueError: for a wrong shape or dtype

        >>> terms = robot.loops.constraints(q, v)
        >>> a = robot.loops.forward_dynamics(q, v, tau).a
        >>> np.allclose(terms.K @ a, terms.k)
        True
        """
        return self._call('constraints', (q, v), None, out)

    @computes('loop_motion')
    def motion(self, q: ArrayLike, v: ArrayLike, *, out: Outs = None) -> LoopMotion:
        """Return the positions and velocities of the loop joints along their degrees of freedom.

        Forces of springs and dampers in loop joints are functions of them.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: arrays for both
        :return: angles and displacements, and their velocities
        :raises ValueError: for a wrong shape or dtype

        >>> position, rate = robot.loops.motion(q, v)
        >>> np.degrees(position), rate  # of the hinge at the pivot [deg], [rad/s]
        (array([-90.]), array([1.2]))
        """
        return self._call('motion', (q, v), None, out)

    @computes('loop_equations')
    def equations_of_motion(
        self,
        q: ArrayLike,
        v: ArrayLike,
        loop_forces: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> LoopEquations:
        """Return the coefficients of H a + C = tau + K^T lambda and K a = k, in one pass.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param loop_forces: active forces of the loop joints, one for each of their DoFs [N m, N];
            zeros if they are passive
        :param external_forces: spatial force [n; f] on each named link, in BASE coordinates, (6,)
            [N m, N]
        :param out: arrays for all
        :return: H, C minus the effect of the active loop forces, K, k, position errors delta and
            velocity errors K v
        :raises ValueError: for a wrong shape or dtype

        >>> terms = robot.loops.equations_of_motion(q, v, [0.0])  # the hinge is passive
        >>> motion = robot.loops.forward_dynamics(q, v, tau)
        >>> np.allclose(terms.H @ motion.a + terms.C, tau + terms.K.T @ motion.multipliers)
        True
        """
        return self._call('equations_of_motion', (q, v, loop_forces), external_forces, out)

    @computes('loop_wrenches')
    def wrenches(
        self,
        q: ArrayLike,
        multipliers: ArrayLike,
        loop_forces: ArrayLike,
        *,
        out: Out = None,
    ) -> Array:
        """Return the spatial force [n; f] of each loop joint on its successor, in base axes.

        The predecessor gets the opposite force.

        :param q: configuration, (nq,) [rad, m]
        :param multipliers: constraint force variables, (n^c,) [N m, N]
        :param loop_forces: active forces of the loop joints, one for each of their DoFs [N m, N];
            zeros if they are passive
        :param out: array for the result
        :return: (loops, 6) [N m, N]
        :raises ValueError: for a wrong shape or dtype

        >>> motion = robot.loops.forward_dynamics(q, v, tau)
        >>> wrenches = robot.loops.wrenches(q, motion.multipliers, [0.0])
        >>> wrenches[0, 3:]  # of the pivot on the tip [N]
        array([0.186, 0.   , 4.591])
        """
        return self._call('wrenches', (q, multipliers, loop_forces), None, out)

    def rank(self, q: ArrayLike, *, tolerance: float = RANK_TOLERANCE) -> Any:
        """Return the number of independent constraints, which may change in motion (book 8.10).

        :param q: configuration, (nq,) [rad, m]
        :param tolerance: singular values of K below this fraction of the largest count as zero
        :return: an integer, or (N,) for a batch; -1 for a configuration with NaN
        :raises ValueError: for a wrong shape or dtype

        >>> robot.loops.rank(q)  # of five constraints: the mechanism is planar
        2
        """
        K = np.asarray(self.closure(q).K)
        if K.ndim == 2:
            return _rank(K, tolerance)
        return np.array([_rank(matrix, tolerance) for matrix in K], dtype=int)

    def mobility(self, q: ArrayLike) -> Mobility:
        """Return the mobility in a configuration, and which loops are overconstrained.

        :param q: configuration that closes the loops, (nq,) [rad, m]

        >>> mobility = robot.loops.mobility(q)
        >>> mobility.dofs, mobility.constraints, mobility.rank
        (3, 5, 2)
        """
        return mobility(self._kernels.model, q)

    def project(
        self, q: ArrayLike, fixed: Sequence[str] = (), starts: int = 0, iterations: int = 100
    ) -> Array:
        """Return the configuration near `q` in which the loops are closed, (nq,) [rad, m].

        :param q: configuration, (nq,) [rad, m]
        :param fixed: names of independent joints that do not move
        :param starts: number of further start values if the search from `q` fails, nearby ones
            first
        :param iterations: maximum number of steps of each search
        :raises LoopClosureError: if none is found, with the error of the closest one
        :raises ValueError: for a wrong shape, numbers that are not finite, or an unknown joint

        >>> robot.loops.project([0.9, -0.8, -1.5], fixed=['joint_1'])
        array([ 0.9 , -0.88, -1.62])
        """
        model = self._kernels.model
        begin = np.asarray(q, dtype=float)
        if begin.shape != (model.nq,):
            raise ValueError(f'q must have shape ({model.nq},), got {begin.shape}')
        if not np.isfinite(begin).all():
            raise ValueError(f'q must be finite, got {begin}')
        for name in fixed:
            if name not in model.joint_names:
                raise ValueError(unknown_name('independent joint', name, model.joint_names))
        slices = {model.body(i).joint_name: v for i, (_, v) in model.independent_slices.items()}
        still = [k for name in fixed for k in range(model.nv)[slices[name]]]
        closed = assemble_loops(model, begin, still, starts, iterations, self.closure)
        if not closed.is_closed:
            raise LoopClosureError(closed)
        return closed.q

    def explicit(self, gamma: LoopFunction, dofs: int) -> ExplicitLoops:
        """Return the dynamics in independent variables y, from joint positions q = gamma(y).

        :param gamma: a function of scalars, see `textbook.closed_loops.explicit_loops`
        :param dofs: number of independent variables

        >>> parallelogram = robot.loops.explicit(lambda y: [y[0], -y[0], y[0]], 1)
        >>> parallelogram.motion([0.5], [1.0]).v  # of all joints [rad/s]
        array([ 1., -1.,  1.])
        """
        from rbd_ros.textbook.closed_loops.explicit_loops_family import ExplicitLoops

        return ExplicitLoops(self._kernels.model, gamma, dofs)

    def implicit(self, phi: ConstraintFunction) -> ImplicitConstraints:
        """Return the constraints phi(q) = 0 of any number of bodies, in addition to loop joints.

        :param phi: a function of scalars, see `textbook.closed_loops.implicit_constraints`
        :raises ValueError: for an unknown joint or link, or if there are no constraints

        >>> level = robot.loops.implicit(lambda at: [at.point('tip_link')[2] - 0.02])
        >>> height, K = level.gradient(q)
        >>> np.allclose(height, 0.0), np.allclose(K @ v, 0.0)  # the pivot is at that height
        (True, True)
        """
        from rbd_ros.textbook.closed_loops.implicit_constraints_family import ImplicitConstraints

        return ImplicitConstraints(self._kernels, phi)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        method: Method = 'forces',
        t_stab: Optional[float] = None,
        external_forces: Forces = None,
        loop_forces: Optional[ArrayLike] = None,
        *,
        rank_tolerance: float = RANK_TOLERANCE,
        out: Outs = None,
    ) -> ClosedLoopMotion:
        """Return the accelerations and constraint forces with closed loops (book 8.5).

        Redundant and singular constraints are supported: the accelerations are unique, and the
        smallest constraint forces are returned. The methods agree.

        * 'kkt': one linear system for both; the simplest
        * 'forces': constraint forces first, with the factors of the inertia matrix
        * 'null_space': accelerations first, among those that satisfy the constraints; best for a
          small mobility, and for a singular inertia of the spanning tree
        * 'articulated_body': as 'forces', without factorizing an inertia matrix; for trees of many
          bodies with few loops

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces of the tree's joints, (nv,) [N m, N]
        :param method: one of `METHODS`
        :param t_stab: time constant of Baumgarte's stabilization [s]; None: none
        :param external_forces: spatial force [n; f] on each named link, in BASE coordinates, (6,)
            [N m, N]
        :param loop_forces: active forces of the loop joints, one for each of their DoFs [N m, N];
            None if they are passive
        :param rank_tolerance: singular values of K below this fraction of the largest count as
            zero
        :param out: arrays for a and multipliers
        :raises ValueError: for a wrong shape or dtype, an unknown method or link
        :raises SingularMassMatrixError: if inertia and constraints leave the acceleration
            undetermined, or the inertia of the spanning tree alone, for a method that needs it

        >>> motion = robot.loops.forward_dynamics(q, v, tau)
        >>> motion.a, motion.rank  # [rad/s^2]; of nv - rank = 1 degree of freedom
        (array([-17.067,  29.25 , -29.098]), 2)
        >>> other = robot.loops.forward_dynamics(q, v, tau, method='null_space', t_stab=0.1)
        >>> np.allclose(motion.a, other.a)
        True
        """
        if method not in METHODS:
            raise ValueError(unknown_name('method', method, METHODS))
        model = self._kernels.model
        if method in NEED_REGULAR_INERTIA and self._singularity:
            raise SingularMassMatrixError(
                f'{self._singularity}; or choose method null_space or kkt'
            )
        if loop_forces is None:
            loop_forces = np.zeros(sum(loop.joint.nv for loop in model.loops))
        terms = self.equations_of_motion(q, v, loop_forces, external_forces)
        forces = _generalized_forces(tau, model.nv)
        k = terms.k + stabilization(terms.delta, terms.velocity, t_stab)

        batch = np.broadcast_shapes(forces.shape[:-1], terms.C.shape[:-1])
        rows = int(np.prod(batch))
        result = ClosedLoopMotion(
            np.full((rows, model.nv), np.nan),
            np.full((rows, model.loop_constraints), np.nan),
            np.full(rows, -1),
            np.full(rows, np.nan),
        )
        positions = np.broadcast_to(np.asarray(q, dtype=float), (*batch, model.nq))
        arrays = (positions, terms.H, forces - terms.C, terms.K, k)
        shapes = [x.shape[1:] if x.ndim > y else x.shape for x, y in zip(arrays, (1, 2, 1, 2, 1))]
        by_row = [
            np.broadcast_to(x, (*batch, *shape)).reshape(rows, *shape)
            for x, shape in zip(arrays, shapes)
        ]
        for row, (at, H, rest, K, right) in enumerate(zip(*by_row)):
            if not all(np.isfinite(x).all() for x in (H, rest, K, right)):
                continue
            independent = constraint_rank(K, rank_tolerance)
            a, multipliers = self._solve(method, at, H, rest, K, right, independent)
            result.a[row], result.multipliers[row] = a, multipliers
            result.rank[row] = independent.rank
            result.mismatch[row] = np.abs(K @ a - right).max(initial=0.0)
        return _into_outputs(result, batch, out)

    def _solve(
        self,
        method: str,
        q: Array,
        H: Array,
        tau: Array,
        K: Array,
        k: Array,
        independent: ConstraintRank,
    ) -> Solution:
        try:
            if method == 'articulated_body':
                return constraint_forces_by_forward_dynamics(
                    lambda rows: self._accelerations(q, rows), tau, K, k, independent
                )
            return _SOLVERS[method](H, tau, K, k, independent)
        except (np.linalg.LinAlgError, ZeroDivisionError):
            raise SingularMassMatrixError(
                'the loops allow a motion that moves no mass, so the acceleration is not '
                'determined; give its links an <inertial>, or its joints an armature'
            ) from None

    def _accelerations(self, q: Array, tau: Array) -> Array:
        """Return H^-1 times each row: the tree without loops and gravity, at rest."""
        kernel = self._tree.get('forward_dynamics')
        return np.asarray(kernel(q, np.zeros(tau.shape[-1]), tau))

    @cached_property
    def _singularity(self) -> str:
        return singularity(self._kernels.model)

    @cached_property
    def _tree(self) -> Kernels:
        return Kernels(self._kernels.model.with_loops(()).with_gravity((0.0, 0.0, 0.0)))


_SOLVERS: dict[str, Callable[[Array, Array, Array, Array, ConstraintRank], Solution]] = {
    'kkt': direct_solution,
    'forces': constraint_forces_first,
    'null_space': null_space_solution,
}


def _rank(K: Array, tolerance: float) -> int:
    return constraint_rank(K, tolerance).rank if np.isfinite(K).all() else -1


def _generalized_forces(tau: ArrayLike, nv: int) -> Array:
    forces = np.asarray(tau)
    if forces.ndim not in (1, 2) or forces.shape[-1] != nv or forces.dtype.kind not in 'fiu':
        raise ValueError(
            f'tau must be real numbers of shape ({nv},) or (N, {nv}), got {forces.dtype} of shape '
            f'{forces.shape}'
        )
    return forces.astype(float)


def _into_outputs(result: ClosedLoopMotion, batch: Tuple[int, ...], out: Outs) -> ClosedLoopMotion:
    """Return the result with or without a batch axis, in the given arrays.

    :raises ValueError: if they do not fit
    """
    a, multipliers, rank, mismatch = (x.reshape((*batch, *x.shape[1:])) for x in result)
    if out is not None:
        if [array.shape for array in out] != [a.shape, multipliers.shape]:
            raise ValueError(
                f'out must be arrays of shapes {a.shape} and {multipliers.shape}, got '
                f'{", ".join(str(array.shape) for array in out)}'
            )
        for array, values in zip(out, (a, multipliers)):
            array[...] = values
        a, multipliers = out
    if not batch:
        return ClosedLoopMotion(a, multipliers, int(rank), float(mismatch))
    return ClosedLoopMotion(a, multipliers, rank, mismatch)
