# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio as an external oracle, in the conventions of this package.

Pinocchio gets the full tree, with independent mimic joints. One constant matrix P maps velocities,
v_pin = P v: it includes the order of joints, linear-first free flyers, planar joints and mimic
ratios, so forces are P^T tau_pin and inertias P^T H P.
"""

import numpy as np

from support import layout as urdf_layout, outside

pin = outside.load('pinocchio')  # without it, test modules that import the bridge are skipped

SWAP = np.r_[3:6, 0:3]  # angular-first <-> linear-first


class Bridge:
    """Pinocchio model of a URDF text, and conversions between its conventions and ours."""

    def __init__(self, text, floating_base=False, gravity=(0.0, 0.0, -9.81)):
        self.layout = urdf_layout.read(text, floating_base)
        if floating_base:
            self.model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
        else:
            self.model = pin.buildModelFromXML(text)
        self.model.gravity.linear = np.array(gravity)
        self.data = self.model.createData()
        self.floating_base = floating_base
        self.P = np.zeros((self.model.nv, self.layout.nv))
        self._sources = []  # (pin joint, joint type, slice of our q, ratio, offset)
        places = {joint.name: joint for joint in self.layout.joints}
        for name, type_ in self.layout.types.items():
            leader, ratio, offset = self.layout.mimics.get(name, (name, 1.0, 0.0))
            pin_joint = self.model.joints[self.model.getJointId(self._pin_name(name))]
            place = places[leader]
            block = np.eye(place.v.stop - place.v.start)
            if type_ == 'floating':
                block = block[SWAP]
            elif type_ == 'planar':
                block = block[[1, 2, 0]]
            self.P[pin_joint.idx_v : pin_joint.idx_v + pin_joint.nv, place.v] = ratio * block
            self._sources.append((pin_joint, type_, place.q, ratio, offset))
        self.has_mimic = bool(self.layout.mimics)
        self._known_positions = {}

    @staticmethod
    def _pin_name(name):
        return 'root_joint' if name == 'floating_base' else name

    def q(self, q):
        """Return Pinocchio's configuration for ours."""
        key = q.tobytes()
        if key not in self._known_positions:
            self._known_positions[key] = self._position(q)
        return self._known_positions[key]

    def _position(self, q):
        out = np.empty(self.model.nq)
        for joint, type_, place, ratio, offset in self._sources:
            ours, i = q[place], joint.idx_q
            if type_ == 'floating':
                w, x, y, z, *position = ours
                out[i : i + 7] = [*position, x, y, z, w]
            elif type_ == 'planar':
                theta, x, y = ours
                c, s = np.cos(theta), np.sin(theta)
                out[i : i + 4] = [x, y, c, s]  # both have the position in predecessor coordinates
            else:
                angle = ratio * ours[0] + offset
                out[i : i + joint.nq] = (
                    [np.cos(angle), np.sin(angle)] if joint.nq == 2 else [angle]
                )
        return out

    def v(self, v):
        """Return Pinocchio's velocity or acceleration for ours."""
        return self.P @ v

    def external_forces(self, q, forces):
        """Return Pinocchio's force on each joint for link forces in base coordinates."""
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        out = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for link, force in forces.items():
            joint = self.model.frames[self.frame(link)].parentJoint
            out[joint] += self.data.oMi[joint].actInv(pin.Force(force[3:], force[:3]))
        return out

    def frame(self, link):
        """Return the index of a link's frame."""
        return self.model.getFrameId(link, pin.FrameType.BODY)

    # -- algorithms, one state per call
    # -----------------------------------------------------------------

    def inverse_dynamics(self, q, v, a, forces=None):
        args = (self.model, self.data, self.q(q), self.v(v), self.v(a))
        return self.P.T @ (
            pin.rnea(*args, self.external_forces(q, forces)) if forces else pin.rnea(*args)
        )

    def mass_matrix(self, q):
        H = pin.crba(self.model, self.data, self.q(q))
        H = np.triu(H) + np.triu(H, 1).T
        return self.P.T @ H @ self.P

    def forward_dynamics(self, q, v, tau, forces=None):
        """Return accelerations by ABA; with mimic joints, from projected equations of motion."""
        if self.has_mimic:
            return np.linalg.solve(
                self.mass_matrix(q), tau - self.inverse_dynamics(q, v, np.zeros_like(v), forces)
            )
        args = (self.model, self.data, self.q(q), self.v(v), self.P @ tau)
        return self.P.T @ (
            pin.aba(*args, self.external_forces(q, forces)) if forces else pin.aba(*args)
        )

    def gravity_torque(self, q):
        return self.P.T @ pin.computeGeneralizedGravity(self.model, self.data, self.q(q))

    def bias_force(self, q, v):
        return self.P.T @ pin.nonLinearEffects(self.model, self.data, self.q(q), self.v(v))

    def coriolis_matrix(self, q, v):
        return (
            self.P.T
            @ pin.computeCoriolisMatrix(self.model, self.data, self.q(q), self.v(v))
            @ self.P
        )

    def forward_kinematics(self, q):
        """Return the pose of every link, (4, 4)."""
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        return {link: self.data.oMf[self.frame(link)].homogeneous for link in self.layout.links}

    def jacobian(self, q, link, reference):
        J = pin.computeFrameJacobian(
            self.model, self.data, self.q(q), self.frame(link), REFERENCES[reference]
        )
        return J[SWAP] @ self.P

    def jacobian_derivative(self, q, v, link, reference):
        if self.model.nv == 0:
            return np.zeros((6, 0))  # Pinocchio 4.1 crashes on a robot without joints here
        pin.computeJointJacobiansTimeVariation(self.model, self.data, self.q(q), self.v(v))
        pin.updateFramePlacements(self.model, self.data)
        dJ = pin.getFrameJacobianTimeVariation(
            self.model, self.data, self.frame(link), REFERENCES[reference]
        )
        return dJ[SWAP] @ self.P

    # Pinocchio omits links that are fixed to the world from mass, center of mass and energy; so do
    # we ("of all that moves").

    def center_of_mass(self, q):
        return pin.centerOfMass(self.model, self.data, self.q(q)).copy()

    def center_of_mass_jacobian(self, q):
        return pin.jacobianCenterOfMass(self.model, self.data, self.q(q)) @ self.P

    def energy(self, q, v):
        """Return the kinetic and potential energy."""
        kinetic = pin.computeKineticEnergy(self.model, self.data, self.q(q), self.v(v))
        return np.array([kinetic, pin.computePotentialEnergy(self.model, self.data, self.q(q))])

    def momentum(self, q, v):
        """Return the spatial momentum about the base origin, angular first."""
        pin.ccrba(self.model, self.data, self.q(q), self.v(v))
        linear, angular = self.data.hg.linear.copy(), self.data.hg.angular.copy()
        return np.concatenate([angular + np.cross(self.center_of_mass(q), linear), linear])

    def point_jacobian(self, q, link, point):
        """Return the velocity along base axes of a point fixed to a link."""
        J = self.jacobian(q, link, 'base')
        position = self.forward_kinematics(q)[link] @ [*point, 1.0]
        return J[3:] - _skew(position[:3]) @ J[:3]

    def point_jacobian_derivative(self, q, v, link, point):
        """Return the time derivative of `point_jacobian`, by the product rule."""
        dJ, J = self.jacobian_derivative(q, v, link, 'base'), self.jacobian(q, link, 'base')
        position = (self.forward_kinematics(q)[link] @ [*point, 1.0])[:3]
        twist = J @ v
        velocity = twist[3:] + np.cross(twist[:3], position)
        return dJ[3:] - _skew(position) @ dJ[:3] - _skew(velocity) @ J[:3]


def _skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


REFERENCES = {
    'body': pin.ReferenceFrame.LOCAL,
    'base': pin.ReferenceFrame.WORLD,
    'aligned': pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}
