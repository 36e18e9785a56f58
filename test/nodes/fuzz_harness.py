# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Senders and receivers of the fuzz test: one thread without waits, and losses are noticed.

Messages are sent as far ahead as the queues of the node hold them, and no further: how many it has
taken is read from its diagnostics. Subscriptions and clients are asked by hand, without executor,
between two batches.
"""

import struct
import time

from fuzz_messages import number_of
import numpy as np
from support.waiting import CEILING

_STAMP = struct.Struct('<iI').unpack_from

DEPTH = 2000  # of the queues at either end
AHEAD = 1500  # messages on their way
BATCH = 100  # messages between two looks at what came back
END = 10.0  # without progress after the last message; nodes report their counts once a second [s]
REQUESTS_AT_ONCE = 8  # the queue of a service holds ten
MAX_KEPT = 5  # violations of a kind that are kept


def queue_overrides(*topics):
    """Return the parameters that make a node's subscriptions reliable, with long queues."""
    return {
        f'qos_overrides.{topic}.subscription.{policy}': value
        for topic in topics
        for policy, value in (('depth', DEPTH), ('reliability', 'reliable'))
    }


class Sender:
    """Sends a stream to a topic, side by side with the others of the same node.

    :param publisher: where
    :param stream: messages by number
    :param count: how many
    :param taken: returns how many the node has taken
    """

    leads = True

    def __init__(self, publisher, stream, count, taken):
        self.publisher, self.stream, self.count, self._taken = publisher, stream, count, taken
        self.sent = 0

    @property
    def taken(self):
        return int(self._taken())

    @property
    def done(self):
        return self.sent >= self.count

    @property
    def progress(self):
        """Number of sent messages, for senders in step."""
        return self.sent

    def pump(self):
        """Send some messages up to the capacity of queues; return their number."""
        room = min(BATCH, self.count - self.sent, AHEAD - (self.sent - self.taken))
        return self._send(room)

    def _send(self, count):
        count = max(count, 0)
        handle = self.publisher.handle
        with handle:
            for number in range(self.sent, self.sent + count):
                handle.publish_raw(self.stream[number])
        self.sent += count
        return count

    def described(self):
        """Return the messages in transit, to find a harmful one."""
        text = f'{self.stream.name}: {self.sent} sent, {self.taken} taken'
        return (
            f'{text}, the last was {self.stream.described(self.sent - 1)}' if self.sent else text
        )


class Companion(Sender):
    """Sender of a stream in step with another, as received messages are not counted."""

    leads = False

    def __init__(self, publisher, stream, count, leader):
        super().__init__(publisher, stream, count, lambda: self.sent)
        self._leader = leader

    def pump(self):
        due = self.count * self._leader.sent // self._leader.count
        return self._send(due - self.sent)


class Afterwards:
    """Leader of the streams that follow when all messages have been taken.

    :param senders: of the messages
    :param share: of the messages that is enough
    """

    count = 1

    def __init__(self, senders, share):
        self._senders, self._share = senders, share

    @property
    def progress(self):
        return int(all(s.done and s.taken >= self._share * s.sent for s in self._senders))


