# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint springs: their definition, and their oscillation."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import solve_ivp
from support import fresh_python, loop_mechanisms as mechanisms
from support.simulated_robots import joint, link, robot

from rbd_ros import Robot, Simulator
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import ModelError
from rbd_ros.simulation.stepping.drives import make_drives
from rbd_ros.textbook.simulation import integrate_ode

INTEGRATORS = ('semi_implicit', 'midpoint', 'rk4')
EACH = pytest.mark.parametrize('integrator', INTEGRATORS)
G = 9.81
SLIDE = '<limit lower="-10" upper="10" effort="1e5" velocity="99"/>'


def mass_on_a_spring(stiffness, rest=0.0, mass=2.0, dynamics='', axis=(1, 0, 0)):
    return robot(
        link('wall'),
        link('mass', mass, (0.1,) * 3),
        joint('slide', 'wall', 'mass', 'prismatic', axis, inside=SLIDE + dynamics),
        extension={'springs': {'slide': {'stiffness': stiffness, 'rest': rest}}},
    )


def arm(stiffness, dynamics=''):
    """Return three hinges with springs, bent by gravity."""
    return robot(
        link('base'),
        link('upper', 2.0, (0.02, 0.03, 0.04), (0.1, 0.0, 0.2)),
        link('fore', 1.0, (0.01, 0.02, 0.01), (0.2, 0.05, 0.0)),
        link('hand', 0.5, (2e-3, 3e-3, 1e-3), (0.0, 0.02, 0.1)),
        joint('a', 'base', 'upper', 'continuous', (0, 0, 1), (0, 0, 0.1), dynamics),
        joint('b', 'upper', 'fore', 'continuous', (0, 1, 0), (0.3, 0, 0), dynamics),
        joint('c', 'fore', 'hand', 'continuous', (1, 1, 0), (0.3, 0, 0), dynamics),
        extension={
            'springs': {
                name: {'stiffness': k, 'rest': rest}
                for name, k, rest in zip('abc', stiffness, REST)
            }
        },
    )


REST = np.array([0.2, -0.3, 0.4])
START, SPEED = np.array([0.3, -0.7, 1.1]), np.array([1.0, -0.5, 0.4])
SOFT = np.array([3.0, 4.0, 0.5])


def energy(subject, q, v):
    springs = 0.5 * subject.stiffness @ (q - subject.spring_rest) ** 2
    return sum(subject.energy(q, v)[:2]) + springs


# -- description


def test_springs_come_from_an_extension(tmp_path):
    file = tmp_path / 'springs.yaml'
    file.write_text(
        'springs:\n  elbow_joint: {stiffness: 40.0, rest: -1.5}\n  wrist_1_joint:\n'
        '    stiffness: 2\n'
    )
    urdf = resource_path('urdf', 'six_axis_arm.urdf')
    subject = Robot.from_urdf(urdf, extension=file)
    assert_allclose(subject.stiffness, [0, 0, 40.0, 2.0, 0, 0])
    assert_allclose(subject.spring_rest, [0, 0, -1.5, 0, 0, 0])
    assert not Robot.from_urdf(urdf).stiffness.any()


def test_models_keep_their_springs():
    model = arm(SOFT).model
    for other in (
        model.with_gravity((0.0, 0.0, -1.0)),
        model.with_armature({'a': 0.1}),
        model.with_loops(()),
        model.with_link_inertia('hand', model.link('hand').inertia),
        model.with_springs({}),
    ):
        assert_allclose(Robot(other).stiffness, SOFT)
        assert_allclose(Robot(other).spring_rest, REST)
    other = Robot(model.with_springs({'b': 7.0}, rest={'b': 0.1}))
    assert_allclose(other.stiffness, [3.0, 7.0, 0.5])
    assert_allclose(other.spring_rest, [0.2, 0.1, 0.4])
    assert_allclose(Robot(model.with_springs({'b': 7.0})).spring_rest, [0.2, 0.0, 0.4])


