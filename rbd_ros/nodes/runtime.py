"""Running a node: executor, signals and shutdown, quality of service.

Every node ends with exit code 0 on SIGINT and SIGTERM, after its own `stop()` has published the
last command.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import threading
import time
import traceback
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
STEADY_CLOCK = Clock(clock_type=ClockType.STEADY_TIME)

# An EventsExecutor that waits without a timeout spins for ever in some builds of rclpy: it is
# always given a finite one.
SPIN_TIMEOUT = 3600.0

MOST_FAILURES = 20  # exceptions of callbacks in a second that a node survives


class StartupError(RuntimeError):
    """The node cannot run as it was started; the message says why and what to change."""


STARTUP_ERRORS = (
    StartupError,
    InvalidParameterTypeException,
    InvalidParameterValueException,
)


def quality_of_service(
    depth: int = 1, *, reliable: bool = True, transient_local: bool = False
) -> QoSProfile:
    """Keep-last profile.

    :param depth: messages kept
    :param reliable: reliable, or else best effort
    :param transient_local: keep the last messages for late subscribers
    """
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=(
            DurabilityPolicy.TRANSIENT_LOCAL if transient_local else DurabilityPolicy.VOLATILE
        ),
    )


def topic_options(**policies: bool) -> dict:
    """Arguments that let users override a topic's QoS by parameters, where rclpy can do it."""
    try:
        from rclpy.qos_overriding_options import QoSOverridingOptions
    except ImportError:
        return {}
    return {'qos_overriding_options': QoSOverridingOptions.with_default_policies(**policies)}


def create_executor() -> Executor:
    """Executor with the least cost per message that this rclpy has."""
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def flush(publisher: Publisher, timeout: float = 0.2) -> None:
    """Wait until subscribers have what was published, `timeout` seconds at most."""
    try:
        publisher.wait_for_all_acked(Duration(seconds=timeout))
    except Exception:  # not every middleware can tell; a short sleep is all that is left
        time.sleep(0.05)


_interruptible = False


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let a stop signal interrupt what is done here (loading and compiling a robot, say)."""
    global _interruptible
    before, _interruptible = _interruptible, True
    try:
        yield
    finally:
        _interruptible = before


def _interrupt(*_: object) -> None:
    if _interruptible:
        raise KeyboardInterrupt


class _StopSignals:
    """Ends a spin when SIGINT or SIGTERM arrives.

    The interpreter writes the numbers of signals into a pipe, and a thread reads them there: no
    handler ever interrupts a callback, and the ROS context is still alive when the node publishes
    its last command.
    """

    def __init__(self, executor: Executor):
        self.future = Future()
        self._executor = executor
        self._previous: Dict[int, Any] = {}
        self._previous_fd = -1
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._write_end, False)

    def __enter__(self) -> _StopSignals:
        if threading.current_thread() is threading.main_thread():
            self._previous_fd = signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
            for number in STOP_SIGNALS:
                self._previous[number] = signal.signal(number, _interrupt)
        self._thread = threading.Thread(target=self._listen, name='signals', daemon=True)
        self._thread.start()
        return self

    def _listen(self) -> None:
        while True:
            numbers = os.read(self._read_end, 64)
            if any(number in STOP_SIGNALS for number in numbers):
                self.future.set_result(True)
                self._executor.wake()
            if not all(numbers):
                return

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        if self._previous:
            signal.set_wakeup_fd(self._previous_fd)
        os.write(self._write_end, b'\0')  # no signal has the number 0
        self._thread.join()
        os.close(self._read_end)
        os.close(self._write_end)


def _spin(executor: Executor, stop: Future, node: Node) -> None:
    """Spin until `stop`; an exception of a callback is logged and costs only that callback.

    :raises Exception: if they come so fast that it must be the executor itself
    """
    failures: List[float] = []
    while node.context.ok() and not stop.done():
        try:
            executor.spin_until_future_complete(stop, timeout_sec=SPIN_TIMEOUT)
        except ExternalShutdownException:
            return
        except KeyboardInterrupt:
            return
        except Exception:
            now = time.monotonic()
            failures = [t for t in failures if now - t < 1.0] + [now]
            if len(failures) > MOST_FAILURES:
                raise
            node.get_logger().error(f'a callback failed:\n{traceback.format_exc()}')


def run_node(create: Callable[[], Node], args: Optional[Sequence[str]] = None) -> int:
    """Create a node, spin it until SIGINT, SIGTERM or the end of its context, and stop it.

    :param create: makes the node; its `stop()` is called before the node is destroyed
    :param args: command line as for `rclpy.init`
    :return: exit code
    """
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    executor = create_executor()
    logger = rclpy.logging.get_logger('rbd_ros')
    node: Optional[Node] = None
    with _StopSignals(executor) as stop:
        try:
            with interruptible():
                node = create()
            executor.add_node(node)
            gc.collect()
            gc.freeze()  # what lives now lives until the end: keep it out of later collections
            _spin(executor, stop.future, node)
            return 0
        except KeyboardInterrupt:
            return 0
        except STARTUP_ERRORS as error:
            logger.fatal(str(error))
        except Exception:
            logger.fatal(traceback.format_exc())
        finally:
            if node is not None:
                node.stop()
            executor.shutdown()
            if node is not None:
                node.destroy_node()
            rclpy.try_shutdown()
    return 1
