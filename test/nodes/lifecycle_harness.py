"""What tests of managed nodes share: their transitions, and rigs that wait for them."""

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


class Managed:
    """The lifecycle of a node, as `ros2 lifecycle` sees it.

    :param ros: the ROS domain
    :param name: full name of the node
    """

    def __init__(self, ros, name):
        self._ros, self._name = ros, name

    def state(self):
        answer = self._ros.ask(GetState, f'{self._name}/get_state', GetState.Request())
        return answer.current_state.label

    def transitions(self):
        kind = GetAvailableTransitions
        answer = self._ros.ask(kind, f'{self._name}/get_available_transitions', kind.Request())
        return sorted(each.transition.label for each in answer.available_transitions)

    def change(self, label='', number=0):
        """Whether a transition succeeds."""
        request = ChangeState.Request(transition=Transition(id=number, label=label))
        return self._ros.call(ChangeState, f'{self._name}/change_state', request).success

    def must(self, *labels):
        for label in labels:
            assert self.change(label), label

    def until(self, state):
        self._ros.until(lambda: self.state() == state, f'the state {state}')


class ManagedRig(TorqueRig):
    """A torque node that waits for transitions."""

    def __init__(self, ros, module, namespace, parameters=None, arguments=()):
        given = {'autostart': False, 'state_timeout': 0.5, **(parameters or {})}
        super().__init__(ros, module, namespace, given, arguments, wait=False)
        self.life = Managed(ros, self.name)

    def bring(self, state):
        """Bring an unconfigured node to a state."""
        self.life.must(*WAYS[state])
        assert self.life.state() == state
        return self
