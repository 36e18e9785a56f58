# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The action FollowJointTrajectory over DDS, with generated messages if necessary."""

import math
import signal
import time

import pytest
from support import control_messages, outside

outside.load('rclpy')

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from lifecycle_harness import Managed
from node_harness import Feed, joint_state, TWO_LINK_ARM
import numpy as np
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from test_inverse_dynamics_node import NAMES, point, POSE, trajectory
from trajectory_msgs.msg import JointTrajectory

NODE = '/inverse_dynamics'
SUCCEEDED, CANCELED, ABORTED = (
    GoalStatus.STATUS_SUCCEEDED,
    GoalStatus.STATUS_CANCELED,
    GoalStatus.STATUS_ABORTED,
)
GOAL = (0.6, -0.8)
CONSTRAINTS = {
    'constraints.trajectory': [],
    'constraints.goal': [],
    'constraints.goal_time': 0.0,
    'constraints.stopped_velocity_tolerance': 0.01,
}


@pytest.fixture(scope='module')
def action(tmp_path_factory):
    return control_messages.provide(tmp_path_factory.mktemp('control_msgs'))


def seconds_of(stamp):
    """Return the seconds of a time stamp or duration."""
    return stamp.sec + stamp.nanosec * 1e-9


class Sent:
    """A goal that was sent: whether it was accepted, its feedback, its result.

    :param again: whether it may be sent again, if the middleware loses the answer; it does so
        where a server has just begun and does not know its client yet
    """

    def __init__(self, client, ros, goal, again=False):
        self._ros, self.feedback = ros, []
        sent, begin = [], time.monotonic()

        def answered():
            if not sent or again and time.monotonic() - begin > 15.0 * len(sent):
                sent.append(client.send_goal_async(goal, self.feedback.append))
            return any(future.done() for future in sent)

        ros.until(answered, 'an answer to a goal')
        self.handle = next(future for future in sent if future.done()).result()
        self.accepted = self.handle.accepted
        self._result = self.handle.get_result_async() if self.accepted else None

    @property
    def done(self):
        return self._result.done()

    def result(self, status, code):
        """Return the text of the result, which must have a status and a code."""
        self._ros.until(self._result.done, 'a result')
        response = self._result.result()
        text = response.result.error_string
        assert (response.status, response.result.error_code) == (status, code), text
        return text

    def cancel(self):
        future = self.handle.cancel_goal_async()
        self._ros.until(future.done, 'an answer to a cancellation')
        return len(future.result().goals_canceling)


class Rig:
    """The node, and a robot that follows the desired motion exactly, or stays at rest.

    Its time waits for the node: a state is at most STEP later than the last desired state that it
    is from. On a machine that is busy it would lag behind by as long as messages take there.
    """

    STEP = 0.02  # [s]

    def __init__(self, ros, action, description=TWO_LINK_ARM):
        self.ros, self.action = ros, action
        # Longer than a busy machine keeps this process from sending states.
        parameters = {'robot_description': description, 'state_timeout': 5.0}
        self.process = ros.start('inverse_dynamics', parameters)
        self.desired = ros.listen(JointState, f'{NODE}/desired_state')
        self.efforts = ros.listen(JointState, 'joint_commands')
        self.trajectories = ros.publisher(JointTrajectory, 'joint_trajectory')
        self.client = ActionClient(ros.node, action, f'{NODE}/follow_joint_trajectory')
        ros.until(self.client.server_is_ready, 'the action')
        self.life = Managed(ros, NODE)
        self.life.until('active')
        self.at, self.moving = POSE, False
        self.feed = Feed(ros.publisher(JointState, 'joint_states'), self._state, clock=self._clock)
        self.rest()

    def _state(self):
        if self.moving and self.desired:
            self.at = tuple(self.desired[-1].position)
        return joint_state(position=self.at, velocity=(0.0, 0.0))

    def _clock(self):
        now = time.time()
        if self.moving and self.desired:
            last = seconds_of(self.desired[-1].header.stamp)
            if now < last + 3.0:  # a node that is inactive is not waited for
                return min(now, last + self.STEP)
        return now

    def rest(self):
        """Make the node hold POSE, from any state."""
        self.moving, self.at, self.feed.message = False, POSE, self._state

        def rests():
            self.life.must('deactivate', 'activate')
            return self.position() == pytest.approx(POSE, abs=1e-9)

        self.ros.until(rests, 'rest')

    def position(self):
        """Return the desired position at a state from now on: others may still be in a queue."""
        now = time.time()

        def new():
            return self.desired and seconds_of(self.desired[-1].header.stamp) > now

        self.ros.until(new, 'a desired state')
        return list(self.desired[-1].position)

    def goal(self, *points, names=NAMES, start=None, **fields):
        goal = self.action.Goal()
        goal.trajectory = trajectory(*points, names=names, start=start)
        for name, value in fields.items():
            setattr(goal, name, value)
        return goal

    def send(self, *points, **fields):
        return Sent(self.client, self.ros, self.goal(*points, **fields))

    def until_moving(self):
        """Wait until the desired position has left POSE."""
        self.ros.until(lambda: abs(self.position()[0] - POSE[0]) > 0.01, 'a motion')

    def until_at(self, goal):
        """Wait until the robot, which lags behind the desired motion, is at a goal."""
        self.ros.until(lambda: self.at == pytest.approx(goal, abs=1e-3), 'the goal')

    def until_at_rest(self):
        """Wait until the desired position no longer changes, and return it."""
        self.ros.until(lambda: self.position() == self.position(), 'a rest')
        return self.position()

    def tolerance(self, name, position=0.0, velocity=0.0):
        from control_msgs.msg import JointTolerance

        return JointTolerance(name=name, position=position, velocity=velocity)


