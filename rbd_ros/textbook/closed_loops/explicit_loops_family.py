# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dynamics in independent variables of a robot whose loops have a closed form (book 8.11)."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

from numpy.typing import ArrayLike

from rbd_ros.array_types import ResultArray
from rbd_ros.compiler import Definition, make_kernel, Output
from rbd_ros.compiler.passes import DifferentiableGraph
from rbd_ros.compiler.symbol_graph import Symbol
from rbd_ros.model import Model
from rbd_ros.robot.kernels import Array, Out, Outs
from rbd_ros.robot.variants import model_key, source_key
from rbd_ros.textbook.closed_loops.explicit_loops import (
    explicit_forward_dynamics,
    explicit_inverse_dynamics,
    explicit_motion,
    LoopFunction,
)


class ExplicitLoopMotion(NamedTuple):
    """Motion of all joints of the tree by that of the independent variables.

    :param q: positions, (tree_nq,) [rad, m]
    :param v: velocities, (tree_nv,) [rad/s, m/s]
    :param G: derivative of gamma, (tree_nv, n - r)
    :param g: accelerations besides G ydd, (tree_nv,) [rad/s^2, m/s^2]
    """

    q: ResultArray
    v: ResultArray
    G: ResultArray
    g: ResultArray


class ExplicitLoops:
    """Compiled dynamics of a robot in independent variables y, from q = gamma(y).

    :param model: the spanning tree; loop joints may be omitted
    :param gamma: positions of all joints of the tree by the independent variables, a function of
        scalars as in `rbd_ros.textbook.closed_loops.explicit_loops`
    :param dofs: number of independent variables, n - r
    :raises ModelError: for joints whose velocity is not the rate of their position, or a gamma of
        another length (when a function is first called)

    >>> parallelogram = robot.loops.explicit(lambda y: [y[0], -y[0], y[0]], 1)
    >>> y, yd = [0.5], [1.0]
    >>> parallelogram.motion(y, yd).G[:, 0]  # velocities of the joints per yd
    array([ 1., -1.,  1.])
    >>> ydd = parallelogram.forward_dynamics(y, yd, tau)
    >>> forces = parallelogram.inverse_dynamics(y, yd, ydd)  # of the tree's joints
    >>> np.allclose(parallelogram.motion(y, yd).G.T @ (forces - tau), 0.0)
    True
    """

    def __init__(self, model: Model, gamma: LoopFunction, dofs: int):
        self.model, self.gamma, self.dofs = model, gamma, dofs
        self._kernels: Dict[str, Any] = {}

    def motion(self, y: ArrayLike, yd: ArrayLike, *, out: Outs = None) -> ExplicitLoopMotion:
        """Return the positions and velocities of all joints, and their accelerations G ydd + g.

        :param y: independent variables, (n - r,), or (N, n - r) for a batch
        :param yd: their rates, likewise
        :param out: arrays for all four
        :return: q, v, G and g, see `ExplicitLoopMotion`
        :raises ValueError: for a wrong shape or dtype
        """
        n, m = self.model.tree_nv, self.dofs
        outputs = (
            Output('q', (self.model.tree_nq,)),
            Output('v', (n,)),
            Output('G', (n, m)),
            Output('g', (n,)),
        )

        def text(y: Sequence[Any], yd: Sequence[Any]) -> Tuple[Any, ...]:
            q, qd, G, g = explicit_motion(self.gamma, y, yd)
            return q, qd, [x for row in G for x in row], g

        kernel = self._kernel('motion', (m, m), outputs, text, ('y', 'yd'), ExplicitLoopMotion)
        found: ExplicitLoopMotion = kernel(y, yd, out=out)
        return found

    def forward_dynamics(
        self, y: ArrayLike, yd: ArrayLike, tau: ArrayLike, *, out: Out = None
    ) -> Array:
        """Return the accelerations of the independent variables (book eq 8.45).

        :param y: independent variables, (n - r,), or (N, n - r) for a batch
        :param yd: their rates, likewise
        :param tau: forces of all joints of the tree, (tree_nv,) [N m, N]
        :param out: array for the result
        :return: ydd, (n - r,)
        :raises ValueError: for a wrong shape or dtype
        """
        m = self.dofs

        def text(y: Sequence[Any], yd: Sequence[Any], tau: Sequence[Any]) -> Tuple[Any, ...]:
            return (explicit_forward_dynamics(self.model, self.gamma, y, yd, tau),)

        sizes = (m, m, self.model.tree_nv)
        kernel = self._kernel(
            'forward_dynamics', sizes, (Output('ydd', (m,)),), text, ('y', 'yd', 'tau')
        )
        found: Array = kernel(y, yd, tau, out=out)
        return found

    def inverse_dynamics(
        self, y: ArrayLike, yd: ArrayLike, ydd: ArrayLike, *, out: Out = None
    ) -> Array:
        """Return the forces tau_ID of the spanning tree (book eq 8.62).

        `rbd_ros.algorithms.closed_loops.actuation` computes those of actuators from them.

        :param y: independent variables, (n - r,), or (N, n - r) for a batch
        :param yd: their rates, likewise
        :param ydd: their accelerations, likewise
        :param out: array for the result
        :return: generalized forces of all joints of the tree, (tree_nv,) [N m, N]
        :raises ValueError: for a wrong shape or dtype
        """
        m = self.dofs

        def text(y: Sequence[Any], yd: Sequence[Any], ydd: Sequence[Any]) -> Tuple[Any, ...]:
            return (explicit_inverse_dynamics(self.model, self.gamma, y, yd, ydd),)

        outputs = (Output('tau', (self.model.tree_nv,)),)
        kernel = self._kernel('inverse_dynamics', (m, m, m), outputs, text, ('y', 'yd', 'ydd'))
        found: Array = kernel(y, yd, ydd, out=out)
        return found

    def _kernel(
        self,
        name: str,
        sizes: Tuple[int, ...],
        outputs: Tuple[Output, ...],
        text: Any,
        inputs: Tuple[str, ...],
        result: Optional[type] = None,
    ) -> Any:
        found = self._kernels.get(name)
        if found is None:
            key = {
                'function': f'explicit_{name}',
                'model': model_key(self.model),
                'gamma': self._gamma_key(),
                'source': source_key(
                    self.model, explicit_motion, explicit_forward_dynamics, ExplicitLoops
                ),
            }
            definition = Definition(
                f'explicit_{name}', tuple(zip(inputs, sizes)), outputs, text, key, result=result
            )
            found = self._kernels[name] = make_kernel(definition)
        return found

    def _gamma_key(self) -> Any:
        """Return the operations of gamma, independent of constants in its source."""
        graph = DifferentiableGraph()
        values = self.gamma(graph.inputs('y', self.dofs))
        results = [
            [x.number, x.negative] if isinstance(x, Symbol) else float(x).hex() for x in values
        ]
        return [repr(graph.nodes), results]
