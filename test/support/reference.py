# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of a URDF from sums over links: an oracle independent of the package.

The equations are those of textbooks without spatial vectors: H = sum J_t^T m J_t + J_R^T I J_R
with link Jacobians at the centers of mass in base coordinates. It is slow and simple. Planar
joints must have the normal z of their frame.
"""

import xml.etree.ElementTree as ElementTree

import numpy as np

from support import layout as urdf_layout
from support.dense import skew

STEP = 1e-30  # of complex steps: f'(x) = Im f(x + i h) / h


def _vector(element, name, default):
    return (
        np.array([float(x) for x in element.get(name, default).split()])
        if element is not None
        else np.array([float(x) for x in default.split()])
    )


def rpy_rotation(rpy):
    """Return the rotation matrix of fixed-axis roll, pitch, yaw."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rodrigues(axis, angle):
    """Return the rotation matrix about a unit axis."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


class Reference:
    """Tree of links read from a URDF text."""

    def __init__(self, text, floating_base=False, gravity=(0.0, 0.0, -9.81)):
        self.layout = urdf_layout.read(text, floating_base)
        self.gravity = np.array(gravity)
        tree = ElementTree.fromstring(text)
        self.inertials, self.joints = {}, {}
        for link in tree.findall('link'):
            inertial = link.find('inertial')
            if inertial is None:
                continue
            origin = inertial.find('origin')
            R = rpy_rotation(_vector(origin, 'rpy', '0 0 0'))
            i = {key: float(value) for key, value in inertial.find('inertia').attrib.items()}
            I_C = np.array(
                [
                    [i['ixx'], i['ixy'], i['ixz']],
                    [i['ixy'], i['iyy'], i['iyz']],
                    [i['ixz'], i['iyz'], i['izz']],
                ]
            )
            mass = float(inertial.find('mass').get('value'))
            self.inertials[link.get('name')] = mass, _vector(origin, 'xyz', '0 0 0'), R @ I_C @ R.T
        for joint in tree.findall('joint'):
            origin, axis = joint.find('origin'), _vector(joint.find('axis'), 'xyz', '1 0 0')
            self.joints[joint.find('child').get('link')] = (
                joint.get('name'),
                joint.get('type'),
                joint.find('parent').get('link'),
                _vector(origin, 'xyz', '0 0 0'),
                rpy_rotation(_vector(origin, 'rpy', '0 0 0')),
                axis / np.linalg.norm(axis),
            )
        self.places = {joint.name: joint for joint in self.layout.joints}

    def kinematics(self, q):
        """Return (R, p, J) of every link.

        Pose and Jacobian (6, nv) of its origin, angular rows first, in base coordinates.
        """
        dtype = np.result_type(float, np.asarray(q))  # complex for complex-step derivatives
        out = {}
        for link in self.layout.links:
            if link not in self.joints:
                R, p, J = np.eye(3), np.zeros(3), np.zeros((6, self.layout.nv), dtype)
                if 'floating_base' in self.places:
                    R, p, J = self._move(R, p, J, 'floating_base', 'floating', None, q)
            else:
                name, type_, parent, xyz, rotation, axis = self.joints[link]
                R0, p0, J0 = out[parent]
                offset = R0 @ xyz
                J = J0.copy()
                J[3:] -= skew(offset) @ J0[:3]
                R, p, J = self._move(R0 @ rotation, p0 + offset, J, name, type_, axis, q)
            out[link] = R, p, J
        return out

    def _move(self, R, p, J, name, type_, axis, q):
        if type_ == 'fixed':
            return R, p, J
        leader, ratio, offset = self.layout.mimics.get(name, (name, 1.0, 0.0))
        place = self.places[leader]
        x, columns = q[place.q], J[:, place.v]
        if type_ in ('revolute', 'continuous'):
            columns[:3, 0] += ratio * R @ axis
            return R @ rodrigues(axis, ratio * x[0] + offset), p, J
        if type_ == 'prismatic':
            shift = R @ axis * (ratio * x[0] + offset)
            J[3:] -= skew(shift) @ J[:3]
            columns[3:, 0] += ratio * R @ axis
            return R, p + shift, J
        if type_ == 'planar':
            assert np.allclose(axis, [0, 0, 1])
            rotation, shift, free = (
                rodrigues(axis, x[0]),
                np.array([x[1], x[2], 0.0]),
                np.eye(6)[:, 2:5],
            )
        else:
            w, u = x[0], x[1:4]
            rotation = np.eye(3) + 2 * w * skew(u) + 2 * skew(u) @ skew(u)
            shift, free = x[4:], np.eye(6)
        J[3:] -= skew(R @ shift) @ J[:3]
        new = R @ rotation
        columns += (
            np.kron(np.eye(2), new) @ free
        )  # velocity given in coordinates of the moved link
        return new, p + R @ shift, J

    def _at_centers(self, q):
        """Yield mass, inertia about the center, center, and Jacobian of the center of every link.

        All are in base coordinates.
        """
        for link, (R, p, J) in self.kinematics(q).items():
            if link in self.inertials:
                m, c, I_C = self.inertials[link]
                moved = J.copy()
                moved[3:] -= skew(R @ c) @ J[:3]
                yield m, R @ I_C @ R.T, p + R @ c, moved

    def mass_matrix(self, q):
        """Return the sum of J_t^T m J_t + J_R^T I J_R."""
        return sum(m * J[3:].T @ J[3:] + J[:3].T @ I @ J[:3] for m, I, _, J in self._at_centers(q))

    def gravity_torque(self, q):
        """Return the gravity torque, -sum m J_t^T g."""
        return -sum(m * J[3:].T @ self.gravity for m, _, _, J in self._at_centers(q))

    def center_of_mass(self, q, links):
        """Return the center of mass of some links."""
        poses = self.kinematics(q)
        parts = [
            (self.inertials[link][0], poses[link][1] + poses[link][0] @ self.inertials[link][1])
            for link in links
            if link in self.inertials
        ]
        return sum(m * c for m, c in parts) / sum(m for m, _ in parts)

    def momentum(self, q, v):
        """Return the angular momentum about the base origin, then the linear momentum."""
        h = np.zeros(6, np.result_type(float, np.asarray(q)))  # as in `kinematics`
        for m, I, c, J in self._at_centers(q):
            omega, velocity = J[:3] @ v, J[3:] @ v
            h += np.concatenate([I @ omega + np.cross(c, m * velocity), m * velocity])
        return h

    def coriolis_force(self, q, v):
        """Return the velocity-product force.

        Sum J_t^T m Jdot_t v + J_R^T (I Jdot_R v + omega x I omega), Jdot by a complex step, which
        neither truncates nor cancels.
        """
        moved = q + 1j * STEP * self.layout.position_rates(q, v)
        total = np.zeros(self.layout.nv)
        for (m, I, _, J), (_, _, _, ahead) in zip(self._at_centers(q), self._at_centers(moved)):
            a, omega = ahead.imag @ v / STEP, J[:3] @ v
            total += J[3:].T @ (m * a[3:]) + J[:3].T @ (I @ a[:3] + np.cross(omega, I @ omega))
        return total
