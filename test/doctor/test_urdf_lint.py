# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Findings about descriptions: errors are found, correct elements are not reported."""

import numpy as np
import pytest
from support.urdf_text import inertial, joint, LIMIT, link, robot

from rbd_ros import Robot
from rbd_ros.cli.main import main
from rbd_ros.doctor.findings import Finding, worst_level
from rbd_ros.doctor.urdf_lint import lint_urdf
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model.urdf.control_interfaces import PLUGIN

BOX = (
    '<collision><origin xyz="0.1 0 0"/><geometry><box size="0.2 0.1 0.1"/></geometry></collision>'
)
# of 1 kg that fills the box
FILLED = (0.02 / 12, 0, 0, 0.05 / 12, 0, 0.05 / 12)


def arm(upper=None, lower=None, limit=LIMIT, kind='revolute'):
    """Return two links with boxes, in which one thing may be odd."""
    good = inertial('1', FILLED, '0.1 0 0') + BOX
    return robot(
        link('base', ''),
        link('upper', good if upper is None else upper),
        link('lower', good if lower is None else lower),
        joint('shoulder', 'base', 'upper', axis='0 1 0'),
        joint('elbow', 'upper', 'lower', kind, limit + '<origin xyz="0.2 0 0"/>', '0 1 0'),
    )


def found(text, **options):
    return [(f.level, f.subject, f.message, f.cure) for f in lint_urdf(text, **options)]


def only(text, **options):
    (finding,) = found(text, **options)
    return finding


@pytest.mark.parametrize('name', ['two_link_arm', 'six_axis_arm', 'planar_3r'])
def test_a_good_robot_has_no_findings(name):
    level, _, what, cure = only(str(resource_path('urdf', f'{name}.urdf')))
    assert (level, cure) == ('ok', '') and 'no problem found' in what
    assert only(arm())[0] == 'ok'


def test_a_description_that_cannot_be_read_is_an_error():
    level, subject, what, cure = only(arm().replace('name="lower"', 'name="lowe"'))
    assert (level, subject) == ('error', 'description')
    assert "'lower' does not exist" in what and 'docs/urdf.md' in cure
    assert only('no_such_file.urdf')[0] == 'error'


@pytest.mark.parametrize(
    ('mass', 'inertia', 'what', 'cure'),
    [
        ('1', (1e-3, 0, 0, 1e-3, 0, 5e-3), 'violate the triangle inequality', 'export it again'),
        ('1', (1e-3, 5e-3, 0, 1e-3, 0, 1e-3), 'not positive definite', 'signs of ixy'),
        ('-1', FILLED, 'the mass is negative', 'give a positive mass'),
        ('0', FILLED, 'the mass is zero but', 'give the link its mass'),
    ],
)
def test_inertias_of_no_body_are_errors(mass, inertia, what, cure):
    findings = found(arm(lower=inertial(mass, inertia) + BOX))
    errors = [finding for finding in findings if finding[0] == 'error']
    ((_, subject, text, remedy),) = errors
    assert subject == "link 'lower'" and what in text and cure in remedy
    # reported once, although the reader warns of it as well
    assert sum(what in finding[2] for finding in findings) == 1


def test_the_frame_of_an_inertia_does_not_matter():
    """Turned and moved far away, the triangle inequality still holds."""
    turned = inertial('1', (1e-3, 0, 0, 2e-3, 0, 3e-3), '0.1 0.02 0.03', '0.3 -0.5 1')
    assert only(arm(lower=turned + BOX))[0] == 'ok'


def test_joints_that_move_no_mass_are_errors():
    level, subject, what, cure = only(arm(lower=BOX))
    assert (level, subject) == ('error', "joint 'elbow'")
    assert 'moves no mass' in what and 'armature' in cure


