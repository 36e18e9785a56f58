"""From contacts to one frictional problem for each island of bodies that touch each other.

An impulse lambda at a contact changes velocities by H^-1 J^T lambda. With H = L^T D L of the robot
(book 6.5) and the inertias of the objects, the Delassus matrix of contacts is G = Y Y^T, Y being
the contacts' Jacobian times L^-1 D^-1/2: symmetric and positive-semidefinite to the bit. With
kinematic loops, Y is the Jacobian in velocities that keep them closed and are orthonormal under H.
"""

from __future__ import annotations

from rbd_ros.collision.scene_contacts import ACROSS, ALONG, SceneContacts
from rbd_ros.compiler.loops import compiled
from rbd_ros.constraints.friction_space import CONTACTS as CONES, ROWS
from rbd_ros.contact.arrays import FloatArray
from rbd_ros.contact.detection import point_rate
from rbd_ros.simulation.linear import add_scaled, clear, copy, dot
from rbd_ros.simulation.loop_directions import RANK
from rbd_ros.simulation.plant import Plant, Tree
from rbd_ros.simulation.scene_state import Objects, ScenePlant, SceneWork
from rbd_ros.simulation.workspace import Problem

#: Kinds of rows of joints.
LOWER_LIMIT, UPPER_LIMIT, FRICTION = 0, 1, 2


@compiled
def node_of(plant: ScenePlant, carrier: int) -> int:
    """Return what a carrier belongs to: -1 for the world, 0 the robot, from 1 on the objects."""
    if carrier == 0:
        return -1
    return 0 if carrier < plant.first_object else carrier - plant.first_object + 1


@compiled
def find_jacobians(
    plant: Plant, columns: FloatArray, contacts: SceneContacts, count: int, work: SceneWork
) -> bool:
    """Find Jacobians of contacts, those of objects with their responses.

    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param count: number of contacts
    :return: whether the robot is at any of them
    """
    scene, robot = plant.scene, False
    for c in range(count):
        J, position, frame = work.jacobian[c], contacts.position[c], contacts.frame[c]
        work.tip[c] = tip_of(plant, contacts, c)
        for r in range(3):
            clear_along(plant.tree, work.tip[c], J[r])
        for side in range(2):
            carrier = contacts.carrier[c, side]
            node = node_of(scene, carrier)
            sign = -1.0 if side == 0 else 1.0
            if node == 0:
                robot = True
                add_jacobian(plant.tree, columns, carrier, sign, position, frame, J)
            elif node > 0:
                find_lever(
                    scene,
                    work,
                    node - 1,
                    sign,
                    position,
                    frame,
                    work.lever[c, side],
                    work.lever_response[c, side],
                )
    return robot


@compiled
def tip_of(plant: Plant, contacts: SceneContacts, c: int) -> int:
    """Return the degree of freedom on whose path are all that move a contact, -1 if none is."""
    first, second = contacts.carrier[c, 0], contacts.carrier[c, 1]
    a = plant.tree.tip[first] if 0 < first < plant.scene.first_object else -2
    b = plant.tree.tip[second] if 0 < second < plant.scene.first_object else -2
    if a == -2 or b == -2:
        return max(a, b)
    tip = -1
    if a >= 0 and b >= 0:
        # Two links of one branch: the path of one leads through the other.
        common = plant.tree.meet[a, b]
        if common == a or common == b:
            tip = max(a, b)
    return tip


@compiled
def clear_along(tree: Tree, tip: int, x: FloatArray) -> None:
    """Set x to zero on the path of a degree of freedom, or everywhere.

    :param tip: the degree of freedom; -1: everywhere
    """
    if tip < 0:
        clear(x)
    else:
        for at in range(tree.path_first[tip], tree.path_first[tip + 1]):
            x[tree.path[at]] = 0.0


@compiled
def add_along(tree: Tree, tip: int, scale: float, x: FloatArray, y: FloatArray) -> None:
    """Add `scale` x to y; see `clear_along`."""
    if tip < 0:
        add_scaled(scale, x, y)
    else:
        for at in range(tree.path_first[tip], tree.path_first[tip + 1]):
            k = tree.path[at]
            y[k] += scale * x[k]


@compiled
def dot_along(tree: Tree, tip: int, x: FloatArray, y: FloatArray) -> float:
    """Scalar product; see `clear_along`."""
    total = 0.0
    if tip < 0:
        for k in range(len(x)):
            total += x[k] * y[k]
    else:
        for at in range(tree.path_first[tip], tree.path_first[tip + 1]):
            k = tree.path[at]
            total += x[k] * y[k]
    return total


