# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A controller under test behind UDP, such as a program in C, in lockstep with the bench."""

from __future__ import annotations

from contextlib import contextmanager, ExitStack
from dataclasses import replace
from pathlib import Path
import socket
from time import monotonic
from typing import Callable, Iterator, List, Mapping, Optional, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.bench import Bench, Run
from rbd_ros.hil.controllers.controller_process import ControllerProcess, start_timeout
from rbd_ros.hil.controllers.udp_exchange import UdpExchange
from rbd_ros.hil.controllers.udp_packets import PacketError
from rbd_ros.hil.report.run_recorder import RunRecorder
from rbd_ros.hil.scenario.controller_entry import (
    Controller,
    ControllerFailure,
    ControllerKind,
    files_among,
    IsolatedRun,
    RunAlone,
    words_of,
)
from rbd_ros.hil.scenario.desired import desired_samples
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.model.extension.fields import Field

ADDRESS = '127.0.0.1'
NANOSECONDS = 1_000_000_000
PORT = '{port}'  # placeholder in a command for the port of the program
MAX_TRIES = 100  # to find an unused port
FIRST_CONTACT = 0.05  # real time after which the first state is sent again [s]


class UdpController:
    """Sends states and waits for the answer with the sequence number of each.

    A context manager for one run.

    :param scenario: the scenario
    :param ended: returns the error of the controller's process; '' while it runs
    :raises ValueError: if the address does not exist
    """

    def __init__(self, scenario: Scenario, ended: Callable[[], str] = str):
        options = scenario.controller.options
        self._scenario, self._ended = scenario, ended
        self._exchange = UdpExchange(options['address'], options['port'], scenario.robot.nv)
        self._desired = desired_samples(scenario.trajectory, scenario.timestep)
        self._values = self._exchange.writer.values

    def __enter__(self) -> UdpController:
        return self

    def __exit__(self, *_: object) -> None:
        self._exchange.close()

    def connect(self, timeout: float) -> None:
        """Wait until the controller answers the initial state, before the motion begins.

        :param timeout: timeout [s]
        :raises ControllerFailure: if no answer comes, or an invalid one
        """
        start, begin = self._scenario.start, monotonic()
        while self._ask(0.0, start, np.zeros(len(start)), FIRST_CONTACT) is None:
            if monotonic() - begin > timeout:
                raise ControllerFailure(self._silence(0.0, timeout))
        self._exchange.begin()

    def __call__(self, time: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the torques for a state, (n,) [N m, N].

        :raises ControllerFailure: if no answer comes, or an invalid one
        """
        timeout = self._scenario.response_timeout
        torque = self._ask(time, q, v, timeout)
        if torque is None:
            raise ControllerFailure(self._silence(time, timeout))
        return torque

    def _ask(
        self, time: float, q: FloatArray, v: FloatArray, timeout: float
    ) -> Optional[FloatArray]:
        n = len(q)
        values = self._values
        values[:n], values[n : 2 * n], values[2 * n :] = q, v, self._desired.at(time)
        try:
            return self._exchange.exchange(round(time * NANOSECONDS), timeout, self._ended)
        except PacketError as error:
            raise ControllerFailure(str(error)) from None

    def _silence(self, time: float, timeout: float) -> str:
        text = f'no answer to the state of {time:.6f} s within {timeout:g} s'
        return f'{text}: {self._exchange.silence()}'


def over_udp(
    scenario: Scenario, folder: Path, seed: Optional[int], recorder: Optional[RunRecorder] = None
) -> Run:
    """Run a scenario whose controller uses UDP; start it if the scenario has its command.

    :param folder: folder for the output of the controller, controller.log
    :param recorder: records the run; None: no recording
    :return: the run; a failure without a step if the controller never answers
    :raises ValueError: if it cannot be started, or the address does not exist
    """
    words = at_port(scenario, scenario.controller.options['port']).controller.words
    bench = Bench(scenario)
    with ExitStack() as stack:
        ended: Callable[[], str] = str
        if words:
            process = stack.enter_context(ControllerProcess(words, folder / 'controller.log'))
            ended = process.ended
        controller = stack.enter_context(UdpController(scenario, ended))
        try:
            controller.connect(start_timeout())
        except ControllerFailure as error:
            return bench.unanswered(str(error), seed, recorder)
        return bench.run(controller, seed, recorder=recorder)


def over_udp_isolated(scenario: Scenario, folder: Path, seed: Optional[int]) -> Run:
    """Run a scenario at a separate port, so that parallel runs do not interfere.

    :param folder: folder for the output of the controller, controller.log
    :return: the run; a failure without a step if the controller never answers
    :raises ValueError: if it cannot be started, or no port is free
    """
    with own_port(scenario.controller.options['address']) as port:
        return over_udp(at_port(scenario, port), folder, seed)


def at_port(scenario: Scenario, port: int) -> Scenario:
    """Return the scenario with another port, also in the command of the program."""
    controller = scenario.controller
    words = tuple(each.replace(PORT, str(port)) for each in controller.words)
    options = {**controller.options, 'port': port}
    return replace(scenario, controller=replace(controller, words=words, options=options))


@contextmanager
def own_port(address: str) -> Iterator[int]:
    """Reserve an unused UDP port of this machine for the context.

    It holds the TCP port of the same number as a lock against other benches, which would find the
    UDP port unused before the program opens it.

    :param address: host name or IP address of this machine
    :raises ValueError: if no port is free
    """
    port, held = _held_port(address)
    with held:
        yield port


def _held_port(address: str) -> Tuple[int, socket.socket]:
    try:
        family, _, _, _, at = socket.getaddrinfo(address, 0, type=socket.SOCK_DGRAM)[0]
        for _ in range(MAX_TRIES):
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.bind(at)
                port = int(probe.getsockname()[1])
                held = socket.socket(family, socket.SOCK_STREAM)
                try:
                    held.bind((at[0], port, *at[2:]))
                    return port, held
                except OSError:
                    held.close()
    except (OSError, UnicodeError) as error:
        raise ValueError(
            f'no UDP port at {address}: {error}; a campaign needs a port of this machine'
        ) from None
    raise ValueError(f'no UDP port at {address} is free; use fewer --jobs')


class UdpKind(ControllerKind):
    """A process with UDP packets."""

    example = {'port': 5005}

    def read(self, given: Field, entries: Mapping[str, Field], folder: Path) -> Controller:
        """Return the controller of an entry."""
        entries = given.mapping(['port'], ['address', 'command'])
        port = entries['port'].number()
        if port != int(port) or not 1 <= port <= 65535:
            raise entries['port'].error(
                f'{port:g} is not a valid port; give a whole number up to 65535'
            )
        words: Tuple[str, ...] = ()
        if 'command' in entries:
            words = words_of(entries['command'])
            if (folder / words[0]).is_file():
                words = (str((folder / words[0]).resolve()), *words[1:])
        address = entries['address'].name() if 'address' in entries else ADDRESS
        return Controller('udp', words, {'address': address, 'port': int(port)})

    def runner(self) -> RunAlone:
        """Return the function that runs a scenario with it."""
        return over_udp

    def isolated(self, controller: Controller) -> IsolatedRun:
        """Return the function for parallel runs, each with its own port."""
        if not any(PORT in each for each in controller.words):
            raise ValueError(
                'each run of a campaign starts its own program: give its command, with '
                f'{PORT} for the port, see docs/hil_controllers.md'
            )
        return over_udp_isolated

    def files(self, controller: Controller) -> List[str]:
        """Return the program and the files in its arguments."""
        return files_among(controller.words)


KIND = UdpKind()
