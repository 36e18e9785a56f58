"""Coriolis matrix, consistent with the Christoffel symbols: C qd is the velocity-product force, Hdot - 2 C is skew.

Sources: book eq 5.4 for what it is; the recursion over bodies is that of Echeandia and Wensing, "Numerical methods to
compute the Coriolis matrix and Christoffel symbols for rigid-body systems" (J. Comput. Nonlinear Dyn. 2021), written
here in base coordinates, where quantities of a subtree are plain sums.
"""

from typing import List, Sequence

from rbd_ros.algorithms.kinematics import body_velocities, motion_columns
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, MotionVector, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar


def coriolis_matrix(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> List[List[Scalar]]:
    """Coriolis matrix C(q, qd).

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :return: C, (tree_nv, tree_nv)
    """
    X0, v_body = body_velocities(model, q, qd)
    S = motion_columns(model, X0)
    v = {i: X0[i].inverse_apply(v_body[i]) for i in v_body}
    Sdot = {i: [v[i].cross(s) for s in S[i]] for i in S}
    Ic = {i: X0[i].inverse_apply(body.inertia) for i, body in model.outward()}
    Bc = {i: _BodyCoriolis.of(Ic[i], v[i]) for i in Ic}

    C: List[List[Scalar]] = [[0.0] * model.tree_nv for _ in range(model.tree_nv)]
    for j, body in model.inward():
        if body.parent != 0:
            Ic[body.parent] = Ic[body.parent] + Ic[j]
            Bc[body.parent] = Bc[body.parent] + Bc[j]
        for column, s, sdot in zip(range(model.tree_nv)[body.v], S[j], Sdot[j]):
            f1 = Ic[j] * sdot + Bc[j].apply(s)
            f2 = Ic[j] * s
            f3 = Bc[j].apply_transpose(s)
            for i in model.support(j):
                for row, t, tdot in zip(range(model.tree_nv)[model.body(i).v], S[i], Sdot[i]):
                    C[row][column] = t.dot(f1)
                    if i != j:
                        C[column][row] = tdot.dot(f2) + t.dot(f3)
    return C


class _BodyCoriolis:
    """Matrix B = 1/2 (v x* I - I v x + (I v) xbar*) of one body or, summed, of a subtree.

    With (f xbar*) m = m x* f, and h, I the first and second moments of mass about the base origin, B has the blocks
    [[P, Q], [R, 0]]: P = 1/2 (w x I - I w x) + 1/2 (v x h x + h x v x) - 1/2 (I w + h x v) x and so on. They are kept
    as columns, B applied to the six unit motions, and found by applying the definition to each.
    """

    def __init__(self, columns):
        self.columns = columns

    @classmethod
    def of(cls, inertia: RigidBodyInertia, v: MotionVector):
        momentum = inertia * v
        columns = []
        for k in range(6):
            m = MotionVector.from_array([1.0 if i == k else 0.0 for i in range(6)])
            f = v.cross(inertia * m) - inertia * v.cross(m) + m.cross(momentum)
            columns.append(f * 0.5)
        return cls(columns)

    def __add__(self, other):
        return _BodyCoriolis([a + b for a, b in zip(self.columns, other.columns)])

    def apply(self, m: MotionVector) -> ForceVector:
        """B m."""
        total = ForceVector.zero()
        for column, x in zip(self.columns, m):
            total = total + column * x
        return total

    def apply_transpose(self, m: MotionVector) -> ForceVector:
        """B^T m."""
        return ForceVector.from_array([m.dot(column) for column in self.columns])


