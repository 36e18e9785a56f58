# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torque laws: their terms, their effect on a robot, and changes of settings."""

from itertools import product
import threading

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from rbd_ros import Robot
from rbd_ros.compiler import make_kernel
from rbd_ros.control import (
    FEEDBACKS,
    FEEDFORWARDS,
    friction_torque,
    FRICTIONS,
    LawSettings,
    payload_parameters,
    TERM_DESCRIPTIONS,
    TorqueLaw,
)
from rbd_ros.control.law.law_equations import INPUTS, law_definition, Layout
from rbd_ros.control.law.prepared_law import MAX_STEP
from rbd_ros.control.law.task_impedance import TaskImpedance
from rbd_ros.lookup.resources import resource_path

KP, KD = np.array([100.0, 90, 80, 30, 20, 10]), np.array([20.0, 19, 18, 5, 4, 3])
KI = np.array([50.0, 40, 30, 20, 10, 5])
WORDS = [*product(FEEDFORWARDS, FEEDBACKS, FRICTIONS)]


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


@pytest.fixture
def state(rng):
    """Return the measured and desired motion: q, v, q_desired, v_desired, a_desired."""
    return rng.normal(size=(5, 6))


def settings(arm, feedforward='none', feedback='none', friction='none', **options):
    if feedback == 'task_impedance':
        options = {'task': TaskImpedance.of(50.0, damping_ratio=0.7), **options, 'ki': None}
    words = {'feedforward': feedforward, 'feedback': feedback, 'friction': friction}
    common = {'kp': KP, 'kd': KD, 'viscous': 0.0, 'effort_limits': np.inf}
    return LawSettings.for_robot(arm, **words, **{**common, **options})


def law(arm, feedforward='none', feedback='none', friction='none', payload_link=None, **options):
    own = settings(arm, feedforward, feedback, friction, **options)
    return TorqueLaw(arm, own, payload_link, 'tool0' if own.task else None)


# -- terms ------------------------------------------------------------------------------------


