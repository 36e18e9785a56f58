# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio's solvers of the unrelaxed law, ADMM and PGS, with coal's contact patches.

Pinocchio is no simulator: this module connects its functions in Python, so its times are those of
a prototype.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
import itertools
import math
from typing import Any, List, Mapping, NamedTuple, Optional, Tuple

from contact_scenes.scene import (
    Body,
    Box,
    Capsule,
    Contact,
    Cylinder,
    ROBOT,
    rotation,
    Scene,
    Sphere,
)
import numpy as np

from contact_engines.engine import Engine, NotPossible

LIBRARY = ('pinocchio', 'pin')
_MARGIN = 1e-3  # maximum gap of detected contacts [m]
_TOLERANCE, _ITERATIONS = 1e-10, 10000
_MAX_BODIES = 40  # free bodies; more would take hours
_NORMAL_LAST = np.array([1, 2, 0])  # Pinocchio's order of normal, tangent, tangent


class _Solid(NamedTuple):
    """A shape that may touch."""

    name: str
    joint: int
    placement: Any
    shape: Any
    radius: float  # of its bounding sphere about the origin


class _Point(NamedTuple):
    """A contact point."""

    first: _Solid
    second: _Solid
    position: np.ndarray
    frame: np.ndarray  # rows: normal from first to second, tangents
    gap: float