@pytest.fixture(scope='module')
def rig(ros, action):
    rig = Rig(ros, action)
    yield rig
    rig.feed.stop()


@pytest.fixture(autouse=True)
def fresh(request):
    if 'rig' not in request.fixturenames:
        yield
        return
    rig = request.getfixturevalue('rig')
    rig.ros.set_parameters(NODE, **CONSTRAINTS, allow_partial_trajectory=False)
    yield
    assert rig.process.alive()
    for message in rig.efforts:
        assert all(math.isfinite(x) for x in message.effort)
    rig.rest()


def seconds(value):
    whole = math.floor(value)
    return Duration(sec=whole, nanosec=round((value - whole) * 1e9))


# -- the way it should go -------------------------------------------------------------------------


def test_a_goal_that_is_reached_succeeds_and_gives_feedback(rig):
    rig.moving = True
    sent = rig.send(point(1.0, GOAL))
    assert sent.accepted
    assert 'reached' in sent.result(SUCCEEDED, 0)
    rig.until_at(GOAL)
    feedback = [message.feedback for message in sent.feedback]
    assert len(feedback) > 3
    passed = [seconds_of(f.desired.time_from_start) for f in feedback]
    assert passed == sorted(passed) and 0.0 < passed[0] < passed[-1] <= 1.1
    for each in feedback:
        assert list(each.joint_names) == list(NAMES)
        for field in ('positions', 'velocities'):
            desired, actual, error = (
                np.array(getattr(getattr(each, what), field))
                for what in ('desired', 'actual', 'error')
            )
            assert len(desired) == 2 and error == pytest.approx(desired - actual)
        assert abs(each.header.stamp.sec - time.time()) < 60.0
    assert any(abs(each.desired.velocities[0]) > 0.05 for each in feedback)
    assert any(abs(each.desired.accelerations[0]) > 0.1 for each in feedback)


def test_a_goal_that_begins_in_the_future_replaces_the_motion_after_its_begin(rig):
    rig.moving = True
    first = rig.send(point(8.0, (0.5, -1.1)))
    begin = time.time() + 4.0
    second = rig.send(point(1.0, GOAL), start=begin)
    rig.until_moving()
    done = first.done
    assert not done or time.time() > begin  # it goes on until then
    assert 'preempted' in first.result(ABORTED, -1)
    assert time.time() > begin - 0.1
    second.result(SUCCEEDED, 0)
    rig.until_at(GOAL)


def test_some_of_the_joints_may_be_given_if_that_is_allowed(rig):
    partial = {'names': ['elbow']}
    text = rig.send(point(0.5, [-0.9]), **partial).result(ABORTED, -2)
    assert 'leaves out' in text
    rig.ros.set_parameter(NODE, 'allow_partial_trajectory', True)
    rig.moving = True
    rig.send(point(0.5, [-0.9]), **partial).result(SUCCEEDED, 0)
    rig.until_at((POSE[0], -0.9))


