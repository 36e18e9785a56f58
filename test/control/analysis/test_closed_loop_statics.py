# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Statics of robots with loops: virtual work along the loops against actuator forces."""

import numpy as np
import pytest

from rbd_ros import Robot
from rbd_ros.control import payload_parameters, static_torque_margin, worst_case_poses
from rbd_ros.control.analysis.closed_loop_statics import ClosedPoses
from rbd_ros.lookup.resources import resource_path

STEP = 1e-5


@pytest.fixture(scope='module')
def linkage():
    return Robot.from_urdf(
        str(resource_path('urdf', 'four_bar.urdf')),
        extension=str(resource_path('config', 'four_bar.yaml')),
    )


def crank(linkage, *angles):
    """Return the poses of which the crank counts."""
    poses = np.tile(linkage.neutral(), (len(angles), 1))
    poses[:, linkage.joint_names.index('crank_joint')] = angles
    return poses


def gap(linkage, q):
    """Return the distance between the two ends of the loop."""
    ends = [
        linkage.frame(link).pose(q) @ [x, 0.0, 0.0, 1.0]
        for link, x in (('coupler', 0.45), ('rocker', 0.4))
    ]
    return np.linalg.norm(ends[0] - ends[1])


def energy(linkage, q, load=0.0):
    """Return the potential energy, with a mass at the origin of the coupler."""
    height = linkage.frame('coupler').pose(q)[2, 3]
    return linkage.energy(q, 0.0 * q).potential + load * 9.81 * height


@pytest.mark.parametrize('load', [0.0, 3.0])
@pytest.mark.parametrize('angle', [0.6, 1.2, 2.0])
def test_the_torque_of_the_actuator_is_the_slope_of_the_energy(linkage, angle, load):
    options = {'payload': payload_parameters(load), 'payload_link': 'coupler'} if load else {}
    found = static_torque_margin(linkage, crank(linkage, angle), **options)
    ends = ClosedPoses(linkage).closed(crank(linkage, angle - STEP, angle + STEP))
    slope = np.diff([energy(linkage, q, load) for q in ends]) / (2.0 * STEP)
    k = linkage.joint_names.index('crank_joint')
    assert abs(slope[0]) > 0.1
    np.testing.assert_allclose(found.torques[0, k], slope[0], rtol=1e-5)
    others = np.delete(found.torques[0], k)
    assert not others.any(), 'joints without actuators exert nothing'


def test_poses_are_published_closed(linkage):
    found = static_torque_margin(linkage, crank(linkage, 0.8, 1.5))
    for q, angle in zip(found.configurations, (0.8, 1.5)):
        assert q[linkage.joint_names.index('crank_joint')] == pytest.approx(angle)
        assert gap(linkage, q) < 1e-8


def test_a_pose_does_not_depend_on_those_before(linkage):
    loops = ClosedPoses(linkage)
    poses = crank(linkage, 2.5, 0.3, 1.0)
    alone = [loops.closed(poses[k : k + 1])[0] for k in (2, 1, 0)][::-1]
    np.testing.assert_allclose(loops.closed(poses), alone, atol=1e-9)


def test_random_poses_are_those_that_close_within_all_limits(linkage):
    rng = np.random.default_rng(1)
    poses = linkage.random_configurations(60, rng)
    found = ClosedPoses(linkage).possible(poses)
    assert 0 < len(found) <= 60
    assert (found >= linkage.lower_limits - 1e-8).all()
    assert (found <= linkage.upper_limits + 1e-8).all()
    for q in found:
        assert gap(linkage, q) < 1e-8


def test_the_hardest_poses_are_the_worst_of_those_given(linkage):
    poses = crank(linkage, 0.4, 1.0, 1.6)
    worst = worst_case_poses(linkage, poses)
    every = static_torque_margin(linkage, poses)
    k = linkage.joint_names.index('crank_joint')
    np.testing.assert_array_equal(worst[k], every.configurations[every.worst_poses[k]])


PENDULUM = """<link name="bob"><inertial><origin xyz="0 0 -0.1"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="swing" type="continuous"><parent link="coupler"/><child link="bob"/>
  <axis xyz="0 1 0"/></joint></robot>"""


def test_a_dof_without_an_actuator_is_rejected_by_name():
    urdf = resource_path('urdf', 'four_bar.urdf').read_text().replace('</robot>', PENDULUM)
    limp = Robot.from_urdf(urdf, extension=str(resource_path('config', 'four_bar.yaml')))
    with pytest.raises(ValueError, match="no actuator of .* can hold joint 'swing'"):
        static_torque_margin(limp, limp.neutral())


def test_a_pose_that_closes_no_loop_is_reported_by_its_number(linkage, monkeypatch):
    from rbd_ros.control import closed_loop_state as loop_closing

    loops = ClosedPoses(linkage)
    found = loop_closing.assemble_loops
    monkeypatch.setattr(
        loop_closing,
        'assemble_loops',
        lambda model, begin, *rest: (
            found(model, begin, *rest)._replace(is_closed=False)
            if begin[linkage.joint_names.index('crank_joint')] > 1.0
            else found(model, begin, *rest)
        ),
    )
    with pytest.raises(ValueError, match='pose 2 of 2: '):
        loops.closed(crank(linkage, 0.8, 1.5))
    assert len(loops.possible(crank(linkage, 0.8, 1.5, 0.9))) == 2
    with pytest.raises(ValueError, match='none of 1 random poses'):
        loops.possible(crank(linkage, 1.5))