def test_gravity_is_that_of_the_measured_configuration(arm, state):
    torque = law(arm, 'gravity')(*state)
    assert_allclose(torque, arm.gravity_torque(state[0]), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize('feedback', ['none', 'damping', 'pd'])
def test_inverse_dynamics_is_that_of_the_desired_motion(arm, state, feedback):
    chosen = law(arm, 'inverse_dynamics', feedback)
    chosen(*state)
    assert_allclose(chosen.terms['model'], arm.inverse_dynamics(*state[2:]), rtol=1e-12)


def test_pd_contains_nothing_but_the_errors(arm, state):
    q, v, qd, vd, _ = state
    assert_allclose(law(arm, feedback='pd')(*state), KP * (qd - q) + KD * (vd - v), rtol=1e-12)


def test_damping_ignores_the_desired_motion(arm, state):
    assert_allclose(law(arm, feedback='damping')(*state), -KD * state[1])


def test_computed_torque_makes_the_error_obey_a_linear_equation(arm, state):
    """With it, a = ad + kd de + kp e for the true robot without friction."""
    q, v, qd, vd, ad = state
    torque = law(arm, 'inverse_dynamics', 'computed_torque')(*state)
    a = arm.forward_dynamics(q, v, torque)
    assert_allclose(a, ad + KD * (vd - v) + KP * (qd - q), rtol=1e-8, atol=1e-8)


def test_computed_torque_is_stiffer_where_there_is_viscous_friction(arm, state):
    viscous = np.array([0.0, 1.0, 2.0, 0.5, 0.1, 0.02])
    soft = law(arm, feedback='computed_torque')
    stiff = law(arm, feedback='computed_torque', viscous=viscous)
    error = state[2] - state[0]
    difference = stiff(*state) - soft(*state)
    assert_allclose(difference, viscous * np.sqrt(KP) * error, rtol=1e-9, atol=1e-9)


def test_friction_compensated_as_measured_adds_no_stiffness(arm, state):
    """It takes the damping away for which the stiffness would be."""
    options = {'friction': 'measured', 'coulomb': 0.0}
    chosen = law(arm, feedback='computed_torque', viscous=1.0, **options)
    plain = law(arm, feedback='computed_torque')
    assert_allclose(chosen(*state), plain(*state) + state[1], rtol=1e-12)


@pytest.mark.parametrize(('word', 'row'), [('desired', 3), ('measured', 1)])
def test_friction_is_that_of_the_robot_at_the_velocity_named(arm, state, word, row):
    torque = law(arm, friction=word, viscous=None, transition_velocity=0.1)(*state)
    expected = friction_torque(state[row], arm.damping, arm.friction, 0.1)
    assert_allclose(torque, expected)
    assert np.abs(expected).min() > 0.0


def test_friction_parameters_may_be_given(arm, state):
    own = law(arm, friction='measured', viscous=2.0, coulomb=0.0)
    assert_allclose(own(*state), 2.0 * state[1])


@pytest.mark.parametrize('words', WORDS)
def test_the_torque_is_the_sum_of_its_terms(arm, state, words):
    chosen = law(arm, *words, viscous=0.3, ki=KI)
    for _ in range(3):
        torque = chosen(*state, dt=1e-3)
    assert_allclose(torque, sum(chosen.terms.values()), rtol=1e-12, atol=1e-12)
    assert set(chosen.terms) == {'model', 'feedback', 'friction', 'integral'}


def test_every_word_is_described():
    for name, words in (('feedforward', FEEDFORWARDS), ('feedback', FEEDBACKS),
                        ('friction', FRICTIONS)):  # fmt: skip
        assert set(TERM_DESCRIPTIONS[name]) == set(words)


@pytest.mark.parametrize('words', WORDS)
def test_the_default_desired_state_is_rest_at_the_measured_position(arm, state, words):
    q, v = state[:2]
    rest = np.zeros(6)
    chosen = law(arm, *words)
    assert_array_equal(chosen(q, v), chosen(q, v, q, rest, rest))


@pytest.mark.parametrize('words', WORDS)
def test_a_torque_does_not_share_memory_with_the_law(arm, state, words):
    chosen = law(arm, *words, ki=KI)
    first = chosen(*state, dt=1e-3)
    chosen.reset()
    expected = first.copy()
    first[:] = np.nan
    assert_array_equal(chosen(*state, dt=1e-3), expected)


def test_quaternion_joints_have_their_errors_as_rotations(rng):
    body = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'), floating_base=True)
    q, target = body.random_configuration(rng), body.random_configuration(rng)
    feedback = law(body, feedback='pd', kp=1.0, kd=0.0)
    reached = body.integrate(q, feedback(q, np.zeros(body.nv), target))
    assert_allclose(body.difference(reached, target), 0.0, atol=1e-9)


@pytest.mark.parametrize('computed', [False, True])
def test_machine_code_agrees_with_the_law(arm, computed, rng):
    """The same arrays, once through machine code and once through the law on floats."""
    definition = law_definition(arm.model, computed, 'tool0')
    layout = Layout(arm.nq, arm.nv)
    for scale in (0.01, 1.0, 30.0):
        arrays = [scale * rng.normal(size=size) for _, size in definition.inputs]
        numbers = dict(zip(INPUTS, arrays))
        numbers['numbers'][:] = np.abs(numbers['numbers'])
        numbers['dt'][:] = 1e-3
        expected = np.array(definition.evaluate(*(x.tolist() for x in arrays))[0])
        np.testing.assert_allclose(
            make_kernel(definition)(*arrays), expected, rtol=1e-9, atol=1e-9 * scale
        )
        assert expected.shape == (layout.size,)


# -- gravity and payload ----------------------------------------------------------------------


@pytest.mark.parametrize('feedforward', ['gravity', 'inverse_dynamics'])
@pytest.mark.parametrize('feedback', ['pd', 'computed_torque'])
def test_gravity_can_be_changed_while_running(arm, state, feedforward, feedback):
    tilted = (1.0, -2.0, -9.0)
    chosen = law(arm, feedforward, feedback)
    chosen.settings = settings(arm, feedforward, feedback, gravity=tilted)
    other = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'), gravity=tilted)
    expected = law(other, feedforward, feedback)(*state)
    assert_allclose(chosen(*state), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(chosen.gravity_torque(state[0]), other.gravity_torque(state[0]), atol=1e-9)


def test_a_payload_adds_its_weight(arm, state):
    chosen = law(arm, 'gravity', payload_link='tool0')
    bare = chosen(*state)
    assert_allclose(bare, arm.gravity_torque(state[0]), rtol=1e-9, atol=1e-9)
    chosen.settings = settings(arm, 'gravity', payload=payload_parameters(2.0))
    J = arm.jacobian(state[0], 'tool0', 'aligned')[3:]
    weight = J.T @ [0, 0, 2.0 * 9.81]
    assert_allclose(chosen(*state) - bare, weight, rtol=1e-9, atol=1e-9)
    assert_allclose(chosen.gravity_torque(state[0]), chosen(*state), rtol=1e-14, atol=1e-14)


def test_a_payload_adds_its_inertia_to_the_feedback(arm, state):
    chosen = law(arm, feedback='computed_torque', payload_link='tool0')
    bare = chosen(*state)
    chosen.settings = settings(
        arm, feedback='computed_torque', payload=payload_parameters(2.0, (0.0, 0.0, 0.1))
    )
    assert np.abs(chosen(*state) - bare).max() > 0.1


def test_a_payload_without_a_link_is_rejected(arm):
    with pytest.raises(ValueError, match='payload needs payload_link'):
        law(arm, 'gravity', payload=payload_parameters(2.0))


def test_an_unknown_payload_link_is_rejected_with_close_names(arm):
    with pytest.raises(ValueError, match='tool0'):
        law(arm, payload_link='tool_0')


# -- the integral -----------------------------------------------------------------------------


@pytest.mark.parametrize('feedback', ['pd', 'computed_torque'])
def test_the_integral_grows_with_the_error(arm, state, feedback):
    q, rest = state[0], np.zeros(6)
    chosen = law(arm, feedback=feedback, ki=KI)
    error = np.full(6, 0.01)
    for _ in range(20):
        chosen(q, rest, q + error, rest, rest, dt=5e-3)
    rate = KI / KP * chosen.terms['feedback']
    assert_allclose(chosen.integral, 0.1 * rate, rtol=1e-9)


def test_many_short_steps_are_a_few_long_ones(arm, state):
    short, long = law(arm, feedback='pd', ki=KI), law(arm, feedback='pd', ki=KI)
    for _ in range(40):
        short(*state, dt=1e-3)
    for _ in range(10):
        long(*state, dt=4e-3)
    assert_allclose(short.integral, long.integral, rtol=1e-9)
    assert short.integral.any()


@pytest.mark.parametrize('dt', [None, 0.0, -1.0, np.nan, -np.inf])
def test_no_time_no_integral(arm, state, dt):
    chosen = law(arm, feedback='pd', ki=KI)
    chosen(*state, dt=dt)
    assert not chosen.integral.any()


@pytest.mark.parametrize('dt', [0.5, 1e300, np.inf])
def test_one_call_advances_the_integral_by_a_bounded_time(arm, state, dt):
    chosen = law(arm, feedback='pd', ki=KI)
    chosen(*state, dt=dt)
    expected = KI * (state[2] - state[0]) * MAX_STEP
    assert_allclose(chosen.integral, expected, rtol=1e-9)


def test_the_integral_never_exceeds_the_effort_limits(arm, state):
    limits = np.array([1.0, 2.0, 0.0, 4.0, 5.0, 6.0])
    chosen = law(arm, feedback='pd', ki=KI, effort_limits=limits)
    for _ in range(3000):
        chosen(*state, dt=0.02)
    assert_array_equal(np.abs(chosen.integral), limits)


def test_the_integral_rests_within_its_deadband(arm, state):
    """A quarter of it counts while the desired motion goes on or has just ended."""
    chosen = law(arm, feedback='pd', ki=KI, integral_deadband=0.01)
    q, rest = state[0], np.zeros(6)
    error = 0.01 * np.array([0.2, -0.3, 0.9, -1.1, 0.0, 5.0])

    def changes(v_desired):
        before = chosen.integral
        chosen(q, rest, q + error, v_desired, rest, dt=0.02)
        return chosen.integral != before

    assert_array_equal(changes(np.full(6, 0.1)), np.abs(error) > 0.0025)
    for _ in range(100):  # at rest for 2 s, as docs/control_law.md says
        assert_array_equal(changes(rest), np.abs(error) > 0.0025)
    changes(rest)  # whether 100 times 0.02 s are above 2 s is rounding
    assert_array_equal(changes(rest), np.abs(error) > 0.01)
    assert_array_equal(changes(np.full(6, 0.1)), np.abs(error) > 0.01)
    assert_array_equal(changes(rest), np.abs(error) > 0.0025)


def test_a_torque_that_was_cut_stops_the_integral_in_that_direction_only(arm, state):
    q, rest = state[0], np.zeros(6)
    error = np.array([0.1, -0.1, 0.1, -0.1, 0.1, -0.1])
    chosen = law(arm, feedback='pd', ki=KI)
    requested = chosen(q, rest, q + error, rest, rest, dt=5e-3)
    before = chosen.integral
    sent = requested.copy()
    sent[:2] *= 0.5  # cut in the direction of the error
    sent[2:4] *= 1.5  # more than requested: growing is allowed
    chosen.set_applied_torque(sent)
    chosen(q, rest, q + error, rest, rest, dt=5e-3)
    grown = np.abs(chosen.integral) - np.abs(before)
    assert_array_equal(grown[:2], 0.0)
    assert (grown[2:] > 0.0).all()
    chosen.set_applied_torque(chosen(q, rest, q + error, rest, rest, dt=5e-3))
    after = chosen.integral
    chosen(q, rest, q + error, rest, rest, dt=5e-3)
    assert (np.abs(chosen.integral) > np.abs(after)).all()


def test_a_reset_clears_the_integral(arm, state):
    chosen = law(arm, feedback='pd', ki=KI)
    first = chosen(*state, dt=None)
    for _ in range(10):
        chosen(*state, dt=5e-3)
    assert chosen.integral.any()
    chosen.reset()
    assert not chosen.integral.any()
    assert not any(term.any() for term in chosen.terms.values())
    assert_array_equal(chosen(*state, dt=None), first)


def test_other_gains_and_feedback_keep_the_integral_torque(arm, state):
    """It compensates errors of the model, in N m, for any gains."""
    chosen = law(arm, feedback='pd', ki=KI)
    for _ in range(10):
        chosen(*state, dt=5e-3)
    learned = chosen.integral
    for changed in (settings(arm, feedback='pd', kp=2 * KP, ki=KI),
                    settings(arm, feedback='computed_torque', ki=KI)):  # fmt: skip
        chosen.settings = changed
        chosen(*state, dt=None)
        assert_array_equal(chosen.terms['integral'], learned)


@pytest.mark.parametrize('words', [{'feedforward': 'gravity'}, {'friction': 'measured'}])
def test_another_model_clears_the_integral(arm, state, words):
    """Otherwise the weight that an integral has learned would count twice."""
    chosen = law(arm, feedback='pd', ki=KI)
    for _ in range(10):
        chosen(*state, dt=5e-3)
    assert chosen.integral.all()
    chosen.settings = settings(arm, **{'feedback': 'pd', 'ki': KI, **words})
    chosen(*state, dt=None)
    assert not chosen.terms['integral'].any()


@pytest.mark.parametrize('changes', [{'feedback': 'pd'}, {'feedback': 'none'},
                                     {'feedback': 'damping', 'ki': KI}])  # fmt: skip
def test_a_law_without_integral_clears_it(arm, state, changes):
    chosen = law(arm, feedback='pd', ki=KI)
    for _ in range(10):
        chosen(*state, dt=5e-3)
    chosen.settings = settings(arm, **changes)
    chosen(*state, dt=5e-3)
    assert not chosen.integral.any()
    chosen.settings = settings(arm, feedback='pd', ki=KI)
    chosen(*state, dt=None)
    assert not chosen.integral.any()


def test_lowered_effort_limits_lower_the_integral(arm, state):
    chosen = law(arm, feedback='pd', ki=KI)
    for _ in range(1000):
        chosen(*state, dt=0.02)
    chosen.settings = settings(arm, feedback='pd', ki=KI, effort_limits=0.5)
    chosen(*state, dt=None)
    assert np.abs(chosen.integral).max() <= 0.5


@pytest.mark.parametrize('factor', [1.5, 30.0])
def test_with_computed_torque_a_great_error_counts_as_much_as_effort_limits_allow(
    arm, state, factor
):
    """All joints are reduced alike, and the integral waits."""
    limits = np.array([150.0, 150.0, 150.0, 28.0, 28.0, 28.0])
    chosen = law(arm, feedback='computed_torque', ki=KI, effort_limits=limits)
    q, rest = state[0], np.zeros(6)
    direction = np.array([1.0, -1.0, 0.5, 2.0, -1.0, 1.0])
    free = law(arm, feedback='computed_torque')
    load = np.abs(free(q, rest, q + direction) / limits).max()
    small, great = 0.49 * direction / load, factor * direction / load
    torque = chosen(q, rest, q + small, rest, rest, dt=5e-3)
    assert_allclose(torque, free(q, rest, q + small), rtol=1e-9)
    learned = chosen.integral
    assert learned.all()
    chosen(q, rest, q + great, rest, rest, dt=5e-3)
    assert_array_equal(chosen.integral, learned)
    assert_allclose(chosen.terms['feedback'], 0.5 / 0.49 * torque, rtol=1e-9)


def test_the_friction_integral_is_cut_at_its_joint_alone(arm, state):
    """A gripper that holds something does not weaken the arm."""
    q, rest = state[0], np.zeros(6)
    viscous = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 10.0])
    chosen = law(arm, feedback='computed_torque', viscous=viscous, ki=KI, effort_limits=20.0)
    near = np.array([0.01, 0.0, 0.0, 0.0, 0.0, 0.0])
    alone = chosen(q, rest, q + near, rest, rest)
    torque = chosen(q, rest, q + near + [0, 0, 0, 0, 0, 1.0], rest, rest, dt=5e-3)
    assert torque[5] == 10.0
    assert_allclose(torque[0], alone[0], atol=0.05)
    assert chosen.integral[0] != 0.0
    assert chosen.integral[5] == 0.0


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_a_desired_position_that_is_not_a_number_is_rejected(arm, state, bad):
    """Not cut to something that looks like a torque."""
    q, rest = state[0], np.zeros(6)
    for feedback in ('pd', 'computed_torque'):
        chosen = law(arm, feedback=feedback, viscous=1.0, ki=KI, effort_limits=20.0)
        spoilt = q.copy()
        spoilt[2] = bad
        with pytest.raises(FloatingPointError), np.errstate(all='ignore'):
            chosen(q, rest, spoilt, rest, rest, dt=5e-3)
        assert not chosen.integral.any()