def test_a_free_base_changes_no_spring():
    urdf = resource_path('urdf', 'quadruped.urdf')
    joint_name = Robot.from_urdf(urdf).joint_names[2]
    springs = {'springs': {joint_name: {'stiffness': 5.0, 'rest': 0.2}}}
    subject = Robot.from_urdf(urdf, extension=springs, floating_base=True)
    assert_allclose(subject.stiffness, [5.0 * (i == 8) for i in range(subject.nv)])


def geared(springs):
    mimic = '<mimic joint="a" multiplier="-2" offset="0.3"/>'
    return robot(
        link('base'),
        link('upper', 2.0, (0.02, 0.03, 0.04), (0.1, 0.0, 0.2)),
        link('fore', 1.0, (0.01, 0.02, 0.01), (0.2, 0.05, 0.0)),
        joint('a', 'base', 'upper', 'continuous', (0, 1, 0)),
        joint('b', 'upper', 'fore', 'continuous', (0, 1, 0), (0.3, 0, 0), mimic),
        extension={'springs': springs},
    )


def test_springs_of_joints_that_follow_act_on_those_they_follow():
    """As the derivative of the energy of both."""
    k, rest = {'a': 12.0, 'b': 5.0}, {'a': 0.1, 'b': -0.4}
    subject = geared({name: {'stiffness': k[name], 'rest': rest[name]} for name in k})

    def stored(q):
        b = -2.0 * q + 0.3
        return 0.5 * k['a'] * (q - rest['a']) ** 2 + 0.5 * k['b'] * (b - rest['b']) ** 2

    for q in (-1.0, 0.0, 0.7):
        slope = (stored(q + 1e-5) - stored(q - 1e-5)) / 2e-5
        assert_allclose(subject.stiffness * (q - subject.spring_rest), [slope], rtol=1e-8)


BAD = [
    ({'slide': 3.0}, 'expected a mapping'),
    ({'slide': {'rest': 1.0}}, 'stiffness is missing'),
    ({'slide': {'stiffness': -1.0}}, 'springs: slide: stiffness: -1 is below the minimum of 0'),
    ({'slide': {'stiffness': 1.0, 'stifness': 1.0}}, "'stifness'"),
    ({'slid': {'stiffness': 1.0}}, "'slid'.*'slide'"),
    ({'slide': {'stiffness': 'soft'}}, 'not a finite number'),
]


@pytest.mark.parametrize('springs, words', BAD)
def test_bad_entries_name_themselves(springs, words):
    with pytest.raises(ModelError, match=words):
        robot(
            link('wall'),
            link('mass', 1.0, (0.1,) * 3),
            joint('slide', 'wall', 'mass', 'prismatic', inside=SLIDE),
            extension={'springs': springs},
        )


def test_joints_with_several_dofs_have_no_springs():
    parts = [
        link('wall'),
        link('mass', 1.0, (0.1,) * 3),
        joint('ball', 'wall', 'mass', inside=SLIDE),
    ]
    retyped = {'joints': {'ball': {'type': 'spherical'}}}
    with pytest.raises(ModelError, match="'ball' has 3 degrees of freedom"):
        robot(*parts, extension={**retyped, 'springs': {'ball': {'stiffness': 1.0}}})
    model = robot(*parts, extension=retyped).model
    for given, words in (
        (({'ball': 1.0},), 'degrees of freedom'),
        (({'bal': 1.0},), "'bal'"),
        (({'ball': -1.0},), 'not negative'),
        (({'ball': np.inf},), 'finite'),
        (({}, {'ball': 1.0}), 'no stiffness'),
        (({}, {'ball': np.nan}), 'rest of joint'),
    ):
        with pytest.raises(ModelError, match=words):
            model.with_springs(*given)


# -- one mass -------------------------------------------------------------------------------------


