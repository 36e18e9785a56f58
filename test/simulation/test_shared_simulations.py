# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Threads that share a simulation take turns, and each sees a consistent state.

Otherwise the process may crash, so the threads run in separate interpreters.
"""

import gc

import numpy as np
import pytest
from support import fresh_python
from support.simulated_robots import ball, turntable

from rbd_ros import Simulator
from rbd_ros.compiler.loops import excludes_threads
from rbd_ros.hil import Fault
from rbd_ros.hil.scenario.payloads import with_payloads
from rbd_ros.simulation.records.simulation_state import BUSY

#: Two balls on a floor, a turntable beside them, and threads that are joined.
BEGIN = """
import faulthandler, sys, threading
import numpy as np
from support.simulated_robots import turntable
from support.waiting import CEILING
from rbd_ros import Simulator
faulthandler.enable()
sys.setswitchinterval(1e-5)

def ball(z):
    shape = {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0}
    return {**shape, 'xyz': [0.0, 0.0, z]}

objects = {'floor': {'type': 'plane'}, 'lower': ball(0.1), 'upper': ball(0.31)}

def new():
    return Simulator(turntable(), world={'objects': objects})

def together(*jobs):
    failures = []
    def run(job):
        try:
            job()
        except BaseException as error:
            failures.append(repr(error))
    threads = [threading.Thread(target=run, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(CEILING)
    assert not failures, failures
    assert not any(thread.is_alive() for thread in threads)

def repeat(count, job):
    def run():
        for _ in range(count):
            job()
    return run

def state(simulator):
    return [
        *simulator.q, *simulator.v, *simulator.object_pose('lower').ravel(),
        *simulator.object_velocity('upper'),
    ]
"""

# Torques that differ from thread to thread: whose is taken in another's step shows in the sum.
STEPS = """
shared = new()
together(
    repeat(40, lambda: shared.step([1.0], n=25)),
    repeat(1000, lambda: shared.step(np.array([-3.0]))),
    repeat(500, lambda: shared.step([2.0])),
    repeat(40, lambda: shared.step([0.5], n=25)),
)
assert shared.status.steps == 3500
alone = new()
together(repeat(1, lambda: alone.step([1.0], n=1000)))
gained = alone.v[0] * (1.0 - 3.0 + 2.0 * 0.5 + 0.5) / 1.0
assert abs(shared.v[0] - gained) < 1e-9 * abs(alone.v[0]), (shared.v, gained)
alone = new()
alone.step(n=3500)
for name in ('lower', 'upper'):  # which the turntable does not touch
    assert np.array_equal(alone.object_pose(name), shared.object_pose(name))
"""

# Of each instant: number of steps and state belong together.
LOOKING = """
from rbd_ros.simulation.records.simulation_state import STEPS
shared, alone = new(), new()
seen = []
def look():
    before = shared.snapshot()
    # A snapshot is one instant: what others read may be later.
    seen.append((int(before.arrays['state.counters'][STEPS]), before))
together(
    repeat(30, lambda: shared.step([0.1], n=40)),
    repeat(300, look),
    repeat(300, lambda: (shared.q, shared.contacts, shared.status, shared.residuals)),
    repeat(30, shared.distances),
)
taken = 0
for steps, snapshot in sorted(seen, key=lambda each: each[0]):
    if steps > taken:
        alone.step([0.1], n=steps - taken)
        taken = steps
    now = alone.snapshot()
    for name, array in snapshot.arrays.items():
        assert np.array_equal(array, now.arrays[name]), (steps, name)
"""

# Resets, moves and deletions happen between two steps of other threads.
CHANGING = """
shared = new()
start = shared.snapshot()
pose = shared.object_pose('upper')
sensors = shared.sensors(joint_torques=['turn'])
def change():
    shared.remove_object('lower')
    shared.add_object('lower', ball(0.1))
together(
    repeat(150, lambda: shared.step([0.1], n=20)),
    repeat(150, lambda: shared.step([0.1])),
    repeat(60, lambda: shared.reset([0.5])),
    repeat(60, lambda: shared.place_object('upper', pose)),
    repeat(20, lambda: shared.clear_wrenches(shared.apply_wrench('upper', [0, 0, 0, 0, 0, 1.0]))),
    repeat(20, lambda: shared.rollout([0.5], torque=[0.1], steps=50)),
    repeat(20, lambda: sensors.joint_torques),
    repeat(3, change),
)
shared.reset([0.5])
shared.step([0.1], n=100)
alone = new()
alone.remove_object('lower')
alone.add_object('lower', ball(0.1))
alone.reset([0.5])
alone.step([0.1], n=100)
assert state(shared) == state(alone)
"""


@pytest.mark.parametrize('code', [STEPS, LOOKING, CHANGING], ids=['steps', 'looking', 'changing'])
def test_threads_that_share_a_simulation_take_turns(code):
    fresh_python.run(BEGIN + code)


def test_a_single_step_waits_for_the_mutex():
    """The fast path of a step is machine code, which must check the mutex itself."""
    assert excludes_threads()
    simulator = Simulator(turntable())
    physics, torque = simulator.physics, np.array([0.5])
    with physics.mutex:
        with physics.mutex:
            assert physics.steps.alone(torque, 1) == BUSY
        assert physics.steps.alone(torque, 1) == BUSY
        assert simulator.status.steps == 0 and not physics.commands.torque.any()
        simulator.step(torque)  # the thread that holds it may
        assert simulator.status.steps == 1
    assert physics.steps.alone(torque, 1) == 1 and simulator.status.steps == 2


@pytest.mark.parametrize(
    'odd',
    [
        [0.5],
        np.array([0.5], dtype=np.float32),
        np.array([[0.5]]),
        np.array([0.5, 0.0]),
        np.array([]),
    ],
    ids=['list', 'float32', 'two axes', 'too long', 'empty'],
)
def test_machine_code_takes_no_torque_that_is_not_plain(odd):
    simulator = Simulator(turntable())
    assert simulator.physics.steps.alone(odd, 1) == BUSY
    assert simulator.status.steps == 0


def test_a_torque_with_strides_is_that_of_its_numbers():
    plain, strided = Simulator(ball()), Simulator(ball())
    wide = np.arange(1.0, 13.0)
    assert strided.physics.steps.alone(wide[::2], 1) == BUSY
    plain.step(wide[::2].copy())
    strided.step(wide[::2])
    assert np.array_equal(strided.tau, wide[::2])
    assert np.array_equal(plain.v, strided.v) and plain.v.all()


def test_rollouts_have_the_payload_that_the_simulation_has():
    """Their records name machine code by address: that of a robot which may be gone."""
    arm = turntable()
    simulator = Simulator(arm)
    simulator.rollout(torque=[0.1], steps=5)
    for mass in (1.0, 2.0):
        payload = Fault('payload', mass, link='table', center_of_mass=(0.5, 0.0, 0.0))
        simulator.physics.change_inertias(with_payloads(arm, [payload]))
        gc.collect()
        motion = simulator.rollout(torque=[0.1], steps=20)
        simulator.reset()
        simulator.step([0.1], n=20)
        assert np.array_equal(motion.v[0, -1], simulator.v)
        # tau h n / (I + m r^2), [rad/s]
        assert simulator.v == pytest.approx(0.1 * 0.02 / (0.2 + 0.25 * mass), rel=1e-9)