@compiled
def add_jacobian(
    tree: Tree,
    columns: FloatArray,
    body: int,
    sign: float,
    point: FloatArray,
    frame: FloatArray,
    J: FloatArray,
) -> None:
    """Add the Jacobian of the velocity of a point of the robot along normal and tangents.

    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param body: number of the body
    :param sign: 1, or -1 to subtract it
    :param point: the point in base coordinates, (3,) [m]
    :param frame: normal and tangents, (3, 3)
    :param J: the sum, (3, nv)
    """
    for at in range(tree.support_first[body], tree.support_first[body + 1]):
        k = tree.support[at]
        for r in range(3):
            rate = point_rate(columns[k], point, frame[r])
            J[r, tree.dof_index[k]] += sign * tree.dof_ratio[k] * rate


@compiled
def find_lever(
    plant: ScenePlant,
    work: SceneWork,
    o: int,
    sign: float,
    point: FloatArray,
    frame: FloatArray,
    lever: FloatArray,
    response: FloatArray,
) -> None:
    """Find the Jacobian of an object at a contact, and what impulses there do to the object.

    :param o: number of the object
    :param sign: 1, or -1 if it is the first of the two
    :param point: the contact point, (3,) [m]
    :param frame: normal and tangents, (3, 3)
    :param lever: velocity per angular and linear velocity; a result, (3, 6)
    :param response: change of these velocities per impulse; a result, (3, 6)
    """
    centre, bodies = plant.bodies.centre[o], plant.bodies
    pose = work.room.pose[plant.first_object + o]
    for r in range(3):
        for s in range(3):
            t, u = (s + 1) % 3, (s + 2) % 3
            # Arm from the centre of mass, which lies at R c from the origin of the object.
            arm_t = (
                point[t]
                - pose[9 + t]
                - (
                    pose[3 * t] * centre[0]
                    + pose[3 * t + 1] * centre[1]
                    + pose[3 * t + 2] * centre[2]
                )
            )
            arm_u = (
                point[u]
                - pose[9 + u]
                - (
                    pose[3 * u] * centre[0]
                    + pose[3 * u + 1] * centre[1]
                    + pose[3 * u + 2] * centre[2]
                )
            )
            lever[r, s] = sign * (arm_t * frame[r, u] - arm_u * frame[r, t])
            lever[r, 3 + s] = sign * frame[r, s]
        for s in range(3):
            response[r, s] = dot3(work.mobility[o, s], lever[r])
            response[r, 3 + s] = lever[r, 3 + s] / bodies.mass[o]


@compiled
def dot3(a: FloatArray, b: FloatArray) -> float:
    """Scalar product of the first three components."""
    product: float = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product


@compiled
def half_response(
    plant: Plant, problem: Problem, root: FloatArray, J: FloatArray, y: FloatArray
) -> None:
    """Find a row of Y; see the beginning of this file.

    :param root: D^-1/2, (nv,)
    :param J: row of a Jacobian, (nv,)
    :param y: the result, (nv,)
    """
    if plant.has_loops:
        loops, n = problem.loops, len(y)
        clear(y)
        for k in range(n - loops.counts[RANK]):
            y[k] = dot(loops.basis[k], J)
    else:
        tree = plant.tree
        copy(J, y)
        for i in range(len(y) - 1, -1, -1):
            # A contact is moved by few of the joints of a robot with legs or arms.
            if y[i] == 0.0:
                continue
            row, own = problem.factor[i], y[i]
            for at in range(tree.row_first[i], tree.row_first[i + 1]):
                y[tree.row_index[at]] -= row[tree.row_index[at]] * own
            y[i] = own * root[i]


@compiled
def half_responses(
    plant: Plant, problem: Problem, root: FloatArray, tip: int, J: FloatArray, Y: FloatArray
) -> None:
    """Find three rows of Y, side by side: they wait for the same numbers.

    :param root: D^-1/2, (nv,)
    :param tip: see `SceneWork`
    :param J: rows of a Jacobian, (3, nv)
    :param Y: the result, (3, nv)
    """
    if tip < 0:
        for r in range(3):
            half_response(plant, problem, root, J[r], Y[r])
        return
    tree = plant.tree
    J_0, J_1, J_2, Y_0, Y_1, Y_2 = J[0], J[1], J[2], Y[0], Y[1], Y[2]
    for at in range(tree.path_first[tip], tree.path_first[tip + 1]):
        k = tree.path[at]
        Y_0[k], Y_1[k], Y_2[k] = J_0[k], J_1[k], J_2[k]
    for at in range(tree.path_first[tip], tree.path_first[tip + 1]):
        i = tree.path[at]
        row, a, b, c = problem.factor[i], Y_0[i], Y_1[i], Y_2[i]
        for entry in range(tree.row_first[i], tree.row_first[i + 1]):
            k = tree.row_index[entry]
            factor = row[k]
            Y_0[k] -= factor * a
            Y_1[k] -= factor * b
            Y_2[k] -= factor * c
        Y_0[i], Y_1[i], Y_2[i] = a * root[i], b * root[i], c * root[i]


