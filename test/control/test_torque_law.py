"""Torque laws: what each term contains, what they do to a robot, what is refused."""

from itertools import product

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from rbd_ros import Robot
from rbd_ros.control import (
    FEEDBACKS,
    friction_torque,
    FRICTIONS,
    MODELS,
    payload_parameters,
    TERM_DESCRIPTIONS,
    TorqueLaw,
)
from rbd_ros.resources import resource_path

KP, KD = np.array([100.0, 90, 80, 30, 20, 10]), np.array([20.0, 19, 18, 5, 4, 3])
UNLIMITED = np.full(6, np.inf)


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


@pytest.fixture
def state(rng):
    """Measured and desired motion: q, v, q_desired, v_desired, a_desired."""
    return rng.normal(size=(5, 6))


def law(arm, **options):
    return TorqueLaw(arm, **{'kp': KP, 'kd': KD, 'effort_limits': UNLIMITED, **options})


def test_gravity_is_that_of_the_measured_configuration(arm, state):
    torque = law(arm, model='gravity', feedback='none')(*state)
    assert_array_equal(torque, arm.gravity_torque(state[0]))


def test_inverse_dynamics_is_that_of_the_desired_motion(arm, state):
    torque = law(arm, model='inverse_dynamics', feedback='none')(*state)
    assert_array_equal(torque, arm.inverse_dynamics(*state[2:]))


def test_pd_contains_nothing_but_the_errors(arm, state):
    q, v, qd, vd, _ = state
    torque = law(arm, model='none', feedback='pd')(*state)
    assert_allclose(torque, KP * (qd - q) + KD * (vd - v), rtol=1e-12)


def test_damping_knows_no_desired_motion(arm, state):
    assert_allclose(law(arm, model='none', feedback='damping')(*state), -KD * state[1])


