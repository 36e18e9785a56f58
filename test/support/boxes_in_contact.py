# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact problems with friction: free boxes on points, random ones."""

import numpy as np

from rbd_ros.constraints import friction_problem

GRAVITY = 9.81


def cross(p):
    """Return the matrix of p x."""
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def boxes(bodies, contacts, velocity, step=1e-3, force=None):
    """Return G, g and J of free boxes that touch at points with vertical normals.

    :param bodies: mass [kg], lengths of edges (3,) [m] and center (3,) [m] of each
    :param contacts: number of the upper body, of the lower one or None for the ground, and point
    :param velocity: angular, then linear velocity of each body, (6 * bodies,)
    :param force: moment and force on each body besides gravity, (6 * bodies,)
    """
    n = 6 * len(bodies)
    inverse, applied = np.zeros(n), np.zeros(n) if force is None else np.array(force, dtype=float)
    for b, (mass, edges, _) in enumerate(bodies):
        x, y, z = np.square(edges)
        inverse[6 * b : 6 * b + 3] = 12.0 / mass / np.array([y + z, z + x, x + y])
        inverse[6 * b + 3 : 6 * b + 6] = 1.0 / mass
        applied[6 * b + 5] -= mass * GRAVITY
    J = np.zeros((3 * len(contacts), n))
    for c, (upper, lower, point) in enumerate(contacts):
        for body, sign in ((upper, 1.0), (lower, -1.0)):
            if body is not None:
                arm = np.asarray(point) - bodies[body][2]
                # v + w x r, normal first.
                rows = np.hstack([-cross(arm), np.eye(3)])[[2, 0, 1]]
                J[3 * c : 3 * c + 3, 6 * body : 6 * body + 6] = sign * rows
    free = np.asarray(velocity) + step * inverse * applied
    return J * inverse @ J.T, J @ free, J


def face(points, size=0.2, height=0.0):
    """Return points of the lower face of a box, on a grid or around its edge."""
    if points == 4:
        xy = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    elif points == 8:
        xy = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    else:
        side = int(round(points**0.5))
        xy = [(i, j) for i in np.linspace(-1, 1, side) for j in np.linspace(-1, 1, side)]
    return [np.array([0.5 * size * x, 0.5 * size * y, height]) for x, y in xy]


def box_on_plane(points, velocity=(0, 0, 0, 0, 0, 0), mu=0.4, mass=1.0, force=None, edge=0.2):
    """Return the problem of a cube on a plane, and its J."""
    body = (mass, (edge,) * 3, np.array([0.0, 0.0, 0.5 * edge]))
    contacts = [(0, None, p) for p in face(points, edge)]
    G, g, J = boxes([body], contacts, velocity, force=force)
    return friction_problem(G, g, np.full(len(contacts), mu)), J


def stack(below=1e-3, above=1e3, mu=0.5, velocity=(0.0,) * 12, force=None):
    """Return two cubes on top of each other, at eight points, and J."""
    bodies = [
        (below, (0.2,) * 3, np.array([0, 0, 0.1])),
        (above, (0.2,) * 3, np.array([0, 0, 0.3])),
    ]
    contacts = [(0, None, p) for p in face(4)] + [(1, 0, p) for p in face(4, height=0.2)]
    G, g, J = boxes(bodies, contacts, velocity, force=force)
    return friction_problem(G, g, np.full(8, mu)), J


def tower(masses, points=4, mu=0.5, velocity=None):
    """Return cubes on top of each other, and J; velocities rotate and slide them on each other."""
    bodies, contacts = [], []
    for k, mass in enumerate(masses):
        bodies.append((mass, (0.2,) * 3, np.array([0, 0, 0.1 + 0.2 * k])))
        contacts += [(k, k - 1 if k else None, p) for p in face(points, height=0.2 * k)]
    start = np.zeros(6 * len(masses)) if velocity is None else velocity
    G, g, J = boxes(bodies, contacts, start)
    return friction_problem(G, g, np.full(len(contacts), mu)), J


