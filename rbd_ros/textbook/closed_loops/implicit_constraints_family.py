# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Constraints phi(q) = 0 or phi(q) >= 0 of any number of bodies, compiled (book 3.2, 11.4)."""

from __future__ import annotations

from functools import partial
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank, RANK_TOLERANCE
from rbd_ros.algorithms.closed_loops.direct_solution import direct_solution
from rbd_ros.algorithms.closed_loops.stabilization import stabilization
from rbd_ros.algorithms.kinds import CONFIGURATION
from rbd_ros.array_types import ResultArray
from rbd_ros.compiler import Definition, make_kernel, Output, Tangent
from rbd_ros.compiler.passes import DifferentiableGraph
from rbd_ros.compiler.symbol_graph import Symbol
from rbd_ros.robot.kernels import Kernels
from rbd_ros.robot.variants import model_key, source_key
from rbd_ros.textbook.closed_loops.implicit_constraints import (
    constraint_motion,
    constraint_values,
    ConstraintFunction,
    ConstraintMotion,
)
from rbd_ros.textbook.contact_dynamics.contact_equations import ContactEquations

Array = NDArray[np.float64]


class Gradient(NamedTuple):
    """Values of constraints and their gradient.

    :param phi: values, (m,)
    :param K: gradient along the velocities, (m, nv): the rate of phi is K v
    """

    phi: ResultArray
    K: ResultArray


class ConstrainedMotion(NamedTuple):
    """Motion that obeys constraints.

    :param a: accelerations, (nv,) [rad/s^2, m/s^2]
    :param multipliers: constraint forces lambda, (m,): tau_c = K^T lambda
    """

    a: Array
    multipliers: Array


class ImplicitConstraints:
    """Constraints of a robot from a function, created by `Robot.loops.implicit`.

    :param phi: from places to the values of the constraints, a function of scalars as in
        `rbd_ros.textbook.closed_loops.implicit_constraints`
    :raises ValueError: for an unknown joint or link, or if there are no constraints
    """

    def __init__(self, kernels: Kernels, phi: ConstraintFunction):
        self.model, self.phi = kernels.model, phi
        self._kernels = kernels
        self._compiled: Dict[str, Any] = {}
        graph = DifferentiableGraph()
        values = constraint_values(self.model, phi, graph.inputs('q', self.model.nq))
        self.count = len(values)
        if not self.count:
            raise ValueError('phi must return the value of at least one constraint')
        # The operations of phi, independent of constants in its source.
        self._key = [
            repr(graph.nodes),
            [[x.number, x.negative] if isinstance(x, Symbol) else float(x).hex() for x in values],
        ]

    def gradient(self, q: ArrayLike, *, out: Optional[Sequence[Array]] = None) -> Gradient:
        """Return the values of the constraints and their gradient.

        :param q: configuration, (nq,) [rad, m], or (N, nq) for a batch
        :param out: arrays for both
        :return: phi, (m,), and K, (m, nv)
        :raises ValueError: for a wrong shape or dtype
        """

        def text(q: Sequence[Any]) -> Tuple[Any, ...]:
            return (constraint_values(self.model, self.phi, q),)

        model = self.model
        outputs = (Output('phi', (self.count,)), Output('K', (self.count, model.nv)))
        rates = CONFIGURATION.tangents
        assert rates is not None
        along = Tangent('q', model.nv, partial(rates, model))
        kernel = self._kernel('gradient', ('q',), outputs, text, Gradient, (along,))
        found: Gradient = kernel(q, out=out)
        return found

    def motion(
        self, q: ArrayLike, v: ArrayLike, *, out: Optional[Sequence[Array]] = None
    ) -> ConstraintMotion:
        """Return the values of the constraints, their rates K v, and k of K a = k.

        :param q: configuration, (nq,) [rad, m], or (N, nq) for a batch
        :param v: velocity, (nv,) [rad/s, m/s], likewise
        :param out: arrays for all three
        :raises ValueError: for a wrong shape or dtype
        """

        def text(q: Sequence[Any], v: Sequence[Any]) -> Tuple[Any, ...]:
            return constraint_motion(self.model, self.phi, q, v)

        outputs = tuple(Output(name, (self.count,)) for name in ConstraintMotion._fields)
        kernel = self._kernel('motion', ('q', 'v'), outputs, text, ConstraintMotion)
        found: ConstraintMotion = kernel(q, v, out=out)
        return found

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        t_stab: Optional[float] = None,
        *,
        rank_tolerance: float = RANK_TOLERANCE,
    ) -> ConstrainedMotion:
        """Return the accelerations and constraint forces where phi(q) = 0 holds (book eq 3.17).

        Redundant constraints are allowed, as in `robot.loops.forward_dynamics`.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param t_stab: time constant of Baumgarte's stabilization [s], None for none
        :param rank_tolerance: singular values of K below this part of the largest count as zero
        :raises ValueError: for a wrong shape or dtype
        :raises numpy.linalg.LinAlgError: if inertia and constraints leave a motion undetermined
        """
        phi, velocity, k = self.motion(q, v)
        K = self.gradient(q).K
        H, C = self._kernels.get('equations_of_motion')(q, v)  # type: ignore[misc]
        right = k + stabilization(phi, velocity, t_stab)
        rest = np.asarray(tau, dtype=float) - C
        return ConstrainedMotion(
            *direct_solution(H, rest, K, right, constraint_rank(K, rank_tolerance))
        )

    def equations(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> ContactEquations:
        """Return the equations of the active inequality constraints phi(q) >= 0.

        Book 11.4.

        The forces lambda >= 0 act along the gradients, and M lambda + d are the accelerations of
        phi: the problem of `rbd_ros.textbook.complementarity.solve_lcp`.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :raises ValueError: for a wrong shape or dtype
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them
        """
        _, velocity, k = self.motion(q, v)
        T = self.gradient(q).K.T
        free = np.asarray(self._kernels.get('forward_dynamics')(q, v, tau))
        response = np.asarray(self._kernels.get('inverse_mass_matrix')(q)) @ T
        M = T.T @ response
        return ContactEquations(0.5 * (M + M.T), T.T @ free - k, T, velocity, response, free)

    def _kernel(
        self,
        name: str,
        inputs: Tuple[str, ...],
        outputs: Tuple[Output, ...],
        text: Any,
        result: type,
        tangents: Tuple[Tangent, ...] = (),
    ) -> Any:
        found = self._compiled.get(name)
        if found is None:
            key = {
                'model': model_key(self.model),
                'phi': self._key,
                'source': source_key(self.model, constraint_motion, ImplicitConstraints),
            }
            sizes = {'q': self.model.nq, 'v': self.model.nv}
            found = self._compiled[name] = make_kernel(
                Definition(
                    f'implicit_{name}',
                    tuple((each, sizes[each]) for each in inputs),
                    outputs,
                    text,
                    key,
                    result=result,
                    tangents=tangents,
                )
            )
        return found
