"""Checks of a whole model: which joints make its mass matrix singular whatever the configuration.

A joint that moves nothing with inertia (a massless last link, a point mass on the axis) leaves
its acceleration undetermined, and forward dynamics has no answer. Armature counts as inertia.
"""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.model.model import Model

# Configurations tried. The mass matrix is analytic in q: zero at random ones is zero at all.
_SAMPLES = 2
# An inertia below this share of what it was summed from is rounding.
_ROUNDING = 1e-12


def massless_joints(model: Model) -> Tuple[str, ...]:
    """Joints that, moved alone, store no kinetic energy at any configuration.

    Their places on the diagonal of the mass matrix are zero. Joints that mimic one of them move
    with it. A joint of several degrees of freedom counts if one of its freedoms stores none.

    :param model: the model
    :return: names of the independent joints, in their order; empty for a model fit for forward
        dynamics
    """
    found = np.ones(model.nv, bool)
    for q in _configurations(model):
        H, scale = _mass_matrix(model, q)
        found &= np.abs(np.diag(H)) <= _ROUNDING * scale
    return _joints_of(model, found)


def singular_joints(model: Model, q: Optional[Sequence[float]] = None) -> Tuple[str, ...]:
    """Joints that take part in a motion which stores no kinetic energy, at any configuration.

    These are the massless joints and those that share a freedom, as two joints on one axis with
    nothing between them: neither is massless, but their difference moves nothing.

    :param model: the model
    :param q: ask at this configuration instead, (nq,); some matrices are singular there alone
    :return: names of the independent joints, in their order; empty if the mass matrix is regular
    """
    found = np.ones(model.nv, bool)
    for sample in _configurations(model) if q is None else [np.asarray(q, float)]:
        H, scale = _mass_matrix(model, sample)
        diagonal = np.abs(np.diag(H))
        massless = diagonal <= _ROUNDING * scale
        weight = 1.0 / np.sqrt(np.where(massless, 1.0, diagonal))
        values, vectors = np.linalg.eigh(H * np.outer(weight, weight))
        null = vectors[:, np.abs(values) <= _ROUNDING * max(1, model.nv)]
        found &= massless | (np.abs(null).max(axis=1, initial=0.0) > 1e-6)
    return _joints_of(model, found)


def _joints_of(model: Model, freedoms: np.ndarray) -> Tuple[str, ...]:
    return tuple(
        model.body(i).joint_name
        for i, (_, v) in model.independent_slices.items()
        if freedoms[v].any()
    )


def _configurations(model: Model) -> List[np.ndarray]:
    """Random configurations, the same at every call; quaternions need not be unit."""
    rng = np.random.default_rng(1)
    return [rng.uniform(0.3, 1.3, model.nq) for _ in range(_SAMPLES)]


def _mass_matrix(model: Model, q: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Mass matrix, (nv, nv), and for each freedom the size of the inertia that it moves, (nv,).

    Composite rigid bodies on plain matrices (book table 6.2); kept here because this room cannot
    look into that of the algorithms.
    """
    positions = model.tree_position(q.tolist())
    X, S, composite = {}, {}, {}
    for i, body in model.outward():
        transform = body.joint.transform(positions[body.q]) * body.tree_transform
        X[i] = transform.matrix()
        columns = body.joint.motion_subspace(positions[body.q]).columns
        S[i] = np.array([column.to_array() for column in columns]).T
        composite[i] = body.inertia.matrix()
    H, scale = np.zeros((model.tree_nv, model.tree_nv)), np.zeros(model.tree_nv)
    for i, body in model.inward():
        if body.parent:
            composite[body.parent] = composite[body.parent] + X[i].T @ composite[i] @ X[i]
        F = composite[i] @ S[i]
        H[body.v, body.v] = S[i].T @ F
        scale[body.v] = np.abs(composite[i]).max()
        j = i
        while model.body(j).parent:
            F = X[j].T @ F
            j = model.body(j).parent
            H[model.body(j).v, body.v] = S[j].T @ F
            H[body.v, model.body(j).v] = H[model.body(j).v, body.v].T
    armature = np.concatenate(
        [np.full(body.joint.nv, body.armature) for body in model.bodies] or [[]]
    )
    H += np.diag(armature)
    G = np.zeros((model.tree_nv, model.nv))
    G[np.arange(model.tree_nv), list(model.tree_dof_index)] = model.tree_dof_ratio
    return G.T @ H @ G, (G * G).T @ scale