@EACH
@pytest.mark.parametrize('stiffness', [200.0, 2e6, 1e10])
def test_a_step_of_a_mass_is_that_of_its_method(integrator, stiffness):
    m, h, rest, x, v = 2.0, 1e-3, 0.1, 0.15, 0.3
    simulator = Simulator(mass_on_a_spring(stiffness, rest), h, integrator)
    simulator.reset([x], [v])
    simulator.step()
    stiff = h * h * stiffness / m > 1.0
    if integrator == 'semi_implicit' or stiff:  # m (v' - v) = -h k (x + h v' - rest)
        end = (m * v - h * stiffness * (x - rest)) / (m + h * h * stiffness)
        at = x + h * end if integrator == 'semi_implicit' else x + 0.5 * h * (v + end)
    elif integrator == 'midpoint':  # the mean of both ends, in x and v
        A = np.array([[1.0, -0.5 * h], [0.5 * h * stiffness / m, 1.0]])
        B = np.array([[1.0, 0.5 * h], [-0.5 * h * stiffness / m, 1.0]])
        at, end = np.linalg.solve(A, B @ [x - rest, v]) + [rest, 0.0]
    else:  # the exponential to fourth order
        M = h * np.array([[0.0, 1.0], [-stiffness / m, 0.0]])
        series = np.eye(2) + M @ (np.eye(2) + M / 2 @ (np.eye(2) + M / 3 @ (np.eye(2) + M / 4)))
        at, end = series @ [x - rest, v] + [rest, 0.0]
    assert_allclose(simulator.v, [end], rtol=1e-9)
    assert_allclose(simulator.q, [at], rtol=1e-12)


@EACH
def test_a_mass_swings_with_the_frequency_that_it_should(integrator):
    m, k, h = 2.0, 800.0, 1e-4
    omega = np.sqrt(k / m)
    simulator = Simulator(mass_on_a_spring(k, 0.5), h, integrator)
    simulator.reset([0.6])
    t, found = np.arange(1, 3001) * h, []
    for _ in t:
        simulator.step()
        found.append(simulator.q[0])
    decay = np.exp(-0.5 * h * omega**2 * t) if integrator == 'semi_implicit' else 1.0
    atol = {'semi_implicit': 3e-5, 'midpoint': 3e-7, 'rk4': 1e-11}[integrator]
    assert_allclose(found, 0.5 + 0.1 * np.cos(omega * t) * decay, atol=atol)


def test_midpoint_keeps_the_energy_of_a_mass_to_rounding():
    subject = mass_on_a_spring(800.0)
    simulator = Simulator(subject, 0.02)
    simulator.reset([0.1], [2.0])
    start = energy(subject, simulator.q, simulator.v)
    simulator.step(n=100_000)
    assert_allclose(energy(subject, simulator.q, simulator.v), start, rtol=1e-9)


@EACH
@pytest.mark.parametrize('stiffness', [1e5, 1e8, 1e12])
def test_stiff_springs_never_gain_energy(integrator, stiffness):
    subject = mass_on_a_spring(stiffness, axis=(0, 0, 1))
    simulator = Simulator(subject, 1e-3, integrator)
    simulator.reset([0.0], [3.0])
    # What falls to its place gains as much by gravity as the spring then holds.
    allowed = energy(subject, simulator.q, simulator.v) + (2.0 * G) ** 2 / stiffness
    for _ in range(200):
        simulator.step()
        assert 0.5 * 2.0 * simulator.v[0] ** 2 <= allowed * (1 + 1e-9)
    simulator.step(n=20_000)
    if stiffness >= 1e8:
        assert_allclose(simulator.q, [-2.0 * G / stiffness], rtol=1e-3, atol=1e-12)


# -- robots ---------------------------------------------------------------------------------------


def exact(subject, t, q=START, v=SPEED):
    """Return the motion in continuous time (DOP853)."""
    n = subject.nv

    def rate(_, y):
        force = -subject.stiffness * (y[:n] - subject.spring_rest) - subject.damping * y[n:]
        return np.concatenate([y[n:], subject.forward_dynamics(y[:n], y[n:], force)])

    found = solve_ivp(
        rate, (0, t), np.concatenate([q, v]), method='DOP853', rtol=1e-12, atol=1e-12
    )
    return found.y[:, -1]


