# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bodies accelerated within a step have contacts with everything in reach: no tunneling."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.rigid_worlds import ball, simulated
from support.simulated_robots import collision, joint, link, robot, sled

from rbd_ros.simulation.scene import scene_step as step

BOX = 'box size="0.2 0.2 0.2"'


def box_on_a_rail(upper=1.0, **options):
    """Return a box of 1 kg, whose front is 0.1 m ahead of its origin."""
    return sled(1.0, BOX, -1.0, upper, **options)


def gap_before(simulator):
    return simulator.object_pose('disc')[0, 3] - 0.1 - (simulator.q[0] + 0.1)


@pytest.mark.slow
@pytest.mark.parametrize('servo', [True, False])
@pytest.mark.parametrize('distance', [0.001, 0.01, 0.05])
def test_a_drive_that_jumps_pushes_an_object_in_its_way(servo, distance):
    """It went 87 mm into the ball, which it had not touched at the beginning of the step."""
    simulator = simulated(
        robot=box_on_a_rail(), floor=False, disc=ball(0.2 + distance, z=0, mass=0.1)
    )
    simulator.reset([0.0])
    if servo:
        simulator.set_joint_pd([0.2], kp=1e8, kd=2e3)
        simulator.step()
    else:
        simulator.step([1e5])
    assert simulator.q[0] > 0.05  # it has jumped indeed
    assert gap_before(simulator) > -1e-9
    assert simulator.object_velocity('disc')[3] > 10.0
    assert simulator.status.unconverged_steps == 0 and len(simulator.contacts) == 1
    # Momentum: the impulse at the contact is what the ball has got.
    impulse = 1e-3 * simulator.contacts[0].force[0]
    assert abs(impulse) == pytest.approx(0.1 * simulator.object_velocity('disc')[3], rel=1e-9)


def row(count, gap, restitution, speed=20.0):
    """Return the balls in a row, of which the first flies into the others."""
    return {
        f'ball_{k:02d}': ball(
            k * (0.2 + gap), z=0.0, mass=0.1, restitution=restitution,
            velocity=(speed if k == 0 else 0.0, 0.0, 0.0),
        )
        for k in range(count)
    }  # fmt: skip


@pytest.mark.parametrize('restitution', [0.0, 0.5, 1.0])
@pytest.mark.parametrize('gap', [2.5e-4, 1e-3, 5e-3])
@pytest.mark.parametrize('count', [2, 3, 8])
def test_an_impact_runs_through_a_row_with_gaps_that_it_crosses_in_one_step(
    restitution, gap, count
):
    balls = row(count, gap, restitution)
    simulator = simulated(floor=False, gravity=(0, 0, 0), **balls)
    for _ in range(40):
        simulator.step()
        at = np.array([simulator.object_pose(name)[0, 3] for name in balls])
        assert np.diff(at).min() > 0.2 - 1e-9
    speeds = np.array([simulator.object_velocity(name)[3] for name in balls])
    assert speeds.sum() == pytest.approx(20.0, rel=1e-12)
    assert simulator.status.unconverged_steps == 0
    if restitution == 0.0:
        assert speeds == pytest.approx(np.full(count, 20.0 / count), rel=1e-9)
    elif restitution == 1.0:
        assert speeds[-1] == pytest.approx(20.0, rel=1e-12)
        assert np.abs(speeds[:-1]).max() < 1e-9
    else:
        # One impact after the other: each hands on (1 + e) / 2 of what it has.
        assert speeds[-1] == pytest.approx(20.0 * 0.75 ** (count - 1), rel=1e-9)


@pytest.mark.parametrize('restitution', [0.0, 0.5, 1.0])
def test_a_robot_that_strikes_a_row_loses_the_momentum_that_the_row_gets(restitution):
    """Its velocity before the impact counts in each look, not what an earlier look has left."""
    surface = {'restitution': restitution, 'friction': 0.0}
    balls = {f'ball_{k}': ball(0.205 + 0.201 * k, z=0, mass=1.0, **surface) for k in range(4)}
    simulator = simulated(
        robot=box_on_a_rail(gravity=(0.0, 0.0, 0.0)), floor=False, gravity=(0, 0, 0),
        pairs=[{'links': ['robot', name], **surface} for name in balls], **balls,
    )  # fmt: skip
    simulator.reset([0.0], [20.0])
    for _ in range(20):
        simulator.step()
        at = [simulator.q[0], *(simulator.object_pose(n)[0, 3] for n in balls)]
        assert np.diff(at).min() > 0.2 - 1e-9
    speeds = [simulator.v[0], *(simulator.object_velocity(name)[3] for name in balls)]
    assert sum(speeds) == pytest.approx(20.0, rel=1e-9)
    expected = {0.0: 4.0, 0.5: 20.0 * 0.75**4, 1.0: 20.0}
    assert speeds[-1] == pytest.approx(expected[restitution], rel=1e-9)
    assert simulator.status.unconverged_steps == 0
    # The limit of speed and of position was not met, in any look.
    assert simulator.status.limit_steps == simulator.status.velocity_clamped_steps == 0


