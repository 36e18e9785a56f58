"""How the fuzz test sends and listens: one thread, nothing waits, nothing is lost unnoticed.

Messages are sent as far ahead as the queues of the node hold them, and no further: how many it has
taken is read from its diagnostics. Subscriptions and clients are asked by hand, without executor,
between two batches.
"""

import time

from fuzz_messages import number_of
import numpy as np
from rclpy.serialization import deserialize_message

DEPTH = 4000  # of the queues at either end
AHEAD = 3500  # messages on their way
BATCH = 100  # messages between two looks at what came back
PATIENCE = 60.0  # seconds without any progress while there is something to send
END = 2.5  # likewise when all was sent; nodes say once a second what they have taken
REQUESTS_AT_ONCE = 4
MOST_TOLD = 5  # violations of a kind that are kept


def queue_overrides(*topics):
    """Parameters that make a node's subscriptions reliable, with long queues."""
    return {
        f'qos_overrides.{topic}.subscription.{policy}': value
        for topic in topics
        for policy, value in (('depth', DEPTH), ('reliability', 'reliable'))
    }


class Sender:
    """Sends a stream to a topic.

    :param publisher: where
    :param stream: messages by number
    :param count: how many
    :param taken: returns how many the node has taken
    """

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
        """How many were sent, for those who keep step."""
        return self.sent

    def pump(self):
        """Send some, if there is room; return how many."""
        room = min(BATCH, self.count - self.sent, AHEAD - (self.sent - self.taken))
        for number in range(self.sent, self.sent + max(room, 0)):
            self.publisher.publish(self.stream[number])
        self.sent += max(room, 0)
        return max(room, 0)

    def told(self):
        """What is on its way, for the one who looks for what did harm."""
        text = f'{self.stream.name}: {self.sent} sent, {self.taken} taken'
        return f'{text}, the last was {self.stream.told(self.sent - 1)}' if self.sent else text


class Companion(Sender):
    """Sends a stream in step with another, since nobody counts what is taken of it."""

    def __init__(self, publisher, stream, count, leader):
        super().__init__(publisher, stream, count, lambda: self.sent)
        self._leader = leader

    def pump(self):
        wanted = self.count * self._leader.sent // self._leader.count
        before = self.sent
        while self.sent < wanted:
            self.publisher.publish(self.stream[self.sent])
            self.sent += 1
        return self.sent - before


class Typed(Sender):
    """Sends a stream to a node that has its messages deserialised by the middleware.

    Those that cannot be are never seen by the node, so they are counted here.
    """

    def __init__(self, publisher, stream, count, taken):
        super().__init__(publisher, stream, count, lambda: taken() + self._illegible)
        self._illegible = 0

    def pump(self):
        before = self.sent
        result = super().pump()
        for number in range(before, self.sent):
            if self.stream.kind(number) == 'spoiled':
                try:
                    deserialize_message(self.stream[number], self.publisher.msg_type)
                except Exception:
                    self._illegible += 1
        return result


class Afterwards:
    """Leader of those who come when all messages have been taken.

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
    :param check: looks at the answer: check(number, response)
    :param count: how many
    :param leader: a sender, or another requester
    """

    def __init__(self, client, request, check, count, leader):
        self.client, self._request, self._check = client, request, check
        self.count, self._leader = count, leader
        self._open = {}
        self.sent = self.answered = 0

    def pump(self):
        wanted = self.count * self._leader.progress // self._leader.count
        while self.sent < wanted and len(self._open) < REQUESTS_AT_ONCE:
            sequence = self.client.handle.send_request(self._request(self.sent))
            self._open[sequence] = self.sent
            self.sent += 1
        self.collect()

    @property
    def done(self):
        """Whether all was sent and answered."""
        return self.answered == self.count

    def collect(self):
        """Take the answers that are there."""
        while True:
            header, response = self.client.handle.take_response(self.client.srv_type.Response)
            if header is None:
                return
            number = self._open.pop(header.request_id.sequence_number, None)
            if number is not None:
                self.answered += 1
                self._check(number, response)


class Listener:
    """Takes what comes on a topic, and hands it on."""

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
            self._use(deserialize_message(taken[0], kind))


class Outputs:
    """What is wrong with the messages of a node: numbers that are none, too large, too many.

    :param name: of the topic
    :param fields: the fields with numbers and the largest that each may carry; None: any finite
    :param size: how many numbers a field must have
    :param names: joint names that the message must have; None: it has none
    """

    def __init__(self, name, fields, size, names=None):
        self.name, self._fields, self._size, self._names = name, fields, size, names
        self.violations = []
        self.suspects = lambda: ''

    def check(self, message):
        for field, largest in self._fields.items():
            values = np.asarray(getattr(message, field))
            if len(values) != self._size:
                self._violated(message, f'{len(values)} numbers in {field}')
            elif not np.isfinite(values).all():
                self._violated(message, f'{field} is {values}')
            elif largest is not None and (np.abs(values) > largest).any():
                self._violated(message, f'{field} is {values}, beyond {largest}')
        if self._names is not None and tuple(message.name) != self._names:
            self._violated(message, f'names are {message.name}')

    def _violated(self, message, text):
        if len(self.violations) >= MOST_TOLD:
            return
        header = getattr(message, 'header', None)
        if header is not None:
            number = number_of(header.stamp.sec * 10**9 + header.stamp.nanosec)
            text += f', stamp of message {number}' if number is not None else ''
        self.violations.append(f'{self.name}: {text}; {self.suspects()}')


def resident(process):
    """Memory of a process [bytes]; 0 if it has ended."""
    try:
        with open(f'/proc/{process.pid}/statm') as file:
            return int(file.read().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


class Flood:
    """Everything that is sent and heard while it goes on.

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
            for rig in rigs:
                for sender in rig.senders:
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
            if now - progress > (END if all(rig.sent_all for rig in rigs) else PATIENCE):
                break  # what is missing is for the tests to tell
            if not moved:
                time.sleep(5e-4)
        for rig in self._rigs:
            rig.settle()
        self.duration = time.monotonic() - begin
