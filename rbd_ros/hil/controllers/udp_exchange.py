# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Exchange of a state and its torque over UDP, in lockstep."""

from __future__ import annotations

import socket
from time import monotonic, sleep
from typing import Callable, Dict, Optional

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.controllers.udp_packets import (
    MAX_PACKET,
    PacketError,
    sequence_of,
    StateWriter,
    torque_of,
)

POLL_PERIOD = 0.02  # real time between two checks of the process [s]


class UdpExchange:
    """A UDP socket to a controller, which answers to the sender of the state.

    The socket is connected: the system drops packets from other addresses.

    :param address: host name or IP address
    :param port: port of the controller
    :param count: number of joints, n
    :raises ValueError: if the address does not exist
    """

    def __init__(self, address: str, port: int, count: int):
        self.place, self._count = f'{address}:{port}', count
        self.writer = StateWriter(count)
        try:
            family, kind, protocol, _, at = socket.getaddrinfo(
                address, port, type=socket.SOCK_DGRAM
            )[0]
            self._socket = socket.socket(family, kind, protocol)
            self._socket.connect(at)
        except (OSError, UnicodeError) as error:
            raise ValueError(f'UDP to {self.place}: {error}; check address and port') from None
        self._buffer = bytearray(MAX_PACKET)
        self._view = memoryview(self._buffer)
        self._begins, self._port_closed = True, False
        #: Numbers of sent states, used answers, ignored answers to other states, foreign packets
        self.sent = self.answered = self.late = self.foreign = 0

    def begin(self) -> None:
        """Set the flag *begins* of the next state."""
        self._begins = True

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def exchange(
        self, stamp: int, timeout: float, ended: Callable[[], str] = str
    ) -> Optional[FloatArray]:
        """Send the state in `writer.values`, and wait for its answer.

        :param stamp: time of the state [ns]
        :param timeout: timeout [s]
        :param ended: returns why no answer can come; '' if one can
        :return: torques, (n,) [N m, N]; None without an answer
        :raises PacketError: for an invalid answer, or the reason of `ended`
        """
        self.sent += 1
        self.writer.set_head(self.sent, stamp, self._begins)
        self._port_closed = False
        self._send()
        end = monotonic() + timeout
        while (left := end - monotonic()) > 0.0:
            size = self._receive(min(left, POLL_PERIOD))
            if size < 0:
                if problem := ended():
                    raise PacketError(problem)
                continue
            data = self._view[:size]
            sequence = sequence_of(data, self._count)
            if sequence == self.sent:
                torque = torque_of(data, self._count)
                self._begins = False
                self.answered += 1
                return torque
            if sequence < 0:
                self.foreign += 1
            else:
                self.late += 1
        return None

    def _send(self) -> None:
        for _ in range(2):
            try:
                self._socket.send(self.writer.data)
                return
            except ConnectionRefusedError:  # belongs to an earlier packet; this one was not sent
                self._port_closed = True
            except OSError as error:
                raise PacketError(f'UDP to {self.place}: {error}') from None

    def _receive(self, wait: float) -> int:
        """Return the size of the next packet, -1 if none comes within `wait` seconds."""
        try:
            self._socket.settimeout(wait)
            return self._socket.recv_into(self._buffer)
        except TimeoutError:
            return -1
        except ConnectionRefusedError:
            self._port_closed = True
            sleep(min(wait, POLL_PERIOD))
            return -1
        except OSError as error:
            raise PacketError(f'UDP to {self.place}: {error}') from None

    def silence(self) -> str:
        """Return the reason for a missing answer, for an error message."""
        self._send()  # again, to detect a port that was closed after the state arrived
        self._receive(POLL_PERIOD)
        if self._port_closed:
            return f'no program listens at {self.place}'
        found = [
            text.format(count)
            for text, count in (
                ('answers to other states that were ignored: {}', self.late),
                ('packets without RBDA at the beginning that were ignored: {}', self.foreign),
            )
            if count
        ]
        return '; '.join(found) or f'no packet arrives from {self.place}'

    def counts(self) -> Dict[str, int]:
        """Return the numbers of packets by outcome."""
        return {
            'packets_sent': self.sent,
            'packets_answered': self.answered,
            'packets_late': self.late,
            'packets_foreign': self.foreign,
        }
