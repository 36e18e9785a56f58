# SPDX-License-Identifier: Apache-2.0
"""Answer to a state in machine code: the law, the limits and the messages, one after the other.

Once in a millisecond, most of what the interpreter needs has left the processor's caches: calling
the law, calling the limiter and filling in messages there costs several times what they do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbd_ros.compiler.loops import call_kernel, compiled, entry_point
from rbd_ros.control import LawMemory, LimiterMemory
from rbd_ros.control.law.limits import limiter_elapsed, limiter_passed
from rbd_ros.control.law.prepared_law import fill_goal

NANOSECONDS = 1_000_000_000
LOW_HALF = 0xFFFFFFFF

#: What `answer` returns if something is not finite; law and limiter then report what.
DECLINED = -1


class TorqueMessages(NamedTuple):
    """Views of the numbers in the messages that are published.

    :param joints: indices of the joints that are commanded, (m,)
    :param stamp: time stamp of the message by name: seconds in the lower half of a word,
        nanoseconds in the upper, (1,)
    :param by_name: efforts of the message by name, (m,), or (0,) if it is not published [N m or N]
    :param by_order: efforts of the message by order, likewise
    """

    joints: np.ndarray
    stamp: np.ndarray
    by_name: np.ndarray
    by_order: np.ndarray


@compiled
def answered(
    law: LawMemory,
    limiter: LimiterMemory,
    messages: TorqueMessages,
    dt: float,
    now: float,
    stamp: int,
) -> int:
    """Compute the torque of a law, limit it, and write it into the messages.

    :param law: memory of the law
    :param limiter: memory of the limiter
    :param messages: views of the messages' numbers
    :param dt: time since the state before [s]
    :param now: time of a monotonic clock, for the rate of change [s]
    :param stamp: time of the state [ns]
    :return: at how many joints the torque was beyond the effort limits; `DECLINED` if something
        is not finite, and then nothing has been changed
    """
    n = law.motion.shape[1]
    elapsed = limiter_elapsed(limiter, now)
    fill_goal(law)
    at = 0
    for k in range(len(law.sources)):
        for j in range(n):
            law.inputs[at] = law.motion[law.sources[k], j]
            at += 1
    # `not dt > 0` is true of NaN, too.
    law.dt[0] = min(dt, law.longest_step) if dt > 0.0 else 0.0
    call_kernel(law.address, law.inputs, law.result)
    if not law.result[len(law.result) - 1] == 0.0:
        return DECLINED
    for j in range(n):
        limiter.inputs[j] = law.result[j]
        limiter.step[j] = limiter.unlimited if elapsed < 0.0 else limiter.rate[j] * elapsed
    call_kernel(limiter.address, limiter.inputs, limiter.result)
    if not limiter.result[n] >= 0.0:
        return DECLINED
    for k in range(len(law.result)):
        law.before[k] = law.result[k]
    for j in range(n):
        law.applied[j] = limiter.last[j] = limiter.result[j]
    for k in range(len(messages.by_name)):
        messages.by_name[k] = limiter.result[messages.joints[k]]
    for k in range(len(messages.by_order)):
        messages.by_order[k] = limiter.result[messages.joints[k]]
    seconds = (stamp // NANOSECONDS) & LOW_HALF  # they may be negative
    messages.stamp[0] = ((stamp % NANOSECONDS) << 32) | seconds
    limiter_passed(limiter, now, limiter.result[n])
    return int(limiter.result[n])


@entry_point
def answer(
    law: LawMemory,
    limiter: LimiterMemory,
    messages: TorqueMessages,
    dt: float,
    now: float,
    stamp: int,
) -> int:
    """Do what `answered` does."""
    return answered(law, limiter, messages, dt, now, stamp)
