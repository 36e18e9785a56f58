# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages of the fuzz test: streams of bytes that follow from a seed, a name and a number alone.

`stream[k]` is message number `k` in any order of access, so a message that did harm can be made
again. Of 50 messages in a row the first five are legal and in order, as many as it takes until a
torque node believes in a new time line. All others are hostile: well-typed nonsense, or bytes that
are no message at all. Bytes are packed here, not by the middleware, which would reject to send
most of that.
"""

import functools
import itertools
import math
import random
import struct

NAMES = ('shoulder', 'elbow')
PERIOD = 50
LEGAL_RUN = 5
BASE = 1_700_000_000  # time of message 0 [s]; messages are 1 ms apart
CHUNK = 500  # messages that are made from one state of the random generator

NUMBERS = (
    *(math.nan, math.inf, -math.inf, 1e308, -1e308, 1.7976931348623157e308, 1e300, -1e200),
    *(1e-320, -0.0, 1e154, 1e9, -1e7, 1e6, 100.0, -57.3, 3.6, -2.9, 2.0**53),
)
STAMPS = (
    *((0, 0), (0, 1), (-1, 0), (-1, 2**32 - 1), (-(2**31), 0), (2**31 - 1, 999_999_999)),
    *((2**31 - 1, 2**32 - 1), (0, 2**32 - 1), (BASE, 10**9 + 1)),
    *((BASE + 3600, 1), (BASE - 3600, 1)),
)
COUNTS = (0, 1, 3, 4, 7, 100, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 8, 0x20000001)
ENCAPSULATIONS = (b'\0\0', b'\0\2', b'\0\3', b'\0\6', b'\0\7', b'\1\1', b'\xff\xff', b'\xca\xfe')
NAME_LISTS = (
    *(('shoulder',), ('elbow',), ('elbow', 'shoulder'), (), ('',), ('', ''), ('shoulder', '')),
    *(('shoulder', 'shoulder'), ('shoulder', 'elbow', 'elbow'), ('shoulder', 'elbow', 'wing')),
    *(('SHOULDER', 'elbow'), ('shoulder ', 'elbow'), ('wing', 'tail'), ('tool_mount', 'elbow')),
    *(('épaule', '肘'), ('🦾', 'elbow'), ('\x1b[2J', 'elbow\n'), ('x' * 300, 'elbow')),
    *(('shoulder', 'elbow') * 5, tuple(f'joint_{k}' for k in range(40))),
)
LONG_NAME_LISTS = (
    *(('x' * 20_000, 'elbow'), ('shoulder',) * 1000, tuple(f'joint_{k}' for k in range(1100))),
    (*(f'joint_{k}' for k in range(500)), 'elbow', 'shoulder'),
)
LINKS = ('upper', 'lower', 'tool', 'base')
OBJECTS = ('box', 'ball')  # that can be moved, of the world
WORLD = """
objects:
  floor: {type: plane, xyz: [0, 0, -2]}
  box: {type: box, size: [0.2, 0.2, 0.2], xyz: [0, 2, -1.9], static: false, mass: 1.0}
  ball: {type: sphere, radius: 0.1, xyz: [0, 4, -1.9], static: false, mass: 0.5}