@pytest.mark.parametrize('feedback', FEEDBACKS)
def test_computed_torque_makes_the_error_obey_a_linear_equation(arm, state, feedback):
    """With it, a = ad + kd de + kp e for the true robot, whatever else is chosen as feedback."""
    q, v, qd, vd, ad = state
    torque = law(arm, model='computed_torque', feedback=feedback)(*state)
    a = arm.forward_dynamics(q, v, torque)
    assert_allclose(a, ad + KD * (vd - v) + KP * (qd - q), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(('word', 'row'), [('desired', 3), ('measured', 1)])
def test_friction_is_that_of_the_robot_at_the_velocity_named(arm, state, word, row):
    options = {'model': 'none', 'feedback': 'none', 'transition_velocity': 0.1}
    torque = law(arm, friction=word, **options)(*state)
    expected = friction_torque(state[row], arm.damping, arm.friction, 0.1)
    assert_allclose(torque, expected)
    assert np.abs(expected).min() > 0.0


def test_friction_parameters_may_be_given(arm, state):
    own = law(arm, model='none', feedback='none', friction='measured', viscous=2.0, coulomb=0.0)
    assert_allclose(own(*state), 2.0 * state[1])


@pytest.mark.parametrize(
    ('model', 'feedback', 'friction'), [*product(MODELS, FEEDBACKS, FRICTIONS)]
)
def test_the_torque_is_the_sum_of_its_terms(arm, state, model, feedback, friction):
    chosen = law(arm, model=model, feedback=feedback, friction=friction)
    torque = chosen(*state)
    assert_allclose(torque, sum(chosen.terms.values()), rtol=1e-12, atol=1e-12)
    assert set(chosen.terms) == {'model', 'feedback', 'friction'}


@pytest.mark.parametrize('word', sorted({*MODELS, *FEEDBACKS, *FRICTIONS}))
def test_every_term_is_described(word):
    assert TERM_DESCRIPTIONS[word]


def test_the_sum_is_cut_and_not_the_terms(arm, state):
    """Two terms beyond the limit that cancel are no reason to cut."""
    free = law(arm, model='inverse_dynamics', feedback='pd')
    wanted = free(*state)
    limits = np.abs(wanted) + 1e-9
    limits[2] = 0.5 * abs(wanted[2])
    cut = law(arm, model='inverse_dynamics', feedback='pd', effort_limits=limits)
    torque = cut(*state)
    others = np.arange(6) != 2
    assert_array_equal(torque[others], wanted[others])
    assert torque[2] == np.sign(wanted[2]) * limits[2]
    assert_array_equal(cut.saturated, ~others)


def test_effort_limits_of_the_robot_count_by_default(arm, state):
    torque = TorqueLaw(arm, kp=1e6, kd=0.0)(*state)
    assert_array_equal(np.abs(torque), arm.effort_limits)


def test_torque_rate_limits_the_change(arm, state):
    slow = law(arm, torque_rate=10.0)
    first = slow(*state, dt=1e-3)
    second = slow(state[0] + 1.0, *state[1:], dt=1e-3)
    assert_allclose(np.abs(second - first), 0.01)
    slow.reset()
    third = slow(state[0] - 1.0, *state[1:], dt=1e-3)
    assert np.abs(third - second).min() > 1.0


def test_what_is_not_desired_is_rest_where_the_robot_is(arm, state):
    q, v = state[:2]
    rest = np.zeros(6)
    for model in MODELS:
        chosen = law(arm, model=model)
        assert_array_equal(chosen(q, v), chosen(q, v, q, rest, rest))


@pytest.mark.parametrize('model', [m for m in MODELS if m != 'none'])
def test_gravity_can_be_changed_while_running(arm, state, model):
    tilted = (1.0, -2.0, -9.0)
    chosen = law(arm, model=model, runtime_gravity=True)
    upright = chosen(*state)
    assert_allclose(upright, law(arm, model=model)(*state), rtol=1e-9, atol=1e-9)
    chosen.set_gravity(tilted)
    other = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'), gravity=tilted)
    assert_allclose(chosen(*state), law(other, model=model)(*state), rtol=1e-9, atol=1e-9)


def test_a_payload_adds_its_weight(arm, state):
    chosen = law(arm, model='gravity', feedback='none', payload_link='tool0')
    bare = chosen(*state)
    assert_allclose(bare, arm.gravity_torque(state[0]), rtol=1e-9, atol=1e-9)
    chosen.set_payload(payload_parameters(2.0))
    J = arm.jacobian(state[0], 'tool0', 'aligned')[3:]
    assert_allclose(chosen(*state) - bare, J.T @ [0, 0, 2.0 * 9.81], rtol=1e-9, atol=1e-9)


def test_two_laws_of_one_robot_do_not_disturb_each_other(arm, state):
    first = law(arm, model='gravity', runtime_gravity=True)
    second = law(arm, model='gravity', runtime_gravity=True)
    before = first(*state)
    second.set_gravity((0, 0, 0))
    second(*state)
    assert_array_equal(first(*state), before)


def test_settings_change_together_or_not_at_all(arm, state):
    chosen = law(arm)
    before = chosen(*state)
    with pytest.raises(ValueError, match='kd'):
        chosen.configure(model='gravity', kp=1.0, kd=-1.0)
    assert_array_equal(chosen(*state), before)
    chosen.configure(model='gravity', feedback='none')
    assert_array_equal(chosen(*state), arm.gravity_torque(state[0]))


BAD_SETTINGS = {
    'unknown model': ({'model': 'magic'}, 'model must be one of .*inverse_dynamics'),
    'unknown feedback': ({'feedback': 'pid'}, 'feedback must be one of'),
    'unknown friction': ({'friction': 'yes'}, 'friction must be one of'),
    'wrong number of gains': ({'kp': [1.0, 2.0]}, r'kp must be one number or 6'),
    'negative gain': ({'kd': -1.0}, 'kd must be finite and not negative'),
    'gain no number': ({'kp': np.nan}, 'kp must be finite'),
    'limits short': ({'effort_limits': [1.0]}, 'effort_limits must have shape'),
    'limits negative': ({'effort_limits': [-1.0] * 6}, 'not negative'),
    'rate zero': ({'torque_rate': 0.0}, 'rate'),
}


@pytest.mark.parametrize('case', BAD_SETTINGS)
def test_illegal_settings_are_refused(arm, case):
    changes, text = BAD_SETTINGS[case]
    with pytest.raises(ValueError, match=text):
        law(arm, **changes)
    with pytest.raises(ValueError, match=text):
        law(arm).configure(**changes)


def test_an_unknown_setting_is_refused_with_the_known(arm):
    with pytest.raises(ValueError, match="unknown setting 'gain'.*kp"):
        law(arm).configure(gain=1.0)


def test_an_unknown_payload_link_is_refused_with_close_names(arm):
    with pytest.raises(ValueError, match='tool0'):
        law(arm, payload_link='tool_0')


def test_inputs_that_were_not_asked_for_are_refused(arm):
    with pytest.raises(ValueError, match='payload_link'):
        law(arm).set_payload(np.zeros(10))
    with pytest.raises(ValueError, match='runtime_gravity'):
        law(arm).set_gravity([0, 0, 0])
    with pytest.raises(ValueError, match='10 finite numbers'):
        law(arm, payload_link='tool0').set_payload([1.0])


@pytest.mark.parametrize('model', MODELS)
def test_a_torque_that_is_no_number_never_comes_out(arm, state, model):
    q = state[0].copy()
    q[3] = np.nan
    with pytest.raises(FloatingPointError, match='wrist_1_joint'):
        law(arm, model=model)(q, *state[1:2], state[2], *state[3:])


def test_quaternion_joints_have_their_errors_as_rotations(rng):
    body = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'), floating_base=True)
    q, target = body.random_configuration(rng), body.random_configuration(rng)
    limits = np.full(body.nv, np.inf)
    feedback = TorqueLaw(body, model='none', kp=1.0, effort_limits=limits)
    torque = feedback(q, np.zeros(body.nv), target)
    reached = body.integrate(q, torque)
    assert_allclose(body.difference(reached, target), 0.0, atol=1e-9)
