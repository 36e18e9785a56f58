# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tree, joints and limits of a model read from a URDF."""

import io
from math import inf, isclose, pi, sqrt
import re
import sys

import numpy as np
import pytest
from support.urdf_text import chain, joint, LIMIT, link, one_joint, robot

from rbd_ros.model import load_urdf, ModelError
from rbd_ros.model.joints import Floating, Planar, Prismatic, Revolute

BRANCHES = robot(
    *(link(name) for name in 'abcdefg'),
    joint('a-b', 'a', 'b'),
    joint('e-f', 'e', 'f'),
    joint('a-e', 'a', 'e'),
    joint('b-d', 'b', 'd'),
    joint('b-c', 'b', 'c'),
    joint('a-g', 'a', 'g'),
)


def only_body(*arguments, **options):
    (body,) = load_urdf(one_joint(*arguments, **options)).bodies
    return body


@pytest.mark.seed('MD03')
def test_joints_are_in_depth_first_order_with_siblings_in_file_order():
    assert load_urdf(BRANCHES).joint_names == ('a-b', 'b-d', 'b-c', 'a-e', 'e-f', 'a-g')


def test_parents_come_before_their_children():
    model = load_urdf(BRANCHES)
    assert [model.body(i).parent for i, _ in model.outward()] == [0, 1, 1, 0, 4, 0]


def test_the_root_link_of_a_fixed_base_is_body_0():
    model = load_urdf(BRANCHES)
    assert model.links['a'].body == 0
    assert model.links['a'].placement.pose().tolist() == np.eye(4).tolist()


def test_a_floating_base_is_a_first_joint_between_world_and_root():
    model = load_urdf(BRANCHES, floating_base=True)
    assert model.joint_names[0] == 'floating_base'
    assert isinstance(model.body(1).joint, Floating)
    assert (model.body(1).parent, model.body(1).name) == (0, 'a')
    assert (model.nq, model.nv) == (13, 12)
    assert model.links['a'].body == 1


def test_a_moving_joint_may_not_take_the_name_of_the_floating_base():
    text = robot(link('a'), link('b'), joint('floating_base', 'a', 'b'))
    assert load_urdf(text).joint_names == ('floating_base',)
    with pytest.raises(ModelError, match="joint 'floating_base'.*rename"):
        load_urdf(text, floating_base=True)


def test_a_fixed_joint_may_be_called_floating_base():
    text = robot(link('a'), link('b'), joint('floating_base', 'a', 'b', 'fixed'))
    assert load_urdf(text, floating_base=True).joint_names == ('floating_base',)


def test_fixed_joints_are_merged_and_their_frames_kept():
    origin = '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>' + LIMIT
    model = load_urdf(chain('revolute', 'fixed', 'fixed', 'revolute', inside=origin))
    assert model.joint_names == ('j1', 'j4')
    assert [model.links[f'l{i}'].body for i in range(5)] == [0, 1, 1, 1, 2]
    assert model.body(1).inertia.mass == 3.0
    turn = np.array([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1.0]])
    for name, pose in (('l1', np.eye(4)), ('l2', turn), ('l3', turn @ turn)):
        assert np.allclose(model.links[name].placement.pose(), pose, atol=0)
    assert np.allclose(model.body(2).tree_transform.pose(), turn @ turn @ turn, atol=1e-15)
    for name, frame in (('j1', 'l1'), ('j2', 'l2'), ('j3', 'l3'), ('j4', 'l4')):
        assert model.joint_frames[name].body == model.links[frame].body
        assert model.joint_frames[name].placement == model.links[frame].placement


def test_quarter_turns_are_exact():
    text = one_joint(inside=f'<origin rpy="{pi / 2!r} {-pi / 2!r} {pi!r}"/>' + LIMIT)
    E = np.array(load_urdf(text).body(1).tree_transform.E)
    assert set(np.abs(E).ravel()) == {0.0, 1.0}


@pytest.mark.parametrize(
    'kind, type_, nq, nv',
    [
        ('revolute', Revolute, 1, 1),
        ('continuous', Revolute, 1, 1),
        ('prismatic', Prismatic, 1, 1),
        ('planar', Planar, 3, 3),
        ('floating', Floating, 7, 6),
    ],
)
def test_every_joint_type_of_urdf_is_read(kind, type_, nq, nv):
    model = load_urdf(one_joint(kind))
    assert isinstance(model.body(1).joint, type_)
    assert (model.body(1).urdf_type, model.nq, model.nv) == (kind, nq, nv)