@pytest.mark.parametrize(
    'integrator, order, largest',
    [('semi_implicit', 1, 0.02), ('midpoint', 2, 2e-4), ('rk4', 4, 1e-7)],
)
@pytest.mark.parametrize('damping', [0.0, 0.3])
@pytest.mark.parametrize('friction', [0.0, 1e-12])
def test_an_arm_converges_with_the_order_of_its_integrator(
    integrator, order, largest, damping, friction
):
    """With the least friction, another way to solve is taken."""
    if friction and integrator == 'rk4':
        pytest.skip('friction is of first order there')
    subject = arm(SOFT, f'<dynamics damping="{damping}" friction="{friction}"/>')
    end, errors = exact(subject, 0.2), []
    for h in (4e-3, 2e-3, 1e-3):
        simulator = Simulator(subject, h, integrator)
        simulator.reset(START, SPEED)
        simulator.step(n=round(0.2 / h))
        errors.append(np.abs(np.concatenate([simulator.q, simulator.v]) - end).max())
    assert errors[-1] < 10 * largest
    for a, b in zip(errors, errors[1:]):
        assert 2 ** (order - 0.4) < a / b < 2 ** (order + 0.5)


def test_the_energy_error_of_midpoint_is_of_second_order_and_stays():
    subject, worst = arm(SOFT), []
    for h in (4e-3, 2e-3):
        simulator = Simulator(subject, h)
        simulator.reset(START, SPEED)
        start, errors = energy(subject, START, SPEED), []
        for _ in range(400):
            simulator.step(n=round(0.04 / h))
            errors.append(abs(energy(subject, simulator.q, simulator.v) - start))
        worst.append(max(errors))
        assert max(errors[200:]) < 1.5 * max(errors[:200])
    assert worst[1] < 3e-3
    assert 3.0 < worst[0] / worst[1] < 5.5


def test_motion_with_tolerances_has_the_springs():
    subject = arm(SOFT, '<dynamics damping="0.2"/>')
    motion = integrate_ode(subject, START, SPEED, 0.4, rtol=1e-11)
    assert_allclose(motion.q[-1], exact(subject, 0.4)[:3], atol=1e-8)
    driven = integrate_ode(
        subject, START, SPEED, 0.4, torque=lambda t, q, v: np.zeros(3), rtol=1e-11
    )
    assert_allclose(driven.q[-1], motion.q[-1], atol=1e-12)


@EACH
@pytest.mark.parametrize('stiffness', [1e4, 1e8])
def test_stiff_springs_of_an_arm(integrator, stiffness):
    """It comes to rest where the springs bear its weight, or swings no further than it may."""
    subject = arm([stiffness] * 3, '<dynamics damping="2"/>')
    simulator = Simulator(subject, 1e-3, integrator)
    simulator.reset(REST, SPEED)
    simulator.step(n=30_000)
    torque = subject.gravity_torque(simulator.q)
    assert_allclose(stiffness * (REST - simulator.q), torque, rtol=1e-4, atol=1e-4)
    assert simulator.status.unconverged_steps == 0


@EACH
def test_a_spring_with_friction_and_a_joint_limit(integrator):
    limits = '<limit lower="-0.2" upper="0.2" effort="99" velocity="9"/>'
    subject = robot(
        link('wall'),
        link('mass', 2.0, (0.1,) * 3),
        joint('slide', 'wall', 'mass', 'prismatic', inside=limits + '<dynamics friction="3"/>'),
        extension={'springs': {'slide': {'stiffness': 100.0, 'rest': 0.5}}},
    )
    simulator = Simulator(subject, 1e-3, integrator)
    simulator.step(n=2000)
    assert_allclose(simulator.q, [0.2], atol=1e-12)
    assert_allclose(simulator.constraint_force, [-30.0], rtol=1e-9)
    simulator.reset([-0.1])
    simulator.step([-57.5], n=100)
    assert simulator.q[0] == -0.1 and simulator.v[0] == 0.0


@EACH
def test_springs_of_geared_joints_swing(integrator):
    springs = {'a': {'stiffness': 12.0, 'rest': 0.1}, 'b': {'stiffness': 5.0, 'rest': -0.4}}
    subject = geared(springs)
    simulator = Simulator(subject, 1e-4, integrator)
    simulator.reset([0.2], [0.5])
    simulator.step(n=5000)
    end = exact(subject, 0.5, [0.2], [0.5])
    assert_allclose([*simulator.q, *simulator.v], end, atol=5e-3)


