# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errors of results, and the maximum error of each algorithm."""

import numpy as np

WORST = {}  # (comparison, algorithm): (error, case)


def relative_error(ours, theirs):
    """Return max|x - y| / max(1, max|y|) over one state.

    Relative for large results, absolute for small ones.
    """
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, f'shape {ours.shape}, expected {theirs.shape}'
    if theirs.size == 0:
        return 0.0
    error = np.max(np.abs(ours - theirs)) / max(1.0, np.max(np.abs(theirs)))
    return float(error) if np.isfinite(error) else np.inf


def worst_relative_error(ours, theirs):
    """Return the maximum `relative_error` of the rows of a batch."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, f'shape {ours.shape}, expected {theirs.shape}'
    if theirs.size == 0:
        return 0.0
    ours, theirs = (x.reshape(len(x), -1) for x in (ours, theirs))
    errors = np.abs(ours - theirs).max(axis=1) / np.maximum(1.0, np.abs(theirs).max(axis=1))
    return float(np.where(np.isfinite(errors), errors, np.inf).max())


def record(comparison, algorithm, case, error):
    """Record the maximum error of an algorithm for the table of `pytest --worst-errors`."""
    if error >= WORST.get((comparison, algorithm), (-1.0, ''))[0]:
        WORST[comparison, algorithm] = (error, case)