def test_the_axis_is_normalized_with_a_notice():
    body = only_body(axis='0 3 4')
    assert body.joint.axis == (0.0, 0.6, 0.8)
    (warning,) = load_urdf(one_joint(axis='0 3 4')).warnings
    assert 'j' in warning and 'unit vector' in warning


def test_the_axis_of_extreme_length_is_normalized():
    assert only_body(axis='0 -1e-300 0').joint.axis == (0.0, -1.0, 0.0)
    assert only_body(axis='1e30 1e30 0').joint.axis == pytest.approx((sqrt(0.5), sqrt(0.5), 0))


def test_rounding_in_an_axis_is_removed_and_misalignment_kept():
    assert only_body(axis='6.1e-17 0 -1').joint.axis == (0.0, 0.0, -1.0)
    assert only_body(axis='1e-12 0 1').joint.axis[0] == pytest.approx(1e-12)


def test_the_axis_defaults_to_x():
    assert only_body(axis=None).joint.axis == (1.0, 0.0, 0.0)


def test_the_plane_of_a_planar_joint_is_normal_to_its_axis():
    assert only_body('planar', axis='0 0 2').joint.axes[2] == (0.0, 0.0, 1.0)


def test_limits_and_losses_are_read():
    body = only_body(
        inside='<limit lower="-1" upper="2" velocity="3" effort="4"/>'
        '<dynamics damping="0.5" friction="0.25"/>'
    )
    limits = body.limits
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == (-1, 2, 3, 4)
    assert (body.damping, body.friction) == (0.5, 0.25)


def test_a_missing_limit_is_infinite_with_a_notice():
    model = load_urdf(one_joint(inside=''))
    limits = model.body(1).limits
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == (-inf, inf, inf, inf)
    assert any('no <limit>' in warning and 'j' in warning for warning in model.warnings)


def test_one_missing_end_of_the_range_is_zero_as_urdf_says():
    limits = only_body(inside='<limit upper="2" velocity="3" effort="4"/>').limits
    assert (limits.lower, limits.upper) == (0.0, 2.0)


def test_a_limit_without_a_range_leaves_the_joint_unlimited_and_says_so():
    model = load_urdf(one_joint(inside='<limit velocity="3" effort="4"/>'))
    assert (model.body(1).limits.lower, model.body(1).limits.upper) == (-inf, inf)
    assert any('lower and upper' in warning for warning in model.warnings)


def test_a_limit_without_effort_is_unlimited_in_effort_and_says_so():
    model = load_urdf(one_joint(inside='<limit lower="-1" upper="1" velocity="3"/>'))
    assert model.body(1).limits.effort == inf
    assert any('effort' in warning for warning in model.warnings)


def test_infinite_limits_may_be_written_out():
    limits = only_body(inside='<limit lower="-inf" upper="inf" velocity="INF" effort="1"/>').limits
    assert (limits.lower, limits.upper, limits.velocity) == (-inf, inf, inf)


def test_a_continuous_joint_has_no_range():
    limits = only_body('continuous').limits
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == (-inf, inf, 2, 3)


def test_zero_effort_is_kept_with_a_notice():
    model = load_urdf(one_joint(inside='<limit lower="0" upper="1" effort="0" velocity="1"/>'))
    assert model.body(1).limits.effort == 0.0
    assert any('effort limit 0' in warning and 'j' in warning for warning in model.warnings)


def test_a_sound_description_gives_no_warning():
    assert load_urdf(BRANCHES).warnings == ()


def test_gravity_must_be_three_finite_numbers():
    assert load_urdf(BRANCHES, gravity=(0, 1, 2)).gravity == (0.0, 1.0, 2.0)
    for gravity in ((0, 0), 9.81, None, (0, 0, inf), 'abc'):
        with pytest.raises(ValueError, match='gravity must be 3 finite numbers'):
            load_urdf(BRANCHES, gravity=gravity)


