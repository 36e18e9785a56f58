# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of a node on `/diagnostics`: once a second, and at once on a change.

If many changes follow each other, the newest of each subject is published ten times a second.

A *condition* lasts until it is replaced (robot description missing, states silent). An *event* is
one occurrence (a message rejected) and stays visible for a while, so that a tool that reads once a
second shows it. The log follows the same changes: a bad message at 1 kHz does not flood it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import threading
import time
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Tuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from rbd_ros.nodes.common.communication import publisher, STEADY_CLOCK
from rbd_ros.nodes.common.declared import DIAGNOSTICS_TOPIC
from rbd_ros.nodes.messages.text import readable

OK, WARN, ERROR, STALE = (
    DiagnosticStatus.OK,
    DiagnosticStatus.WARN,
    DiagnosticStatus.ERROR,
    DiagnosticStatus.STALE,
)

EVENT_VISIBLE = 2.0  # time for which an event is shown after its last occurrence [s]
ANNOUNCEMENT_PERIOD = 0.1  # mean time between publications when changes are frequent [s]
BURST = 10.0  # changes in a row that are published at once
PERIOD = 1.0  # time between publications without changes [s]
LOG_PERIOD = 5.0  # time between two log lines about the same subject [s]
MAX_EVENTS = 32  # remembered kinds of events of a subject; the oldest are dropped
FORGOTTEN = 'not configured'  # condition of the subjects of a node after cleanup

Values = Callable[[], Dict[str, Any]]


@dataclass
class _Event:
    level: bytes
    message: str  # unmodified
    last: float
    count: int = 1
    active: bool = False
    announced: float = 0.0


@dataclass
class _Topic:
    level: bytes = OK
    message: str = ''
    code: str = ''
    events: Dict[str, _Event] = field(default_factory=dict)
    logged: Dict[str, float] = field(default_factory=dict)
    unlogged: int = 0

    def active_events(self) -> List[_Event]:
        return [event for event in self.events.values() if event.active]

    def summary(self) -> tuple:
        """Return the level and text of the condition and of all events still visible."""
        parts = [(self.level, self.message)]
        parts += [(event.level, readable(event.message)) for event in self.active_events()]
        level = max(level for level, _ in parts)
        # The text of a healthy condition would hide the problem.
        texts = [text for own, text in parts if text and (level == OK or own != OK)]
        return level, '; '.join(texts)


