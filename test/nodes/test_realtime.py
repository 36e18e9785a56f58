# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Real-time options: effects on threads, rejections and messages; overruns."""

import os
from pathlib import Path
import re
import shutil
import threading
import time

import pytest
from support import outside
from support.waiting import CEILING, until

outside.load('rclpy')

from node_harness import joint_state, NodeProcess, TWO_LINK_ARM
from rclpy.duration import Duration
from safety_harness import gravity_of, POSE, states_at, TorqueRig
from sensor_msgs.msg import JointState

from rbd_ros.nodes.common import realtime
from rbd_ros.nodes.common.blocking_subscriber import BlockingSubscriber
from rbd_ros.nodes.common.diagnostics import OK, WARN
from rbd_ros.nodes.common.node_interface import Topic

LOOPS = {'gravity_compensation': 2, 'inverse_dynamics': 2, 'simulator': 1}
PRESENT = realtime.present_cores()


class DiagnosticsRecorder:
    """Stands for diagnostics: the conditions that were set."""

    def __init__(self):
        self.conditions = []

    def condition(self, subject, level, message, code=None):
        self.conditions.append((subject, level, message))


def options(**given):
    return {'thread_priority': 0, 'lock_memory': False, 'cpu_affinity': (), **given}


def in_a_thread(work):
    """Return the result of `work()` in a separate thread, whose options end with it."""
    results = []
    thread = threading.Thread(target=lambda: results.append(work()))
    thread.start()
    thread.join()
    return results[0]


# -- parts ----------------------------------------------------------------------------------------


def test_lists_of_cores_are_read_as_linux_writes_them():
    assert realtime.cores_of('0\n') == (0,)
    assert realtime.cores_of('0-3,7,10-11') == (0, 1, 2, 3, 7, 10, 11)
    for text in ('', 'all', '1-', '-1', '1,,2'):
        with pytest.raises(ValueError):
            realtime.cores_of(text)
    assert set(os.sched_getaffinity(0)) <= set(PRESENT)


def test_cores_that_do_not_exist_are_rejected_by_number():
    realtime.check_cores(())
    realtime.check_cores((3, 0), present=(0, 3))
    realtime.check_cores(PRESENT)
    with pytest.raises(ValueError, match='no core 1, 9; there are 0, 3'):
        realtime.check_cores((0, 1, 9), present=(0, 3))
    with pytest.raises(ValueError, match=f'no core {max(PRESENT) + 1}'):
        realtime.check_cores((max(PRESENT) + 1,))


def test_without_settings_nothing_is_changed_or_logged():
    reported = DiagnosticsRecorder()
    kept = realtime.RealTime(options(), reported)
    assert not kept.requested
    before = os.sched_getscheduler(0), os.sched_getaffinity(0)

    def enter():
        kept.lock_memory()
        kept.enter()
        return os.sched_getscheduler(0), os.sched_getaffinity(0)

    assert in_a_thread(enter) == before
    assert not reported.conditions


