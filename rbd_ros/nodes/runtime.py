"""Running a node: executor, signals and shutdown, quality of service.

Every node ends with exit code 0 on SIGINT and SIGTERM, after its own `stop()` has published the
last command.
"""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
from typing import Callable, Optional, Sequence

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.executors import Executor, SingleThreadedExecutor
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


class StartupError(RuntimeError):
    """The node cannot run as it was started; the message says why and what to change."""


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


class _StopRequest:
    """Ends a spin when a stop signal arrives.

    The signals are blocked in all threads and taken by one that waits for them, so that no handler
    ever interrupts a callback, and the ROS context is still alive when the node publishes its last
    command.
    """

    def __init__(self, executor: Executor):
        self.future = Future()
        self._executor = executor

    def listen(self) -> None:
        threading.Thread(target=self._wait_for_signal, name='signals', daemon=True).start()

    def _wait_for_signal(self) -> None:
        signal.sigwait(STOP_SIGNALS)
        self.future.set_result(True)
        self._executor.wake()


def _spin(executor: Executor, stop: Future, context: rclpy.Context) -> None:
    while context.ok() and not stop.done():
        executor.spin_until_future_complete(stop, timeout_sec=SPIN_TIMEOUT)


def run_node(create: Callable[[], Node], args: Optional[Sequence[str]] = None) -> int:
    """Create a node, spin it until SIGINT, SIGTERM or the end of its context, and stop it.

    :param create: makes the node; its `stop()` is called before the node is destroyed
    :param args: command line as for `rclpy.init`
    :return: exit code
    """
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    logger = rclpy.logging.get_logger('rbd_ros')
    node, executor, code = None, None, 0
    try:
        executor = create_executor()
        stop = _StopRequest(executor)
        stop.listen()
        node = create()
        executor.add_node(node)
        gc.collect()
        gc.freeze()  # what lives now lives until the end: keep it out of later collections
        _spin(executor, stop.future, rclpy.get_default_context())
    except (StartupError, InvalidParameterTypeException, InvalidParameterValueException) as error:
        logger.fatal(str(error))
        code = 1
    except Exception as error:
        logger.fatal(f'{type(error).__name__}: {error}')
        import traceback

        traceback.print_exc(file=sys.stderr)
        code = 1
    finally:
        if node is not None:
            node.stop()
        if executor is not None:
            executor.shutdown()
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)
    return code