# -- goals of different joints at a time, as of an arm and its gripper under MoveIt ---------------


@pytest.fixture
def groups(rig):
    """Return the robot as two groups of one joint each, which follow the desired motion."""
    rig.ros.set_parameter(NODE, 'allow_partial_trajectory', True)
    rig.moving = True
    return rig


def test_goals_of_different_joints_each_continue_to_their_own_end(groups):
    arm = groups.send(point(3.0, GOAL[:1]), names=['shoulder'])
    groups.until_moving()
    gripper = groups.send(point(0.5, GOAL[1:]), names=['elbow'])
    gripper.result(SUCCEEDED, 0)
    arm.result(SUCCEEDED, 0)
    groups.until_at(GOAL)
    for sent, name, end in ((arm, 'shoulder', 3.0), (gripper, 'elbow', 0.5)):
        feedback = [message.feedback for message in sent.feedback]
        assert len(feedback) > 2
        for each in feedback:
            assert list(each.joint_names) == [name]
            for part in (each.desired, each.actual, each.error):
                assert len(part.positions) == len(part.velocities) == 1
                assert 0.0 <= part.time_from_start.sec + part.time_from_start.nanosec * 1e-9 <= end


def test_a_goal_preempts_only_those_that_share_a_joint_with_it(groups):
    arm = groups.send(point(3.0, GOAL[:1]), names=['shoulder'])
    gripper = groups.send(point(60.0, GOAL[1:]), names=['elbow'])
    groups.until_moving()
    again = groups.send(point(0.5, GOAL[1:]), names=['elbow'])
    assert 'preempted' in gripper.result(ABORTED, -1)
    again.result(SUCCEEDED, 0)
    arm.result(SUCCEEDED, 0)
    groups.until_at(GOAL)
    arm = groups.send(point(60.0, POSE[:1]), names=['shoulder'])
    gripper = groups.send(point(60.0, POSE[1:]), names=['elbow'])
    whole = groups.send(point(1.0, POSE))
    for sent in (arm, gripper):
        assert 'preempted' in sent.result(ABORTED, -1)
    whole.result(SUCCEEDED, 0)


def test_joints_of_a_preempted_goal_that_the_new_one_leaves_out_stop_on_their_path(groups):
    whole = groups.send(point(60.0, (2.0, 0.5)))
    groups.until_moving()
    gripper = groups.send(point(1.0, GOAL[1:]), names=['elbow'])
    assert 'preempted' in whole.result(ABORTED, -1)
    gripper.result(SUCCEEDED, 0)
    end = groups.until_at_rest()
    assert POSE[0] < end[0] < 1.5 and end[1] == pytest.approx(GOAL[1], abs=1e-9)


def test_one_of_two_goals_is_canceled_alone(groups):
    arm = groups.send(point(60.0, (2.0,)), names=['shoulder'])
    groups.until_moving()
    gripper = groups.send(point(2.0, GOAL[1:]), names=['elbow'])
    assert arm.cancel() == 1
    arm.result(CANCELED, 0)
    stopped = groups.position()[0]
    gripper.result(SUCCEEDED, 0)
    groups.until_at((stopped, GOAL[1]))


def test_each_goal_is_judged_by_its_own_joints(groups):
    groups.feed.message = lambda: joint_state(  # the elbow is stuck
        position=(groups.desired[-1].position[0], POSE[1]), velocity=(0.0, 0.0)
    )
    arm = groups.send(point(2.0, GOAL[:1]), names=['shoulder'])
    gripper = groups.send(point(1.0, GOAL[1:]), names=['elbow'],
                          path_tolerance=[groups.tolerance('elbow', 0.05)])  # fmt: skip
    assert 'elbow' in gripper.result(ABORTED, -4)
    gripper = groups.send(point(0.3, GOAL[1:]), names=['elbow'],
                          goal_tolerance=[groups.tolerance('elbow', 0.1)],
                          goal_time_tolerance=seconds(0.1))  # fmt: skip
    assert 'elbow' in gripper.result(ABORTED, -5)
    arm.result(SUCCEEDED, 0)
    assert groups.position() == pytest.approx((GOAL[0], POSE[1]), abs=1e-9)