def random_contacts(rng, contacts, dofs, ratio=1.0, elliptic=True):
    """Return the problem of contacts in random directions, inertias up to a ratio.

    v = 0 is possible.
    """
    J = rng.normal(size=(3 * contacts, dofs))
    inertia = ratio ** rng.uniform(-0.5, 0.5, dofs)
    mu = rng.uniform(0.1, 1.0, (contacts, 2))
    if not elliptic:
        mu = mu[:, 0]
    return friction_problem(J / inertia @ J.T, J @ rng.normal(size=dofs), mu)


def legs(feet, mu=0.8, slide=0.0):
    """Return the problem of a floating body on legs of three joints; one foot may slide."""
    rng = np.random.default_rng(feet)
    J = np.zeros((3 * feet, 6 + 3 * feet))
    for c in range(feet):
        rows, leg = slice(3 * c, 3 * c + 3), slice(6 + 3 * c, 9 + 3 * c)
        J[rows, :3], J[rows, 3:6] = np.eye(3), 0.3 * rng.normal(size=(3, 3))
        J[rows, leg] = 0.3 * (np.eye(3) + 0.3 * rng.normal(size=(3, 3)))
    inverse = np.array([1.0 / 12.0] * 3 + [3.0] * 3 + [20.0] * (3 * feet))
    G = J * inverse @ J.T
    force = np.tile([0.03, 0.004, -0.003], feet) * (1.0 + 0.2 * rng.normal(size=3 * feet))
    g = -G @ force
    g[1] += slide
    return friction_problem(G, g, np.full(feet, mu))


def with_moments(rng, contacts, dofs, rows=0):
    """Return random contacts with torsional and rolling friction.

    They may have a loop and dry friction.
    """
    J = rng.normal(size=(6 * contacts + rows, dofs))
    return friction_problem(
        J @ J.T,
        J @ rng.normal(size=dofs),
        rng.uniform(0.1, 1.0, contacts),
        [-np.inf, -0.1][:rows],
        [np.inf, 0.1][:rows],
        torsion=rng.uniform(0.05, 0.5, contacts),
        rolling=rng.uniform(0.05, 0.5, contacts),
    )


def ball_on_plane(velocity, torsion=None, rolling=None, mu=0.5, force=(0,) * 6, step=1e-3):
    """Return the problem of a ball of 2 kg and 0.1 m, and its velocity by the forces.

    :param velocity: angular, then linear, (6,)
    """
    mass, radius = 2.0, 0.1
    inverse = np.array([1.0 / (0.4 * mass * radius**2)] * 3 + [1.0 / mass] * 3)
    axes = np.eye(6)
    rows = [axes[5], axes[3] - radius * axes[1], axes[4] + radius * axes[0]]
    if torsion is not None:
        rows.append(axes[2])
    if rolling is not None:
        rows += [axes[0], axes[1]]
    J = np.array(rows)
    free = velocity + step * inverse * (np.array(force) - [0, 0, 0, 0, 0, mass * GRAVITY])
    moments = {'torsion': torsion, 'rolling': rolling}
    given = {name: [c] for name, c in moments.items() if c is not None}
    problem = friction_problem(J * inverse @ J.T, J @ free, [mu], **given)
    return problem, lambda f: free + inverse * (J.T @ f)


