# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runs a node as a process that handles signals and shuts down in order.

SIGINT, SIGTERM and SIGHUP end a node with exit code 0 at any time. During imports and compilation
nothing has been commanded, so the process exits at once. Later the node's `stop()` sends the last
command; a second signal forces the exit. Python's own start-up (some hundredths of a second) is
not covered.

`main` functions end their process.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import os
import signal
import sys
import threading
import time
import traceback
from typing import Any, Callable, Dict, Iterator, List, NoReturn, Optional, Sequence

from rbd_ros.nodes.messages.text import first_line, readable

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# An EventsExecutor without a timeout spins forever in some builds of rclpy.
SPIN_TIMEOUT = 3600.0

START_UP_TIMEOUT = 5.0  # timeout of start-up or compilation after a signal [s]
END_TIMEOUT = 20.0  # timeout of the end after a second signal or the last command [s]
BREATH = 1e-3  # pause after a failure of the executor, so that other threads run [s]
REPORT_PERIOD = 5.0  # time between two reports of the same failed callback [s]

#: Switch interval of the interpreter [s]: the control loop must not wait 5 ms for a service.
SWITCH_INTERVAL = 2e-4


class StartupError(RuntimeError):
    """The node cannot run with its settings; the message gives the reason and the cure."""


class _Phase:
    """Phase of a node, which determines the effect of a signal."""

    IMPORTING = 'importing'  # the process exits at once
    STARTING = 'starting'  # the main thread is interrupted
    RUNNING = 'running'  # the executor returns
    STOPPING = 'stopping'  # the last command is shortened


class StopSignals:
    """Ends a node when a stop signal arrives.

    The interpreter writes signal numbers into a pipe, from which a thread reads them. Signals
    therefore interrupt no callback, and the ROS context is alive during the last command.
    """

    def __init__(self):
        self.phase = _Phase.IMPORTING
        self.count = 0
        self.forced = threading.Event()
        self.on_stop: Callable[[], None] = lambda: None
        self._interruptible = False
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._write_end, False)
        self._numbers: List[int] = []
        if threading.current_thread() is threading.main_thread():
            signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
            for number in STOP_SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                    signal.signal(number, self._interrupt)
                    self._numbers.append(number)
        threading.Thread(target=self._listen, name='signals', daemon=True).start()

    @property
    def _can_be_interrupted(self) -> bool:
        return self.phase == _Phase.STARTING or self._interruptible

    def _interrupt(self, *_: object) -> None:
        if self._can_be_interrupted:
            # Destructors of interrupted, half-built objects may raise.
            sys.unraisablehook = lambda _: None
            raise KeyboardInterrupt

    def _listen(self) -> None:
        while True:
            numbers = os.read(self._read_end, 64)
            for _ in range(sum(number in STOP_SIGNALS for number in numbers)):
                self._arrived()

    def _arrived(self) -> None:
        self.count += 1
        if self.phase == _Phase.IMPORTING:
            os._exit(0)
        elif self._can_be_interrupted:
            if self.count == 1:
                threading.Thread(target=self._end_after_timeout, daemon=True).start()
        elif self.count > 1:
            self.forced.set()
            limit_shutdown_time()
        self.on_stop()

    def _end_after_timeout(self) -> None:
        """End a start-up that is interrupted but blocked in machine code; no command was sent."""
        time.sleep(START_UP_TIMEOUT)
        if self._can_be_interrupted:
            limit_shutdown_time()
            _destroy_nodes()
            os._exit(0)

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Make a code block interruptible by stop signals, such as compiling a robot."""
        before, self._interruptible = self._interruptible, True
        try:
            if self.count:
                raise KeyboardInterrupt
            yield
        finally:
            self._interruptible = before

    def ignore(self) -> None:
        """Ignore stop signals from now on, during the end of the process."""
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)


def limit_shutdown_time() -> None:
    """Dump the stacks of all threads and exit if the process still exists after `END_TIMEOUT`.

    It needs no lock of Python. Signals are ignored after the last command, so a blocked library
    would otherwise keep the process forever.
    """
    # There may be no standard error.
    with contextlib.suppress(AttributeError, OSError, RuntimeError, ValueError):
        faulthandler.dump_traceback_later(END_TIMEOUT, exit=True)


_signals: Optional[StopSignals] = None
_nodes: List[Any] = []


def destroy_at_the_end(node: Any) -> None:
    """Destroy a node with the process, even if its construction fails.

    :param node: rclpy node, once it is constructed
    """
    _nodes.append(node)


def _destroy_nodes() -> None:
    """Notify other processes, which would list the nodes for many more seconds."""
    for node in _nodes:
        _end(node.destroy_node, node.get_logger())


def interruptible() -> contextlib.AbstractContextManager:
    """Return the context in which a stop signal interrupts the main thread.

    Elsewhere it has no effect.
    """
    here = threading.current_thread() is threading.main_thread()
    return _signals.interruptible() if _signals is not None and here else contextlib.nullcontext()


def ending() -> bool:
    """Return whether a stop signal has arrived; long tasks should not begin then."""
    return _signals is not None and _signals.count > 0


def forced() -> threading.Event:
    """Return the event that is set when a second stop signal asks for an immediate end."""
    return _signals.forced if _signals is not None else threading.Event()


def run_node(
    load: Callable[[], Callable[[], Any]], args: Optional[Sequence[str]] = None
) -> NoReturn:
    """Create a node, spin it until a stop signal or the end of its context, stop it, and exit.

    :param load: imports the modules of the node and returns a function that creates it; the node's
        `start()` is called once signals reach it, and `stop()` before it is destroyed
    :param args: command line as for `rclpy.init`
    """
    global _signals
    _signals = signals = StopSignals()
    sys.setswitchinterval(SWITCH_INTERVAL)
    create = load()
    import rclpy

    logger = rclpy.logging.get_logger('rbd_ros')
    code = 1
    try:
        # From here on, a signal shuts the node down in order.
        signals.phase = _Phase.STARTING
        code = _run(create, args, signals, logger)
    except KeyboardInterrupt:
        code = 0
    except StartupError as error:
        logger.fatal(readable(error))
    except Exception as error:
        # At start, exceptions of rclpy are user errors, such as a wrong file or remapping.
        of_rclpy = type(error).__module__.partition('.')[0] == 'rclpy'
        logger.fatal(first_line(error) if of_rclpy else traceback.format_exc())
    finally:
        signals.phase = _Phase.STOPPING
        limit_shutdown_time()
        signals.ignore()
        rclpy.try_shutdown()
    _exit(code)


def _exit(code: int) -> NoReturn:
    """End the process without releasing its memory.

    Releasing the compiler's memory takes seconds, on a busy machine many, and a client that waits
    for the end of the node cannot skip that.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).fflush(None)  # the log of ROS uses the C library
    os._exit(code)