def test_tolerances_of_joints_that_a_goal_does_not_move_are_rejected(groups):
    sent = groups.send(point(1.0, GOAL[:1]), names=['shoulder'],
                       goal_tolerance=[groups.tolerance('elbow', 0.1)])  # fmt: skip
    text = sent.result(ABORTED, -2)
    assert 'goal_tolerance' in text and 'elbow' in text


def test_a_trajectory_of_the_topic_preempts_only_goals_of_its_joints(groups):
    arm = groups.send(point(3.0, GOAL[:1]), names=['shoulder'])
    gripper = groups.send(point(60.0, (0.5,)), names=['elbow'])
    groups.until_moving()
    groups.trajectories.publish(trajectory(point(0.5, GOAL[1:]), names=['elbow']))
    assert 'preempted' in gripper.result(ABORTED, -1)
    arm.result(SUCCEEDED, 0)
    groups.until_at(GOAL)


def two_goals(groups):
    sent = [groups.send(point(60.0, (1.5,)), names=['shoulder']),
            groups.send(point(60.0, (0.5,)), names=['elbow'])]  # fmt: skip
    groups.until_moving()
    return sent


def test_deactivating_the_node_ends_all_goals(groups):
    sent = two_goals(groups)
    assert groups.life.change('deactivate')
    for each in sent:
        assert 'deactivated' in each.result(ABORTED, -1)
    assert groups.life.change('activate')


def test_a_lost_client_ends_no_goal(groups):
    gone = ActionClient(groups.ros.node, groups.action, f'{NODE}/follow_joint_trajectory')
    groups.ros.until(gone.server_is_ready, 'the action')
    Sent(gone, groups.ros, groups.goal(point(1.0, GOAL[1:]), names=['elbow']))
    arm = groups.send(point(1.5, GOAL[:1]), names=['shoulder'])
    gone.destroy()
    arm.result(SUCCEEDED, 0)
    groups.until_at(GOAL)


# -- tolerances -----------------------------------------------------------------------------------


def test_a_robot_that_leaves_its_path_is_stopped_where_it_is(rig):
    sent = rig.send(point(2.0, GOAL), path_tolerance=[rig.tolerance('shoulder', 0.05)])
    text = sent.result(ABORTED, -4)
    assert 'shoulder' in text and '0.05' in text
    assert rig.position() == pytest.approx(POSE, abs=1e-9)  # not where it should be
    rig.ros.until_status('shoulder', 'trajectory')
    rig.moving = True
    rig.send(point(0.5, GOAL)).result(SUCCEEDED, 0)  # what follows is not affected


def test_the_velocity_has_a_tolerance_on_the_path_too(rig):
    tolerance = rig.tolerance('elbow', velocity=0.05)
    text = rig.send(point(2.0, GOAL), path_tolerance=[tolerance]).result(ABORTED, -4)
    assert 'elbow' in text and 'rad or m/s' in text


def test_a_robot_that_does_not_reach_its_goal_is_reported_after_the_time_of_the_goal(rig):
    sent = rig.send(
        point(0.4, GOAL),
        goal_tolerance=[rig.tolerance('elbow', 0.1)],
        goal_time_tolerance=seconds(0.3),
    )
    text = sent.result(ABORTED, -5)
    assert 'elbow' in text and '0.3 s after' in text
    assert rig.position() == pytest.approx(POSE, abs=1e-9)


def test_without_a_time_of_the_goal_it_is_waited_for(rig):
    sent = rig.send(point(0.3, GOAL), goal_tolerance=[rig.tolerance('elbow', 0.1)])
    rig.ros.spin(1.0)
    assert not sent.done
    rig.moving = True
    sent.result(SUCCEEDED, 0)


def test_a_robot_that_still_moves_has_not_reached_its_goal(rig):
    moving = [0.5]
    rig.feed.message = lambda: joint_state(position=POSE, velocity=(0.0, moving[0]))
    sent = rig.send(point(0.3, GOAL))
    rig.ros.spin(0.8)
    assert not sent.done
    moving[0] = 0.001
    sent.result(SUCCEEDED, 0)


