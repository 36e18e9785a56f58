# SPDX-License-Identifier: Apache-2.0
"""Recordings as videos: pictures of our own, put together by ffmpeg."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
import shutil
import subprocess
import tempfile

import numpy as np

from rbd_ros.compiler.loops import interpreted_reason
from rbd_ros.viewer.motion_recording import MotionRecording
from rbd_ros.viewer.picture import Camera

RATE = 30  # pictures a second


def ffmpeg() -> str:
    """Return path of the program, '' if there is none: that of the system or of imageio-ffmpeg."""
    path = shutil.which('ffmpeg')
    if path is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe

            path = get_ffmpeg_exe()
        except (ImportError, RuntimeError):
            return ''
    return path


def unavailable_reason() -> str:
    """Return why there can be no video, and what to do about it; '' if there can."""
    if not ffmpeg():
        return "a video needs ffmpeg: apt install ffmpeg, or pip install 'rbd_ros[recording]'"
    reason = interpreted_reason()
    # By the interpreter, a picture would take minutes.
    return f'a video needs the compiler, but {reason}' if reason else ''


def write_video(
    recording: MotionRecording, path: Path, width: int = 960, height: int = 540
) -> None:
    """Write a recording as it moves, seen from where its page is seen first.

    :param width: columns, an even number
    :param height: rows, an even number
    :raises ValueError: if there is no frame or no ffmpeg, or it fails, with its words
    :raises OSError: if the file cannot be written
    """
    reason = unavailable_reason()
    if reason:
        raise ValueError(reason)
    times, poses = recording.times - recording.times[0], recording.poses()
    camera = Camera(recording.scene, poses[0], recording.ground, width, height)
    # At each instant the frame that is shown then.
    instants = np.arange(0.0, times[-1] + 0.5 / RATE, 1.0 / RATE)
    chosen = np.searchsorted(times, instants + 1e-6, side='right') - 1
    path.open('wb').close()  # ffmpeg's own words on this are many
    given = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', f'{width}x{height}', '-r', f'{RATE}']
    made = ['-an', '-pix_fmt', 'yuv420p', '-movflags', '+faststart', '-f', 'mp4']
    # A name alone may look like an option, or like an address.
    target = f'file:{path.absolute()}'
    command = [ffmpeg(), '-y', '-loglevel', 'error', *given, '-i', '-', *made, target]
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=words)
        assert process.stdin is not None
        try:
            for k in chosen:
                process.stdin.write(camera.picture(poses[k], recording.contacts[k]).tobytes())
            process.stdin.close()
            failed = process.wait() != 0
        except BrokenPipeError:
            failed = True
        finally:
            with suppress(OSError):
                process.stdin.close()
            process.kill()
            process.wait()
        if failed:
            words.seek(0)
            said = words.read().decode(errors='replace').strip()[-500:]
            raise ValueError(f'{path}: ffmpeg failed: {said}')