def test_a_limit_that_was_met_in_the_first_look_alone_is_not_counted():
    """Without the wall in its way, the sled would have jumped to its limit."""
    wall = {'type': 'box', 'size': [0.1, 1.0, 1.0], 'xyz': [0.2, 0, 0]}
    simulator = simulated(robot=box_on_a_rail(upper=0.12), floor=False, wall=wall)
    simulator.reset([0.0])
    simulator.step([3e5])
    assert simulator.q[0] == pytest.approx(0.05, abs=1e-9)
    assert simulator.status.limit_steps == 0 and simulator.status.unconverged_steps == 0
    away = simulated(robot=box_on_a_rail(upper=0.12), floor=False, wall={**wall, 'xyz': [5, 0, 0]})
    away.reset([0.0])
    away.step([3e5])
    assert away.q[0] == pytest.approx(0.12) and away.status.limit_steps == 1


def test_spins_count_in_each_look_as_they_were_before_the_impact():
    """The first ball does not feel whether the second one strikes a third in the same step."""
    found = []
    for count in (2, 3):
        balls = {
            f'ball_{k}': ball(
                0.201 * k, z=0.0, restitution=1.0, friction=0.3,
                velocity=(20.0 if k == 0 else 0.0, 0, 0), spin=(0, 0, 50.0 if k == 0 else 0.0),
            )
            for k in range(count)
        }  # fmt: skip
        simulator = simulated(floor=False, gravity=(0, 0, 0), **balls)
        simulator.step()
        found.append(simulator.object_velocity('ball_0'))
        assert np.abs(simulator.object_velocity(f'ball_{count - 1}')[3]) > 15.0
    assert found[0][2] < 45.0  # friction has slowed it
    assert found[1] == pytest.approx(found[0], abs=1e-9)


def test_a_row_too_long_to_be_followed_in_one_step_is_reported():
    balls = row(60, 2.5e-4, 1.0)
    simulator = simulated(floor=False, gravity=(0, 0, 0), **balls)
    simulator.step(n=3)
    assert simulator.status.unconverged_steps > 0


def test_a_motion_that_reaches_nothing_is_bitwise_that_without_objects():
    """A jump that ends before the ball: looking for it again changes nothing."""
    alone = simulated(robot=box_on_a_rail(), floor=False, disc=ball(5.0, z=0, mass=0.1))
    beside = simulated(robot=box_on_a_rail(), floor=False, disc=ball(0.5, z=0, mass=0.1))
    for simulator in (alone, beside):
        simulator.reset([0.0])
        simulator.step([1e5])
        simulator.step([-1e5])
        simulator.step([-1e5], n=3)
    assert alone.q[0] == beside.q[0] and alone.v[0] == beside.v[0]
    assert (alone.object_velocity('disc') == beside.object_velocity('disc')).all()


def test_the_tip_of_an_arm_does_not_enter_a_wall_that_it_flips_into():
    """A hanging bar with a ball at its end, turned by a torque that begins with the step."""
    bar = robot(
        link('base'),
        link(
            'bar', 1.0, (0.1, 0.1, 0.001), (0, 0, -0.5),
            collision('sphere radius="0.02"', (0, 0, -1.0)),
        ),
        joint(
            'turn', 'base', 'bar', 'continuous', (0, 1, 0),
            inside='<limit effort="1e9" velocity="1e6"/>',
        ),
    )  # fmt: skip
    wall = {'type': 'box', 'size': [0.2, 2.0, 0.1], 'xyz': [-0.15, 0, -1.0]}
    simulator = simulated(robot=bar, floor=False, wall=wall)
    simulator.reset([0.0])
    simulator.step([3e4])
    # The ball has 30 mm to go, in this step 86 without the wall.
    assert abs(simulator.q[0]) == pytest.approx(0.03, abs=1e-3)
    assert max(contact.depth for contact in simulator.contacts) < 1e-3
    assert simulator.status.unconverged_steps == 0


@pytest.mark.parametrize('unsolved, looks', [(True, 3), (False, 50)])
def test_problems_that_are_not_solved_are_checked_three_times(monkeypatch, unsolved, looks):
    """Each takes all methods of the solver; a row that is solved may go on for 50 bodies."""
    counters, seen = np.zeros(16, dtype=np.int64), []

    def find_velocities(*_):
        seen.append(len(seen))
        counters[step.UNCONVERGED] += unsolved
        return step.VELOCITY, False

    fakes = {
        'find_velocities': find_velocities,
        'go_back': lambda *_: counters.fill(0),  # the counters are those of before
        'reaches_more': lambda *_: len(seen) + 1,
        'find_step_contacts': lambda *_: 0,
    }
    names = ('store_impulses', 'place_objects', 'keep_before_contact', 'correct_positions')
    for name, fake in {**dict.fromkeys(names, lambda *_: False), **fakes}.items():
        monkeypatch.setattr(step, name, fake)
    model = SimpleNamespace(
        has_external_forces=False, has_robot=False, scene=SimpleNamespace(has_objects=False)
    )
    state, work = SimpleNamespace(counters=counters), SimpleNamespace(scene=None)
    assert step.take_scene_substep(model, state, None, None, None, None, work, 1e-3)
    assert len(seen) == looks
    assert counters[step.UNCONVERGED] == 1