def test_tolerances_of_the_parameters_hold_unless_a_goal_says_otherwise(rig):
    rig.ros.set_parameters(
        NODE, **{'constraints.trajectory': [0.05], 'constraints.goal': [0.0, 0.02]}
    )
    assert 'constraints.trajectory' in rig.send(point(1.0, GOAL)).result(ABORTED, -4)
    free = [rig.tolerance(name, -1.0, -1.0) for name in NAMES]
    sent = rig.send(point(0.4, GOAL), path_tolerance=free, goal_time_tolerance=seconds(0.1))
    assert 'elbow' in sent.result(ABORTED, -5)
    rig.send(point(0.4, GOAL), path_tolerance=free, goal_tolerance=free).result(SUCCEEDED, 0)


def test_tolerances_of_the_parameters_hold_for_the_topic_as_well(rig):
    rig.ros.set_parameter(NODE, 'constraints.trajectory', [0.1, 0.0])
    seen = rig.ros.mark()
    rig.trajectories.publish(trajectory(point(1.5, GOAL)))
    status = rig.ros.until_status('from its path', 'trajectory', since=seen)
    assert 'shoulder' in status.message and status.level == b'\1'
    assert rig.position() == pytest.approx(POSE, abs=1e-9)
    rig.ros.set_parameters(
        NODE,
        **{
            'constraints.trajectory': [],
            'constraints.goal': [0.1],
            'constraints.goal_time': 0.2,
        },
    )
    rig.trajectories.publish(trajectory(point(0.5, GOAL)))
    rig.ros.until_status('from its goal', 'trajectory', since=seen)
    assert rig.position() == pytest.approx(POSE, abs=1e-9)


def test_a_wrong_number_of_tolerances_is_rejected(rig):
    (result,) = rig.ros.set_parameters(NODE, **{'constraints.goal': [0.1, 0.1, 0.1]})
    assert not result.successful and 'constraints.goal' in result.reason


@pytest.mark.parametrize(
    'field, joint, number, code',
    [
        ('path_tolerance', 'wrist', 0.1, -2),
        ('goal_tolerance', 'wrist', 0.1, -2),
        ('path_tolerance', 'elbow', -0.5, -1),
        ('goal_tolerance', 'elbow', math.nan, -1),
        ('goal_tolerance', 'elbow', math.inf, -1),
    ],
)
def test_bad_tolerances_end_a_goal_at_once(rig, field, joint, number, code):
    tolerance = rig.tolerance(joint, number)
    text = rig.send(point(5.0, GOAL), **{field: [tolerance]}).result(ABORTED, code)
    assert joint in text and field in text
    assert rig.position() == pytest.approx(POSE, abs=1e-9)


# -- goals that cannot be followed ----------------------------------------------------------------


def test_bad_goals_end_with_the_reason_and_the_motion_before_continues(rig):
    rig.moving = True
    good = rig.send(point(2.0, GOAL))
    rig.until_moving()
    for fields, code, cause in (
        ({'names': ('shoulder', 'wrist')}, -2, 'wrist'),
        ({'names': ('shoulder', 'shoulder')}, -2, 'twice'),
        ({'names': ('shoulder',)}, -2, 'positions'),
        ({'names': ()}, -2, 'joints'),
        ({'start': time.time() - 100.0}, -3, 'ended'),
        ({'start': time.time() + 1e5}, -1, 'begins in'),
    ):
        assert cause in rig.send(point(1.0, GOAL), **fields).result(ABORTED, code)
    assert 'increas' in rig.send(point(1.0, GOAL), point(0.5, POSE)).result(ABORTED, -1)
    assert 'limits' in rig.send(point(1.0, (9.0, 0.0))).result(ABORTED, -1)
    assert 'points' in rig.send().result(ABORTED, -1)
    nan = rig.send(point(1.0, (math.nan, 0.0)))
    assert 'nan' in nan.result(ABORTED, -1)
    good.result(SUCCEEDED, 0)
    rig.until_at(GOAL)


def test_joints_of_several_dofs_are_not_for_this_action(rig):
    goal = rig.goal(point(1.0, GOAL))
    goal.multi_dof_trajectory.joint_names = ['floating']
    sent = Sent(rig.client, rig.ros, goal)
    assert 'multi_dof_trajectory' in sent.result(ABORTED, -1)


