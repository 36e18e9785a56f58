# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Running a node as a process: signals are caught first, and its end is orderly.

SIGINT, SIGTERM and SIGHUP end a node with exit code 0 at any instant: while modules are imported
and robots compiled nothing has been commanded, so it just ends; later its `stop()` sends the last
command; a second signal forces that. Until `run_node` has begun, Python's own start-up (some
hundredths of a second) is not covered.

`main` functions belong to a process of their own, and end it.
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

# An EventsExecutor that waits without a timeout spins for ever in some builds of rclpy: it is
# always given a finite one.
SPIN_TIMEOUT = 3600.0

START_UP_TIMEOUT = 5.0  # time that start-up has to end after a signal, or compiling [s]
END_TIMEOUT = 20.0  # time for the end after a second signal, or after the last command [s]
BREATH = 1e-3  # pause after the executor failed: if it always does, others must get their turn [s]
REPORT_PERIOD = 5.0  # between two reports of the same failure of callbacks [s]

#: How long the interpreter lets a thread run while others wait [s]: the control loop must not wait
#: 5 ms for a service.
SWITCH_INTERVAL = 2e-4


class StartupError(RuntimeError):
    """The node cannot run with its settings; the message gives the reason and the cure."""


class _Phase:
    """Phase of a node, which determines the effect of a signal."""

    IMPORTING = 'importing'  # it ends at once
    STARTING = 'starting'  # the main thread is interrupted
    RUNNING = 'running'  # the executor returns
    STOPPING = 'stopping'  # the last command hurries


class StopSignals:
    """Ends a node when a stop signal arrives.

    The interpreter writes the numbers of signals into a pipe, and a thread reads them there. So no
    handler ever interrupts a callback, and the ROS context is still alive when the node publishes
    its last command.
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
                if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
                    signal.signal(number, self._interrupt)
                    self._numbers.append(number)
        threading.Thread(target=self._listen, name='signals', daemon=True).start()

    @property
    def _can_be_interrupted(self) -> bool:
        return self.phase == _Phase.STARTING or self._interruptible

    def _interrupt(self, *_: object) -> None:
        if self._can_be_interrupted:
            # What is interrupted while it is made may complain when it is taken apart.
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
            limit_the_end()
        self.on_stop()

    def _end_after_timeout(self) -> None:
        """End what is interrupted but caught in machine code; it has nothing to command."""
        time.sleep(START_UP_TIMEOUT)
        if self._can_be_interrupted:
            limit_the_end()
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
        """Ignore stop signals from now on, so that nothing disturbs the end of the process."""
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)


def limit_the_end() -> None:
    """End the process in `END_TIMEOUT` with what its threads are at, should it still be there.

    That needs none of Python's locks. From the last command on, signals are ignored: without a
    limit, what is caught in a library would stay for ever.
    """
    # Without a standard error there is no place to say it.
    with contextlib.suppress(AttributeError, OSError, RuntimeError, ValueError):
        faulthandler.dump_traceback_later(END_TIMEOUT, exit=True)


_signals: Optional[StopSignals] = None
_nodes: List[Any] = []


def destroy_at_the_end(node: Any) -> None:
    """Destroy a node with the process, also if it is never finished.

    :param node: rclpy node, as soon as it is one
    """
    _nodes.append(node)


def _destroy_nodes() -> None:
    """Notify others that nodes are gone; they would see them for many seconds more."""
    for node in _nodes:
        _end(node.destroy_node, node.get_logger())


def interruptible() -> contextlib.AbstractContextManager:
    """Return the context in which a stop signal interrupts the main thread.

    Elsewhere it has no effect.
    """
    here = threading.current_thread() is threading.main_thread()
    return _signals.interruptible() if _signals is not None and here else contextlib.nullcontext()


def ending() -> bool:
    """Return whether a stop signal has arrived, so that no long task should begin."""
    return _signals is not None and _signals.count > 0


def forced() -> threading.Event:
    """Return the event that is set when a second stop signal asks for an immediate end."""
    return _signals.forced if _signals is not None else threading.Event()


def run_node(
    load: Callable[[], Callable[[], Any]], args: Optional[Sequence[str]] = None
) -> NoReturn:
    """Create a node, spin it until a stop signal or the end of its context, stop it, and exit.

    :param load: imports what the node needs and returns a function that creates it; of the node,
        `start()` is called when signals reach it, and `stop()` before it is destroyed
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
        # From here on, a signal ends what is done in order.
        signals.phase = _Phase.STARTING
        code = _run(create, args, signals, logger)
    except KeyboardInterrupt:
        code = 0
    except StartupError as error:
        logger.fatal(readable(error))
    except Exception as error:
        # What rclpy raises at start is the user's: a wrong file, a wrong remapping.
        of_rclpy = type(error).__module__.partition('.')[0] == 'rclpy'
        logger.fatal(first_line(error) if of_rclpy else traceback.format_exc())
    finally:
        signals.phase = _Phase.STOPPING
        limit_the_end()
        signals.ignore()
        rclpy.try_shutdown()
    _exit(code)


def _exit(code: int) -> NoReturn:
    """End the process without taking it apart.

    What a compiler leaves in memory takes seconds to take apart, on a busy machine many, and
    a client that waits for the end of the node could not force that.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).fflush(None)  # the log of ROS is written by C
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
        gc.freeze()  # what lives now lives until the end: keep it out of later collections
        signals.on_stop = on_stop
        signals.phase = _Phase.RUNNING
        if not signals.count:
            node.start()
            spin(executor, stop, node)
        return 0
    except Exception:
        if node is None and signals.count:
            return 0  # asked to end, after which parameters are rejected: no fault of anybody's
        raise
    finally:
        signals.phase = _Phase.STOPPING
        if node is not None:
            _end(node.stop, logger)  # the last command may take as long as its rate limit wants
        limit_the_end()
        _end(executor.shutdown, logger)
        _destroy_nodes()


def _end(work: Callable[[], Any], logger: Any) -> None:
    """Run one step of the shutdown; a failure is logged, and the other steps follow."""
    try:
        work()
    except Exception:
        logger.error(traceback.format_exc())


def spin(executor: Any, stop: Any, node: Any) -> None:
    """Spin until `stop`; an exception of a callback is reported and costs only that callback.

    Not all callbacks are ours: rclpy's own raise on some requests and times that are well-typed
    but make no sense. Nobody may end a node by sending such a message.
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
    """Return the file and line of an exception, without reading the file as traceback does."""
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
