# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Helpers of tests of managed nodes: their transitions, and rigs that wait for them."""

import itertools
import time

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from safety_harness import TorqueRig

UNCONFIGURED, INACTIVE, ACTIVE, FINALIZED = 'unconfigured', 'inactive', 'active', 'finalized'

#: Transitions that lead from unconfigured to a state.
WAYS = {
    UNCONFIGURED: (),
    INACTIVE: ('configure',),
    ACTIVE: ('configure', 'activate'),
    FINALIZED: ('shutdown',),
}
#: Feedback would change with the position, and so would the torque.
ONLY_GRAVITY = {'feedforward': 'gravity', 'feedback': 'none'}

_namespaces = itertools.count()


class Managed:
    """The lifecycle of a node, as `ros2 lifecycle` sees it.

    :param ros: the ROS domain
    :param name: full name of the node
    """

    def __init__(self, ros, name):
        self._ros, self._name = ros, name

    def state(self):
        answer = self._ros.call(GetState, f'{self._name}/get_state', GetState.Request())
        return answer.current_state.label

    def transitions(self):
        kind = GetAvailableTransitions
        answer = self._ros.call(kind, f'{self._name}/get_available_transitions', kind.Request())
        return sorted(each.transition.label for each in answer.available_transitions)

    def change(self, label='', number=0):
        """Return whether a transition succeeds."""
        return self._ros.call(
            ChangeState,
            f'{self._name}/change_state',
            ChangeState.Request(transition=Transition(id=number, label=label)),
        ).success

    def begin(self, label):
        """Return the future of a transition that is not waited for."""
        client = self._ros.client(ChangeState, f'{self._name}/change_state')
        return client.call_async(ChangeState.Request(transition=Transition(label=label)))

    def must(self, *labels):
        for label in labels:
            assert self.change(label), label

    def rejected(self, label='', number=0, reason=''):
        """Return whether a transition fails with a reason, and the node stays in its state."""
        before, since = self.state(), self._ros.mark()
        assert not self.change(label, number)
        self._ros.until_status(reason, f'{self._name[1:]}: lifecycle', since=since)
        return self.state() == before

    def until(self, state):
        self._ros.until(lambda: self.state() == state, f'the state {state}')


class ManagedRig(TorqueRig):
    """A torque node that waits for transitions, and for states as long as a busy machine takes."""

    def __init__(self, ros, module, parameters=None):
        given = {'autostart': False, 'state_timeout': 30.0, **(parameters or {})}
        if module == 'inverse_dynamics':
            given = {**ONLY_GRAVITY, **given}
        super().__init__(ros, module, f'/m{next(_namespaces)}', given, wait=False)
        self.life = Managed(ros, self.name)

    def bring(self, state):
        """Bring an unconfigured node to a state."""
        self.life.must(*WAYS[state])
        assert self.life.state() == state
        return self

    def silent(self):
        """Return whether no torque is sent from now on.

        All that were sent before have come then.
        """
        begin, count = time.time(), 0
        self.ros.spin(0.5)
        while count < len(self.torques) and self.torques[-1].at <= begin:
            count = len(self.torques)
            self.ros.spin(0.2)
        return not self.torques or self.torques[-1].at <= begin

    def flows(self, torque):
        """Wait until torques come, and are `torque`, (n,)."""
        count = len(self.torques)
        self.ros.until(lambda: len(self.torques) > count + 3, 'torques')
        self.ros.until(lambda: abs(self.torques[-1].effort - torque).max() < 1e-9, 'that torque')


def started(ros, rigs):
    """Return the function that starts rigs and notes them in a list."""

    def begin(module='gravity_compensation', **parameters):
        rigs.append(ManagedRig(ros, module, parameters))
        return rigs[-1]

    return begin


def end_well(ros, rigs):
    """End rigs, which must have survived."""
    for rig in rigs:
        code = rig.process.stop()
        ros.processes.remove(rig.process)
        assert code == 0
        assert 'Traceback' not in rig.process.output()
        assert rig.all_safe()