"""
FRAMES = (
    *('', 'wing', '/tool', '//tool', 'tool ', 'TOOL', 'tool\n', 'Werkzeug_ä', '🦾', '\x1b[2J'),
    *('x' * 300, 'shoulder', 'world'),
)
LONG_FRAME = 'x' * 20_000
MAX_LEGAL_EFFORT = (30.0, 10.0)


def stamp_of(number):
    """Time stamp of message `number` [ns]; no other message says the same by chance."""
    return BASE * 10**9 + number * 1_000_000


def number_of(stamp):
    """Return the number of the message with a time stamp [ns], if it is one of ours."""
    number, rest = divmod(stamp - BASE * 10**9, 1_000_000)
    return None if rest else number


def is_legal(number):
    return number % PERIOD < LEGAL_RUN


def position_of(number):
    """Return the position in the legal state of that number, (2,); no velocity explains a jump."""
    return 2.0 * math.sin(0.0037 * number), 1.5 * math.cos(0.0023 * number)


# -- bytes ----------------------------------------------------------------------------------------


class Packer:
    """Packs a message as plain CDR; alignment counts from the end of the encapsulation."""

    def __init__(self, order='<'):
        self.order = order
        self.body = bytearray()
        self.numbers = []  # where numbers begin in the data, and how many there are
        self.times = []  # where times are in the data

    def align(self, size):
        self.body += bytes(-len(self.body) % size)

    def stamp(self, seconds, nanoseconds):
        self.align(4)
        self.times.append(len(self.body) + 4)
        self.body += struct.pack(f'{self.order}iI', seconds, nanoseconds)

    def unsigned(self, value):
        self.align(4)
        self.body += struct.pack(f'{self.order}I', value)

    def text(self, value):
        encoded = value.encode() + b'\0'
        self.unsigned(len(encoded))
        self.body += encoded

    def texts(self, values):
        self.unsigned(len(values))
        for value in values:
            self.text(value)

    def doubles(self, values):
        self.align(8)
        self.numbers.append((len(self.body) + 4, len(values)))
        self.body += struct.pack(f'{self.order}{len(values)}d', *values)

    def array(self, values):
        self.unsigned(len(values))
        if len(values):
            self.doubles(values)

    def data(self):
        return (b'\0\1\0\0' if self.order == '<' else b'\0\0\0\0') + bytes(self.body)


@functools.lru_cache(maxsize=300)
def _layout(make, *arguments):
    """Return a message full of zeros, where its numbers begin, and where its times are."""
    packer = make(*arguments)
    return packer.data(), [at for at, _ in packer.numbers], packer.times


def _filled(layout, order, times, columns):
    """Return the message of a layout with its times and numbers; of columns those with numbers."""
    zeros, numbers_at, times_at = layout
    data = bytearray(zeros)
    for at, time in zip(times_at, times):
        struct.pack_into(f'{order}iI', data, at, *time)
    for at, column in zip(numbers_at, filter(len, columns)):
        struct.pack_into(f'{order}{len(column)}d', data, at, *column)
    return bytes(data)


def joint_state(stamp, names, *columns, order='<', frame=''):
    """Return the JointState with a stamp (s, ns), and columns position, velocity and effort."""
    sizes = tuple(map(len, columns))
    layout = _layout(packed_joint_state, tuple(names), sizes, order, frame)
    return _filled(layout, order, [stamp], columns)


def packed_joint_state(names, sizes, order='<', frame=''):
    """Return the JointState with that many numbers in position, velocity and effort, all zero."""
    packer = Packer(order)
    packer.stamp(0, 0)
    packer.text(frame)
    packer.texts(names)
    for size in (*sizes, 0, 0)[:3]:
        packer.array([0.0] * size)
    return packer


def packed_bodies(frame, names):
    """Return the MultiDOFJointState of some bodies, all numbers zero."""
    packer = Packer()
    packer.stamp(0, 0)
    packer.text(frame)
    packer.texts(names)
    for size in (7, 6, 6):
        packer.unsigned(len(names))
        packer.doubles([0.0] * size * len(names))
    return packer


def trajectory(stamp, names, points, order='<'):
    """Return the JointTrajectory.

    A point is (positions, velocities, accelerations, effort, (s, ns)).
    """
    sizes = tuple(tuple(map(len, columns)) for *columns, _ in points)
    layout = _layout(_packed_trajectory, tuple(names), sizes, order)
    columns = [column for point in points for column in point[:-1]]
    return _filled(layout, order, [stamp, *(time for *_, time in points)], columns)


def _packed_trajectory(names, sizes, order):
    packer = Packer(order)
    packer.stamp(0, 0)
    packer.text('')
    packer.texts(names)
    packer.unsigned(len(sizes))
    for point in sizes:
        for size in point:
            packer.array([0.0] * size)
        packer.stamp(0, 0)
    return packer


def multi_array(*arguments, **options):
    """Return the Float64MultiArray; a dimension is (label, size, stride)."""
    return packed_multi_array(*arguments, **options).data()


def packed_multi_array(values, dimensions=(), offset=0, order='<'):
    packer = Packer(order)
    packer.unsigned(len(dimensions))
    for label, size, stride in dimensions:
        packer.text(label)
        packer.unsigned(size)
        packer.unsigned(stride)
    packer.unsigned(offset)
    packer.array(values)
    return packer


def wrench(stamp, frame, values, order='<'):
    """Return the WrenchStamped; values are force, then torque, (6,)."""
    packer = Packer(order)
    packer.stamp(*stamp)
    packer.text(frame)
    packer.doubles(values)
    return packer.data()


def clock(stamp):
    packer = Packer()
    packer.stamp(*stamp)
    return packer.data()


def string(text):
    packer = Packer()
    packer.text(text)
    return packer.data()


def spoiled(data, rng):
    """Return a damaged message; of no less than four bytes.

    What is shorter than that the middleware itself gives up, and a reliable writer then waits for
    ever for its arrival, so that nothing comes through any more.
    """
    result = _spoiled(bytearray(data), rng)
    return result if len(result) >= 4 else data[:4]


def _spoiled(data, rng):
    what = rng.randrange(10)
    if what == 0:
        del data[rng.randrange(len(data)) :]
    elif what == 1:
        at = 4 * rng.randrange(len(data) // 4)
        data[at : at + 4] = struct.pack('<I', rng.choice(COUNTS))
    elif what == 2:
        at = rng.randrange(len(data))
        data[at:at] = rng.randbytes(rng.randint(1, 9))
    elif what == 3:
        at = rng.randrange(len(data))
        del data[at : at + rng.randint(1, 9)]
    elif what == 4:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif what == 5:
        data[rng.randrange(len(data))] = rng.randrange(256)
    elif what == 6:
        data[:2] = rng.choice(ENCAPSULATIONS)
    elif what == 7:
        data[4:] = rng.randbytes(rng.randrange(200))
    elif what == 8:
        return rng.randbytes(rng.randrange(40))
    else:
        data += data[4:]
    return bytes(data)


# -- streams --------------------------------------------------------------------------------------


class Stream:
    """Messages of one topic.

    :param seed: of the whole test
    :param legal: makes message `number` if it is a legal one: legal(rng, number)
    :param hostile: kinds of others by name: (how often, what makes them), called alike
    """

    def __init__(self, seed, name, legal, hostile):
        self.seed, self.name = seed, name
        self._legal = legal
        self._kinds = list(hostile)
        self._weights = list(itertools.accumulate(weight for weight, _ in hostile.values()))
        self._makers = {kind: maker for kind, (_, maker) in hostile.items()}
        self._chunk = functools.lru_cache(maxsize=16)(self._make_chunk)

    def __getitem__(self, number):
        return self._chunk(number // CHUNK)[number % CHUNK][1]

    def kind(self, number):
        """Return the kind of a message, to find a harmful one."""
        return self._chunk(number // CHUNK)[number % CHUNK][0]

    def described(self, number):
        """Return where a message is found again."""
        return f'seed {self.seed}, {self.name} message {number} ({self.kind(number)})'

    def _make_chunk(self, chunk):
        rng = random.Random(f'{self.seed} {self.name} {chunk}')
        made = []
        for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
            if is_legal(number):
                made.append(('legal', self._legal(rng, number)))
            else:
                (kind,) = rng.choices(self._kinds, cum_weights=self._weights)
                made.append((kind, self._makers[kind](rng, number)))
        return made


def stamp_pair(number):
    return divmod(stamp_of(number), 10**9)


def near(rng, size=2):
    return [rng.uniform(-1.0, 1.0) for _ in range(size)]


def with_nonsense(rng, values):
    """Return the same numbers, one or two of them hostile."""
    values = list(values)
    for _ in range(rng.randint(1, 2)):
        if values:
            values[rng.randrange(len(values))] = rng.choice(NUMBERS)
    return values


def wrong_length(rng):
    size = rng.choice((0, 1, 3, 4, 17, 17, 17, 300))
    return [rng.uniform(-1.0, 1.0)] * size


def any_order(number):
    """Return the byte order: every third message is in that of other machines."""
    return '>' if number % 3 == 2 else '<'


# -- states of a robot, and commands by name ------------------------------------------------------


def joint_states(seed, name='joint_states'):
    """Return the states of the two-link arm."""

    def legal(rng, number):
        return joint_state(
            stamp_pair(number),
            NAMES,
            position_of(number),
            (0.0, 0.0),
            order=any_order(number),
        )

    return Stream(seed, name, legal, _hostile_joint_states(legal, near))


def joint_commands(seed):
    """Return the commands of the two-link arm: efforts, positions and velocities in turns."""

    def values(rng, size=2):
        return [rng.uniform(-1.0, 1.0) * most for most in MAX_LEGAL_EFFORT][:size]

    def legal(rng, number):
        columns = [(), (), ()]
        columns[(number // PERIOD) % 3] = values(rng) if number // PERIOD % 3 == 2 else near(rng)
        return joint_state(stamp_pair(number), NAMES, *columns, order=any_order(number))

    return Stream(seed, 'joint_commands', legal, _hostile_joint_states(legal, values))


def _hostile_joint_states(legal, values):
    def numbers(rng, number):
        columns = [near(rng), near(rng), values(rng)]
        at = rng.randrange(3)
        columns[at] = with_nonsense(rng, columns[at])
        return joint_state(stamp_pair(number), NAMES, *columns)

    def lengths(rng, number):
        columns = [near(rng), near(rng), values(rng)]
        columns[rng.randrange(3)] = wrong_length(rng)
        return joint_state(stamp_pair(number), NAMES, *columns)

    def named(rng, number, names, size=None):
        size = len(names) if size is None else size
        columns = [[rng.uniform(-1.0, 1.0)] * size for _ in range(rng.randint(1, 3))]
        return joint_state(stamp_pair(number), names, *columns)

    def names(rng, number):
        return named(rng, number, rng.choice(NAME_LISTS))

    def invented(rng, number):
        return named(rng, number, (f'n{number}', rng.choice(NAMES)))

    def long_names(rng, number):
        return named(rng, number, rng.choice(LONG_NAME_LISTS))

    def stamps(rng, number):
        return joint_state(rng.choice(STAMPS), NAMES, near(rng), near(rng), values(rng))

    def times(rng, number):
        """Return a little early, or again."""
        ahead = rng.choice((0, -1, -2, -1000)) * 500_001
        stamp = divmod(stamp_of(number) + ahead, 10**9)
        return joint_state(stamp, NAMES, near(rng), near(rng), values(rng))

    def frames(rng, number):
        frame = rng.choice((*FRAMES, LONG_FRAME))
        return joint_state(
            stamp_pair(number), NAMES, near(rng), near(rng), values(rng), frame=frame
        )

    return {
        'numbers': (35, numbers),
        'lengths': (15, lengths),
        'names': (8, names),
        'invented names': (2, invented),
        'long names': (0.3, long_names),
        'stamps': (2, stamps),
        'early stamps': (3, times),
        'frames': (1, frames),
        'spoiled': (35, lambda rng, number: spoiled(legal(rng, number), rng)),
    }


# -- trajectories ---------------------------------------------------------------------------------

TIMES = (*STAMPS, (1, 0), (5, 0), (0, 10**9), (3600, 0), (100_000_000, 0))


def joint_trajectories(seed):
    """Return the trajectories of the two-link arm, most of one to four points."""

    def points(rng, size=2, most=4):
        count, seconds = rng.randint(1, most), rng.uniform(0.5, 3.0)
        result = []
        for k in range(count):
            time = divmod(int(1e9 * seconds * (k + 1)), 10**9)
            result.append([near(rng, size), (), (), (), time])
        return result

    def legal(rng, number):
        made = points(rng)
        if number % 2:
            for point in made:
                point[1] = [0.0, 0.0]
        return trajectory((0, 0), NAMES, made, any_order(number))

    def numbers(rng, number):
        made = points(rng)
        point = rng.choice(made)
        at = rng.randrange(3)
        point[at] = with_nonsense(rng, near(rng))
        return trajectory((0, 0), NAMES, made)

    def lengths(rng, number):
        made = points(rng)
        rng.choice(made)[rng.randrange(4)] = wrong_length(rng)
        return trajectory((0, 0), NAMES, made)

    def names(rng, number):
        found = rng.choice(NAME_LISTS)
        return trajectory((0, 0), found, points(rng, rng.choice((2, len(found)))))

    def long_names(rng, number):
        found = rng.choice(LONG_NAME_LISTS)
        return trajectory((0, 0), found, points(rng, rng.choice((2, len(found))), 2))

    def times(rng, number):
        made = points(rng)
        rng.choice(made)[4] = rng.choice(TIMES)
        return trajectory((0, 0), NAMES, made)

    def stamps(rng, number):
        return trajectory(rng.choice(STAMPS), NAMES, points(rng))

    def empty(rng, number):
        return trajectory((0, 0), NAMES if rng.randrange(2) else (), [])

    def many_points(rng, number):
        return trajectory((0, 0), NAMES, points(rng, 2, 1000))

    def all_at_once(rng, number):
        made = points(rng)
        for point in made:
            point[4] = (0, rng.randrange(2))
        return trajectory((0, 0), NAMES, made)

    return Stream(
        seed,
        'joint_trajectory',
        legal,
        {
            'numbers': (25, numbers),
            'lengths': (15, lengths),
            'names': (12, names),
            'long names': (0.2, long_names),
            'times': (5, times),
            'stamps': (3, stamps),
            'empty': (2, empty),
            'many points': (0.1, many_points),
            'all at once': (1, all_at_once),
            'spoiled': (35, lambda rng, number: spoiled(legal(rng, number), rng)),
        },
    )


# -- commands by order, wrenches, times, descriptions ---------------------------------------------


def effort_commands(seed):
    """Return the efforts of the two-link arm by order."""

    def values(rng):
        return [rng.uniform(-1.0, 1.0) * most for most in MAX_LEGAL_EFFORT]

    def legal(rng, number):
        dimensions = [('joints', 2, 2)] if number % 2 else []
        return multi_array(values(rng), dimensions, order=any_order(number))

    def dimensions(rng, number):
        count = rng.choice((1, 2, 16, 17, 100))
        some = [(rng.choice(FRAMES[:10]), rng.choice(COUNTS), rng.choice(COUNTS))] * count
        return multi_array(values(rng), some, rng.choice(COUNTS))

    return Stream(
        seed,
        'effort_commands',
        legal,
        {
            'numbers': (40, lambda rng, _: multi_array(with_nonsense(rng, values(rng)))),
            'lengths': (15, lambda rng, _: multi_array(with_nonsense(rng, wrong_length(rng)))),
            'long': (0.3, lambda rng, _: multi_array([1.0] * rng.choice((1000, 4000)))),
            'dimensions': (10, dimensions),
            'spoiled': (30, lambda rng, number: spoiled(legal(rng, number), rng)),
        },
    )


def external_wrenches(seed):
    """Return the forces and torques on links of the two-link arm, and on objects around it."""
    pushed = (*LINKS, *OBJECTS)

    def legal(rng, number):
        return wrench((0, 0), rng.choice(pushed), near(rng, 6), any_order(number))

    def numbers(rng, number):
        return wrench((0, 0), rng.choice(pushed), with_nonsense(rng, near(rng, 6)))

    return Stream(
        seed,
        'external_wrench',
        legal,
        {
            'numbers': (50, numbers),
            'frames': (25, lambda rng, _: wrench((0, 0), rng.choice(FRAMES), near(rng, 6))),
            'long frames': (0.3, lambda rng, _: wrench((0, 0), LONG_FRAME, near(rng, 6))),
            'stamps': (10, lambda rng, _: wrench(rng.choice(STAMPS), 'tool', near(rng, 6))),
            'spoiled': (5, lambda rng, number: spoiled(legal(rng, number), rng)),
        },
    )


def clocks(seed):
    """Return simulated times: regular, jumping and invalid ones, never that of a state."""

    def shown(rng, number, ahead=0):
        return clock(divmod(stamp_of(number) + ahead + 333_333, 10**9))

    def jump(rng, number):
        return shown(rng, number, rng.choice((-1, 1)) * rng.choice((10**6, 10**9, 3600 * 10**9)))

    def random_time(rng, number):
        return clock((rng.randrange(-(2**31), 2**31), rng.randrange(2**32)))

    return Stream(
        seed,
        'clock',
        shown,
        {
            'times': (40, lambda rng, _: clock(rng.choice(STAMPS))),
            'jumps': (30, jump),
            'random': (20, random_time),
            'short': (5, lambda rng, number: shown(rng, number)[: rng.randrange(4, 12)]),
        },
    )


def descriptions(seed, good):
    """Return the texts for a robot description; the legal one is always `good`."""

    def cut(rng, number):
        return string(good[: rng.randrange(len(good))])

    def changed(rng, number):
        at = rng.randrange(len(good))
        return string(good[:at] + rng.choice('<>"&/x0-') + good[at + 1 :])

    return Stream(
        seed,
        'robot_description',
        lambda rng, number: string(good),
        {
            'cut': (30, cut),
            'changed': (30, changed),
            'nonsense': (20, lambda rng, _: string(rng.choice(FRAMES))),
            'nested': (5, lambda rng, _: string('<robot name="r">' * rng.randrange(2000))),
            'spoiled': (15, lambda rng, _: spoiled(string(good), rng)),
        },
    )