class Pile:
    """Free bodies and their contacts, for solvers on bodies.

    :param bodies: mass [kg], lengths of edges (3,) [m] and center (3,) [m] of each
    :param contacts: number of the upper body, of the lower one or None for the ground, point, and
        normal, of which there is one for each contact or none for those that are vertical
    """

    def __init__(self, bodies, contacts, step=1e-3, velocity=None):
        n = len(contacts)
        self.inverse = np.zeros((len(bodies), 6, 6))
        for b, (mass, edges, _) in enumerate(bodies):
            x, y, z = np.square(edges)
            turning = 12.0 / mass / np.array([y + z, z + x, x + y])
            self.inverse[b] = np.diag([*turning, *[1.0 / mass] * 3])
        self.weight = sum(mass for mass, _, _ in bodies) * GRAVITY * step
        self.velocity = np.zeros((len(bodies), 6)) if velocity is None else np.array(velocity)
        self.velocity[:, 5] -= GRAVITY * step
        self.bodies, self.jacobian = np.full((n, 2), -1), np.zeros((n, 2, 3, 6))
        self.normal = np.zeros((n, 3))
        for c, (upper, lower, point, *normal) in enumerate(contacts):
            e = np.array(normal[0] if normal else [0.0, 0.0, 1.0])
            across = np.cross(e, np.roll(e, 1) + [0.1, 0.2, 0.3])
            across /= np.linalg.norm(across)
            axes = np.vstack([e, across, np.cross(e, across)])
            self.normal[c] = e
            for side, (body, sign) in enumerate(((upper, 1.0), (lower, -1.0))):
                if body is not None:
                    self.bodies[c, side] = body
                    arm = np.asarray(point) - bodies[body][2]
                    self.jacobian[c, side] = sign * np.hstack([-axes @ cross(arm), axes])

    @property
    def arguments(self):
        """Arguments of `solve_friction_bodies` before friction."""
        return self.inverse, self.velocity, self.bodies, self.jacobian

    def dense(self, friction, bias=0.0, **options):
        """Return the problem of `solve_friction`, and its J."""
        n = len(self.bodies)
        J = np.zeros((3 * n, self.velocity.size))
        for c, pair in enumerate(self.bodies):
            for side, b in enumerate(pair):
                if b >= 0:
                    J[3 * c : 3 * c + 3, 6 * b : 6 * b + 6] += self.jacobian[c, side]
        H = np.zeros((self.velocity.size,) * 2)
        for b, inverse in enumerate(self.inverse):
            H[6 * b : 6 * b + 6, 6 * b : 6 * b + 6] = inverse
        g = J @ self.velocity.ravel() + np.broadcast_to(bias, (n, 3)).ravel()
        return friction_problem(J @ H @ J.T, g, friction, **options), J


def pile_of_boxes(side=4, height=4, velocity=None):
    """Return columns of cubes on the ground beside each other."""
    bodies, contacts = [], []
    for i in range(side):
        for j in range(side):
            for level in range(height):
                base = np.array([0.25 * i, 0.25 * j, 0.2 * level])
                bodies.append((1.0, (0.2,) * 3, base + [0, 0, 0.1]))
                below = len(bodies) - 2 if level else None
                contacts += [(len(bodies) - 1, below, p + base) for p in face(4)]
    return Pile(bodies, contacts, velocity=velocity)


def pyramid(base=6):
    """Return a pyramid of bricks, each on two others, one less in each layer."""
    bodies, contacts, numbers = [], [], {}
    for level in range(base):
        for i in range(base - level):
            x = 0.4 * i + 0.2 * level
            numbers[level, i] = len(bodies)
            bodies.append((1.0, (0.4, 0.2, 0.2), np.array([x, 0.0, 0.1 + 0.2 * level])))
            for end in (0, 1):
                below = numbers[level - 1, i + end] if level else None
                for along in (0.0, 0.2):
                    for y in (-0.1, 0.1):
                        point = np.array([x - 0.2 * (1 - end) + along, y, 0.2 * level])
                        contacts.append((len(bodies) - 1, below, point))
    return Pile(bodies, contacts)


def pile_of_balls(side=6, radius=0.1, mass=10.0):
    """Return layers of balls between walls, each ball in the hollow of four others."""
    pitch = 2.0 * radius
    edge = radius * np.sqrt(2.4)  # of the cube with the same inertia
    centers = [
        np.array([pitch * i + radius * (k % 2), pitch * j + radius * (k % 2), radius])
        + [0, 0, k * pitch / np.sqrt(2.0)]
        for k in range(side)
        for i in range(side)
        for j in range(side)
    ]
    contacts = []
    for a, p in enumerate(centers):
        if p[2] < 1.01 * radius:
            contacts.append((a, None, p - [0, 0, radius], [0.0, 0.0, 1.0]))
        for axis in (0, 1):
            for sign, wall in ((1.0, 0.0), (-1.0, pitch * (side - 1) + radius)):
                if abs(p[axis] - wall) < 1e-9:
                    e = sign * np.eye(3)[axis]
                    contacts.append((a, None, p - radius * e, e))
        for b in range(a):
            apart = p - centers[b]
            if np.linalg.norm(apart) < 1.001 * pitch:
                e = apart / np.linalg.norm(apart)
                contacts.append((a, b, 0.5 * (p + centers[b]), e))
    return Pile([(mass, (edge,) * 3, p) for p in centers], contacts)