def test_pd_feedback_does_not_couple_joints(arm, state):
    """A great error of one does not weaken the others."""
    q, rest = state[0], np.zeros(6)
    error = np.array([100.0, 0.01, 0.01, 0.01, 0.01, 0.01])
    assert_allclose(law(arm, feedback='pd')(q, rest, q + error), KP * error, rtol=1e-9)


# -- numbers that are none --------------------------------------------------------------------


@pytest.mark.parametrize('words', [w for w in WORDS if w != ('none', 'none', 'none')])
@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_a_torque_that_is_not_a_number_never_comes_out(arm, state, words, bad):
    chosen = law(arm, *words, ki=KI, viscous=1.0)
    chosen(*state, dt=5e-3)
    before = chosen(*state, dt=None)
    terms, integral = chosen.terms, chosen.integral
    spoilt = state.copy()
    spoilt[:2, 3] = bad
    if words[0] != 'gravity' and words[1] == 'none' and words[2] != 'measured':
        spoilt[2:4, 3] = bad  # nothing measured is in it
    with pytest.raises(FloatingPointError, match='wrist_1_joint'), np.errstate(all='ignore'):
        chosen(*spoilt, dt=5e-3)
    for name, term in terms.items():
        assert_array_equal(chosen.terms[name], term)
    assert_array_equal(chosen.integral, integral)
    assert_array_equal(chosen(*state, dt=None), before)


