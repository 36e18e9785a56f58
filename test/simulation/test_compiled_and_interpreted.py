# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The compiled simulator equals the interpreted one: contact, friction and limits."""

import logging

import numpy as np
from support import fresh_python
from support.simulated_robots import at, body, collision

from rbd_ros import Simulator
from rbd_ros.compiler.loops import interpreted_reason
from rbd_ros.contact import HalfSpace

# A box falls askew on the ground, slides, rolls over and comes to rest on it.
FALLING_BOX = """
import numpy as np
from support.simulated_robots import at, body, collision
from rbd_ros import Simulator
from rbd_ros.contact import HalfSpace

#: Machine code as users have it: see conftest.py.
OPTIMIZED = True
box = body(2.0, (0.02, 0.03, 0.04), collision('box size="0.4 0.3 0.2"'))
simulator = Simulator(box, 1e-3, ground=HalfSpace())
simulator.reset(q=at((0, 0, 0.2), (0.9, 0.3, 0.2, 0.1)), v=[1.0, 2.0, 0.0, 0.5, 0.0, -1.0])
states = []
for _ in range(STEPS):
    simulator.step()
    states.append([*simulator.q, *simulator.v, len(simulator.contacts)])
"""
STEPS = 120


def test_a_falling_box_is_where_the_interpreter_says(caplog):
    """Over the first touches, before rounding has had the time to grow."""
    assert interpreted_reason() is None
    here = {'STEPS': STEPS}
    with caplog.at_level(logging.WARNING):
        exec(FALLING_BOX, here)
    assert not caplog.records  # which would tell that it is interpreted
    states = np.array(here['states'])
    assert {0, 1} <= set(states[:, -1])
    code = f'STEPS = {STEPS}\n{FALLING_BOX}print(repr(states))'
    interpreted = np.array(eval(fresh_python.run(code, RBD_ROS_COMPILER='off').stdout))
    np.testing.assert_allclose(states, interpreted, rtol=1e-8, atol=1e-10)


def test_a_box_at_rest_bears_its_weight():
    simulator = Simulator(
        body(2.0, (0.02, 0.03, 0.04), collision('box size="0.4 0.3 0.2"')),
        1e-3,
        ground=HalfSpace(),
    )
    simulator.reset(q=at((0, 0, 0.1)))
    simulator.step(n=4000)
    force = sum(contact.force for contact in simulator.contacts)
    np.testing.assert_allclose(force, [0, 0, 2 * 9.81], atol=1e-6)
