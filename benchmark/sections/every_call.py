# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every public function of a robot, called by its method, against the same call of Pinocchio."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import random
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from measurement import Call, compare, Comparison, PinocchioPeer
from measurement.cases import last_link
import numpy as np
import robots
from rows import Row

from rbd_ros import Robot
from sections.section import load_both, Section, Tools

NAME = 'every_call'
_TWICE, _AS_FAST = 2.0, 1.0


class _State(NamedTuple):
    """A state of both models, and other arguments of calls."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    q1: np.ndarray
    link: str


class _Peer:
    """Pinocchio's calls; two calls are wrapped in a Python function, as a user would do."""

    def __init__(self, peer: PinocchioPeer, state: _State):
        self.pin, self.model, self.data = peer.pin, peer.model, peer.data
        self._frame = self.model.getFrameId(state.link)
        self._local = self.pin.ReferenceFrame.LOCAL
        self._forces = self.pin.StdVec_Force()
        for _ in range(self.model.njoints):
            self._forces.append(self.pin.Force.Random())

    def call(self, name: str, *arguments: Any) -> Call:
        return Call(getattr(self.pin, name), (self.model, self.data, *arguments))

    def without_data(self, name: str, *arguments: Any) -> Call:
        return Call(getattr(self.pin, name), (self.model, *arguments))

    def with_forces(self, name: str, *arguments: Any) -> Call:
        return self.call(name, *arguments, self._forces)

    def of_frame(self, name: str, *arguments: Any) -> Call:
        return self.call(name, *arguments, self._frame, self._local)

    def in_turn(self, *calls: Tuple[str, Tuple[Any, ...]]) -> Call:
        model, data = self.model, self.data
        functions = [(getattr(self.pin, name), arguments) for name, arguments in calls]
        (f, x), (g, y) = functions

        def both() -> None:
            f(model, data, *x)
            g(model, data, *y)

        return Call(both)

    def frame_derivative(self, state: _State) -> Call:
        rates = ('computeJointJacobiansTimeVariation', (state.q, state.v))
        return self.in_turn(rates, ('getFrameJacobianTimeVariation', (self._frame, self._local)))

    def frame_of(self, state: _State) -> Call:
        first = ('forwardKinematics', (state.q,))
        return self.in_turn(first, ('updateFramePlacement', (self._frame,)))

    def frame_motion(self, state: _State, name: str, *arguments: Any) -> Call:
        first = ('forwardKinematics', arguments)
        return self.in_turn(first, (name, (self._frame, self._local)))


_Pair = Callable[[Robot, _Peer, _State], Tuple[Call, Call]]


def _plain(method: str, peer: str, inputs: str) -> _Pair:
    """Return the pair of a method and a function of Pinocchio with the same arguments."""

    def pair(robot: Robot, pin: _Peer, state: _State) -> Tuple[Call, Call]:
        arguments = [getattr(state, name) for name in inputs.split()]
        return Call(_attribute(robot, method), arguments), pin.call(peer, *arguments)

    return pair


def _attribute(robot: Robot, path: str) -> Callable[..., Any]:
    found: Any = robot
    for name in path.split('.'):
        found = getattr(found, name)
    return found


def _named(state: _State) -> Dict[str, np.ndarray]:
    return {'q': state.q, 'v': state.v, 'a': state.a}