def test_a_thread_is_pinned_alone():
    reported, core = DiagnosticsRecorder(), min(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    pinned = realtime.RealTime(options(cpu_affinity=(core,)), reported)

    def enter():
        pinned.enter()
        return os.sched_getaffinity(0)

    assert in_a_thread(enter) == {core}
    assert os.sched_getaffinity(0) == before
    assert reported.conditions == [(realtime.SUBJECT, OK, f'on core {core}')]


def test_a_priority_that_is_rejected_is_reported_with_its_cure(monkeypatch):
    asked = []

    def deny(thread, policy, parameter):
        asked.append((thread, policy, parameter.sched_priority))
        raise PermissionError(1, 'Operation not permitted')

    monkeypatch.setattr(os, 'sched_setscheduler', deny)
    reported = DiagnosticsRecorder()
    requested = realtime.RealTime(options(thread_priority=42), reported)
    in_a_thread(requested.enter)
    in_a_thread(requested.enter)  # the watchdog asks for the same
    assert asked == [(0, os.SCHED_FIFO, 42)] * 2
    subject, level, text = reported.conditions[-1]
    assert (subject, level) == (realtime.SUBJECT, WARN)
    assert text.count('SCHED_FIFO 42 was rejected') == 1
    assert (
        'rtprio 99' in text
        and realtime.LIMITS_FILE in text
        and text.endswith('continues without it')
    )


def test_a_core_that_is_not_permitted_is_reported(monkeypatch):
    def deny(thread, cores):
        raise OSError(22, 'Invalid argument')

    monkeypatch.setattr(os, 'sched_setaffinity', deny)
    monkeypatch.setattr(os, 'sched_getaffinity', lambda thread: {0})
    problem = realtime.pin_this_thread((1,))
    assert 'core 1 was rejected (Invalid argument)' in problem
    assert 'may use 0' in problem
    monkeypatch.setattr(os, 'sched_setaffinity', lambda thread, cores: None)
    assert realtime.pin_this_thread((0,)) is None
    assert 'core 1 was rejected:' in realtime.pin_this_thread((0, 1))


def test_memory_is_locked_only_where_all_of_it_may_be(monkeypatch, tmp_path):
    limit = [8 * 2**20]
    monkeypatch.setattr(realtime.resource, 'getrlimit', lambda kind: (limit[0], limit[0]))
    status = tmp_path / 'status'
    status.write_text('CapEff:\t0000000000004000\n')
    assert realtime.may_lock_memory(str(status))
    status.write_text('CapEff:\t000001ffffffbfff\n')
    assert not realtime.may_lock_memory(str(status))
    assert not realtime.may_lock_memory(str(tmp_path / 'absent'))
    monkeypatch.setattr(realtime, 'may_lock_memory', lambda: False)
    problem = realtime.lock_all_memory()
    assert 'may lock 8 MB only' in problem and 'memlock unlimited' in problem


@pytest.mark.parametrize(
    ('soft', 'hard', 'raised'),
    [
        (realtime.resource.RLIM_INFINITY, realtime.resource.RLIM_INFINITY, []),
        (8 * 2**20, realtime.resource.RLIM_INFINITY, [(realtime.resource.RLIM_INFINITY,) * 2]),
        (8 * 2**20, 2**34, [(2**34, 2**34)]),
    ],
)
def test_the_limit_of_locked_memory_is_raised_as_far_as_it_may_be(
    monkeypatch, tmp_path, soft, hard, raised
):
    asked = []
    monkeypatch.setattr(realtime.resource, 'getrlimit', lambda kind: (soft, hard))
    monkeypatch.setattr(realtime.resource, 'setrlimit', lambda kind, limits: asked.append(limits))
    assert realtime.may_lock_memory(str(tmp_path / 'absent'))
    assert asked == raised


# -- nodes ----------------------------------------------------------------------------------------


def threads_on(pid, core):
    """Return the number of threads of a process that may run on one core only."""
    found = 0
    for path in Path(f'/proc/{pid}/task').glob('*/status'):
        try:
            allowed = re.search(r'Cpus_allowed_list:\s*(\S+)', path.read_text())
        except OSError:  # it has ended
            continue
        found += allowed[1] == str(core)
    return found


def priorities(pid):
    """Return the real-time priorities of the threads of a process."""
    found = []
    for path in Path(f'/proc/{pid}/task').iterdir():
        try:
            if os.sched_getscheduler(int(path.name)) == os.SCHED_FIFO:
                found.append(os.sched_getparam(int(path.name)).sched_priority)
        except OSError:
            continue
    return found


@pytest.mark.skipif(len(PRESENT) < 2, reason='there is one core only')
@pytest.mark.parametrize('module', LOOPS)
def test_loops_run_on_the_requested_cores(ros, module):
    core = min(os.sched_getaffinity(0))
    parameters = {'robot_description': TWO_LINK_ARM, 'cpu_affinity': [core]}
    process = ros.start(module, parameters, ('-r', f'__ns:=/c_{module}'))
    ros.until_status(f'on core {core}', f'c_{module}/{module}: {realtime.SUBJECT}', OK)
    ros.until(lambda: threads_on(process.process.pid, core) == LOOPS[module], 'pinned threads')
    assert process.stop() == 0
    ros.processes.remove(process)


@pytest.mark.parametrize('module', LOOPS)
def test_a_core_that_does_not_exist_ends_the_start(ros, module):
    core = max(PRESENT) + 1
    process = NodeProcess(
        ros.folder,
        ros.domain,
        module,
        {'robot_description': TWO_LINK_ARM, 'cpu_affinity': [core]},
    )
    assert process.wait() == 1
    assert f'no core {core}' in process.output()
    assert 'Traceback' not in process.output()


def permitted():
    return in_a_thread(lambda: realtime.prioritize_this_thread(1)) is None


@pytest.mark.parametrize('module', LOOPS)
def test_priority_and_locked_memory_are_granted_or_reported(ros, module):
    parameters = {
        'robot_description': TWO_LINK_ARM,
        'thread_priority': 7,
        'lock_memory': True,
    }
    process = ros.start(module, parameters, ('-r', f'__ns:=/p_{module}'))
    subject = f'p_{module}/{module}: {realtime.SUBJECT}'
    ros.until_status('', subject)
    if permitted():
        ros.until(lambda: priorities(process.process.pid) == [7] * LOOPS[module], 'priorities')
        ros.until_status('SCHED_FIFO 7', subject)
    else:
        ros.until_status('SCHED_FIFO 7 was rejected', subject, WARN)
    locked = re.search(r'VmLck:\s*(\d+)', Path(f'/proc/{process.process.pid}/status').read_text())
    if realtime.may_lock_memory():
        ros.until_status('memory locked', subject)
        assert int(locked[1]) > 10_000  # [kB]
    else:
        ros.until_status('lock_memory', subject, WARN)
        assert int(locked[1]) == 0
    assert process.stop() == 0
    ros.processes.remove(process)


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which('setpriv') is None, reason='only root gives rights up'
)
def test_a_node_without_the_rights_says_so_and_continues(ros, monkeypatch, tmp_path):
    import node_harness

    def bare(command):
        without = ['setpriv', '--bounding-set', '-sys_nice,-ipc_lock', '--inh-caps']
        limits = ['prlimit', '--memlock=1048576', '--rtprio=0']
        return [*without, '-sys_nice,-ipc_lock', *limits, *command]

    monkeypatch.setattr(node_harness, 'with_signals', bare)
    rig = TorqueRig(
        ros,
        'gravity_compensation',
        '/bare',
        {'thread_priority': 50, 'lock_memory': True},
    )
    subject = f'bare/gravity_compensation: {realtime.SUBJECT}'
    status = ros.until_status('SCHED_FIFO 50 was rejected', subject, WARN)
    assert 'rtprio 99' in status.message and 'lock 1 MB only' in status.message
    with states_at(rig):
        ros.until(
            lambda: rig.torques and rig.torques[-1].effort == pytest.approx(gravity_of(POSE)),
            'torques all the same',
        )
    assert rig.process.stop() == 0
    ros.processes.remove(rig.process)
    assert 'rtprio 99' in rig.process.output()