@EACH
def test_divided_steps(integrator):
    """A table with a spring that turns by 0.9 rad in a step, which is eight."""
    inertia, k, h = 0.3, 5000.0, 1e-3
    subject = robot(
        link('base'),
        link('table', 1.0, (inertia,) * 3),
        joint('turn', 'base', 'table', 'continuous', (0, 0, 1)),
        extension={'springs': {'turn': {'stiffness': k}}},
    )
    simulator = Simulator(subject, h, integrator)
    simulator.reset(v=[900.0])
    simulator.step()
    assert simulator.status.substeps == 7
    x, v, g = 0.0, 900.0, h / 8
    for _ in range(8):
        if integrator == 'semi_implicit':
            v = (inertia * v - g * k * x) / (inertia + g * g * k)
            x += g * v
        else:
            A = np.array([[1.0, -0.5 * g], [0.5 * g * k / inertia, 1.0]])
            x, v = np.linalg.solve(A, (2.0 * np.eye(2) - A) @ [x, v])
    if integrator == 'rk4':
        omega = np.sqrt(k / inertia)
        x, v = 900.0 / omega * np.sin(omega * h), 900.0 * np.cos(omega * h)
    assert_allclose(simulator.v, [v], rtol=1e-9)
    assert_allclose(simulator.q, [x], rtol=1e-9)


def test_damping_in_divided_steps_is_that_of_each():
    """A semi-implicit step with damping that is divided has implicit Euler's factor each time."""
    inertia, d, h = 0.3, 20.0, 1e-3
    subject = robot(
        link('base'),
        link('table', 1.0, (inertia,) * 3),
        joint(
            'turn', 'base', 'table', 'continuous', (0, 0, 1), inside=f'<dynamics damping="{d}"/>'
        ),
    )
    simulator = Simulator(subject, h, 'semi_implicit')
    simulator.reset(v=[900.0])
    simulator.step()
    assert simulator.status.substeps == 7
    assert_allclose(simulator.v, [900.0 / (1.0 + h / 8 * d / inertia) ** 8], rtol=1e-12)


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
@pytest.mark.parametrize('stiffness', [50.0, 1e8])
def test_a_loop_with_a_spring(integrator, stiffness):
    linkage = mechanisms.four_bar()
    crank = linkage.joint_names[0]
    start = linkage.loops.project([1.0, *Simulator(linkage).q[1:]])
    model = linkage.model.with_springs({crank: stiffness}, rest={crank: start[0]})
    sprung = Robot(model)
    simulator = Simulator(sprung, 1e-3, integrator)
    simulator.reset(start)
    before = energy(sprung, simulator.q, simulator.v)
    simulator.step(n=1000)
    assert np.abs(simulator.loop_errors).max() < 1e-9
    if stiffness == 1e8:
        assert_allclose(simulator.q, start, atol=1e-5)
    else:
        assert abs(simulator.q[0] - start[0]) > 0.01
        drift = energy(sprung, simulator.q, simulator.v) - before
        assert abs(drift) < (0.1 * abs(before) if integrator == 'semi_implicit' else 1e-6)


def test_in_a_world_a_spring_presses():
    floor = {'gravity': [0, 0, -G], 'objects': {'floor': {'type': 'plane'}}}
    shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    subject = robot(
        link('rail'),
        link('slide', 2.0, (0.1,) * 3, shape=shape),
        joint('z', 'rail', 'slide', 'prismatic', (0, 0, 1), (0, 0, 0.11), SLIDE),
        extension={'springs': {'z': {'stiffness': 1e4, 'rest': -0.02}}},
    )
    simulator = Simulator(subject, 1e-3, world=floor)
    simulator.step(n=1000)
    (contact,) = simulator.contacts
    assert_allclose(simulator.q, [-0.01], atol=1e-9)
    assert_allclose(abs(contact.force[2]), 100.0 + 2.0 * G, rtol=1e-6)


