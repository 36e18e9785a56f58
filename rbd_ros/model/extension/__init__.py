# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Extension of a URDF, from a YAML file or a mapping.

extension_document.py reads it, with line numbers, and fields.py checks values. Each section
(joint_groups.py, gears.py, extension_loops.py) converts a model to a model; extension_reader.py
applies them in order. See docs/extension.md.

The names below are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.model.extension.extension_loops import Loops, with_extension_loops
    from rbd_ros.model.extension.extension_reader import (
        Extension,
        EXTENSIONS,
        read_extension,
        SECTIONS,
    )

__all__ = [
    'Extension',
    'EXTENSIONS',
    'Loops',
    'read_extension',
    'SECTIONS',
    'with_extension_loops',
]

__getattr__, __dir__ = lazy_names(__name__)