@compiled
def full_response(
    plant: Plant, problem: Problem, root: FloatArray, y: FloatArray, v: FloatArray
) -> None:
    """Find the velocity that belongs to a sum of rows of Y.

    :param root: D^-1/2, (nv,)
    :param y: the sum; destroyed, (nv,)
    :param v: the result, (nv,)
    """
    if plant.has_loops:
        loops, n = problem.loops, len(y)
        clear(v)
        for k in range(n - loops.counts[RANK]):
            add_scaled(y[k], loops.basis[k], v)
    else:
        tree = plant.tree
        for i in range(len(y)):
            row, total = problem.factor[i], y[i] * root[i]
            for at in range(tree.row_first[i], tree.row_first[i + 1]):
                total -= row[tree.row_index[at]] * y[tree.row_index[at]]
            y[i] = total
        copy(y, v)


@compiled
def find_islands(plant: ScenePlant, contacts: SceneContacts, count: int, work: SceneWork) -> None:
    """Label robot and objects such that those which touch each other have the same label.

    :param count: number of contacts
    """
    label = work.label
    for k in range(len(label)):
        label[k] = k
    for c in range(count):
        a = node_of(plant, contacts.carrier[c, 0])
        b = node_of(plant, contacts.carrier[c, 1])
        if a >= 0 and b >= 0:
            one, other = root(work, a), root(work, b)
            # The smaller number leads, so that labels do not depend on the order of contacts.
            label[max(one, other)] = min(one, other)
    for k in range(len(label)):
        label[k] = root(work, k)


@compiled
def root(work: SceneWork, node: int) -> int:
    """Return the leading node of an island so far."""
    label, at = work.label, node
    for _ in range(len(label)):
        if label[at] == at:
            break
        label[at] = label[label[at]]
        at = label[at]
    return at


@compiled
def list_contacts(
    plant: ScenePlant, contacts: SceneContacts, count: int, island: int, work: SceneWork
) -> int:
    """List the contacts of an island in `listed`; returns their number.

    :param count: number of all contacts
    :param island: label
    """
    found = 0
    for c in range(count):
        a = node_of(plant, contacts.carrier[c, 0])
        node = a if a >= 0 else node_of(plant, contacts.carrier[c, 1])
        if work.label[node] == island:
            work.listed[found] = c
            found += 1
    return found


