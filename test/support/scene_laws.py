# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Laws of a step in a world: equations of motion and of contact, formulated independently.

Velocities x are those of the robot's joints, then angular velocity and velocity of the center of
mass of each movable object in world coordinates. The simulation provides positions and depths of
contacts, and impulses; Jacobians and inertias come from the robot's functions and from the
descriptions of objects.
"""

from contextlib import contextmanager
from typing import NamedTuple, Optional

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

from rbd_ros.collision.scene.scene_arrays import (
    ACROSS,
    ALONG,
    DAMPING,
    RESTITUTION,
    ROLLING,
    STIFFNESS,
    TORSIONAL,
)
from rbd_ros.simulation.records.simulation_model import RETURN_SPEED
from rbd_ros.simulation.scene import impacts, restitution, scene_step as step
from rbd_ros.simulation.scene.friction_moments import list_friction_moments

LOWER, UPPER, FRICTION = 0, 1, 2


class Moment(NamedTuple):
    """A simulation at one instant."""

    q: np.ndarray
    v: np.ndarray
    turned: np.ndarray
    position: np.ndarray
    angular_momentum: np.ndarray
    velocity: np.ndarray


def moment(simulator):
    """Return the positions and velocities of everything."""
    objects = simulator.physics.objects
    turned = Rotation.from_quat(np.roll(objects.quaternion, -1, axis=1)).as_matrix()
    copies = [
        each.copy() for each in (objects.position, objects.angular_momentum, objects.velocity)
    ]
    return Moment(simulator.q.copy(), simulator.v.copy(), turned, *copies)


class Impact(NamedTuple):
    """Impulses of contacts that rebound, of one round.

    :param contacts: their numbers, (n,)
    :param impulse: along normal and tangents, (n, 3)
    :param moment: likewise, (n, 3)
    :param of_compression: those of the first phase, by Poisson's law
    """

    contacts: np.ndarray
    impulse: np.ndarray
    moment: np.ndarray
    of_compression: Optional['Impact'] = None


@contextmanager
def _noted():
    """Record the impacts of a step in the interpreter, and the velocity after it.

    That velocity is before loops are closed in the next configuration, which changes it.
    """
    found, ends, compressed = [], [], []

    def impact_of(model, contacts, n, scene, of_compression=None):
        moment = np.zeros((n, 3))
        if len(scene.friction_moments.listed):
            for k in range(list_friction_moments(model, contacts, n, scene)):
                moment[scene.friction_moments.listed[k]] = scene.friction_moments.impact[k]
        listed, impulse = scene.listed[:n].copy(), scene.impact_impulse[:n].copy()
        return Impact(listed, impulse, moment, of_compression)

    def expand(model, contacts, n, moments, scene):
        compressed.append(impact_of(model, contacts, n, scene))
        return restitution.expand(model, contacts, n, moments, scene)

    def solve_rebound(model, state, objects, contacts, scene, n):
        solved = ways[0](model, state, objects, contacts, scene, n)
        before = compressed.pop() if compressed else None
        found.append(impact_of(model.scene, contacts, n, scene, before))
        return solved

    def solve_matrix_free_impacts(model, objects, contacts, scene, n):
        solved = ways[1](model, objects, contacts, scene, n)
        found.append(impact_of(model, contacts, n, scene))
        return solved

    def end_robot(model, state, contact_state, work, rows, h):
        ways[2](model, state, contact_state, work, rows, h)
        ends.append(work.motion.next_v.copy())

    def go_back(state, objects, work):
        ways[3](state, objects, work)
        found.clear()
        ends.clear()

    ways = impacts.solve_rebound, impacts.solve_matrix_free_impacts, step.end_robot, step.go_back
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step, 'end_robot', end_robot)
        patch.setattr(step, 'go_back', go_back)
        for each in (expand, solve_rebound, solve_matrix_free_impacts):
            patch.setattr(impacts, each.__name__, each)
        yield found, ends


class Step:
    """A step, and the equations that it must obey.

    :param simulator: the simulation, which takes the step
    :param tau: torque
    """

    def __init__(self, simulator, tau=None):
        self.simulator, self.h = simulator, simulator.timestep
        self.robot = simulator.robot if len(simulator.v) else None
        self.nv = len(simulator.v)
        self.tau = np.zeros(self.nv) if tau is None else np.asarray(tau, dtype=float)
        self.before = moment(simulator)
        self.bodies = simulator.physics.model.scene.bodies
        with _noted() as (self.impacts, ends):
            simulator.step(self.tau) if self.nv else simulator.step()
        self.after = moment(simulator)
        self.contact_state = simulator.physics.contact_state
        self.count = int(self.contact_state.counts[0])
        self.H = self._inertia()
        self.start = self._velocities(self.before)
        self.end = self._velocities(self.after)
        if ends:
            self.end[: self.nv] = ends[0]

    def _inertia(self):
        n = self.nv + 6 * len(self.bodies.mass)
        H = np.zeros((n, n))
        if self.nv:
            H[: self.nv, : self.nv] = self.robot.mass_matrix(self.before.q)
        for o, (mass, R) in enumerate(zip(self.bodies.mass, self.before.turned)):
            i = self.nv + 6 * o
            H[i : i + 3, i : i + 3] = R @ self.bodies.inertia[o] @ R.T
            H[i + 3 : i + 6, i + 3 : i + 6] = mass * np.eye(3)
        return H

    def _velocities(self, at):
        parts = [at.v]
        for o, momentum in enumerate(at.angular_momentum):
            i = self.nv + 6 * o
            # Impulses change the momentum in the orientation at the beginning.
            parts += [np.linalg.solve(self.H[i : i + 3, i : i + 3], momentum), at.velocity[o]]
        return np.concatenate(parts)

    def names(self, c):
        """Return the names of both bodies of a contact."""
        return self.simulator.physics.scene.names_of(int(self.contact_state.contacts.pair[c]))

    def jacobians(self, c):
        """Return relative velocity at a contact, and relative angular velocity, per velocities."""
        J = np.zeros((6, len(self.H)))
        point = self.contact_state.contacts.position[c]
        for name, sign in zip(self.names(c), (-1.0, 1.0)):
            if name.startswith('robot/'):
                frame = self.robot.frame(name.partition('/')[2], 'aligned')
                of_frame, origin = frame.jacobian(self.before.q), frame.pose(self.before.q)[:3, 3]
                J[:3, : self.nv] += sign * of_frame[:3]
                across = np.cross(of_frame[:3].T, point - origin).T
                J[3:, : self.nv] += sign * (of_frame[3:] + across)
            elif name in self.simulator.objects:
                o = self.simulator.objects.index(name)
                i, arm = self.nv + 6 * o, point - self.before.position[o]
                J[:3, i : i + 3] += sign * np.eye(3)
                J[3:, i : i + 3] += sign * np.cross(np.eye(3), arm).T
                J[3:, i + 3 : i + 6] += sign * np.eye(3)
        frame = self.contact_state.contacts.frame[c]
        return frame @ J[3:], frame @ J[:3]

    def surface(self, c):
        """Return the table's entry for the surfaces of a contact."""
        table = self.simulator.physics.model.scene.table
        return table.surface[self.contact_state.contacts.pair[c]]

    def moment(self, c):
        """Moment of a contact, zero if it has none."""
        return self.contact_state.moment[c] if len(self.contact_state.moment) else np.zeros(3)

    def impulse_of_contacts(self):
        """Return the generalized impulse of all contacts."""
        total = np.zeros(len(self.H))
        for c in range(self.count):
            J, T = self.jacobians(c)
            total += J.T @ self.contact_state.impulse[c] + T.T @ self.moment(c)
        return total

    def impulse_of(self, impact):
        """Return the generalized impulse of an impact."""
        total = np.zeros(len(self.H))
        for c, impulse, moment in zip(impact.contacts, impact.impulse, impact.moment):
            J, T = self.jacobians(c)
            total += J.T @ impulse + T.T @ moment
        return total

    def impulse_of_impacts(self):
        """Return the generalized impulse of all impacts."""
        return sum((self.impulse_of(impact) for impact in self.impacts), np.zeros(len(self.H)))

    def impulse_of_joints(self):
        """Return the generalized impulse of joint limits and joint friction."""
        total = np.zeros(len(self.H))
        impulse = self.contact_state.joint_impulse
        total[: self.nv] = impulse[LOWER] - impulse[UPPER] + impulse[FRICTION]
        return total

    def impulse_from_outside(self):
        """Return the generalized impulse of gravity, torques and inertia."""
        total = np.zeros(len(self.H))
        if self.nv:
            # After impacts, which take no time.
            v = (self.start + np.linalg.solve(self.H, self.impulse_of_impacts()))[: self.nv]
            bias = self.robot.inverse_dynamics(self.before.q, v, np.zeros(self.nv))
            total[: self.nv] = self.h * (self.tau - bias)
        for o, mass in enumerate(self.bodies.mass):
            i = self.nv + 6 * o + 3
            total[i : i + 3] = self.h * mass * self.bodies.gravity
        return total

    # -- assertions

    def unexplained(self):
        """Return the change of momentum that the forces do not explain."""
        pushed = self.impulse_of_impacts() + self.impulse_of_contacts() + self.impulse_of_joints()
        left = self.H @ (self.end - self.start) - pushed - self.impulse_from_outside()
        if self.nv and self.robot.model.loops:
            # Forces of loop joints explain the remainder.
            K = self.robot.loops.closure(self.before.q)[1]
            left[: self.nv] -= K.T @ np.linalg.lstsq(K.T, left[: self.nv], rcond=None)[0]
        return left

    def check(self, tolerance=1e-8):
        """Assert that forces explain the motion, and that they are those of the laws."""
        assert self.simulator.status.unconverged_steps == 0
        assert np.abs(self.unexplained()).max() < 1e-10
        if self.nv:
            reported = self.h * self.simulator.constraint_force
            pushed = self.impulse_of_contacts() + self.impulse_of_joints()
            assert np.abs(reported - pushed[: self.nv]).max() < 1e-10
        self.check_impacts(tolerance)
        self.check_contacts(tolerance)
        self.check_joints(tolerance)
        self.check_residuals(tolerance)

    def check_contacts(self, tolerance):
        """Assert the laws of contacts at the end of the step."""
        for c in range(self.count):
            J, T = self.jacobians(c)
            surface, impulse = self.surface(c), self.contact_state.impulse[c]
            u, turning, normal = J @ self.end, T @ self.end, impulse[0]
            assert normal >= 0.0
            self._check_normal(
                u[0], normal, self.contact_state.contacts.gap[c], surface, tolerance
            )
            moment = self.moment(c)
            self._check_cones(surface, u, turning, impulse, moment, normal, tolerance)

    def check_residuals(self, tolerance):
        """Assert that the residuals are reported: only friction dissipates power."""
        most = rounding = 0.0
        for c in range(self.count):
            J, T = self.jacobians(c)
            # Remainders of products of forces and velocities that are complementary.
            impulse, speed = np.abs(self.contact_state.impulse[c]), np.abs(J) @ np.abs(self.end)
            rounding = max(rounding, 1e-14 * impulse.max() * speed.max())
            power = self.contact_state.impulse[c, 1:] @ (J @ self.end)[1:]
            most = max(most, abs(power + self.moment(c) @ (T @ self.end)))
        reported = self.simulator.residuals
        assert abs(reported.conic - most) < tolerance * (1e-3 + most) + rounding
        assert max(reported.signorini, reported.contact) < tolerance

    def _check_normal(self, speed, normal, gap, surface, tolerance):
        h = self.h
        if surface[STIFFNESS] > 0.0:
            # Spring and damper at the end of the step; a contact that closes has no deformation
            # yet.
            deep = -gap - h * speed
            rate = -speed if gap <= 0.0 else deep / h
            force = surface[STIFFNESS] * deep + surface[DAMPING] * rate
            assert abs(normal - h * max(0.0, force)) < tolerance * (1.0 + normal)
            return
        left = speed + max(gap, 0.0) / h
        assert left > -tolerance and abs(left * normal) < tolerance * normal + 1e-15

    def check_impacts(self, tolerance=1e-8):
        """Assert that bouncing contacts take part in impacts, and obey the law of restitution."""
        x = self.start.copy()
        slow = 2.0 * self.h * np.linalg.norm(self.bodies.gravity)
        for impact in [*self.impacts, None]:
            listed = []
            for c in range(self.count):
                e, speed = self.restitution(c), self.jacobians(c)[0][0] @ x
                gap = self.contact_state.contacts.gap[c]
                if e > 0.0 and speed < -slow and gap + self.h * speed <= 0.0:
                    listed.append(c)
            if impact is None:
                assert not listed
                return
            assert listed == impact.contacts.tolist()
            after = x + np.linalg.solve(self.H, self.impulse_of(impact))
            if impact.of_compression is None:
                bias = [self.restitution(c) * (self.jacobians(c)[0][0] @ x) for c in listed]
                self._check_impact(impact, after, bias, tolerance)
            else:
                self._check_expansion(impact, x, after, tolerance)
            x = after

    def restitution(self, c):
        """Return the coefficient of restitution of a contact, zero if it is compliant."""
        surface = self.surface(c)
        return 0.0 if surface[STIFFNESS] > 0.0 else surface[RESTITUTION]

    def _check_impact(self, impact, x, bias, tolerance):
        """Assert the law of impulses that lead to velocities, with friction.

        :param bias: added to the normal velocities; None if the normal impulses are known
        """
        for k, c in enumerate(impact.contacts):
            J, T = self.jacobians(c)
            surface, impulse, moment = self.surface(c), impact.impulse[k], impact.moment[k]
            u, turning, normal = J @ x, T @ x, impulse[0]
            if bias is not None:
                left = u[0] + bias[k]
                assert normal >= 0.0 and left > -tolerance
                assert abs(left * normal) < tolerance * normal + 1e-15
            self._check_cones(surface, u, turning, impulse, moment, normal, tolerance)

    def _check_expansion(self, impact, x, after, tolerance):
        """Assert Poisson's law."""
        before = impact.of_compression
        stopped = x + np.linalg.solve(self.H, self.impulse_of(before))
        self._check_impact(before, stopped, np.zeros(len(impact.contacts)), tolerance)
        e = np.array([self.restitution(c) for c in impact.contacts])
        assert np.abs(impact.impulse[:, 0] - (1.0 + e) * before.impulse[:, 0]).max() < 1e-12
        rest = Impact(
            impact.contacts, impact.impulse - before.impulse, impact.moment - before.moment
        )
        self._check_impact(rest, after, None, tolerance)

    def _check_cones(self, surface, u, turning, impulse, moment, normal, tolerance):
        mu, rolling = surface[[ALONG, ACROSS]], np.repeat(surface[ROLLING], 2)
        _check_friction(mu, u[1:], impulse[1:], normal, tolerance)
        _check_friction(surface[[TORSIONAL]], turning[:1], moment[:1], normal, tolerance)
        _check_friction(rolling, turning[1:], moment[1:], normal, tolerance)

    def check_joints(self, tolerance):
        """Assert that joints stay between their limits, and obey their friction."""
        if not self.nv:
            return
        robot, impulse, v, h = self.robot, self.contact_state.joint_impulse, self.end, self.h
        for i in range(self.nv):
            friction = h * robot.friction[i]
            _check_friction(
                np.array([friction]), v[i : i + 1], impulse[FRICTION, i : i + 1], 1.0, tolerance
            )
            speed = min(robot.velocity_limits[i], 1e9)
            # Joints that are outside already may stay there.
            low = max(min(0.0, (robot.lower_limits[i] - self.before.q[i]) / h), -speed)
            high = min(max(0.0, (robot.upper_limits[i] - self.before.q[i]) / h), speed)
            for kind, left in ((LOWER, v[i] - low), (UPPER, high - v[i])):
                assert left > -tolerance
                assert impulse[kind, i] >= 0.0
                assert abs(left * impulse[kind, i]) < tolerance * impulse[kind, i] + 1e-15

    # -- position correction

    def check_parting(self):
        """Assert that overlaps are corrected by the smallest displacement within bounds."""
        moved = self.displaced()
        self.check_bounds_of(moved)
        shifted = self.simulator.physics.fields.work.scene.buffers.shifted[0]
        least = self.least_displacement(RETURN_SPEED * self.h)
        rigid = [c for c in range(self.count) if not self.surface(c)[STIFFNESS] > 0.0]
        J = np.array([self.jacobians(c)[0][0] for c in rigid]).reshape(len(rigid), len(moved))
        # Compliant contacts connect bodies of an island, too.
        ways = [self.jacobians(c)[0][0] for c in range(self.count)]
        for island in self._islands(ways):
            rows = np.abs(J[:, island]).max(axis=1, initial=0.0) > 0.0
            gap, part = self.contact_state.contacts.gap[rigid][rows], J[rows][:, island]
            assert np.abs(part @ moved[island]).max(initial=0.0) <= 2.0 * shifted * (1.0 + 1e-9)
            if not rows.any():
                continue
            wrong = moved[island] - least[island] / max(1.0, self._excess(least, island))
            if np.abs(wrong).max() < 2e-3 * np.abs(least[island]).max() + 1e-12:
                continue
            # Overlaps decrease in any case; they remain only because of bounds of joints.
            assert not self._joints_may(least, island)
            after = np.minimum(gap + part @ moved[island], 0.0)
            assert (after**2).sum() < 0.999 * (np.minimum(gap, 0.0) ** 2).sum()

    def check_bounds_of(self, moved):
        """Assert that nothing is moved faster than allowed, nor beyond a limit of a joint."""
        assert self._excess(moved, np.arange(len(moved))) <= 1.0 + 1e-9
        low, high = self._bounds_of_joints()
        assert (moved[: self.nv] >= low - 1e-12).all() and (moved[: self.nv] <= high + 1e-12).all()

    def _bounds_of_joints(self):
        """Return the bounds of displacements of joints, inside their limits: (nv,) and (nv,)."""
        if not self.nv:
            return np.zeros(0), np.zeros(0)
        fastest = np.ones(self.nv)
        model = self.robot.model
        for i, ratio in zip(model.tree_dof_index, model.tree_dof_ratio):
            fastest[i] = max(fastest[i], abs(ratio))
        most = RETURN_SPEED * self.h / fastest
        q = self.after.q - self.displaced()[: self.nv]
        low = np.maximum(-most, np.minimum(0.0, self.robot.lower_limits - q))
        return low, np.minimum(most, np.maximum(0.0, self.robot.upper_limits - q))

    def _joints_may(self, x, island):
        """Return whether a displacement is within the bounds of joints."""
        low, high = self._bounds_of_joints()
        own = island[island < self.nv]
        return bool((x[own] >= low[own]).all() and (x[own] <= high[own]).all())

    def _excess(self, x, island):
        """Return how far a point of an object may be moved at most, by how far it may be."""
        most, worst = RETURN_SPEED * self.h, 0.0
        for o in range(len(self.bodies.mass)):
            i = self.nv + 6 * o
            if i in island:
                scene = self.simulator.physics.model.scene
                arm = scene.table.body_arm[scene.first_object + o]
                arm += np.linalg.norm(self.bodies.center[o])
                far = np.linalg.norm(x[i + 3 : i + 6]) + np.linalg.norm(x[i : i + 3]) * arm
                worst = max(worst, far / most)
        return worst

    def _islands(self, ways):
        """Return the indices of velocities of each island; the robot is one body."""
        bodies = [np.arange(self.nv)] if self.nv else []
        bodies += [self.nv + 6 * o + np.arange(6) for o in range(len(self.bodies.mass))]
        label = list(range(len(bodies)))
        for row in ways:
            own = [b for b, places in enumerate(bodies) if np.abs(row[places]).max() > 0.0]
            for b in own[1:]:
                one, other = label[own[0]], label[b]
                label = [min(one, other) if x in (one, other) else x for x in label]
        found = [[p for b, p in enumerate(bodies) if label[b] == x] for x in sorted(set(label))]
        return [np.concatenate(each) for each in found]

    def displaced(self):
        """Return the displacements in excess of those by velocities, for all of them."""
        h, parts = self.h, []
        if self.nv:
            parts.append(self.after.q - self.before.q - h * self.end[: self.nv])
        for o in range(len(self.bodies.mass)):
            turned = self.after.turned[o] @ self.before.turned[o].T
            i = self.nv + 6 * o
            angle = Rotation.from_matrix(turned).as_rotvec() - h * self.end[i : i + 3]
            mean = self.after.velocity[o].copy()
            if not self.is_pressed(self.simulator.objects[o]):
                # On an exact parabola.
                mean -= 0.5 * h * self.bodies.gravity
            parts += [angle, self.after.position[o] - self.before.position[o] - h * mean]
        return np.concatenate(parts)

    def is_pressed(self, name):
        """Return whether any contact force acts on an object."""
        impulse = self.contact_state.impulse
        return any(name in self.names(c) and impulse[c, 0] > 0.0 for c in range(self.count))

    def least_displacement(self, most):
        """Return the minimum displacement that separates rigid overlaps by at most `most` each."""
        rigid = [c for c in range(self.count) if not self.surface(c)[STIFFNESS] > 0.0]
        if not rigid:
            return np.zeros(len(self.H))
        J = np.array([self.jacobians(c)[0][0] for c in rigid])
        gaps = np.maximum(self.contact_state.contacts.gap[rigid], -most)
        return least_parting(self.H, J, gaps)


def least_parting(H, J, gaps):
    """Return the x of minimum x^T H x with J x + gaps >= 0 (Lawson and Hanson 1974, ch. 23)."""
    L = np.linalg.cholesky(H)
    scale = max(np.abs(gaps).max(), 1e-30)
    E = np.vstack([np.linalg.solve(L, J.T), -gaps / scale])
    f = np.eye(len(E))[-1]
    left = E @ nnls(E, f)[0] - f
    return -scale * np.linalg.solve(L.T, left[:-1]) / left[-1]


def _check_friction(coefficient, velocity, force, normal, tolerance):
    """Assert that friction is within its bound, and dissipates maximum power."""
    for k in range(len(coefficient)):
        if coefficient[k] == 0.0:
            assert force[k] == 0.0
    used = coefficient > 0.0
    if not used.any():
        return
    size = np.linalg.norm(force[used] / coefficient[used])
    assert size <= normal * (1.0 + 1e-7) + 1e-15
    most = normal * np.linalg.norm(coefficient[used] * velocity[used])
    scale = max(normal, 1e-9)
    assert abs(force[used] @ velocity[used] + most) < tolerance * scale