def _run(create: Callable[[], Any], args: Any, signals: StopSignals, logger: Any) -> int:
    """Create, spin and end the node.

    :return: exit code
    """
    import rclpy
    from rclpy.signals import SignalHandlerOptions
    from rclpy.task import Future

    from rbd_ros.nodes.common.communication import create_executor

    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    executor = create_executor()
    stop = Future()

    def on_stop() -> None:
        stop.set_result(True)
        executor.wake()

    node = None
    try:
        node = create()
        executor.add_node(node)
        gc.collect()
        gc.freeze()  # exclude present objects from garbage collection
        signals.on_stop = on_stop
        signals.phase = _Phase.RUNNING
        if not signals.count:
            node.start()
            spin(executor, stop, node)
        return 0
    except Exception:
        if node is None and signals.count:
            return 0  # a stop signal during start-up
        raise
    finally:
        signals.phase = _Phase.STOPPING
        if node is not None:
            _end(node.stop, logger)  # its duration depends on torque_rate_limit
        limit_shutdown_time()
        _end(executor.shutdown, logger)
        _destroy_nodes()


def _end(work: Callable[[], Any], logger: Any) -> None:
    """Run one step of the shutdown; log a failure and continue."""
    try:
        work()
    except Exception:
        logger.error(traceback.format_exc())


def spin(executor: Any, stop: Any, node: Any) -> None:
    """Spin until `stop`; report exceptions of callbacks and continue.

    Callbacks of rclpy itself raise on some well-typed but invalid requests and times. No message
    may end a node.
    """
    from rclpy.executors import ExternalShutdownException

    failures = Failures(node)
    while node.context.ok() and not stop.done():
        try:
            executor.spin_until_future_complete(stop, timeout_sec=SPIN_TIMEOUT)
        except ExternalShutdownException:
            return
        except KeyboardInterrupt:
            return
        except StartupError:
            raise
        except Exception as error:
            failures.report(error)
            time.sleep(BREATH)


def _place(error: Exception) -> str:
    """Return the file and line of an exception; unlike traceback, read no file."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return 'a place unknown'
    return f'{os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno}'


class Failures:
    """Reports failed callbacks without flooding the log."""

    def __init__(self, node: Any):
        self._node = node
        self._reported: Dict[str, float] = {}

    def report(self, error: Exception) -> None:
        """Report a failure, unless the same was reported within `REPORT_PERIOD`."""
        now = time.monotonic()
        place = f'{type(error).__name__} in {_place(error)}'
        if now - self._reported.get(place, -REPORT_PERIOD) >= REPORT_PERIOD:
            if len(self._reported) > 100:
                self._reported.clear()
            self._reported[place] = now
            self._node.get_logger().error(
                f'a request or message could not be processed ({place}): {readable(error)}'
            )
            self._node.get_logger().debug(''.join(traceback.format_exception(error)))
