# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Response of a link to forces, by a textbook and by Pinocchio, for tests of handles.

It is by definition: the acceleration of the link by forward dynamics, with and without a force.
"""

import numpy as np

from support.dense import skew


def deepest(model):
    """Return the name of the link moved by the most independent degrees of freedom."""

    def dofs(link):
        return len({model.tree_dof_index[k] for k in model.support_dofs(link.body)})

    return max(model.links.values(), key=dofs).name


def on_base(book, q, link, reference, force):
    """Return a force on a link, given in coordinates of a reference, in base coordinates."""
    if reference == 'base':
        return force
    R, p, _ = book.kinematics(q)[link]
    couple, linear = force[:3], force[3:]
    if reference == 'body':
        couple, linear = R @ couple, R @ linear
    return np.concatenate([couple + np.cross(p, linear), linear])


def acceleration(book, q, v, a, link, reference):
    """Return J a + Jdot v, (6,)."""
    J = book.jacobian(q, link, reference)
    return J @ a + book.rate(lambda x: book.jacobian(x, link, reference), q, v) @ v


def response(book, q, v, tau, forces, links, reference):
    """Return Phi, (6 h, 6 h), and b, (6 h,), of some links.

    One forward dynamics for each unit force.
    """

    def accelerations(forces):
        a = book.forward_dynamics(q, v, tau, forces)
        return np.concatenate([acceleration(book, q, v, a, x, reference) for x in links])

    b = accelerations(forces)
    columns = []
    for link in links:
        for unit in np.eye(6):
            more = on_base(book, q, link, reference, unit)
            loaded = {**forces, link: forces.get(link, np.zeros(6)) + more}
            columns.append(accelerations(loaded) - b)
    return np.transpose(columns), b


def pinocchio_response(bridge, q, v, tau, forces, link, reference):
    """Return the response of one link by Pinocchio's dynamics."""
    J = bridge.jacobian(q, link, reference)
    rest = bridge.jacobian_derivative(q, v, link, reference) @ v
    pose = bridge.forward_kinematics(q)[link]
    R, p = pose[:3, :3], pose[:3, 3]
    to_base = np.eye(6)
    if reference != 'base':
        to_base[:3, 3:] = skew(p)
        if reference == 'body':
            to_base = to_base @ np.kron(np.eye(2), R)

    def motion(more):
        loaded = {**forces, link: forces.get(link, np.zeros(6)) + more}
        return J @ bridge.forward_dynamics(q, v, tau, loaded) + rest

    b = motion(np.zeros(6))
    return np.transpose([motion(column) - b for column in to_base.T]), b
