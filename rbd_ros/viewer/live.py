# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A live page, served to browsers on this machine, or to those that know its token."""

from __future__ import annotations

import errno
import hashlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import queue
import secrets
import socket
import threading
from typing import Any, List, Optional, Tuple

#: Allowed requests of a page.
REQUESTS = (
    *('play', 'pause', 'step', 'reset', 'keep', 'speed'),
    *('pull', 'release', 'joint', 'effort'),
)
LOCAL = '127.0.0.1'
_MAX_ORDER = 300  # bytes
_MAX_WAITING = 100  # requests
_HEARTBEAT = 2.0  # [s]: detects a closed page while nothing moves


class LivePage:
    """A server of one page, which shows published states and sends requests.

    :param text: the page, in HTML
    :param port: its port; 0 for any that is free
    :param host: address of this machine to serve at. At another one than 127.0.0.1, `url` holds a
        token, without which nothing is answered; it is not encrypted on its way
    :raises ValueError: if the host or port cannot be used

    >>> page = LivePage('<p>Hello</p>', port=0)
    >>> page.publish({'time': 0.0})
    >>> page.requests()  # (name, value) of the buttons that were pressed
    []
    >>> page.url.startswith('http://localhost:')
    True
    >>> page.close()
    """

    def __init__(self, text: str, port: int = 8000, host: str = LOCAL):
        if not 0 <= port <= 65535:
            raise ValueError(f'port must be from 0 to 65535, got {port}')
        try:
            self._server = _Server((host, port), _Handler)
        except (socket.gaierror, UnicodeError) as error:
            raise ValueError(
                f'host {host!r} is unknown: give an address of this machine'
            ) from error
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise ValueError(f'host {host!r} is not an address of this machine') from error
            cure = f'choose another, as --port {port + 1 if port < 65535 else 8000}, or 0 for any'
            if error.errno == errno.EADDRINUSE:
                raise ValueError(f'port {port} is in use: {cure}') from error
            raise ValueError(f'port {port} cannot be used: {error.strerror}: {cure}') from error
        self._server.text = text.encode('utf-8')
        if host != LOCAL:
            self._server.folder = f'/{secrets.token_urlsafe(16)}/'
        anywhere = host in ('0.0.0.0', '')
        self._name = 'localhost' if host == LOCAL else socket.gethostname() if anywhere else host
        # By which a tab that is still open finds out that there is another page now.
        self._server.tag = f'"{hashlib.sha256(self._server.text).hexdigest()[:32]}"'
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={'poll_interval': 0.1}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the page."""
        return f'http://{self._name}:{self._server.server_port}{self._server.folder}'

    def publish(self, state: Any) -> None:
        """Publish a state: pages get the newest one, and may miss others."""
        self._server.publish(json.dumps(state, allow_nan=False))

    def requests(self) -> List[Tuple[str, Any]]:
        """Return the requests since the last call: names of `REQUESTS` with their values."""
        taken: List[Tuple[str, Any]] = []
        while True:
            try:
                taken.append(self._server.requests.get_nowait())
            except queue.Empty:
                return taken

    def close(self) -> None:
        """Stop serving: open pages are notified."""
        self._server.publish(None)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    text = b''
    tag = ''
    folder = '/'

    def __init__(self, *arguments: Any):
        self.changed = threading.Condition()
        self.state: Optional[str] = ''
        self.version = 0
        self.requests: 'queue.Queue[Tuple[str, Any]]' = queue.Queue(_MAX_WAITING)
        super().__init__(*arguments)

    def publish(self, state: Optional[str]) -> None:
        with self.changed:
            self.state, self.version = state, self.version + 1
            self.changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: browsers may close connections at any time."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10.0
    protocol_version = 'HTTP/1.1'

    def do_HEAD(self) -> None:
        self._answer_page()

    def do_GET(self) -> None:
        if self._is_same_origin() and self.path == f'{self.server.folder}events':
            self._stream()
        else:
            self._answer_page()

    def do_POST(self) -> None:
        self.close_connection = True  # the part of the body that is not read
        folder, _, name = self.path.rpartition('/')
        if not self._is_same_origin() or self.headers.get('Content-Type') != 'application/json':
            return self._answer(403)
        if f'{folder}/' != self.server.folder or name not in REQUESTS:
            return self._answer(404)
        try:
            length = int(self.headers.get('Content-Length', ''))
            if not 0 <= length <= _MAX_ORDER:
                raise ValueError
            self.server.requests.put_nowait((name, json.loads(self.rfile.read(length))))
        except (ValueError, queue.Full):
            return self._answer(400)
        self._answer(204)

    def _answer_page(self) -> None:
        if not self._is_same_origin():
            self._answer(403)
        elif self.path == self.server.folder:
            self._answer(200, self.server.text, 'text/html; charset=utf-8', self.server.tag)
        else:
            self._answer(404)

    def _is_same_origin(self) -> bool:
        """Return whether our own page asks, not one of another site in the same browser."""
        host, origin = self.headers.get('Host', ''), self.headers.get('Origin')
        if self.server.folder == '/':
            port = self.server.server_port
            if host not in (f'localhost:{port}', f'{LOCAL}:{port}'):
                return False
        return origin is None or origin.partition('://')[2] == host

    def _answer(
        self, code: int, body: bytes = b'', kind: str = 'text/plain', tag: str = ''
    ) -> None:
        self.send_response(code)
        self.send_header('Content-Type', kind)
        if code != 204:
            self.send_header('Content-Length', str(len(body)))
        self.send_header('Cache-Control', 'no-store')
        if tag:
            self.send_header('ETag', tag)
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def _stream(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.send_header('Cache-Control', 'no-store')
        self.send_header('Connection', 'close')
        self.end_headers()
        server, seen = self.server, 0
        while True:
            with server.changed:
                if server.version == seen:
                    server.changed.wait(_HEARTBEAT)
                fresh, seen, state = server.version != seen, server.version, server.state
            if state is None:
                return
            # A comment detects a closed browser.
            self.wfile.write(f'data: {state}\n\n'.encode() if fresh and state else b':\n\n')
            self.wfile.flush()

    def log_message(self, *arguments: Any) -> None:
        """Log nothing: the terminal belongs to the user."""