class PinocchioWorld:
    """A scene that is stepped with Pinocchio's functions.

    :param solver: ADMM or PGS
    """

    def __init__(self, scene: Scene, timestep: float, solver: str = 'ADMM'):
        self.pin = pin = import_module('pinocchio')
        self.coal = import_module('coal')
        if len(scene.free) > _MAX_BODIES:
            raise NotPossible(f'put together in Python, more than {_MAX_BODIES} bodies take hours')
        self.scene, self.timestep, self.solver = scene, timestep, solver
        self.solids: List[_Solid] = []
        model = pin.Model()
        if scene.machine is not None:
            model = self._machine()
        self.model = model
        self.joints = [self._add(body) for body in scene.bodies if body.mass is not None]
        for body in scene.bodies:
            if body.mass is None:
                self._solid(body, 0, pin.SE3(rotation(np.array(body.quaternion)), _array(body)))
        model.gravity.linear[:] = [0.0, 0.0, -scene.gravity]
        self.data = model.createData()
        self.q, self.v = pin.neutral(model), np.zeros(model.nv)
        self._start()
        self.pairs = [
            (first, second)
            for first, second in itertools.combinations(self.solids, 2)
            if first.joint != second.joint and self._may_touch(first, second)
        ]
        self.wrenches: Mapping[str, np.ndarray] = {}
        self.torque = np.zeros(model.nv)
        self.last: List[Contact] = []

    def _may_touch(self, first: _Solid, second: _Solid) -> bool:
        robots = [each.name.startswith(f'{ROBOT}/') for each in (first, second)]
        return not all(robots) and not (any(robots) and not self.scene.machine.collides)

    def _machine(self) -> Any:
        pin, machine = self.pin, self.scene.machine
        root = [pin.JointModelFreeFlyer()] if machine.floating else []
        model = pin.buildModelFromXML(machine.urdf, *root)
        shapes = pin.buildGeomFromUrdfString(model, machine.urdf, pin.COLLISION)
        away = pin.SE3(np.eye(3), np.array(machine.position))
        for shape in shapes.geometryObjects:
            link = model.frames[shape.parentFrame].name
            fixed = shape.parentJoint == 0 and not machine.floating
            self.solids.append(
                _Solid(
                    f'{ROBOT}/{link}',
                    shape.parentJoint,
                    away * shape.placement if fixed else shape.placement,
                    shape.geometry,
                    _radius(shape.geometry),
                )
            )
        if not machine.floating:
            for joint in range(1, model.njoints):
                if model.parents[joint] == 0:
                    model.jointPlacements[joint] = away * model.jointPlacements[joint]
        return model

    def _add(self, body: Body) -> int:
        pin, model = self.pin, self.model
        # Not a free flyer, whose steps follow screws: rotating bodies would leave straight lines.
        here, name = pin.SE3.Identity(), body.name
        moved = model.addJoint(0, pin.JointModelTranslation(), here, f'{name} moved')
        joint = model.addJoint(moved, pin.JointModelSpherical(), here, name)
        inertia = pin.Inertia(body.mass, np.array(body.center), np.diag(body.moments))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        self._solid(body, joint, pin.SE3.Identity())
        return joint

    def _solid(self, body: Body, joint: int, placement: Any) -> None:
        coal, shape = self.coal, body.shape
        if isinstance(shape, Sphere):
            made = coal.Sphere(shape.radius)
        elif isinstance(shape, Box):
            made = coal.Box(*shape.size)
        elif isinstance(shape, Capsule):
            made = coal.Capsule(shape.radius, shape.length)
        elif isinstance(shape, Cylinder):
            made = coal.Cylinder(shape.radius, shape.length)
        else:
            made = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        self.solids.append(_Solid(body.name, joint, placement, made, _radius(made)))

    def _at(self, joint: int) -> Tuple[int, int]:
        """Return the start of a free body in configuration and velocity, by its second joint."""
        joints = self.model.joints
        return joints[joint].idx_q - 3, joints[joint].idx_v - 3

    def _start(self) -> None:
        model, machine = self.model, self.scene.machine
        for joint, body in zip(self.joints, self.scene.free):
            q, v = self._at(joint)
            w, x, y, z = body.quaternion
            self.q[q : q + 7] = [*body.position, x, y, z, w]
            turned = rotation(np.array(body.quaternion)).T @ body.angular
            self.v[v : v + 6] = [*body.linear, *turned]
        if machine is not None:
            joints = [model.joints[model.getJointId(name)] for name in machine.names]
            self.joint_q = np.array([joint.idx_q for joint in joints], dtype=int)
            self.joint_v = np.array([joint.idx_v for joint in joints], dtype=int)
            for joint, angle in zip(joints, machine.start):
                # A joint without limits is a point on the circle.
                at = slice(joint.idx_q, joint.idx_q + joint.nq)
                self.q[at] = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
            self.round = np.array([joint.nq == 2 for joint in joints])
            if machine.floating:
                w, x, y, z = machine.quaternion
                turn = rotation(np.array(machine.quaternion))
                self.q[:7] = [*machine.position, x, y, z, w]
                self.v[:6] = [*(turn.T @ machine.linear), *(turn.T @ machine.angular)]

    def push(self, wrenches: Mapping[str, np.ndarray]) -> None:
        """Set moments and forces on bodies."""
        self.wrenches = wrenches

    def drive(self, torque: np.ndarray) -> None:
        """Set torques of the machine's joints."""
        self.torque[self.joint_v] = torque

    def step(self, count: int) -> None:
        """Advance by steps."""
        for _ in range(count):
            self._step()

    def _step(self) -> None:
        pin, model, data, h = self.pin, self.model, self.data, self.timestep
        external = self._external()
        a = pin.aba(model, data, self.q, self.v, self.torque, external)
        free = self.v + h * a
        pin.updateGlobalPlacements(model, data)
        points = self._points()
        v = free
        self.last = []
        if points:
            pin.computeJointJacobians(model, data, self.q)
            W = pin.computeMinverse(model, data, self.q)
            W = np.triu(W) + np.triu(W, 1).T
            J = np.vstack([point.frame @ self._relative(point) for point in points])
            response = W @ J.T
            G, g = J @ response, J @ free
            before = J[::3] @ self.v
            gaps = np.array([point.gap for point in points])
            # Open gaps may close; penetration depths stay.
            g[::3] += np.where(gaps > 0.0, gaps / h, 0.0)
            e = self.scene.restitution
            g[::3] += np.where((gaps <= 0.0) & (before < 0.0), e * before, 0.0)
            friction = [self.scene.friction_of(p.first.name, p.second.name) for p in points]
            impulse = self._solve(G, g, friction)
            v = free + response @ impulse
            after = (J @ v).reshape(-1, 3)
            self.last = [
                Contact(
                    point.first.name,
                    point.second.name,
                    point.position,
                    point.frame[0],
                    point.frame.T @ part / h,
                    point.frame.T @ velocity,
                    point.gap,
                )
                for point, part, velocity in zip(points, impulse.reshape(-1, 3), after)
            ]
        self.v = v
        self.q = pin.integrate(model, self.q, h * v)

    def _external(self) -> Any:
        pin, model = self.pin, self.model
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero() for _ in range(model.njoints)])
        names = [body.name for body in self.scene.free]
        for name, wrench in self.wrenches.items():
            joint = 1 if name == ROBOT else self.joints[names.index(name)]
            q = 0 if name == ROBOT else self._at(joint)[0]
            x, y, z, w = self.q[q + 3 : q + 7]
            R = rotation(np.array([w, x, y, z]))
            forces[joint] = pin.Force(R.T @ wrench[3:], R.T @ wrench[:3])
        return forces

    def _points(self) -> List[_Point]:
        coal = self.coal
        places = {id(solid): self.data.oMi[solid.joint] * solid.placement for solid in self.solids}
        found: List[_Point] = []
        for first, second in self.pairs:
            here, there = places[id(first)], places[id(second)]
            reach = first.radius + second.radius + _MARGIN
            if np.sum((here.translation - there.translation) ** 2) > reach**2:
                continue
            request = coal.CollisionRequest()
            # A bounce begins at contact; without one, gaps close within the step.
            request.security_margin = 0.0 if self.scene.elastic else _MARGIN
            result = coal.CollisionResult()
            A, B = _transform(coal, here), _transform(coal, there)
            if not coal.collide(first.shape, A, second.shape, B, request, result):
                continue
            contact = result.getContact(0)
            request = coal.ContactPatchRequest()
            patches = coal.ContactPatchResult(request)
            coal.computeContactPatch(first.shape, A, second.shape, B, result, request, patches)
            frame = _frame(contact.normal)
            if patches.numContactPatches() == 0:
                where = [np.array(contact.pos)]
            else:
                patch = patches.getContactPatch(0)
                where = [np.array(patch.getPoint(i)) for i in range(patch.size())]
            found += [_Point(first, second, p, frame, contact.penetration_depth) for p in where]
        return found

    def _relative(self, point: _Point) -> np.ndarray:
        """Return the Jacobian of the velocity of the second relative to the first, world axes."""
        pin, model, data = self.pin, self.model, self.data
        total = np.zeros((3, model.nv))
        for solid, sign in ((point.first, -1.0), (point.second, 1.0)):
            if solid.joint:
                J = pin.getJointJacobian(model, data, solid.joint, pin.LOCAL_WORLD_ALIGNED)
                arm = point.position - data.oMi[solid.joint].translation
                total += sign * (J[:3] - pin.skew(arm) @ J[3:])
        return total

    def _solve(self, G: np.ndarray, g: np.ndarray, friction: List[float]) -> np.ndarray:
        pin = self.pin
        dummy = pin.Model()
        joint = dummy.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'body')
        data = dummy.createData()
        pin.crba(dummy, data, pin.neutral(dummy))
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        here = pin.SE3.Identity()
        for mu in friction:
            point = pin.PointContactConstraintModel(dummy, 0, here, joint, here)
            point.setFriction(mu)
            point.name = 'contact'
            made = pin.ConstraintModel(point)
            models.append(made)
            datas.append(made.createData())
        for made, each in zip(models, datas):
            made.calc(dummy, data, each)
        order = (np.arange(len(g)).reshape(-1, 3)[:, _NORMAL_LAST]).ravel()
        settings = getattr(pin, f'{self.solver}SolverSettings')()
        result = getattr(pin, f'{self.solver}SolverResult')()
        settings.max_iterations = _ITERATIONS
        if self.solver == 'ADMM':
            settings.mu_prox = 1e-8
        for kind in ('complementarity', 'feasibility'):
            for measure in ('absolute', 'relative'):
                setattr(settings, f'{measure}_{kind}_tol', _TOLERANCE)
        delassus = pin.DelassusOperatorDense(np.asfortranarray(G[np.ix_(order, order)]))
        getattr(pin, f'{self.solver}ConstraintSolver')(len(g)).solve(
            delassus, g[order].copy(), models, datas, settings, result
        )
        impulse = np.zeros(len(g))
        impulse[order] = result.retrieveConstraintImpulses()
        return impulse

    def bodies(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the positions, quaternions and velocities of free bodies."""
        places, turns, speeds = [], [], []
        for joint in self.joints:
            q, v = self._at(joint)
            turn = self.q[q + 3 : q + 7][[3, 0, 1, 2]]
            R = rotation(turn)
            places.append(self.q[q : q + 3])
            turns.append(turn)
            speeds.append([*(R @ self.v[v + 3 : v + 6]), *self.v[v : v + 3]])
        return np.array(places), np.array(turns), np.array(speeds)

    def machine(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the base, its velocity, joint positions and velocities."""
        base, speed = np.array([0, 0, 0, 1, 0, 0, 0.0]), np.zeros(6)
        if self.scene.machine.floating:
            base = self.q[[0, 1, 2, 6, 3, 4, 5]]
            R = rotation(base[3:])
            speed = np.concatenate([R @ self.v[3:6], R @ self.v[:3]])
        q = self.q[self.joint_q]
        if np.any(self.round):
            angle = np.arctan2(self.q[self.joint_q + self.round], q)
            q = np.where(self.round, angle, q)
        return base, speed, q, self.v[self.joint_v]

    def watch(self) -> None:
        """Do nothing: contacts are reported with all data."""

    def contacts(self) -> Optional[List[Contact]]:
        """Return the contacts of the step before."""
        return self.last


def _array(body: Body) -> np.ndarray:
    return np.array(body.position)


def _radius(shape: Any) -> float:
    if type(shape).__name__ == 'Halfspace':
        return math.inf
    shape.computeLocalAABB()
    return float(np.linalg.norm(shape.aabb_center) + shape.aabb_radius)


def _transform(coal: Any, placement: Any) -> Any:
    made = coal.Transform3s()
    made.setTranslation(placement.translation)
    made.setRotation(placement.rotation)
    return made


def _frame(normal: np.ndarray) -> np.ndarray:
    """Return orthonormal rows, of which the first is a given unit vector."""
    n = np.array(normal)
    across = np.eye(3)[np.argmin(np.abs(n))]
    t = np.cross(n, across)
    t /= np.linalg.norm(t)
    return np.array([n, t, np.cross(n, t)])


ENGINES = [
    Engine(
        name,
        LIBRARY,
        partial(PinocchioWorld, solver=solver),
        f'{solver} to {_TOLERANCE:g} on a dense Delassus matrix, contacts of coal; steps are put '
        'together in Python',
    )
    for name, solver in (('Pinocchio', 'ADMM'), ('Pinocchio, PGS', 'PGS'))
]
