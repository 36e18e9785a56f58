# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The fast path does not depend on the first call: after any, no call enters Python."""

from functools import lru_cache
import types

import numpy as np
import pytest

from rbd_ros import Robot
from rbd_ros.compiler.runtime import builtin
from rbd_ros.compiler.runtime.call_table import MAX_FORCED
from rbd_ros.lookup.resources import resource_path
from rbd_ros.robot.kernels import Compiled

pytestmark = pytest.mark.skipif(not builtin.supported(), reason='no builtins in this interpreter')

ARM = resource_path('urdf/six_axis_arm.urdf')
Q, V, A = np.random.default_rng(0).normal(size=(3, 6))
FORCES = {'tool0': np.arange(6.0)}
OTHERS = {'forearm_link': np.ones(6)}


def arm():
    return Robot.from_urdf(ARM)


#: Methods with external forces: whose, by which name, with the names of their arguments.
LOADED = {
    'inverse_dynamics': (lambda robot: robot, ('q', 'v', 'a')),
    'forward_dynamics': (lambda robot: robot, ('q', 'v', 'tau')),
    'bias_force': (lambda robot: robot, ('q', 'v')),
    'equations_of_motion': (lambda robot: robot, ('q', 'v')),
    'response': (lambda robot: robot.frame('tool0'), ('q', 'v', 'tau')),
    'by_sparse_elimination': (lambda robot: robot.articulated, ('q', 'v', 'tau')),
}
#: Those without.
PLAIN = {
    'mass_matrix': (lambda robot: robot, ('q',)),
    'gravity_torque': (lambda robot: robot, ('q',)),
    'energy': (lambda robot: robot, ('q', 'v')),
    'pose': (lambda robot: robot.frame('tool0'), ('q',)),
    'momentum_matrix': (lambda robot: robot.centroidal, ('q',)),
}


def batched(values):
    return [np.tile(x, (20, 1)) for x in values]


#: Kinds of calls of a function with arguments by name.
KINDS = {
    'plain': lambda call, named: call(*named.values()),
    'keywords': lambda call, named: call(**named),
    'lists': lambda call, named: call(*(x.tolist() for x in named.values())),
    'float32': lambda call, named: call(*(x.astype(np.float32) for x in named.values())),
    'whole numbers': lambda call, named: call(*(np.rint(x).astype(int) for x in named.values())),
    'batch': lambda call, named: call(*batched(named.values())),
    'no forces': lambda call, named: call(*named.values(), {}),
    'None': lambda call, named: call(*named.values(), None),
    'forces': lambda call, named: call(*named.values(), FORCES),
    'other forces': lambda call, named: call(*named.values(), external_forces=OTHERS),
    'batch with forces': lambda call, named: call(*batched(named.values()), FORCES),
}
OF_FORCES = ('no forces', 'None', 'forces', 'other forces', 'batch with forces')


def without_python(monkeypatch):
    """From now on, a call that machine code cannot do by itself fails."""

    def fail(*_, **__):
        raise AssertionError('the call entered Python')

    monkeypatch.setattr(Compiled, '_call', fail)


def kinds_of(method):
    return [kind for kind in KINDS if method in LOADED or kind not in OF_FORCES]


def flat(found):
    return np.concatenate([np.ravel(x) for x in found])


@lru_cache(maxsize=None)
def results_of_first_calls(method):
    """Return the result of each kind of call, on separate robots."""
    owner, names = {**LOADED, **PLAIN}[method]
    named = dict(zip(names, (Q, V, A)))
    return {
        kind: flat(KINDS[kind](getattr(owner(arm()), method), named)) for kind in kinds_of(method)
    }


CASES = [(method, kind) for method in (*LOADED, *PLAIN) for kind in kinds_of(method)]


@pytest.mark.parametrize('method, first', CASES)
def test_after_any_first_call_no_call_enters_python(method, first, monkeypatch):
    owner, names = {**LOADED, **PLAIN}[method]
    robot, named = arm(), dict(zip(names, (Q, V, A)))
    family = owner(robot)
    kinds = kinds_of(method)
    expected = results_of_first_calls(method)
    KINDS[first](getattr(family, method), named)
    bound = family.__dict__[method]
    assert isinstance(bound, types.BuiltinFunctionType) and bound.__name__ == method
    # What is compiled at its own first call is: batches, and forces on links that are named.
    for kind in kinds:
        KINDS[kind](getattr(family, method), named)
    assert family.__dict__[method] is bound
    without_python(monkeypatch)
    for kind in kinds * 2:
        found = KINDS[kind](getattr(family, method), named)
        np.testing.assert_array_equal(flat(found), expected[kind])


def test_kernels_for_several_sets_of_links_are_cached(monkeypatch):
    robot = arm()
    links = robot.link_names[-MAX_FORCED - 1 :]
    every = [{link: (k + 1.0) * np.arange(6.0)} for k, link in enumerate(links)]
    every[1] = {links[1]: np.ones(6), links[0]: np.arange(6.0)}  # in any order
    expected = [arm().inverse_dynamics(Q, V, A, forces).copy() for forces in every]
    for forces in every:
        robot.inverse_dynamics(Q, V, A, forces)
    without_python(monkeypatch)
    for _ in range(2):
        for forces, effort in zip(every[1:], expected[1:]):
            np.testing.assert_array_equal(robot.inverse_dynamics(Q, V, A, forces), effort)
    with pytest.raises(AssertionError, match='entered Python'):
        robot.inverse_dynamics(Q, V, A, every[0])  # whose turn is over
    monkeypatch.undo()
    for _ in range(3):  # more than the capacity
        for forces, effort in zip(every, expected):
            np.testing.assert_array_equal(robot.inverse_dynamics(Q, V, A, forces), effort)