@compiled
def assemble_matrix(
    plant: Plant, contacts: SceneContacts, n: int, m: int, work: SceneWork
) -> None:
    """Find the Delassus matrix of the listed contacts, and of the rows of joints after them.

    :param n: number of contacts
    :param m: number of rows of joints
    """
    scene, G = plant.scene, work.matrix
    for a in range(n):
        c = work.listed[a]
        for b in range(a + 1):
            d = work.listed[b]
            for r in range(3):
                for s in range(3):
                    G[3 * a + r, 3 * b + s] = 0.0
            if plant.has_robot:
                if at_robot(scene, contacts, c) and at_robot(scene, contacts, d):
                    add_robot_product(
                        plant.tree,
                        work.tip[c],
                        work.tip[d],
                        work.response[c],
                        work.response[d],
                        G,
                        3 * a,
                        3 * b,
                    )
            for i in range(2):
                # All carriers after those of the robot are objects.
                carrier = contacts.carrier[c, i]
                if carrier < scene.first_object:
                    continue
                for j in range(2):
                    if contacts.carrier[d, j] == carrier:
                        add_product(work.lever[c, i], work.lever_response[d, j], G, 3 * a, 3 * b)
    if plant.has_robot:
        # Rows of joints three by three, as contacts; what is beyond the last one is zero.
        for k in range((m + 2) // 3):
            y, first, tip = work.row_response[k], 3 * n + 3 * k, work.row_tip[k]
            for r in range(3):
                clear_part(G[first + r], first + 3)
            for b in range(n):
                d = work.listed[b]
                if at_robot(scene, contacts, d):
                    add_robot_product(
                        plant.tree, tip, work.tip[d], y, work.response[d], G, first, 3 * b
                    )
            for j in range(k + 1):
                add_robot_product(
                    plant.tree,
                    tip,
                    work.row_tip[j],
                    y,
                    work.row_response[j],
                    G,
                    first,
                    3 * n + 3 * j,
                )
    for i in range(3 * n + m):
        for j in range(i):
            G[j, i] = G[i, j]


@compiled
def add_robot_product(
    tree: Tree,
    tip_y: int,
    tip_z: int,
    Y: FloatArray,
    Z: FloatArray,
    G: FloatArray,
    row: int,
    column: int,
) -> None:
    """Add Y Z^T to a block of G, along what the paths of both have in common.

    :param tip_y: tip of Y, see `SceneWork`
    :param tip_z: tip of Z
    :param Y: rows of responses, (3, nv)
    :param Z: likewise
    :param G: the matrix
    :param row: where the block begins
    :param column: likewise
    """
    common = max(tip_y, tip_z)
    if tip_y >= 0 and tip_z >= 0:
        common = tree.meet[tip_y, tip_z]
        if common < 0:
            return
    if common < 0:
        add_product(Y, Z, G, row, column)
        return
    p, q, r = Y[0], Y[1], Y[2]
    s, t, u = Z[0], Z[1], Z[2]
    ps = pt = pu = qs = qt = qu = rs = rt = ru = 0.0
    for at in range(tree.path_first[common], tree.path_first[common + 1]):
        k = tree.path[at]
        a, b, c = p[k], q[k], r[k]
        x, y, z = s[k], t[k], u[k]
        ps += a * x
        pt += a * y
        pu += a * z
        qs += b * x
        qt += b * y
        qu += b * z
        rs += c * x
        rt += c * y
        ru += c * z
    first, second, third = G[row], G[row + 1], G[row + 2]
    first[column] += ps
    first[column + 1] += pt
    first[column + 2] += pu
    second[column] += qs
    second[column + 1] += qt
    second[column + 2] += qu
    third[column] += rs
    third[column + 1] += rt
    third[column + 2] += ru


@compiled
def add_product(Y: FloatArray, Z: FloatArray, G: FloatArray, row: int, column: int) -> None:
    """Add Y Z^T to a block of G; all nine sums in one pass, which do not wait for each other.

    :param Y: (3, k)
    :param Z: (3, k)
    :param G: the matrix
    :param row: where the block begins
    :param column: likewise
    """
    p, q, r = Y[0], Y[1], Y[2]
    s, t, u = Z[0], Z[1], Z[2]
    ps = pt = pu = qs = qt = qu = rs = rt = ru = 0.0
    for k in range(len(p)):
        a, b, c = p[k], q[k], r[k]
        x, y, z = s[k], t[k], u[k]
        ps += a * x
        pt += a * y
        pu += a * z
        qs += b * x
        qt += b * y
        qu += b * z
        rs += c * x
        rt += c * y
        ru += c * z
    first, second, third = G[row], G[row + 1], G[row + 2]
    first[column] += ps
    first[column + 1] += pt
    first[column + 2] += pu
    second[column] += qs
    second[column + 1] += qt
    second[column + 2] += qu
    third[column] += rs
    third[column + 1] += rt
    third[column + 2] += ru


@compiled
def clear_part(x: FloatArray, n: int) -> None:
    """Set the first elements of x to zero."""
    for i in range(n):
        x[i] = 0.0


@compiled
def at_robot(plant: ScenePlant, contacts: SceneContacts, c: int) -> bool:
    """Return whether the robot is at a contact."""
    first, second = contacts.carrier[c, 0], contacts.carrier[c, 1]
    near: bool = 0 < first < plant.first_object or 0 < second < plant.first_object
    return near


@compiled
def contact_velocity(
    plant: Plant,
    contacts: SceneContacts,
    objects: Objects,
    v: FloatArray,
    c: int,
    r: int,
    work: SceneWork,
) -> float:
    """Velocity of the second body relative to the first at a contact, along one direction [m/s].

    :param v: velocity of the joints, (nv,)
    :param c: number of the contact
    :param r: 0 for the normal, 1 and 2 for tangents
    """
    rate = 0.0
    if at_robot(plant.scene, contacts, c):
        rate = dot_along(plant.tree, work.tip[c], work.jacobian[c, r], v)
    for side in range(2):
        o = contacts.carrier[c, side] - plant.scene.first_object
        if o >= 0:
            lever = work.lever[c, side, r]
            for s in range(3):
                rate += lever[s] * work.turning[o, s] + lever[3 + s] * objects.velocity[o, s]
    return rate


@compiled
def enter_problem(
    plant: ScenePlant, contacts: SceneContacts, n: int, m: int, work: SceneWork
) -> None:
    """Copy `matrix` and `free`, and the contacts' friction, to where the solver scales them.

    :param n: number of contacts
    :param m: number of rows of joints
    """
    space, size = work.space, 3 * n + m
    space.sizes[CONES], space.sizes[ROWS] = n, m
    for i in range(size):
        row, into = work.matrix[i], space.A[i]
        for j in range(size):
            into[j] = row[j]
        space.b[i] = work.free[i]
    for a in range(n):
        p = contacts.pair[work.listed[a]]
        work.friction[a, 0] = plant.table.surface[p, ALONG]
        work.friction[a, 1] = plant.table.surface[p, ACROSS]
