# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The dynamics of a URDF with rotors and external forces, from the parts of `Reference`.

Three-dimensional vectors, sums over links, and derivatives by complex steps: it has no recursion,
and shares no code with the package.
"""

from xml.etree import ElementTree

import numpy as np

from support.dense import skew
from support.reference import Reference, STEP


class Textbook(Reference):
    """Equations of motion of a URDF.

    :param text: URDF
    :param floating_base: whether the root link moves freely
    :param gravity: acceleration of gravity in base coordinates, (3,)
    :param armature: inertia of rotors by joint; those of mimic joints rotate with their leaders
    """

    def __init__(self, text, floating_base=False, gravity=(0.0, 0.0, -9.81), armature=None):
        super().__init__(text, floating_base, gravity)
        self.rotors = np.zeros(self.layout.nv)
        for name, inertia in (armature or {}).items():
            leader, ratio, _ = self.layout.mimics.get(name, (name, 1.0, 0.0))
            self.rotors[self.places[leader].v] += ratio**2 * inertia

    def rate(self, function, q, v):
        """Return the time derivative of a function of q, while q moves at velocity v."""
        return function(q + 1j * STEP * self.layout.position_rates(q, v)).imag / STEP

    # -- kinematics

    def jacobian(self, q, link, reference):
        """Return the Jacobian of a link, (6, nv).

        In its coordinates, the base's, or along the base's axes.

        In base coordinates, it is that of the link's point at the base's origin.
        """
        R, p, J = self.kinematics(q)[link]
        if reference == 'body':
            return np.vstack([R.T @ J[:3], R.T @ J[3:]])
        if reference == 'base':
            return np.vstack([J[:3], J[3:] + skew(p) @ J[:3]])
        return J

    def point_jacobian(self, q, link, point):
        """Return the Jacobian of a point of a link, (3, nv)."""
        R, _, J = self.kinematics(q)[link]
        return J[3:] - skew(R @ point) @ J[:3]

    def moving_links(self):
        """Return the links with a moving joint between them and the world."""
        moving = set(self.layout.links[:1]) if 'floating_base' in self.places else set()
        for link in self.layout.links[1:]:
            _, type_, parent, *_ = self.joints[link]
            if type_ != 'fixed' or parent in moving:
                moving.add(link)
        return moving

    def moving_mass(self):
        """Return the mass of the links that move."""
        return sum(self.inertials[x][0] for x in self.moving_links() if x in self.inertials)

    def center(self, q):
        """Return the center of mass of the links that move, (3,)."""
        return self.center_of_mass(q, self.moving_links())

    def center_jacobian(self, q):
        """Return the Jacobian of `center`, (3, nv)."""
        return sum(m * J[3:] for m, _, _, J in self._at_centers(q)) / self.moving_mass()

    # -- energy

    def kinetic_energy(self, q, v):
        """Return the sum of m v^2 / 2 + w . I w / 2 over links, plus the rotors' energy."""
        twice = self.rotors @ v**2
        for m, I, _, J in self._at_centers(q):
            omega, velocity = J[:3] @ v, J[3:] @ v
            twice += m * velocity @ velocity + omega @ I @ omega
        return twice / 2

    def potential_energy(self, q):
        """Return -sum m g . c over the links that move."""
        return -self.moving_mass() * self.gravity @ self.center(q)

    # -- equations of motion

    def mass_matrix(self, q):
        """Return the sum over links, and the rotors on the diagonal."""
        return super().mass_matrix(q) + np.diag(self.rotors)

    def coriolis_matrix(self, q, v):
        """Return the sum of J_t^T m Jdot_t + J_R^T (I Jdot_R + B J_R).

        B w = w x I w does not determine B; this B agrees with the Christoffel symbols, B = ((w x)
        I - I (w x) - (I w) x) / 2.
        """
        moved = q + 1j * STEP * self.layout.position_rates(q, v)
        C = np.zeros((self.layout.nv, self.layout.nv))
        for (m, I, _, J), (_, _, _, ahead) in zip(self._at_centers(q), self._at_centers(moved)):
            rate, omega = ahead.imag / STEP, J[:3] @ v
            B = (skew(omega) @ I - I @ skew(omega) - skew(I @ omega)) / 2
            C += J[3:].T @ (m * rate[3:]) + J[:3].T @ (I @ rate[:3] + B @ J[:3])
        return C

    def christoffel_matrix(self, q, v):
        """Return C_ij = sum_k (dH_ij/dq_k + dH_ik/dq_j - dH_jk/dq_i) v_k / 2.

        If v is the rate of q.
        """
        dH = np.stack([self.rate(self.mass_matrix, q, e) for e in np.eye(len(v))], axis=-1)
        symbols = 0.5 * (dH + np.swapaxes(dH, 1, 2) - np.moveaxis(dH, 2, 0))
        return symbols @ v

    def external_torque(self, q, forces):
        """Return the sum of J^T f over forces [n; f] in base coordinates, by link."""
        zero = np.zeros(self.layout.nv)
        return sum((self.jacobian(q, x, 'base').T @ f for x, f in forces.items()), zero)

    def inverse_dynamics(self, q, v, a, forces):
        """Return H a + C(q, v) + g - J^T f."""
        bias = self.coriolis_force(q, v) + self.gravity_torque(q)
        return self.mass_matrix(q) @ a + bias - self.external_torque(q, forces)

    def forward_dynamics(self, q, v, tau, forces, diagonal=0.0):
        """Return the solution a of (H + diagonal) a + C(q, v) + g - J^T f = tau."""
        H = self.mass_matrix(q) + np.diag(np.broadcast_to(diagonal, len(tau)))
        return np.linalg.solve(H, tau - self.inverse_dynamics(q, v, 0 * v, forces))


def without_mimics(text):
    """Return the same URDF with independent mimic joints."""
    tree = ElementTree.fromstring(text)
    for joint in tree.findall('joint'):
        for mimic in joint.findall('mimic'):
            joint.remove(mimic)
    return ElementTree.tostring(tree, encoding='unicode')


def rolling_joint(text):
    """Return the name of a hinge that mimics no other joint.

    It carries links, if possible.
    """
    joints = ElementTree.fromstring(text).findall('joint')
    carrying = {joint.find('parent').get('link') for joint in joints}
    hinges = [
        joint
        for joint in joints
        if joint.get('type') in ('revolute', 'continuous') and joint.find('mimic') is None
    ]
    hinges.sort(key=lambda joint: joint.find('child').get('link') not in carrying)
    return hinges[0].get('name')


def with_rolling_joint(text, name, radius):
    """Return the same URDF with a hinge that rolls along the x axis while it turns about z.

    URDF has no rack and pinion, so it is a massless slider that mimics the hinge on it.
    """
    tree = ElementTree.fromstring(text)
    hinge = next(joint for joint in tree.findall('joint') if joint.get('name') == name)
    rack = ElementTree.fromstring(
        f'<joint name="rack" type="prismatic"><child link="rack"/><axis xyz="1 0 0"/>'
        f'<mimic joint="{name}" multiplier="{radius!r}"/></joint>'
    )
    for element in (hinge.find('origin'), hinge.find('parent')):
        hinge.remove(element)
        rack.append(element)
    hinge.append(ElementTree.fromstring('<parent link="rack"/>'))
    hinge.find('axis').set('xyz', '0 0 1')
    tree.insert(list(tree).index(hinge), rack)
    tree.append(ElementTree.fromstring('<link name="rack"/>'))
    return ElementTree.tostring(tree, encoding='unicode')