def test_without_states_a_goal_is_rejected(rig):
    rig.feed.message = None
    rig.ros.until_status('last torque', 'torque', since=rig.ros.mark())
    assert not rig.send(point(1.0, GOAL)).accepted
    rig.ros.until_status('no usable state', 'goal')


# -- goals that end early -------------------------------------------------------------------------


def test_a_canceled_goal_stops_smoothly_and_is_held(rig):
    rig.moving = True
    sent = rig.send(point(60.0, (2.0, POSE[1])))
    rig.until_moving()
    since = len(rig.desired)
    assert sent.cancel() == 1
    sent.result(CANCELED, 0)
    end = rig.until_at_rest()
    assert POSE[0] < end[0] < 1.5
    positions = np.array([message.position for message in rig.desired[since - 1 :]])
    assert (np.diff(positions[:, 0]) >= -1e-12).all()  # forwards, until it stands
    assert np.abs(np.diff(positions[:, 0])).max() < 0.3
    assert sent.cancel() == 0  # once is enough
    rig.send(point(0.5, GOAL)).result(SUCCEEDED, 0)


def test_a_goal_that_is_to_begin_can_be_canceled_alone(rig):
    rig.moving = True
    first = rig.send(point(1.5, GOAL))
    second = rig.send(point(1.0, POSE), start=time.time() + 3000.0)
    assert second.cancel() == 1
    second.result(CANCELED, 0)
    first.result(SUCCEEDED, 0)
    rig.until_at(GOAL)


def test_all_goals_can_be_canceled_together(rig):
    rig.moving = True
    first = rig.send(point(60.0, (2.0, POSE[1])))
    second = rig.send(point(1.0, POSE), start=time.time() + 3000.0)
    rig.until_moving()
    from action_msgs.srv import CancelGoal

    name = f'{NODE}/follow_joint_trajectory/_action/cancel_goal'
    answer = rig.ros.call(CancelGoal, name, CancelGoal.Request())
    assert len(answer.goals_canceling) == 2
    first.result(CANCELED, 0)
    second.result(CANCELED, 0)
    assert rig.until_at_rest()[0] < 1.5


def test_a_goal_that_is_waited_for_at_its_end_can_be_canceled(rig):
    sent = rig.send(point(0.3, GOAL), goal_tolerance=[rig.tolerance('elbow', 0.1)])
    rig.ros.until(lambda: rig.position() == pytest.approx(GOAL), 'the end')
    assert sent.cancel() == 1
    sent.result(CANCELED, 0)
    assert rig.position() == pytest.approx(GOAL, abs=1e-9)


def test_a_new_goal_replaces_the_one_before(rig):
    rig.moving = True
    first = rig.send(point(60.0, (1.5, -1.1)))
    rig.until_moving()
    second = rig.send(point(0.8, GOAL))
    assert 'preempted' in first.result(ABORTED, -1)
    second.result(SUCCEEDED, 0)


def test_a_trajectory_of_the_topic_replaces_a_goal(rig):
    rig.moving = True
    sent = rig.send(point(60.0, (1.5, -1.1)))
    rig.until_moving()
    rig.trajectories.publish(trajectory(point(0.8, GOAL)))
    assert 'preempted' in sent.result(ABORTED, -1)
    rig.ros.until(lambda: rig.position() == pytest.approx(GOAL), 'the goal of the topic')


def test_a_stop_by_the_topic_ends_a_goal(rig):
    rig.moving = True
    sent = rig.send(point(60.0, (1.5, -1.1)))
    rig.until_moving()
    rig.trajectories.publish(trajectory())
    assert 'stopped' in sent.result(ABORTED, -1)


def test_lost_states_end_all_goals(groups):
    sent = two_goals(groups)
    groups.feed.message = None
    for each in sent:
        assert 'states' in each.result(ABORTED, -1)


def test_when_states_fail_and_the_motion_is_dropped_the_goal_says_why(rig):
    rig.ros.set_parameter(NODE, 'state_loss_policy', 'resume')
    rig.moving = True
    sent = rig.send(point(60.0, (1.5, -1.1)))
    rig.until_moving()
    rig.feed.message = None
    seen = rig.ros.mark()
    rig.ros.until_status('last torque', 'torque', since=seen)
    rig.moving, rig.at = False, (-1.0, 1.0)  # moved away externally
    rig.feed.message = rig._state
    text = sent.result(ABORTED, -1)
    assert 'states' in text and ('dropped' in text or 'failed' in text)


