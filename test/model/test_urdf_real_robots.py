# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The URDFs of example-robot-data: valid ones agree with Pinocchio, invalid ones are rejected."""

import numpy as np
import pytest
from support import example_robots, layout, outside

from rbd_ros.model import load_urdf, ModelError
from rbd_ros.model.geometry import Mesh
from rbd_ros.model.joints import Planar, Prismatic, Revolute

SICK = {'ur3': ('no links',)}
PATHS = example_robots.paths()
SOUND = sorted(set(PATHS) - set(SICK))
bases = pytest.mark.parametrize('floating_base', [False, True], ids=['fixed', 'floating'])


@pytest.mark.skipif(not PATHS, reason='example-robot-data is not installed')
def test_there_are_69_descriptions():
    assert len(PATHS) == 69


@pytest.mark.parametrize('name', sorted(set(SICK) & set(PATHS)))
def test_the_sick_are_rejected_by_name(name):
    with pytest.raises(ModelError) as caught:
        load_urdf(PATHS[name])
    for word in SICK[name]:
        assert word in str(caught.value)


@bases
@pytest.mark.parametrize('name', SOUND)
def test_order_of_joints_is_depth_first_with_siblings_in_file_order(name, floating_base):
    expected = layout.read(PATHS[name], floating_base)
    model = load_urdf(PATHS[name], floating_base)
    assert list(model.joint_names) == [joint.name for joint in expected.joints]
    assert (model.nq, model.nv) == (expected.nq, expected.nv)
    assert set(model.links) == set(expected.links)
    followers = {
        model.body(c.body).joint_name: (model.body(c.master).joint_name, c.ratio, c.offset)
        for c in model.couplings
    }
    assert followers == expected.mimics


@bases
@pytest.mark.parametrize('name', SOUND)
def test_placements_axes_inertias_and_limits_agree_with_pinocchio(name, floating_base, capfd):
    pin = outside.load('pinocchio')
    path = str(PATHS[name])
    theirs = (
        pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
        if floating_base
        else pin.buildModelFromUrdf(path)
    )
    capfd.readouterr()
    model = load_urdf(path, floating_base)
    assert capfd.readouterr() == ('', '')
    assert len(model.bodies) == theirs.njoints - 1
    for body in model.bodies:
        joint = theirs.getJointId(pin_name(body.joint_name))
        assert theirs.names[theirs.parents[joint]] == parent_name(model, body)
        placement = theirs.jointPlacements[joint].homogeneous
        assert np.allclose(body.tree_transform.pose(), placement, rtol=0, atol=1e-12)
        assert_same_inertia(body.inertia, theirs.inertias[joint])
        assert_same_motion(body.joint, theirs.joints[joint])
        if body.urdf_type in ('revolute', 'prismatic') and np.isfinite(body.limits.upper):
            q, v = theirs.joints[joint].idx_q, theirs.joints[joint].idx_v
            assert body.limits.lower == theirs.lowerPositionLimit[q]
            assert body.limits.upper == theirs.upperPositionLimit[q]
            assert body.limits.velocity == theirs.upperVelocityLimit[v]
            assert body.limits.effort == theirs.upperEffortLimit[v]
            assert body.damping == pytest.approx(theirs.damping[v])
            assert body.friction == pytest.approx(theirs.upperDryFrictionLimit[v])


@pytest.mark.parametrize('name', SOUND)
def test_frames_and_total_mass_agree_with_pinocchio(name, capfd):
    pin = outside.load('pinocchio')
    theirs = pin.buildModelFromUrdf(str(PATHS[name]))
    model = load_urdf(PATHS[name])
    for link in model.links.values():
        frame = theirs.frames[theirs.getFrameId(link.name, pin.FrameType.BODY)]
        assert number(model, theirs.names[frame.parentJoint]) == link.body
        assert np.allclose(link.placement.pose(), frame.placement.homogeneous, rtol=0, atol=1e-12)
    mass = sum(link.inertia.mass for link in model.links.values())
    assert mass == pytest.approx(sum(inertia.mass for inertia in theirs.inertias), rel=1e-12)


@pytest.mark.parametrize('name', SOUND)
def test_meshes_of_the_package_are_found_without_ros(name, monkeypatch):
    monkeypatch.delenv('ROS_PACKAGE_PATH', raising=False)
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    meshes = [g.shape for g in load_urdf(PATHS[name]).geometries if isinstance(g.shape, Mesh)]
    lost = {mesh.uri for mesh in meshes if mesh.path is None}
    assert all(not uri.startswith('package://') for uri in lost), lost


def pin_name(name):
    return 'root_joint' if name == 'floating_base' else name


def parent_name(model, body):
    return pin_name(model.body(body.parent).joint_name) if body.parent else 'universe'


def number(model, name):
    return next((i for i, body in model.outward() if body.joint_name == name), 0)


def assert_same_inertia(ours, theirs):
    expected = theirs.matrix()  # linear before angular
    swap = [3, 4, 5, 0, 1, 2]
    scale = max(1e-30, np.abs(expected).max())
    assert np.allclose(ours.matrix(), expected[np.ix_(swap, swap)], rtol=0, atol=1e-12 * scale)


def assert_same_motion(joint, theirs):
    short = theirs.shortname()
    axis = {'X': (1, 0, 0), 'Y': (0, 1, 0), 'Z': (0, 0, 1)}.get(short[-1])
    if isinstance(joint, (Revolute, Prismatic)):
        assert ('JointModelR' in short) == isinstance(joint, Revolute)
        if axis is not None:
            assert np.allclose(joint.axis, axis, rtol=0, atol=1e-15)
    elif isinstance(joint, Planar):
        assert short == 'JointModelPlanar'
    else:
        assert short == 'JointModelFreeFlyer'
    if axis is None and isinstance(joint, (Revolute, Prismatic)):
        data = theirs.createData()
        q = np.array([1.0, 0.0] if theirs.nq == 2 else [0.0])
        theirs.calc(data, q, np.zeros(1))
        S = np.asarray(data.S).reshape(6, -1)[:, 0]
        ours = (
            np.r_[np.zeros(3), joint.axis]
            if isinstance(joint, Revolute)
            else np.r_[joint.axis, np.zeros(3)]
        )
        assert np.allclose(ours, S, rtol=0, atol=1e-12)


@pytest.mark.skipif('alex_psyonic_hands' not in PATHS, reason='no example-robot-data')
def test_dangling_mimics_are_named_and_strictly_rejected():
    path = PATHS['alex_psyonic_hands']
    (warning,) = [text for text in load_urdf(path).warnings if 'mimic' in text]
    assert 'Left_index_q2' in warning and 'Right_pinky_q2' in warning
    with pytest.raises(ModelError, match="'Left_index_q2' mimics joint 'index_q1'"):
        load_urdf(path, strict=True)
