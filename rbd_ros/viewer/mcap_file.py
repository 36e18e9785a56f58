# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings as MCAP files for Foxglove and Lichtblick."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Dict, Tuple, TYPE_CHECKING

from rbd_ros.viewer.foxglove import messages, SCHEMAS
from rbd_ros.wire.mcap_files import McapWriter, unavailable_reason

if TYPE_CHECKING:
    from rbd_ros.viewer.motion_recording import MotionRecording

__all__ = ['unavailable_reason', 'write_mcap']


def write_mcap(recording: MotionRecording, path: Path) -> None:
    """Write a recording.

    :raises ValueError: for an empty recording, a missing library, or a file that cannot be created
    :raises OSError: if the file cannot be written completely
    """
    with McapWriter(path) as file:
        channels: Dict[Tuple[str, str], int] = {}
        for topic, schema, time, content in messages(recording):
            if (topic, schema) not in channels:
                text = json.dumps(SCHEMAS[schema]).encode()
                channels[topic, schema] = file.channel(topic, schema, 'jsonschema', text, 'json')
            data = json.dumps(content, allow_nan=False).encode()
            file.write(channels[topic, schema], time, data)