def test_all_goals_are_resumed_after_a_short_gap_and_reached(groups):
    groups.ros.set_parameters(NODE, state_loss_policy='resume', max_state_gap=1000.0)
    sent = [groups.send(point(6.0, GOAL[:1]), names=['shoulder']),
            groups.send(point(5.0, GOAL[1:]), names=['elbow'])]  # fmt: skip
    groups.until_moving()
    seen = groups.ros.mark()
    groups.feed.message = None
    groups.ros.until_status('last torque', 'torque', since=seen)
    assert not any(each.done for each in sent)
    groups.feed.message = groups._state
    for each in sent:
        each.result(SUCCEEDED, 0)
    groups.until_at(GOAL)
    groups.ros.set_parameter(NODE, 'max_state_gap', 1.0)


def test_when_the_node_is_stopped_the_goal_ends_with_a_result(ros, action):
    parameters = {'robot_description': TWO_LINK_ARM, 'state_timeout': 30.0}
    process = ros.start('inverse_dynamics', parameters, ['-r', '__node:=ending'])
    client = ActionClient(ros.node, action, '/ending/follow_joint_trajectory')
    ros.until(client.server_is_ready, 'the action')
    state = joint_state(position=POSE, velocity=(0.0, 0.0))
    with Feed(ros.publisher(JointState, 'joint_states'), state):
        goal = action.Goal(trajectory=trajectory(point(600.0, GOAL)))

        def accepted():
            sent = Sent(client, ros, goal)
            return sent if sent.accepted else None

        sent = ros.until(accepted, 'an accepted goal')
        ros.until(lambda: sent.feedback, 'feedback')
        ros.spin(0.5)
        ros.processes.remove(process)
        process.process.send_signal(signal.SIGINT)
        assert 'stopped' in sent.result(ABORTED, -1)
    assert process.wait() == 0


@pytest.mark.parametrize('transition', ['deactivate', 'shutdown'])
def test_after_deactivation_the_goal_ends_and_new_ones_are_rejected(ros, action, transition):
    name = f'resting_{transition}'
    parameters = {'robot_description': TWO_LINK_ARM, 'state_timeout': 30.0}
    apart = ['-r', f'__node:={name}', '-r', f'joint_states:=/{name}/joint_states']
    process = ros.start('inverse_dynamics', parameters, apart)
    client = ActionClient(ros.node, action, f'/{name}/follow_joint_trajectory')
    ros.until(client.server_is_ready, 'the action')
    desired = ros.listen(JointState, f'/{name}/desired_state')
    life = Managed(ros, f'/{name}')
    state = joint_state(position=POSE, velocity=(0.0, 0.0))
    goal = action.Goal(trajectory=trajectory(point(600.0, GOAL)))

    def accepted():
        sent = Sent(client, ros, goal, again=True)
        return sent if sent.accepted else None

    with Feed(ros.publisher(JointState, f'/{name}/joint_states'), state) as feed:
        sent = ros.until(accepted, 'an accepted goal')
        ros.until(lambda: sent.feedback, 'feedback')
        assert life.change(transition)
        text = sent.result(ABORTED, -1)
        assert 'the node was deactivated' in text
        if transition == 'deactivate':
            assert not Sent(client, ros, goal).accepted
            elsewhere = (POSE[0] + 0.3, POSE[1] - 0.2)
            feed.message = joint_state(position=elsewhere, velocity=(0.0, 0.0))
            ros.spin(0.5)
            assert life.change('activate')
            count = len(desired)
            ros.until(lambda: len(desired) > count + 20, 'a desired state')
            for message in desired[count:]:  # it begins where the robot is, and stays there
                assert list(message.position) == pytest.approx(elsewhere, abs=1e-9)
            again = ros.until(accepted, 'an accepted goal again')
            ros.until(lambda: again.feedback, 'feedback again')
        else:
            assert life.state() == 'finalized'
    ros.processes.remove(process)
    assert process.stop() == 0
    assert 'Traceback' not in process.output()