VENDOR = robot(
    '<gazebo><plugin name="p" filename="f"><update>${x}</update></plugin></gazebo>',
    '<ros2_control name="c" type="system"><joint name="j"><param name="p">1</param></joint>'
    '</ros2_control>',
    '<transmission name="t"><type>x</type><joint name="j"/><actuator name="m"/></transmission>',
    '<link name="a" type="odd"><visual foo="1"><geometry name="g"><box size="1 1 1"/></geometry>'
    '<material name="m"><texture/></material></visual>'
    '<contact><stiffness value="1"/></contact></link>',
    '<link name="b"/><sensor name="s"/><joint name="j" type="revolute" dont_collapse="true">'
    '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="0" upper="1" effort="1" '
    'velocity="1" jerk="3"/><safety_controller k_velocity="x"/><calibration rising="y"/></joint>',
    '<!-- comment --><?instruction?><material name="m"/>',
)


def test_vendor_elements_make_no_noise(capfd, monkeypatch):
    monkeypatch.setattr(sys, 'stderr', io.StringIO())
    model = load_urdf(VENDOR)
    assert (model.joint_names, model.warnings) == (('j',), ())
    assert sys.stderr.getvalue() == ''
    assert capfd.readouterr() == ('', '')


def test_a_namespace_for_xacro_is_allowed():
    text = '<?xml version="1.0"?><robot name="r" xmlns:xacro="http://x"><link name="a"/></robot>'
    assert load_urdf(text).name == 'r'


@pytest.mark.parametrize('lead', ['', '\ufeff', '\n \t', '\ufeff\n'])
def test_text_with_a_byte_order_mark_or_blanks_is_xml(lead):
    assert load_urdf(lead + BRANCHES).nv == 6


@pytest.mark.parametrize('encoding', ['utf-8', 'utf-8-sig', 'utf-16', 'latin-1'])
def test_files_in_a_declared_encoding_are_read(tmp_path, encoding):
    name = encoding.replace('utf-8-sig', 'utf-8')
    text = f'<?xml version="1.0" encoding="{name}"?>' + robot(link('glied_ä'))
    path = tmp_path / 'robot.urdf'
    path.write_bytes(text.encode(encoding))
    assert list(load_urdf(path).links) == ['glied_ä']
    assert list(load_urdf(str(path)).links) == ['glied_ä']


def test_the_same_document_gives_the_same_model():
    assert load_urdf(BRANCHES) == load_urdf(BRANCHES)


def test_total_mass_survives_merging():
    model = load_urdf(chain('fixed', 'revolute', 'fixed', 'prismatic'), floating_base=True)
    assert isclose(sum(body.inertia.mass for body in model.bodies), 5.0)


DOCUMENT = """<robot name="r">
<link name="a"><inertial><origin xyz="0 0 0"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<collision><geometry><box size="1 1 1"/></geometry></collision>
<collision><geometry><cylinder radius="1" length="1"/></geometry></collision>
<collision><geometry><mesh filename="none.stl" scale="1 1 1"/></geometry></collision></link>
<link name="b"/><link name="c"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
<joint name="k" type="continuous"><parent link="b"/><child link="c"/>
<mimic joint="j" multiplier="1" offset="0"/></joint></robot>"""
NUMBERS = re.findall(r'(\w+)="[-\d. ]+"', DOCUMENT)


@pytest.mark.parametrize('wrong', ['x', ''])
@pytest.mark.parametrize('name', dict.fromkeys(NUMBERS))
def test_numbers_that_a_message_proposes_make_a_robot(name, wrong):
    """Of sizes, scales, axes and masses that is no zero."""
    broken = re.sub(rf' {name}="[^"]*"', f' {name}="{wrong}"', DOCUMENT, count=1)
    with pytest.raises(ModelError) as caught:
        load_urdf(broken)
    (proposed,) = re.findall(rf'give ({name}="[^"]*") \(', str(caught.value))
    load_urdf(broken.replace(f'{name}="{wrong}"', proposed))
    numbers = [float(word) for word in proposed.split('"')[1].split()]
    if name in ('value', 'size', 'scale', 'radius', 'length', 'velocity', 'effort', 'ixx'):
        assert all(number > 0.0 for number in numbers)
    assert name != 'multiplier' or numbers[0] != 0.0
