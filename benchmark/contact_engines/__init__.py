# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Engines of the contact benchmark: this package and others from PyPI."""

from __future__ import annotations

from contact_engines import (
    bullet_engine,
    drake_engine,
    event_engine,
    mujoco_engine,
    our_engine,
    pinocchio_engine,
)

#: In the order of the table; ours first.
ENGINES = [
    *our_engine.ENGINES,
    *event_engine.ENGINES,
    *mujoco_engine.ENGINES,
    *drake_engine.ENGINES,
    *bullet_engine.ENGINES,
    *pinocchio_engine.ENGINES,
]
#: Columns of the table.
COLUMNS = tuple(dict.fromkeys(engine.name for engine in ENGINES))
OURS = our_engine.ENGINES[0].name