class Diagnostics:
    """Conditions and events of a node, by subject; methods may be called from any thread."""

    def __init__(self, node: Node):
        self._node = node
        self._subjects: Dict[str, _Topic] = {}
        self._values: Dict[str, Values] = {}
        self._lock = threading.RLock()
        self._hooks: List[Callable[[], None]] = []
        self.hardware_id = ''
        self._publisher = publisher(node, DIAGNOSTICS_TOPIC)
        # A separate lock: a thread that only sets a condition never waits for DDS.
        self._publishing = threading.Lock()
        self._ticked = -PERIOD  # time of the last periodic publication [s]
        self._credit = BURST  # publications that may follow at once
        self._counted = time.monotonic()  # time of the last update of the credit [s]
        self._waiting = False  # whether a change is unpublished
        self._timer = node.create_timer(ANNOUNCEMENT_PERIOD, self._on_timer, clock=STEADY_CLOCK)

    def add_values(self, subject: str, values: Values) -> None:
        """Add the key-value pairs of `values()` to each publication of `subject`."""
        with self._lock:
            self._subject(subject)
            self._values[subject] = values

    def every_second(self, hook: Callable[[], None]) -> None:
        """Call `hook` on the executor before each periodic publication."""
        self._hooks.append(hook)

    def mark(self) -> Tuple[int, FrozenSet[str]]:
        """Return the present hooks and subjects."""
        with self._lock:
            return len(self._hooks), frozenset(self._subjects)

    def discard_since(self, mark: Tuple[int, FrozenSet[str]]) -> None:
        """Remove the hooks and the states of subjects that were added after a `mark`.

        The subjects stay: monitors take a missing subject for a failure.
        """
        hooks, subjects = mark
        with self._lock:
            self._hooks = self._hooks[:hooks]
            for subject in self._subjects.keys() - subjects:
                self._subjects[subject] = _Topic(message=FORGOTTEN, code=FORGOTTEN)
                self._values.pop(subject, None)

    def condition(
        self, subject: str, level: bytes, message: str, code: Optional[str] = None
    ) -> None:
        """Set the condition of `subject`, which holds until it is replaced.

        :param subject: subject of the condition
        :param level: `OK`, `WARN`, `ERROR` or `STALE`
        :param message: text for the user
        :param code: identifies the condition if the text varies with numbers; changes of the code
            are published
        """
        message = readable(message)
        code = message if code is None else code
        with self._lock:
            state = self._subject(subject)
            changed = (level, code) != (state.level, state.code)
            was = state.level
            state.level, state.message, state.code = level, message, code
            if changed and not level == was == OK:
                self._log(subject, level, message, code)
        if changed:
            self._announce()

    def event(self, subject: str, level: bytes, message: str, code: Optional[str] = None) -> None:
        """Report one occurrence of an event.

        :param subject: subject of the event
        :param level: `OK`, `WARN`, `ERROR` or `STALE`
        :param message: text for the user
        :param code: name under which occurrences are counted; None: the text
        """
        now = time.monotonic()
        code = readable(message) if code is None else code
        with self._lock:
            events = self._subject(subject).events
            known = events.get(code)
            if known is not None and known.active and now - known.announced < ANNOUNCEMENT_PERIOD:
                # In a flood, events are only counted.
                known.count += 1
                known.level, known.message, known.last = level, message, now
                return
            if known is None:
                if len(events) >= MAX_EVENTS:
                    del events[min(events, key=lambda key: events[key].last)]
                known = events[code] = _Event(level, message, now)
            else:
                known.count += 1
                same = known.active and (level, message) == (known.level, known.message)
                known.level, known.message, known.last = level, message, now
                if same:
                    return
            quiet = known.active and now - known.announced <= EVENT_VISIBLE
            known.active, known.announced = True, now
            if not quiet:
                self._log(subject, level, readable(message), code)
        self._announce()

    def level(self, subject: str) -> bytes:
        """Return the present level of `subject`, including visible events."""
        with self._lock:
            return self._subject(subject).summary()[0]

    def publish(self) -> None:
        """Publish all subjects now."""
        with self._publishing:
            message = DiagnosticArray()
            message.header.stamp = self._node.get_clock().now().to_msg()
            with self._lock:
                self._credit, self._waiting = max(0.0, self._credit - 1.0), False
                message.status = [self._status(subject) for subject in self._subjects]
            try:
                self._publisher.publish(message)
            except Exception:  # the context is shutting down
                pass

    def flush(self) -> None:
        """Publish changes that wait for a timer; a node calls this at its end."""
        if self._waiting:
            self.publish()

    def _announce(self) -> None:
        """Publish a change at once; after many changes, delayed.

        Publishing takes longer than rejecting a message: a flood must not make it frequent.
        """
        with self._lock:
            now = time.monotonic()
            earned = (now - self._counted) / ANNOUNCEMENT_PERIOD
            self._counted, self._credit = now, min(BURST, self._credit + earned)
            self._waiting = self._credit < 1.0
        if not self._waiting:
            self.publish()

    def _subject(self, subject: str) -> _Topic:
        return self._subjects.setdefault(subject, _Topic())

    def _log(self, subject: str, level: bytes, message: str, code: str) -> None:
        """Log a message, unless the same was logged within `LOG_PERIOD`."""
        state, now = self._subject(subject), time.monotonic()
        state.logged = {c: t for c, t in state.logged.items() if now - t < LOG_PERIOD}
        if code in state.logged:
            state.unlogged += 1
            return
        if len(state.logged) < MAX_EVENTS:
            state.logged[code] = now
        text = f'{subject}: {message or "recovered"}'
        if state.unlogged:
            text += f' (and {state.unlogged} similar lines)'
            state.unlogged = 0
        logger = self._node.get_logger()
        # One call per level: rclpy binds the severity to the line of code.
        if level == OK:
            logger.info(text)
        elif level == WARN:
            logger.warning(text)
        else:
            logger.error(text)

    def _on_timer(self) -> None:
        now = time.monotonic()
        if now - self._ticked >= PERIOD - 0.5 * ANNOUNCEMENT_PERIOD:
            self._ticked = now
            self._tick()
        elif self._waiting:
            self.publish()

    def _tick(self) -> None:
        for hook in self._hooks:
            hook()
        now = time.monotonic()
        with self._lock:
            for state in self._subjects.values():
                for event in state.active_events():
                    event.active = now - event.last < EVENT_VISIBLE
        self.publish()

    def _status(self, subject: str) -> DiagnosticStatus:
        state = self._subjects[subject]
        level, message = state.summary()
        values = dict(self._values[subject]()) if subject in self._values else {}
        for code, event in state.events.items():
            values[f'count: {readable(code)}'] = event.count
        return DiagnosticStatus(
            level=level,
            name=f'{self._node.get_fully_qualified_name().lstrip("/")}: {subject}',
            message=message or 'OK',
            hardware_id=self.hardware_id,
            values=[KeyValue(key=key, value=_text(value)) for key, value in values.items()],
        )


def _text(value: Any) -> str:
    return f'{value:.6g}' if isinstance(value, float) else str(value)