@pytest.mark.parametrize(('x', 'level'), [(0.25, 'ok'), (0.4, 'warn'), (100.0, 'error')])
def test_a_center_of_mass_far_from_the_shapes_is_reported(x, level):
    """The box ends at 0.2 m, and its diagonal is 0.245 m."""
    findings = found(arm(lower=inertial('1', FILLED, f'{x} 0 0') + BOX))
    mine = [f for f in findings if 'center of mass (' in f[2]]
    assert [f[0] for f in mine] == ([] if level == 'ok' else [level])
    if mine:
        away = (x - 0.2) / np.sqrt(0.06)
        assert f'is {away:.2g} diagonals of its shapes' in mine[0][2]
        assert mine[0][1] == "link 'lower'" and 'meters' in mine[0][3]


def test_shapes_lie_where_links_are_though_these_are_merged():
    """A link fixed to a body, turned by a quarter: its box is seen in its own frame."""
    tool = link('tool', inertial('1', FILLED, '0.1 0 0') + BOX)
    mount = joint('mount', 'lower', 'tool', 'fixed', '<origin xyz="0 3 0" rpy="0 0 1.5708"/>')
    text = arm().replace('</robot>', f'{tool}{mount}</robot>')
    assert [f for f in found(text) if 'center of mass (' in f[2]] == []
    wrong = text.replace(tool, link('tool', inertial('1', FILLED, '0 0.9 0') + BOX))
    ((level, subject, _, _),) = [f for f in found(wrong) if 'center of mass (' in f[2]]
    assert (level, subject) == ('warn', "link 'tool'")


def test_shapes_are_turned_as_they_say():
    """A rod along its x, which is y of the link: 0.4 m from its end is less than half of it."""
    rod = BOX.replace('"0.1 0 0"', '"0 0 0" rpy="1.5708 0 1.5708"').replace('0.2 0.1', '1 0.1')
    for center, reported in (('0 0.9 0', False), ('0 0 0.9', True), ('0.9 0 0', True)):
        findings = found(arm(lower=inertial('1', FILLED, center) + rod))
        assert any('center of mass (' in f[2] for f in findings) == reported


@pytest.mark.parametrize(('factor', 'reported'), [(1.0, False), (3.0, False), (30.0, True)])
@pytest.mark.parametrize('inverse', [False, True])
def test_moments_out_of_proportion_to_the_shapes_are_reported(factor, reported, inverse):
    scale = factor**-2.0 if inverse else factor
    lower = inertial('1', tuple(scale * x for x in FILLED), '0.1 0 0') + BOX
    findings = [f for f in found(arm(lower=lower)) if 'largest moment' in f[2]]
    assert bool(findings) == reported
    if reported:
        level, subject, what, cure = findings[0]
        assert (level, subject) == ('warn', "link 'lower'")
        assert f'{scale:.2g} times that of 1 kg' in what and '1e-6' in cure


def test_shapes_that_are_drawn_stand_in_for_those_of_collision():
    lower = inertial('1', FILLED, '9 0 0') + BOX.replace('collision', 'visual')
    assert 'error' in [f[0] for f in found(arm(lower=lower))]


def test_points_and_meshes_that_are_not_there_are_no_reason_to_complain():
    assert only(arm(lower=inertial('1', (0,) * 6, '0.1 0 0') + BOX))[0] == 'ok'
    mesh = '<collision><geometry><mesh filename="package://x/y.stl"/></geometry></collision>'
    level, subject, what, cure = only(arm(lower=inertial('1', FILLED, '1 0 0') + mesh))
    assert (level, subject) == ('warn', 'description')
    assert 'mesh file(s) not found' in what and '--package-path' in cure


def test_meshes_are_measured(tmp_path):
    """One in millimetres whose scale is forgotten is 200 m long."""
    corners = ['v 0 -50 -50', 'v 200 0 0', 'v 0 100 0', 'v 0 0 100', 'f 1 2 3', 'f 1 2 4']
    (tmp_path / 'part.obj').write_text('\n'.join(corners))
    mesh = '<collision><geometry><mesh filename="part.obj" {}/></geometry></collision>'
    path = tmp_path / 'arm.urdf'
    reported = []
    for scale in ('', 'scale="0.001 0.001 0.001"'):
        path.write_text(arm(lower=inertial('1', FILLED, '0.1 0 0') + mesh.format(scale)))
        reported.append(any('largest moment' in f[2] for f in found(str(path))))
    assert reported == [True, False]


