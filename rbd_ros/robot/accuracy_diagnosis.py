# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of accuracy of a model (book 10.1, 10.2): distances, ratios and condition numbers.

Rounding costs digits if a center of mass is far from the frame of its body, if light bodies carry
heavy ones, or if a matrix is nearly singular. None of it is an error: `diagnose` measures it, and
describes values beyond its limits.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.algorithms.closed_loops.constraint_rank import constraint_rank
from rbd_ros.algorithms.closed_loops.loop_closure import loop_closure
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.model import Model
from rbd_ros.spatial import RigidBodyInertia

# The square of the distance to the frame is lost: about three digits of sixteen. Best are 1 to 2.
MAX_CENTER_RATIO = 30.0
MAX_MASS_RATIO = 1000.0
MAX_CONDITION, SINGULAR = 1e8, 1e15
# Smallest singular value of the loops' constraints, relative to the largest.
NEARLY_SINGULAR = 1e-4


class Diagnostics(NamedTuple):
    """Numbers that determine the accuracy of the dynamics of a model.

    :param center_ratios: distance of each body's center of mass from its frame, in radii of
        gyration, by name of the body; without points and bodies without mass
    :param mass_ratios: mass that each body carries, relative to its own, by name of the body;
        without bodies without mass
    :param condition_number: condition number of the mass matrix; infinite if it is singular
    :param loop_condition_number: condition number of the loops' constraint Jacobian without
        redundant constraints; None without loops
    :param warnings: texts about values beyond the limits
    """

    center_ratios: Dict[str, float]
    mass_ratios: Dict[str, float]
    condition_number: float
    loop_condition_number: Optional[float]
    warnings: Tuple[str, ...]


def diagnose(model: Model, q: Optional[Sequence[float]] = None) -> Diagnostics:
    """Return the diagnostics of a model, at one configuration (book 10.1, 10.2).

    :param model: model whose inertias are floats
    :param q: configuration, (nq,) [rad, m]; None: the neutral one
    :raises ValueError: if the configuration has a wrong shape

    >>> from rbd_ros.robot.accuracy_diagnosis import diagnose
    >>> found = diagnose(robot.model)
    >>> round(found.mass_ratios['shoulder_link'], 2)  # it carries the others
    3.71
    """
    if q is None:
        q = [x for i in model.independent for x in model.body(i).joint.neutral()]
    q = [float(x) for x in q]
    if len(q) != model.nq:
        raise ValueError(f'q must have shape ({model.nq},), got ({len(q)},)')
    center_ratios, mass_ratios, warnings = {}, {}, []
    carried = _carried_masses(model)
    for i, body in model.outward():
        ratio = _center_ratio(body.inertia)
        if ratio is not None:
            center_ratios[body.name] = ratio
            if ratio > MAX_CENTER_RATIO:
                warnings.append(
                    f'body {body.name!r}: its center of mass is {ratio:.3g} radii of gyration '
                    f'from its frame, which costs {2.0 * math.log10(ratio):.1f} digits; place '
                    'its joint nearer, or move the frame along the axis'
                )
        if body.inertia.mass > 0.0:
            ratio = mass_ratios[body.name] = carried[i] / body.inertia.mass
            if ratio > MAX_MASS_RATIO:
                warnings.append(
                    f'body {body.name!r} of {body.inertia.mass:.3g} kg carries {ratio:.3g} times '
                    'its mass; forces on it are differences of large numbers'
                )
    for i, (at_q, _) in model.independent_slices.items():
        problem = model.body(i).joint.singularity(q[at_q])
        if problem:
            warnings.append(f'joint {model.body(i).joint_name!r}: {problem}')
    condition = _condition(
        np.array(mass_matrix(model, q), dtype=float).reshape(model.nv, model.nv)
    )
    if condition > SINGULAR:
        warnings.append(
            'the mass matrix is singular at this configuration to within rounding errors'
        )
    elif condition > MAX_CONDITION:
        warnings.append(
            f'the condition number of the mass matrix is {condition:.3g}: accelerations lose as '
            'many digits as it has; use a shallower tree, armature, or masses and lengths that '
            'differ less'
        )
    loop_condition = _loop_condition(model, q)
    if loop_condition is not None and loop_condition > 1.0 / NEARLY_SINGULAR:
        warnings.append(
            f'the condition number of the loop constraints is {loop_condition:.3g}: the '
            'configuration is near a singular one, where loops gain or lose mobility'
        )
    return Diagnostics(center_ratios, mass_ratios, condition, loop_condition, tuple(warnings))


def _carried_masses(model: Model) -> Dict[int, float]:
    """Return the mass that each body carries, without its own, by body number [kg]."""
    mass = {i: float(body.inertia.mass) for i, body in model.outward()}
    subtrees = model.parent_array.subtrees
    return {i: math.fsum(mass[j] for j in subtrees[i] if j != i) for i in mass}


def _center_ratio(inertia: RigidBodyInertia) -> Optional[float]:
    """Return the distance of the center of mass in radii of gyration, k^2 = tr(I_C) / 2 m.

    None for points. Twice the polar moment about a point, int r^2 dm, is the trace of the
    rotational inertia.
    """
    m, h = float(inertia.mass), [float(x) for x in inertia.h]
    if not m > 0.0:
        return None
    distance2 = sum((x / m) ** 2 for x in h)
    xx, _, yy, _, _, zz = map(float, inertia.I)
    gyration2 = (xx + yy + zz) / (2.0 * m) - distance2
    # a point has only rounding as its size
    if gyration2 <= 1e-13 * distance2:
        return None
    return math.sqrt(distance2 / gyration2)


def _condition(H: np.ndarray) -> float:
    if not H.size:
        return 1.0
    values = np.linalg.svd(H, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0.0 else math.inf


def _loop_condition(model: Model, q: List[float]) -> Optional[float]:
    """Return the condition number of the independent constraints; None without constraints."""
    if not model.loops:
        return None
    K: Any = loop_closure(model, model.tree_position(q)).K
    K = np.array(model.independent_columns(K), dtype=float).reshape(len(K), model.nv)
    values = constraint_rank(K).s
    return float(values[0] / values[-1]) if len(values) else None
