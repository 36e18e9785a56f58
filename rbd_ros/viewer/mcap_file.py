"""Recordings as MCAP files for Foxglove and Lichtblick, by the library mcap if it is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Tuple

from rbd_ros.viewer.foxglove import messages, SCHEMAS
from rbd_ros.viewer.recording import Recording


def why_not() -> str:
    """Why there can be no MCAP file, and what to do about it; '' if there can."""
    try:
        import mcap.writer  # noqa: F401
    except ImportError:
        return "an MCAP file needs the library mcap: pip install 'rbd_ros[recording]'"
    return ''


def write_mcap(recording: Recording, path: Path) -> None:
    """Write a recording.

    :raises ValueError: if there is no frame, or no library
    :raises OSError: if the file cannot be written
    """
    reason = why_not()
    if reason:
        raise ValueError(reason)
    from mcap.writer import Writer

    with path.open('wb') as stream:
        writer: Any = Writer(stream)
        writer.start(library='rbd_ros')
        channels: Dict[Tuple[str, str], int] = {}
        for topic, schema, time, content in messages(recording):
            if (topic, schema) not in channels:
                text = json.dumps(SCHEMAS[schema]).encode()
                number = writer.register_schema(schema, 'jsonschema', text)
                channels[topic, schema] = writer.register_channel(topic, 'json', number)
            data = json.dumps(content, allow_nan=False).encode()
            writer.add_message(channels[topic, schema], time, data, time)
        writer.finish()