_PAIRS: Dict[str, Tuple[float, _Pair]] = {
    'inverse_dynamics': (_TWICE, _plain('inverse_dynamics', 'rnea', 'q v a')),
    'forward_dynamics': (_TWICE, _plain('forward_dynamics', 'aba', 'q v a')),
    'mass_matrix': (_TWICE, _plain('mass_matrix', 'crba', 'q')),
    'bias_force': (_TWICE, _plain('bias_force', 'nonLinearEffects', 'q v')),
    'gravity_torque': (_TWICE, _plain('gravity_torque', 'computeGeneralizedGravity', 'q')),
    'coriolis_matrix': (_TWICE, _plain('coriolis_matrix', 'computeCoriolisMatrix', 'q v')),
    'equations_of_motion': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.equations_of_motion, (s.q, s.v)),
            pin.in_turn(('crba', (s.q,)), ('nonLinearEffects', (s.q, s.v))),
        ),
    ),
    'energy': (_TWICE, _plain('energy', 'computeMechanicalEnergy', 'q v')),
    'momentum': (_TWICE, _plain('momentum', 'computeCentroidalMomentum', 'q v')),
    'center_of_mass': (_TWICE, _plain('center_of_mass', 'centerOfMass', 'q')),
    'center_of_mass_jacobian': (
        _TWICE,
        _plain('center_of_mass_jacobian', 'jacobianCenterOfMass', 'q'),
    ),
    'forward_kinematics': (_TWICE, _plain('forward_kinematics', 'framesForwardKinematics', 'q')),
    'jacobian': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.jacobian, (s.q, s.link)),
            pin.of_frame('computeFrameJacobian', s.q),
        ),
    ),
    'jacobian_derivative': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.jacobian_derivative, (s.q, s.v, s.link)),
            pin.frame_derivative(s),
        ),
    ),
    'frame.pose': (
        _TWICE,
        lambda robot, pin, s: (Call(robot.frame(s.link).pose, (s.q,)), pin.frame_of(s)),
    ),
    'frame.velocity': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.frame(s.link).velocity, (s.q, s.v)),
            pin.frame_motion(s, 'getFrameVelocity', s.q, s.v),
        ),
    ),
    'frame.acceleration': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.frame(s.link).acceleration, (s.q, s.v, s.a)),
            pin.frame_motion(s, 'getFrameAcceleration', s.q, s.v, s.a),
        ),
    ),
    'derivatives.inverse_dynamics': (
        _TWICE,
        _plain('derivatives.inverse_dynamics', 'computeRNEADerivatives', 'q v a'),
    ),
    'derivatives.forward_dynamics': (
        _TWICE,
        _plain('derivatives.forward_dynamics', 'computeABADerivatives', 'q v a'),
    ),
    'derivatives.gravity_torque': (
        _TWICE,
        _plain('derivatives.gravity_torque', 'computeGeneralizedGravityDerivatives', 'q'),
    ),
    'integrate': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.integrate, (s.q, s.v)),
            pin.without_data('integrate', s.q, s.v),
        ),
    ),
    'difference': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.difference, (s.q, s.q1)),
            pin.without_data('difference', s.q, s.q1),
        ),
    ),
    'random_configuration': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.random_configuration),
            pin.without_data('randomConfiguration'),
        ),
    ),
    'inverse_dynamics, by keyword': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.inverse_dynamics, keywords=_named(s)),
            pin.call('rnea', s.q, s.v, s.a),
        ),
    ),
    'inverse_dynamics, external forces': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.inverse_dynamics, (s.q, s.v, s.a, {s.link: np.ones(6)})),
            pin.with_forces('rnea', s.q, s.v, s.a),
        ),
    ),
    'forward_dynamics, external forces': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.forward_dynamics, (s.q, s.v, s.a, {s.link: np.ones(6)})),
            pin.with_forces('aba', s.q, s.v, s.a),
        ),
    ),
    'inverse_dynamics, out=': (
        _TWICE,
        lambda robot, pin, s: (
            Call(robot.inverse_dynamics, (s.q, s.v, s.a), keywords={'out': np.empty(robot.nv)}),
            pin.call('rnea', s.q, s.v, s.a),
        ),
    ),
    'inverse_dynamics, lists': (
        _AS_FAST,
        lambda robot, pin, s: (
            Call(robot.inverse_dynamics, [x.tolist() for x in (s.q, s.v, s.a)]),
            pin.call('rnea', s.q, s.v, s.a),
        ),
    ),
    'inverse_dynamics, float32': (
        _AS_FAST,
        lambda robot, pin, s: (
            Call(robot.inverse_dynamics, [x.astype(np.float32) for x in (s.q, s.v, s.a)]),
            pin.call('rnea', s.q, s.v, s.a),
        ),
    ),
    'inverse_dynamics, whole numbers': (
        _AS_FAST,
        lambda robot, pin, s: (
            Call(robot.inverse_dynamics, [np.rint(x).astype(int) for x in (s.q, s.v, s.a)]),
            pin.call('rnea', s.q, s.v, s.a),
        ),
    ),
}


def _rows() -> List[Row]:
    return [
        Row(NAME, robot.name, name, 'x', floor)
        for robot in (robots.UR5, robots.PANDA)
        for name, (floor, _) in _PAIRS.items()
    ]


def _measure(row: Row, tools: Tools) -> None:
    """Measure a call in a separate process, after all others in a random order."""
    load_both(row)  # here too, to report missing models and enter degrees of freedom
    with ProcessPoolExecutor(1, mp_context=get_context('spawn')) as process:
        row.fill(process.submit(measure_fresh, row, tools.seconds).result())


def measure_fresh(row: Row, seconds: float) -> Comparison:
    """Call everything once in some order, then measure the row."""
    robot, peer = load_both(row)
    rng = np.random.default_rng(0)
    link = last_link(robot)
    if not peer.model.existFrame(link):
        raise ValueError(f'Pinocchio has no frame {link!r}')
    q, q1 = (x.copy() for x in robot.random_configurations(2, rng))
    v, a = (x.copy() for x in rng.normal(size=(2, robot.nv)))
    (their_q, their_v, their_a), (their_q1, _, _) = peer.states(2, rng)
    # Mimic joints are independent joints of the peer, which then has more variables.
    our_state = _State(q, v, a, q1, link)
    their_state = _State(their_q, their_v, their_a, their_q1, link)
    pin = _Peer(peer, their_state)
    # Speed must not depend on which call came first: each row has another order, the same in every
    # run.
    names = list(_PAIRS)
    random.Random(f'{row.robot} {row.function}').shuffle(names)
    for name in names:
        first, _ = _PAIRS[name][1](robot, pin, our_state)
        first.function(*first.arguments, **first.keywords)
    pair = _PAIRS[row.function][1]
    # The method is bound to machine code by its first call, so it is looked up again, as by a
    # caller.
    ours, _ = pair(robot, pin, our_state)
    _, theirs = pair(robot, pin, their_state)
    return compare(ours, theirs, seconds)


SECTION = Section(
    'Every public function by its method, against the same call of pin (two where it takes two)',
    _rows,
    _measure,
)
