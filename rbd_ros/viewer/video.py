# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings as videos: a headless browser draws the page, ffmpeg encodes its frames."""

from __future__ import annotations

from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
import os
from pathlib import Path
import queue
import secrets
import shutil
import subprocess
import tempfile
import threading
from typing import Any, Iterator, TYPE_CHECKING

if TYPE_CHECKING:
    from rbd_ros.viewer.motion_recording import MotionRecording

RATE, SIZE = 30, (960, 540)  # frames per second, columns and rows
#: Headless browsers, with software rendering as a fallback.
BROWSERS = (
    *('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'),
    *('microsoft-edge', 'brave-browser'),
)
_FLAGS = (
    *('--headless=new', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'),
    *('--no-first-run', '--disable-background-networking', '--disable-dev-shm-usage'),
)
_MAX_WAIT = 120  # for a frame [s]


def browser() -> str:
    """Return the path of the first available one of `BROWSERS`, '' if there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), '')


def ffmpeg() -> str:
    """Return the path of ffmpeg, from the system or imageio-ffmpeg; '' if there is none."""
    path = shutil.which('ffmpeg')
    if path is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe

            path = get_ffmpeg_exe()
        except (ImportError, RuntimeError):
            return ''
    return path


def unavailable_reason() -> str:
    """Return why videos are not available, and the cure; '' if they are."""
    if not ffmpeg():
        return "a video needs ffmpeg: apt install ffmpeg, or pip install 'rbd_ros[recording]'"
    return '' if browser() else 'a video needs a browser: apt install chromium, or Google Chrome'


class _Server(HTTPServer):
    """Server of a page that sends its frames back, at a secret address."""

    def __init__(self, text: str):
        super().__init__(('127.0.0.1', 0), _Handler)
        self.text, self.folder = text.encode(), f'/{secrets.token_urlsafe()}/'
        self.pictures: 'queue.Queue[bytes]' = queue.Queue(2)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: browsers may close connections at any time."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._answer(200 if self.path == self.server.folder else 404, self.server.text)

    def do_POST(self) -> None:
        if self.path != f'{self.server.folder}picture':
            return self._answer(404)
        picture = self.rfile.read(int(self.headers['Content-Length']))
        self.server.pictures.put(picture, timeout=_MAX_WAIT)
        self._answer(204)

    def _answer(self, code: int, body: bytes = b'') -> None:
        self.send_response(code)
        self.send_header('Content-Type', 'text/html; charset=utf-8')
        self.end_headers()
        if code == 200:
            self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Log nothing: the terminal belongs to the user."""


def pictures(
    recording: MotionRecording, width: int, height: int, rate: float = RATE
) -> Iterator[bytes]:
    """Yield the frames of a recording from the page's initial viewpoint, as JPEG files.

    :param width: number of columns
    :param height: number of rows
    :param rate: frames per second
    :raises ValueError: if the browser draws none
    """
    server = _Server(recording.page())
    url = f'http://127.0.0.1:{server.server_port}{server.folder}#pictures={width}x{height}x{rate}'
    command = [browser(), *_FLAGS, *(['--no-sandbox'] if os.geteuid() == 0 else [])]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, server:
        thread.start()
        process = subprocess.Popen(
            [*command, f'--user-data-dir={profile}', url],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield from iter(lambda: _next_picture(server, process), b'')
        finally:
            process.terminate()
            process.wait()
            server.shutdown()


def _next_picture(server: _Server, process: 'subprocess.Popen[bytes]') -> bytes:
    for _ in range(_MAX_WAIT):
        with suppress(queue.Empty):
            return server.pictures.get(timeout=1.0)
        if process.poll() is not None:
            break
    raise ValueError(f'the browser {browser()} draws no picture of the recording')


def write_video(recording: MotionRecording, path: Path) -> None:
    """Write a recording as a video from the page's initial viewpoint.

    :raises ValueError: for an empty recording, a missing or failing browser or ffmpeg
    :raises OSError: if the file cannot be written
    """
    reason = unavailable_reason()
    if reason:
        raise ValueError(reason)
    path.open('wb').close()  # ffmpeg's message about a failure is long
    given = ['-f', 'image2pipe', '-c:v', 'mjpeg', '-framerate', f'{RATE}']
    made = ['-an', '-pix_fmt', 'yuv420p', '-movflags', '+faststart', '-f', 'mp4']
    # A bare name may look like an option or an address.
    target = f'file:{path.absolute()}'
    command = [ffmpeg(), '-y', '-loglevel', 'error', *given, '-i', '-', *made, target]
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=words)
        assert process.stdin is not None
        try:
            for picture in pictures(recording, *SIZE):
                process.stdin.write(picture)
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
            output = words.read().decode(errors='replace').strip()[-500:]
            raise ValueError(f'{path}: ffmpeg failed: {output}')
