# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dynamically equivalent models with fewer parameters (book 9.7): same torques, less arithmetic.

Two changes of a model do not affect its equations of motion. First, a joint's axis may be
described by any of its points, so the frame of a body can be moved along the axis, to the point
with the shortest translation from the parent's frame. Second, the part of a body's inertia that
its joint does not excite (for a revolute joint: the mass, the first moment along the axis, and an
equal inertia about both other axes) can be moved to its parent. Parameters that become zero cost
nothing in specialized code.

The resulting model is for joint forces and accelerations only. Its inertias may be unphysical, and
its energy and momentum differ from the robot's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Dict

from rbd_ros.model.model import Frame, Model
from rbd_ros.spatial import linear3, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.linear3 import Vector3, ZERO3

# Translations below this fraction of their operands are rounding, and become exact zeros, which
# save operations.
_ROUNDING = 1e-15


def equivalent_model(model: Model) -> Model:
    """Return a model with the same H(q), C(q, v) and gravity torques and the fewest parameters.

    :param model: model whose inertias are floats, not symbols

    >>> from rbd_ros.model import equivalent_model
    >>> shorter = Robot(equivalent_model(model))
    >>> np.allclose(shorter.mass_matrix(q), robot.mass_matrix(q))
    True
    """
    return with_inertias_moved_inward(_with_frames_moved_along_axes(model))


def _with_frames_moved_along_axes(model: Model) -> Model:
    """Move each body's frame so that X_T has the shortest translation that its joint allows."""
    moved: Dict[int, Vector3] = {0: ZERO3}
    bodies = []
    for i, body in model.outward():
        E, r = body.tree_transform.E, linear3.subtract(body.tree_transform.r, moved[body.parent])
        moved[i] = body.joint.frame_shift(linear3.apply(E, r))
        r = linear3.add(r, linear3.apply_transpose(E, moved[i]))
        reach = _ROUNDING * max(map(abs, (*body.tree_transform.r, *moved[i], *moved[body.parent])))
        r = linear3.vector3(0.0 if abs(x) <= reach else x for x in r)
        inertia = body.inertia.moved(moved[i])
        bodies.append(replace(body, tree_transform=PluckerTransform(E, r), inertia=inertia))

    def placement(X: PluckerTransform, i: int) -> PluckerTransform:
        return X * PluckerTransform.translation(linear3.negate(moved[i]))

    links = {
        name: replace(link, placement=placement(link.placement, link.body))
        for name, link in model.links.items()
    }
    frames = {
        name: Frame(frame.body, placement(frame.placement, frame.body))
        for name, frame in model.joint_frames.items()
    }
    return replace(model, bodies=tuple(bodies), links=links, joint_frames=frames)


def with_inertias_moved_inward(model: Model) -> Model:
    """Return the model with inertia that joints do not excite moved inward, leaves first (9.7).

    Each body keeps the fewest nonzero parameters that its joint permits, and its parent gets the
    rest. The book's algorithm omits the transformation to the parent's coordinates.

    :param model: model whose inertias are floats, not symbols

    >>> from rbd_ros.model import with_inertias_moved_inward
    >>> moved = with_inertias_moved_inward(model)
    >>> moved.bodies[-1].inertia.mass  # a hinge does not feel all of it
    0.0
    >>> np.allclose(Robot(moved).inverse_dynamics(q, v, a), tau)
    True
    """
    for i, body in model.inward():
        delta = body.joint.not_excited(model.body(i).inertia)
        if delta is not None:
            model = with_inertia_moved(model, i, delta)
    return model


def with_inertia_moved(model: Model, i: int, delta: RigidBodyInertia) -> Model:
    """Return the model with an inertia moved from a body to its parent (book 9.7).

    The equation of motion is unchanged if the joint between the two does not excite it, as with
    the result of `JointType.not_excited` (book eq 9.30, table 9.7). The base does not move, so
    inertia moved there has no effect.

    :param i: number of the body that loses it
    :param delta: the inertia I_delta, in coordinates of that body

    >>> from rbd_ros.model import with_inertia_moved
    >>> hand = model.body(6)
    >>> moved = with_inertia_moved(model, 6, hand.joint.not_excited(hand.inertia))
    >>> np.allclose(Robot(moved).inverse_dynamics(q, v, a), tau)
    True
    """
    bodies, body = list(model.bodies), model.body(i)
    bodies[i - 1] = replace(body, inertia=body.inertia + delta * -1.0)
    if body.parent != 0:
        parent = model.body(body.parent)
        moved = body.tree_transform.inverse_apply(delta)
        bodies[body.parent - 1] = replace(parent, inertia=parent.inertia + moved)
    return replace(model, bodies=tuple(bodies))
