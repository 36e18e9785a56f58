# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Weighted least squares over joint states: estimates, their confidence, and cross-validation.

Each joint is weighted by the noise of its effort. The filter correlates the noise of successive
samples, so the covariance of the estimates assumes a stationary noise with the autocovariance of
the residuals.

Source: Politis and Romano, "Bias-corrected nonparametric spectral estimation" (J. Time Series
Analysis 1995), for the taper of the autocovariance; Swevers, Verdonck and De Schutter, "Dynamic
model identification for industrial robots" (IEEE Control Systems Magazine 2007), for the weights
and the validation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, NamedTuple, Sequence, Tuple

import numpy as np
from scipy.stats import norm

from rbd_ros.control.robot_joints import listed
from rbd_ros.identification.recording import Floats, RecordingError

#: Number of lags after which residuals count as independent; tapered from half of them.
LAGS = 6
#: Relative singular value below which parameters are not excited.
UNSEEN = 1e-7
FOLDS = 5


class Equations(NamedTuple):
    """Equations A x = b of one part of a recording, after the filter.

    :param A: columns of the parameters, (S, n, k)
    :param b: efforts, (S, n) [N m or N]
    :param used: 1 for equations that count, otherwise 0, (S, n)
    :param tau: measured efforts, (S, n) [N m or N]
    """

    A: Floats
    b: Floats
    used: Floats
    tau: Floats


@dataclass(frozen=True)
class Estimate:
    """Estimated parameters with their confidence.

    :param names: names of the k parameters
    :param values: (k,)
    :param covariance: (k, k)
    :param noise: standard deviation of the residuals of each joint after the filter, (n,)
        [N m or N]; NaN for joints without equations
    :param condition_number: condition number of the weighted equations with columns of equal norm
    :param samples: number of equations
    :param validation: relative error of efforts that were not used for the estimate, (n,): root
        mean square of the error / that of the effort
    """

    names: Tuple[str, ...]
    values: Floats
    covariance: Floats
    noise: Floats
    condition_number: float
    samples: int
    validation: Floats

    @property
    def deviations(self) -> Floats:
        """Standard deviation of each parameter, (k,)."""
        deviations: Floats = np.sqrt(np.diag(self.covariance))
        return deviations

    def intervals(self, confidence: float = 0.95) -> Floats:
        """Return half of the confidence interval of each single parameter, (k,).

        :param confidence: probability that a parameter lies within its interval
        """
        half: Floats = float(norm.ppf(0.5 + 0.5 * confidence)) * self.deviations
        return half

    def distance(self, values: Sequence[float]) -> float:
        """Return the squared Mahalanobis distance of other values."""
        error = np.asarray(values, dtype=float) - self.values
        scale = self.deviations
        correlation = self.covariance / np.outer(scale, scale)
        return float((error / scale) @ np.linalg.solve(correlation, error / scale))


def estimated(parts: Sequence[Equations], names: Sequence[str]) -> Estimate:
    """Return the parameters by weighted least squares.

    :param parts: equations of the parts of a recording
    :param names: names of the parameters
    :raises RecordingError: if the motion does not excite all parameters, with names of some
    """
    x, weights = _weighted(parts, names)
    A = _stacked(parts, weights)[0]
    length = np.linalg.norm(A, axis=0)
    singular = np.linalg.svd(A / length, compute_uv=False)
    residuals = [(p.A @ x - p.b) * p.used * weights for p in parts]
    inverse = np.linalg.pinv((A / length).T @ (A / length), hermitian=True)
    inverse = inverse / np.outer(length, length)
    covariance = inverse @ _meat(parts, residuals, weights, LAGS) @ inverse
    if not _is_covariance(covariance):
        # The taper does not keep the sum of the lags positive. It is negative for residuals that
        # alternate, as rounding errors of a recording without noise. To count such residuals as
        # independent overestimates the deviations.
        covariance = inverse @ _meat(parts, residuals, weights, 0) @ inverse
    noise = np.full(len(weights), np.nan)
    noise[weights > 0.0] = 1.0 / weights[weights > 0.0]
    return Estimate(
        tuple(names),
        x,
        0.5 * (covariance + covariance.T),
        noise,
        float(singular[0] / singular[-1]),
        int(sum(p.used[:, weights > 0.0].sum() for p in parts)),
        _validation(parts, names),
    )


def _weighted(parts: Sequence[Equations], names: Sequence[str]) -> Tuple[Floats, Floats]:
    """Return the estimate, and the weight of each joint, 1 / noise, 0 without equations."""
    used = sum(p.used.sum(axis=0) for p in parts)
    weights: Floats = (used > 0.0).astype(float)
    for _ in range(3):
        x = _solved(*_stacked(parts, weights), names)
        squares = sum((((p.A @ x - p.b) * p.used) ** 2).sum(axis=0) for p in parts)
        # The parameters use a part of each joint's degrees of freedom.
        left = np.maximum(used - len(x) / max(1, (used > 0.0).sum()), 1.0)
        noise = np.sqrt(squares / left)
        floor = 1e-9 * max(float(noise.max()), 1e-12)
        weights = np.where(used > 0.0, 1.0 / np.maximum(noise, floor), 0.0)
    return x, weights


