# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robot in a browser page: scenes, recordings of motions, and live pages.

Pages are self-contained and load nothing from a network. The names below are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.viewer.live import LivePage
    from rbd_ros.viewer.motion_recording import MotionRecording
    from rbd_ros.viewer.session import LiveSession
    from rbd_ros.viewer.viewer_scene import make_scene, Scene

__all__ = ['LivePage', 'LiveSession', 'MotionRecording', 'Scene', 'make_scene']

__getattr__, __dir__ = lazy_names(__name__)