class Requester:
    """Calls a service again and again, some requests at a time, in step with a sender.

    :param client: of the service
    :param request: makes request `number`
    :param check: looks at the answer: check(number, request, response)
    :param count: how many
    :param leader: a sender, or another requester
    :param together: requests that follow each other without waiting for the leader
    """

    def __init__(self, client, request, check, count, leader, together=1):
        self.client, self._request, self._check = client, request, check
        self.count, self._leader, self._together = count, leader, together
        self._open = {}
        self.sent = self.answered = 0

    def pump(self):
        if self.done:
            return
        due = self.count * self._leader.progress // self._leader.count
        due = min(self.count, -(-due // self._together) * self._together)
        while self.sent < due and len(self._open) < REQUESTS_AT_ONCE:
            request = self._request(self.sent)
            self._open[self.client.handle.send_request(request)] = self.sent, request
            self.sent += 1
        self.collect()

    @property
    def done(self):
        """True if all was sent and answered."""
        return self.answered == self.count

    def collect(self):
        """Take the answers that are there."""
        while True:
            header, response = self.client.handle.take_response(self.client.srv_type.Response)
            if header is None:
                return
            asked = self._open.pop(header.request_id.sequence_number, None)
            if asked is not None:
                self.answered += 1
                self._check(*asked, response)


class Listener:
    """Subscriber of a topic that passes the bytes on."""

    def __init__(self, subscription, use):
        self._subscription, self._use = subscription, use
        self.heard = 0

    def drain(self):
        handle, kind = self._subscription.handle, self._subscription.msg_type
        while True:
            taken = handle.take_message(kind, True)
            if taken is None:
                return
            self.heard += 1
            self._use(taken[0])


class Outputs:
    """Errors in the messages of a node: NaN, too large or too many numbers.

    All of a topic must be alike but for time and numbers, so only the first is taken to pieces.

    :param name: of the topic
    :param first: required layout of a message, as a Packer
    :param largest: for each field with numbers, the largest that each may be, or None: any finite
    :param stamped: whether it begins with a time stamp
    """

    def __init__(self, name, first, largest, stamped=True):
        self.name, self._stamped = name, stamped
        data = first.data()
        self._size = len(data)
        edges = [4 + 8 * stamped]
        self._numbers = []
        for (at, count), most in zip(first.numbers, largest, strict=True):
            most = np.broadcast_to(np.inf if most is None else most, (count,)).tolist()
            self._numbers.append((struct.Struct(f'<{count}d').unpack_from, at, most))
            edges += [at, at + 8 * count]
        edges.append(len(data))
        self._fixed = [(slice(a, b), data[a:b]) for a, b in zip(edges[::2], edges[1::2]) if a < b]
        self.violations = []
        self.suspects = lambda: ''
        self.answers = None  # stream of the messages that are answered

    def check(self, data):
        """Look at a message; return its stamp [ns] and its last field."""
        values = ()
        stamp = _STAMP(data, 4) if self._stamped and len(data) >= 12 else (0, 0)
        if len(data) != self._size or any(data[at] != known for at, known in self._fixed):
            self.violated(stamp, f'not as it should be: {data[:300]}')
            return 0, values
        for unpack, at, most in self._numbers:
            values = unpack(data, at)
            for value, limit in zip(values, most):
                if not -limit <= value <= limit or value in (np.inf, -np.inf):
                    self.violated(stamp, f'{values}, where the largest are {most}')
        return stamp[0] * 10**9 + stamp[1], values

    def violated(self, stamp, text):
        if len(self.violations) < MAX_KEPT:
            number = number_of(stamp[0] * 10**9 + stamp[1])
            if self.answers is not None and number is not None and 0 <= number < 10**9:
                text += f', with the stamp of {self.answers.described(number)}'
            self.violations.append(f'{self.name}: {text}; {self.suspects()}')


def resident(process):
    """Return the memory of a process [bytes]; 0 if it has ended."""
    try:
        with open(f'/proc/{process.pid}/statm') as file:
            return int(file.read().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


class Flood:
    """All senders and subscribers of a flood.

    :param rigs: nodes under attack; each has `senders`, `requesters`, `listeners` and `process`
    """

    def __init__(self, rigs, listeners):
        self._rigs, self._listeners = rigs, listeners
        self.duration = 0.0

    def run(self):
        """Send everything; a node that dies ends its own part."""
        begin = progress = time.monotonic()
        seen = None
        while True:
            rigs = [rig for rig in self._rigs if rig.alive()]
            moved = 0
            # In parallel: the slowest stream gets the processor, and does not run alone at the
            # end.
            slowest = min((s.sent for rig in rigs for s in rig.senders if s.leads), default=0)
            for rig in rigs:
                for sender in rig.senders:
                    if not sender.leads or sender.sent <= slowest + AHEAD // 2:
                        moved += sender.pump()
                for requester in rig.requesters:
                    requester.pump()
                rig.look()
            for listener in self._listeners:
                listener.drain()
            now = time.monotonic()
            state = [s.taken for rig in rigs for s in rig.senders]
            state += [r.answered for rig in rigs for r in rig.requesters]
            if moved or state != seen:
                progress, seen = now, state
            if all(rig.taken_all for rig in rigs):
                break
            if now - progress > (END if all(rig.sent_all for rig in rigs) else CEILING):
                break  # missing messages are reported by the tests
            if not moved:
                time.sleep(5e-4)
        for rig in self._rigs:
            rig.settle()
        self.duration = time.monotonic() - begin