def _stacked(parts: Sequence[Equations], weights: Floats) -> Tuple[Floats, Floats]:
    """Return the weighted equations of all parts, one per row."""
    rows, right = [], []
    for p in parts:
        w = p.used * weights
        chosen = w > 0.0
        rows.append((p.A * w[..., None])[chosen])
        right.append((p.b * w)[chosen])
    return np.concatenate(rows), np.concatenate(right)


def _solved(A: Floats, b: Floats, names: Sequence[str]) -> Floats:
    if len(A) < 2 * A.shape[1]:
        raise RecordingError(
            f'{len(A)} usable samples for {A.shape[1]} parameters are too few; record for '
            'longer, and move all joints'
        )
    length = np.linalg.norm(A, axis=0)
    idle = length <= 1e-9 * length.max(initial=0.0)
    if idle.any():
        raise _not_excited([n for n, alone in zip(names, idle) if alone])
    _, singular, V = np.linalg.svd(A / length, full_matrices=False)
    unseen = singular < UNSEEN * singular[0]
    if unseen.any():
        share = np.abs(V[unseen]).max(axis=0)
        order = np.argsort(-share)
        raise _not_excited([names[k] for k in order if share[k] > 0.3] or [names[order[0]]])
    x: Floats = np.linalg.lstsq(A / length, b, rcond=None)[0] / length
    return x


def _not_excited(names: Sequence[str]) -> RecordingError:
    return RecordingError(
        f'the motion does not excite {listed(names)}: move all joints, faster and through more of '
        'their range (rbd_ros excitation-trajectory writes such a motion)'
    )


def _is_covariance(matrix: Floats) -> bool:
    """Return whether a symmetric matrix is positive semidefinite, but for rounding."""
    variances = np.diag(matrix)
    if not (variances > 0.0).all():
        return False
    scale = np.sqrt(variances)
    return bool(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] > -1e-13)


def _meat(
    parts: Sequence[Equations], residuals: Sequence[Floats], weights: Floats, lags: int
) -> Floats:
    """Return the covariance of A^T r for noise with the autocovariance of the residuals.

    :param lags: number of lags of the autocovariance; 0: successive samples are independent
    """
    joints = np.flatnonzero(weights > 0.0)
    count = parts[0].A.shape[2]
    meat: Floats = np.zeros((count, count))
    # The part of the noise that parameters explain is slow, like motions. Slow noise has fewer
    # independent samples, so the residuals lack a larger fraction of it.
    dof = sum(p.used[:, joints].sum() for p in parts) / LAGS
    correction = dof / max(dof - count, 1.0)
    for lag in range(lags + 1):
        taper = min(1.0, 2.0 - 2.0 * lag / (LAGS + 1.0))
        covariance = np.zeros((len(joints), len(joints)))
        pairs = np.zeros_like(covariance)
        for p, r in zip(parts, residuals):
            n = len(r) - lag
            if n > 0:
                covariance += r[:n, joints].T @ r[lag:, joints]
                pairs += p.used[:n, joints].T @ p.used[lag:, joints]
        covariance = taper * correction * covariance / np.maximum(pairs, 1.0)
        for p in parts:
            n = len(p.b) - lag
            if n <= 0:
                continue
            W = (p.A * (p.used * weights)[..., None])[:, joints]
            mixed = np.einsum('ij,sjk->sik', covariance, W[lag:])
            term = W[:n].reshape(-1, count).T @ mixed.reshape(-1, count)
            meat += term if not lag else term + term.T
    return meat


def _validation(parts: Sequence[Equations], names: Sequence[str]) -> Floats:
    """Return each joint's relative error in cross-validation, by parts of time."""
    joints = parts[0].b.shape[1]
    error, effort = np.zeros(joints), np.zeros(joints)
    for fold in range(FOLDS):
        training: List[Equations] = []
        for p in parts:
            edges = np.linspace(0, len(p.b), FOLDS + 1).astype(int)
            outside = np.ones((len(p.b), 1))
            outside[edges[fold] : edges[fold + 1]] = 0.0
            training.append(p._replace(used=p.used * outside))
        try:
            x, _ = _weighted(training, names)
        except RecordingError:
            return np.full(joints, np.nan)  # the other parts do not excite all parameters
        for p, t in zip(parts, training):
            tested = p.used - t.used
            error += (((p.A @ x - p.b) * tested) ** 2).sum(axis=0)
            effort += (p.tau * tested * p.tau).sum(axis=0)
    share: Floats = np.full(joints, np.nan)
    np.divide(error, effort, out=share, where=effort > 0.0)
    return np.asarray(np.sqrt(share))
