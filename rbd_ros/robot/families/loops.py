"""`robot.loops`: kinematic loops (book ch. 8)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from rbd_ros.algorithms.closed_loops.loop_closure import LoopClosure
from rbd_ros.robot.compiled import Compiled, computes, Outs


class LoopFunctions(Compiled):
    """Constraints of kinematic loops, all loop joints one after another (book 8.2)."""

    @computes('loop_closure')
    def closure(self, q: ArrayLike, *, out: Outs = None) -> LoopClosure:
        """Position errors of the loops and the Jacobian of their constraints.

        :param q: configuration, (nq,) [rad, m]
        :param out: arrays for both
        :return: residual, (n,) [rad, m], zero where the loops are closed, and K, (n, nv): K v is
            the velocity of the errors there
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('closure', (q,), None, out)