def test_light_links_that_carry_heavy_ones_are_reported():
    small = inertial('0.005', tuple(0.005 * x for x in FILLED), '0.1 0 0') + BOX
    level, subject, what, cure = only(arm(upper=small))
    assert (level, subject) == ('warn', "link 'upper'")
    assert 'weighs 0.005 kg and carries 200 times its mass' in what and 'armature' in cure


@pytest.mark.parametrize(
    ('limit', 'what'),
    [
        ('<limit lower="-1" upper="1" velocity="2" effort="0"/>', 'with the effort limit 0'),
        ('<limit lower="-1" upper="1" velocity="0" effort="3"/>', 'with the velocity limit 0'),
        ('<limit lower="-1" upper="1" velocity="2"/>', 'with no effort limit'),
        ('<limit lower="-1" upper="1" effort="3"/>', 'with no velocity limit'),
        (
            '<limit lower="-170" upper="170" velocity="2" effort="3"/>',
            'with position limits that look like degrees',
        ),
        (
            '<limit lower="-1" upper="1" velocity="180" effort="3"/>',
            'with velocity limits that look like degrees per second',
        ),
    ],
)
def test_odd_limits_are_reported_once(limit, what):
    level, subject, text, cure = only(arm(limit=limit))
    assert (level, subject, text) == ('warn', "joint 'elbow'", what) and cure


def test_missing_limits_are_reported_for_each_kind():
    assert {f[2] for f in found(arm(limit=''))} == {
        'with no effort limit',
        'with no velocity limit',
        'with no position limits, which URDF requires of their type',
    }
    # a continuous joint has no position limits, and lengths are no angles
    assert {f[2] for f in found(arm(limit='', kind='continuous'))} == {
        'with no effort limit',
        'with no velocity limit',
    }
    far = '<limit lower="-170" upper="170" velocity="180" effort="3"/>'
    assert only(arm(limit=far, kind='prismatic'))[0] == 'ok'


def test_joints_that_follow_another_need_no_limits():
    follow = LIMIT.replace('effort="3"', 'effort="0"') + '<mimic joint="shoulder"/>'
    assert only(arm(limit=follow))[0] == 'ok'


def test_other_warnings_of_the_reader_are_passed_on():
    follow = LIMIT + '<mimic joint="nobody"/>'
    level, _, what, cure = only(arm(limit=follow))
    assert level == 'warn' and 'mimic a joint that does not exist' in what and '<mimic>' in cure


def test_many_joints_are_one_finding():
    names = [f'j{i}' for i in range(12)]
    links = [link(f'l{i}') for i in range(13)]
    joints = [
        joint(name, f'l{i}', f'l{i + 1}', 'continuous', '<limit velocity="1" effort="0"/>')
        for i, name in enumerate(names)
    ]
    subjects = [f[1] for f in found(robot(*links, *joints)) if 'effort limit 0' in f[2]]
    assert len(subjects) == 1 and subjects[0].endswith("'j7' and 4 more")


def test_levels_are_those_that_there_are():
    assert worst_level([]) == 'ok'
    assert worst_level([Finding('error', 'a', 'b'), Finding('warn', 'a', 'b')]) == 'error'
    with pytest.raises(ValueError, match='bad'):
        Finding('bad', 'a', 'b')


@pytest.mark.parametrize('role', ['visual', 'collision'])
def test_a_moving_link_with_shapes_needs_an_inertial(role):
    shape = f'<{role}><geometry><sphere radius="0.1"/></geometry></{role}>'
    level, subject, what, cure = only(arm(upper=shape))
    assert (level, subject) == ('warn', "link 'upper'")
    assert 'with shapes but no <inertial>' in what and '<inertial>' in cure
    assert only(arm(upper=''))[0] == 'ok'  # a frame
    standing = arm().replace('<link name="base"></link>', f'<link name="base">{shape}</link>')
    assert shape in standing and only(standing)[0] == 'ok'  # it does not move
    fixed = link('cover', shape) + joint('screw', 'lower', 'cover', 'fixed')
    covered = arm().replace('</robot>', f'{fixed}</robot>')
    assert 'cover' in covered and only(covered)[0] == 'ok'  # what it is fixed to has a mass