def test_great_torques_are_torques(arm, state):
    """Their squares are infinite, they are not."""
    with np.errstate(over='ignore'):
        torque = law(arm, feedback='pd')(*(state * [[1e200], [1], [1], [1], [1]]))
    assert np.isfinite(torque).all()


# -- settings while running -------------------------------------------------------------------


def test_two_laws_of_one_robot_do_not_disturb_each_other(arm, state):
    first, second = law(arm, 'gravity'), law(arm, 'gravity')
    before = first(*state)
    second.settings = settings(arm, 'gravity', gravity=(0, 0, 0))
    second(*state)
    assert_array_equal(first(*state), before)


def test_settings_of_another_robot_are_rejected(arm, state):
    other = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))
    chosen = law(arm, 'gravity')
    before = chosen(*state)
    with pytest.raises(ValueError, match=r'kp has shape \(2,\)'):
        chosen.settings = LawSettings.for_robot(other)
    assert_array_equal(chosen(*state), before)


def test_each_call_uses_one_set_of_settings(arm, state):
    """Another thread swaps settings that would show if they were mixed."""
    both = [
        settings(arm, 'gravity', 'pd', gravity=(0, 0, -9.81)),
        settings(arm, 'gravity', 'computed_torque', gravity=(0, 0, 9.81)),
    ]
    chosen = law(arm)
    allowed = []
    for each in both:
        chosen.settings = each
        allowed.append(chosen(*state))
    done = threading.Event()

    def swap():
        while not done.is_set():
            for each in both:
                chosen.settings = each

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        results = [chosen(*state) for _ in range(3000)]
    finally:
        done.set()
        thread.join()
    assert all(any((r == a).all() for a in allowed) for r in results)


def test_settings_have_the_given_values(arm):
    chosen = law(arm)
    given = settings(arm, 'gravity', 'pd')
    chosen.settings = given
    assert chosen.settings is given
    with pytest.raises(ValueError, match='read-only'):
        given.kp[0] = 1.0
