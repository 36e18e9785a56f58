# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lagrange's equations of chains, by computer algebra and by Hollerbach's recursion.

Neither uses accelerations of bodies, forces between them, spatial vectors or the package. Chains
are described as in `random_trees.chain`.
"""

from typing import Any, NamedTuple

import numpy as np

from support import outside

GRAVITY = 9.81


class Equations(NamedTuple):
    """Functions of a chain's B(q) qdd + C(q, qd) qd + g(q) = tau, each of q, qd and qdd.

    :param B: inertia matrix, second derivatives of the kinetic energy by the rates
    :param C: Coriolis matrix of Christoffel symbols, from derivatives of B
    :param g: derivatives of the potential energy
    :param tau: d/dt dL/dqd - dL/dq, as one expression
    """

    B: Any
    C: Any
    g: Any
    tau: Any


def equations(links):
    """Return Lagrange's equations of a chain in closed form."""
    sp = outside.load('sympy')
    n = len(links)
    q, qd, qdd = (sp.symbols(f'{name}:{n}', real=True) for name in ('q', 'v', 'a'))

    def number(values):
        return sp.Matrix([sp.Float(float(x)) if x % 1 else int(x) for x in values])

    def cross(a):
        return sp.Matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])

    def turn(axis, angle):
        k = cross(axis)
        return sp.eye(3) + sp.sin(angle) * k + (1 - sp.cos(angle)) * k * k

    def rate(expression):
        return sum((expression.diff(x) * dx for x, dx in zip(q, qd)), 0 * expression)

    R, p = sp.eye(3), sp.zeros(3, 1)
    T = V = sp.Integer(0)
    for link, x in zip(links, q):
        p = p + R * number(link.get('xyz', (0, 0, 0)))
        for axis, angle in zip(
            ((0, 0, 1), (0, 1, 0), (1, 0, 0)), link.get('rpy', (0, 0, 0))[::-1]
        ):
            if angle:
                R = R * turn(sp.Matrix(axis), sp.Float(angle))
        axis = number(link['axis'])
        if link['type'] == 'prismatic':
            p = p + x * (R * axis)
        else:
            R = R * turn(axis, x)
        v = rate(p + R * number(link['center']))
        spin = R.T * rate(R)
        w = sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
        xx, xy, xz, yy, yz, zz = link['inertia']
        inertia = sp.Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        m = link['mass']
        T += (m * v.dot(v) + w.dot(inertia * w)) / 2
        V += m * GRAVITY * (p + R * number(link['center']))[2]
    L = T - V
    momenta = [L.diff(x) for x in qd]
    B = sp.Matrix(n, n, lambda i, j: momenta[i].diff(qd[j]))
    C = sp.Matrix(
        n,
        n,
        lambda i, j: sum(
            (B[i, j].diff(q[k]) + B[i, k].diff(q[j]) - B[j, k].diff(q[i])) * qd[k] / 2
            for k in range(n)
        ),
    )
    g = sp.Matrix([V.diff(x) for x in q])
    tau = sp.Matrix(
        [
            rate(momentum) + sum(momentum.diff(v) * a for v, a in zip(qd, qdd)) - L.diff(x)
            for momentum, x in zip(momenta, q)
        ]
    )
    arguments = (q, qd, qdd)
    return Equations(*(sp.lambdify(arguments, e, 'numpy', cse=True) for e in (B, C, g, tau)))


def hollerbach(links, q, qd, qdd):
    """Return the forces by the recursive Lagrangian formulation with 4x4 matrices, O(n).

    tau_i = tr(dW_i/dq_i D_i) - g^T dW_i/dq_i c_i, with D_i = J_i Wdd_i^T + A_(i+1) D_(i+1) and c_i
    = m_i r_i + A_(i+1) c_(i+1): the second time derivatives Wdd of the links' placements are
    propagated outward, the sums inward.
    """
    n = len(links)
    W, Wd, Wdd = np.eye(4), np.zeros((4, 4)), np.zeros((4, 4))
    A, slopes, rates = [], [], []
    for link, x, v, a in zip(links, q, qd, qdd):
        first, second, third = _joint(link, x)
        slope = W @ second
        Wdd = Wdd @ first + 2.0 * v * Wd @ second + v * v * W @ third + a * slope
        Wd = Wd @ first + v * slope
        W = W @ first
        A.append(first)
        slopes.append(slope)
        rates.append(Wdd)
    D, c, tau = np.zeros((4, 4)), np.zeros(4), np.zeros(n)
    down = np.array([0.0, 0.0, -GRAVITY, 0.0])
    for i in reversed(range(n)):
        J = _pseudo_inertia(links[i])
        D, c = J @ rates[i].T + D, J[:, 3] + c
        tau[i] = np.trace(slopes[i] @ D) - down @ slopes[i] @ c
        D, c = A[i] @ D, A[i] @ c
    return tau


def _joint(link, x):
    """Return the placement of a link on its parent, and its first two derivatives by the joint."""
    fixed = np.eye(4)
    roll, pitch, yaw = link.get('rpy', (0.0, 0.0, 0.0))
    fixed[:3, 3] = link.get('xyz', (0.0, 0.0, 0.0))
    (cr, cp, cy), (sr, s_p, sy) = np.cos((roll, pitch, yaw)), np.sin((roll, pitch, yaw))
    fixed[:3, :3] = (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, s_p], [0, 1, 0], [-s_p, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )
    x0, y0, z0 = link['axis']
    Q, moved = np.zeros((4, 4)), np.eye(4)
    if link['type'] == 'prismatic':
        Q[:3, 3] = link['axis']
        moved += x * Q
    else:
        Q[:3, :3] = [[0, -z0, y0], [z0, 0, -x0], [-y0, x0, 0]]
        moved += np.sin(x) * Q + (1.0 - np.cos(x)) * Q @ Q
    return fixed @ moved, fixed @ moved @ Q, fixed @ moved @ Q @ Q


def _pseudo_inertia(link):
    """Return the sum of m r r^T over a link, r = (x, y, z, 1) from its origin."""
    xx, xy, xz, yy, yz, zz = link['inertia']
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    c, m = np.array(link['center'], dtype=float), link['mass']
    J = np.empty((4, 4))
    J[:3, :3] = 0.5 * np.trace(I) * np.eye(3) - I + m * np.outer(c, c)
    J[:3, 3] = J[3, :3] = m * c
    J[3, 3] = m
    return J
