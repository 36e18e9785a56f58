"""Managed torque nodes, over DDS: every transition, and what becomes of the torque."""

import itertools
import signal

from node_harness import reliable, START_LIMIT, TWO_LINK_ARM
import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from lifecycle_harness import (
    ACTIVE,
    FINALIZED,
    INACTIVE,
    Managed,
    ManagedRig,
    UNCONFIGURED,
    WAYS,
)
from lifecycle_msgs.msg import TransitionEvent
from safety_harness import gravity_of, POSE, states_at
from std_msgs.msg import String

NODES = ('gravity_compensation', 'inverse_dynamics')
ONLY_GRAVITY = {'feedforward': 'gravity', 'feedback': 'none'}
_namespaces = itertools.count()


@pytest.fixture
def managed(ros):
    """Start managed nodes, which must have survived at the end."""
    rigs = []

    def begin(module='gravity_compensation', **parameters):
        if module == 'inverse_dynamics':
            parameters = {**ONLY_GRAVITY, **parameters}
        rig = ManagedRig(ros, module, f'/m{next(_namespaces)}', parameters)
        rigs.append(rig)
        return rig

    yield begin
    for rig in rigs:
        code = rig.process.stop()
        ros.processes.remove(rig.process)
        assert code == 0
        assert 'Traceback' not in rig.process.output()
        assert rig.all_safe()


def torques_flow(rig):
    """Wait for torques of the present pose."""
    count = len(rig.torques)
    rig.ros.until(lambda: len(rig.torques) > count + 3, 'torques')
    assert rig.torques[-1].effort == pytest.approx(gravity_of(POSE))


def silent(rig):
    """Whether no torque comes any more."""
    rig.ros.spin(0.3)
    count = len(rig.torques)
    rig.ros.spin(0.5)
    return len(rig.torques) == count


@pytest.mark.parametrize('module', NODES)
def test_torque_flows_in_the_state_active_alone(managed, module):
    rig = managed(module)
    assert rig.life.state() == UNCONFIGURED
    with states_at(rig):
        assert silent(rig) and not rig.torques
        rig.life.must('configure')
        assert rig.life.state() == INACTIVE
        rig.ros.until_status('receiving', f'{rig.name[1:]}: joint_states')
        assert silent(rig) and not rig.torques
        rig.life.must('activate')
        assert rig.life.state() == ACTIVE
        torques_flow(rig)
        rig.life.must('deactivate')
        assert rig.life.state() == INACTIVE
        assert silent(rig)
        assert not rig.torques[-1].effort.any()
        rig.life.must('activate')
        torques_flow(rig)
        rig.life.must('deactivate', 'cleanup')
        assert rig.life.state() == UNCONFIGURED
        assert silent(rig)
        rig.life.must('configure', 'activate')
        torques_flow(rig)
        rig.life.must('shutdown')
        assert rig.life.state() == FINALIZED
        assert silent(rig)
        assert not rig.torques[-1].effort.any()