@pytest.mark.parametrize('role', ['collision', 'visual'])
@pytest.mark.parametrize('axis', ['X_UP', 'Y_UP', ' Y_UP\n', 'Z_UP', None])
def test_an_up_axis_that_is_ignored_is_detected(axis, role, capsys, tmp_path):
    file = tmp_path / 'part.dae'
    given = '' if axis is None else f'<up_axis>{axis}</up_axis>'
    space = 'http://www.collada.org/2005/11/COLLADASchema'
    file.write_text(f'<COLLADA xmlns="{space}"><asset>{given}</asset></COLLADA>')
    (tmp_path / 'damaged.dae').write_text('<COLLADA><asset><up_axis>Y_UP')
    shapes = ''.join(
        f'<{role}><geometry><mesh filename="{name}.dae"/></geometry></{role}>'
        for name in ('part', 'part', 'damaged')
    )
    (tmp_path / 'r.urdf').write_text(robot(link('a', shapes)))
    notices = [one for one in found(tmp_path / 'r.urdf') if 'up_axis' in one[2]]
    # What nodes log.
    warnings = [one for one in Robot.from_urdf(tmp_path / 'r.urdf').warnings if 'up_axis' in one]
    assert main(['info', str(tmp_path / 'r.urdf')]) == 0
    assert ('up_axis' in capsys.readouterr().out) == bool(notices) == bool(warnings)
    if axis in ('Z_UP', None):
        assert not notices
    else:
        assert 'part.dae' in warnings[0] and axis.strip() in warnings[0]
        ((level, subject, what, cure),) = notices
        assert level == 'warn' and subject.startswith('mesh file ') and 'part.dae' in subject
        assert axis.strip() in what and 'not rotated' in what and 'rpy' in cure


@pytest.mark.parametrize('plugin, unread', [(PLUGIN, True), ('some_robot/System', False)])
def test_sensors_that_the_hardware_does_not_read_get_a_warning(plugin, unread):
    tag = (
        f'<ros2_control name="arm"><hardware><plugin>{plugin}</plugin></hardware>'
        '<sensor name="wrist"><state_interface name="force.x"/></sensor>'
        '<gpio name="valve"><state_interface name="open"/></gpio>'
        '<gpio name="lamp"><command_interface name="on"/></gpio></ros2_control></robot>'
    )
    text = resource_path('urdf', 'two_link_arm.urdf').read_text().replace('</robot>', tag)
    found = [f for f in lint_urdf(text) if f.subject.startswith('ros2_control')]
    assert [f.level for f in found] == ['warn'] * unread
    assert all(
        'wrist, valve' in f.message and 'NaN' in f.message and 'lamp' not in f.message
        for f in found
    )
    assert all('wrench' in f.cure for f in found)


@pytest.mark.parametrize(
    'plugin, states, unread',
    [
        (PLUGIN, '<state_interface name="position"/>', True),
        (PLUGIN, '<state_interface name="effort"/>', False),
        ('mock_components/GenericSystem', '', False),
    ],
)
def test_a_command_interface_without_its_state_interface_is_an_error(
    tmp_path, plugin, states, unread
):
    tag = (
        f'<ros2_control name="arm"><hardware><plugin>{plugin}</plugin></hardware>'
        f'<joint name="shoulder"><command_interface name="effort"/>{states}</joint>'
        '</ros2_control></robot>'
    )
    text = resource_path('urdf', 'two_link_arm.urdf').read_text().replace('</robot>', tag)
    path = tmp_path / 'arm.urdf'
    path.write_text(text)
    for source in (text, text.encode(), str(path)):
        found = [f for f in lint_urdf(source) if f.subject.startswith('ros2_control')]
        assert [f.level for f in found] == ['error'] * unread
        assert all('shoulder/effort' in f.message for f in found)