@EACH
def test_exact_servos_of_the_node_overcome_springs(integrator):
    """The commanded acceleration is attained with any spring."""
    subject = arm(SOFT)
    from rbd_ros.simulation.stepping.drives import find_torque, POSITION

    simulator = Simulator(subject, 1e-5, 'semi_implicit')
    simulator.reset(START, SPEED)
    drives = make_drives(subject, np.arange(3), np.arange(3), 20.0)
    drives.mode[1], drives.position[1] = POSITION, -0.5
    fields = simulator.physics.fields
    assert find_torque(fields.model, fields.state, drives, fields.commands, 1e-5)
    desired = 400.0 * (-0.5 - START[1]) - 40.0 * SPEED[1]
    simulator.step(fields.commands.torque.copy())
    # The state changes by some h v within the step: 1e-5 of what it is.
    assert_allclose(simulator.a[1], desired, rtol=1e-5)


def test_a_servo_and_a_spring_at_one_joint():
    """Where both balance."""
    subject = mass_on_a_spring(1e4, rest=0.3)
    simulator = Simulator(subject)
    simulator.set_joint_pd([0.0], kp=2e4, kd=500.0)
    simulator.step(n=2000)
    assert_allclose(simulator.q, [0.1], rtol=1e-9)
    assert_allclose(simulator.tau, [-2000.0], rtol=1e-9)


@EACH
@pytest.mark.parametrize('h', [1e-3, 0.06])
def test_derivatives_of_a_step(integrator, h):
    """By differences, in whole steps and divided ones."""
    simulator = Simulator(arm(SOFT, '<dynamics damping="0.01"/>'), h, integrator)
    q, v, tau = START, np.array([3.0, -1.0, 2.0]), np.array([1.0, 0.5, 0.2])
    simulator.reset(q, v)
    D = simulator.step_derivatives(tau)
    step, columns = 1e-6, []
    for k in range(9):
        ends = []
        for sign in (1.0, -1.0):
            x = np.concatenate([q, v, tau])
            x[k] += sign * step
            simulator.reset(x[:3], x[3:6])
            simulator.step(x[6:])
            ends.append(np.concatenate([simulator.q, simulator.v]))
        columns.append((ends[0] - ends[1]) / (2 * step))
    found = np.block([[D.dq_dq, D.dq_dv, D.dq_dtau], [D.dv_dq, D.dv_dv, D.dv_dtau]])
    assert_allclose(found, np.array(columns).T, rtol=1e-6, atol=2e-6)


@EACH
def test_rollouts_bitwise(integrator, rng):
    simulator = Simulator(arm(SOFT), 1e-3, integrator)
    q = START + rng.normal(size=(3, 3))
    motion = simulator.rollout(q, SPEED, steps=30)
    for row in range(3):
        simulator.reset(q[row], SPEED)
        simulator.step(n=30)
        assert np.array_equal(motion.v[row, -1], simulator.v)


def test_without_springs_nothing_of_them_is_compiled():
    assert Simulator(arm(SOFT)).physics.model.has_springs
    assert not Simulator(arm([0.0, 0.0, 0.0])).physics.model.has_springs


SWINGING = """
import numpy as np
from test_joint_springs import arm, SOFT, SPEED, START
from rbd_ros import Simulator
ends = []
for integrator in ('semi_implicit', 'midpoint', 'rk4'):
    for stiffness in (SOFT, 1e7 * SOFT):
        simulator = Simulator(arm(stiffness), 1e-3, integrator)
        simulator.reset(START, SPEED)
        simulator.step(n=30)
        ends += [*simulator.q, *simulator.v]
"""


@pytest.mark.slow
def test_compiled_and_interpreted_agree():
    here = {}
    exec(SWINGING, here)
    code = f'import sys; sys.path.insert(0, {__file__.rpartition("/")[0]!r})\n{SWINGING}'
    found = fresh_python.run(
        f'{code}print(repr([float(x) for x in ends]))', RBD_ROS_COMPILER='off'
    ).stdout
    assert_allclose(here['ends'], eval(found), rtol=1e-8, atol=1e-8)