# -- over-runs ------------------------------------------------------------------------------------


def test_messages_that_come_while_one_is_in_use_are_counted(ros):
    subscriber = BlockingSubscriber(
        ros.node, Topic('crowd', 'sensor_msgs/msg/JointState', 'in', '', depth=10)
    )
    used, go_on = [], threading.Semaphore(0)

    def use(data):
        used.append(data)
        go_on.acquire()

    thread = threading.Thread(target=subscriber.serve, args=(use,), daemon=True)
    thread.start()
    publisher = ros.node.create_publisher(JointState, 'crowd', 10)

    def until_used(count):
        until(lambda: len(used) >= count, f'{count} messages')
        assert len(used) == count

    until(publisher.get_subscription_count, 'the subscriber')
    try:
        for k in range(3):  # each comes after the one before has been used
            publisher.publish(joint_state())
            until_used(k + 1)
            go_on.release()
            time.sleep(0.1)
        assert subscriber.overruns == 0
        publisher.publish(joint_state())
        until_used(4)
        publisher.publish(joint_state())
        publisher.publish(joint_state())
        assert publisher.wait_for_all_acked(Duration(seconds=CEILING))  # while one is in use
        for k in range(3):
            go_on.release()
            until_used(min(5 + k, 6))
        assert subscriber.overruns == 2
    finally:
        subscriber.close()
        go_on.release(10)
        thread.join(CEILING)
        ros.node.destroy_subscription(subscriber.subscription)


def test_over_runs_are_in_the_diagnostics_of_torque_nodes(ros):
    rig = TorqueRig(ros, 'gravity_compensation', '/crowded')
    message = joint_state(position=POSE, velocity=(0.0, 0.0))

    def late():
        for _ in range(200):
            rig.states.publish(message)
        status = ros.status('', 'crowded/gravity_compensation: torque')
        values = {value.key: value.value for value in status.values} if status else {}
        return int(values.get('states_late', 0))

    ros.until(late, 'late answers')
    assert rig.process.stop() == 0
    ros.processes.remove(rig.process)
