# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faulty optional elements are omitted with a notice, and nothing else changes."""

import pytest
from support.urdf_text import joint, link, robot

from rbd_ros import Robot
from rbd_ros.model import load_urdf, ModelError
from rbd_ros.model.geometry import Box, Sphere

SPHERE = '<geometry><sphere radius="0.5"/></geometry>'
GOOD = f'<visual>{SPHERE}</visual><collision>{SPHERE}</collision>'
BAD_SHAPES = {
    'one factor': '<geometry><mesh filename="m.stl" scale="0.001"/></geometry>',
    'no file name': '<geometry><mesh/></geometry>',
    'empty file name': '<geometry><mesh filename=""/></geometry>',
    'no size': '<geometry><box/></geometry>',
    'negative size': '<geometry><sphere radius="-1"/></geometry>',
    'not a number': '<geometry><cylinder radius="r" length="1"/></geometry>',
    'no shape': '<geometry/>',
    'no geometry': '',
    'two geometries': SPHERE + SPHERE,
    'bad origin': f'<origin xyz="0 0"/>{SPHERE}',
    'quaternion': f'<origin quat_xyzw="0 0 0 1"/>{SPHERE}',
}
BAD_MOTION = {
    'axis': '<axis xzy="0 0 1"/>',
    'two axes': '<axis xyz="0 0 1"/><axis xyz="0 0 1"/>',
    'limit': '<limit effort="none"/>',
    'dynamics': '<dynamics damping=""/>',
    'mimic': '<mimic/>',
    'safety_controller': '<safety_controller soft_lower_limit="x"/>',
}


@pytest.mark.parametrize('inside', BAD_SHAPES.values(), ids=BAD_SHAPES)
def test_a_faulty_visual_is_omitted_and_a_faulty_collision_rejected(inside):
    found = Robot.from_urdf(robot(link('tool', f'<visual>{inside}</visual>{GOOD}')))
    roles = [(each.role, each.shape) for each in found.model.geometries]
    assert roles == [('collision', Sphere(0.5)), ('visual', Sphere(0.5))]
    (notice,) = found.warnings
    assert "'tool'" in notice and notice.endswith('the <visual> is left out')
    with pytest.raises(ModelError, match="'tool'"):
        load_urdf(robot(link('tool', f'<collision>{inside}</collision>{GOOD}')))


@pytest.mark.parametrize('role', ['collision', 'visual'])
@pytest.mark.parametrize('second', ['<sphere radius="2"/>', '<box size="1 1 1"/>', '<mesh/>'])
def test_the_first_of_several_shapes_in_a_geometry_is_read(role, second):
    inside = f'<{role}><geometry><box size="1 2 3"/>{second}</geometry></{role}>'
    model = load_urdf(robot(link('tool', inside)))
    assert [each.shape for each in model.geometries] == [Box((1.0, 2.0, 3.0))]
    (notice,) = model.warnings
    assert "'tool'" in notice and second[1:4] in notice and f'its own <{role}>' in notice


@pytest.mark.parametrize('inside', BAD_MOTION.values(), ids=BAD_MOTION)
def test_faults_in_the_motion_of_a_fixed_joint_are_omitted(inside):
    def text(kind):
        return robot(link('a'), link('b'), joint('j', 'a', 'b', kind, inside, None))

    model = load_urdf(text('fixed'))
    assert not model.bodies and 'j' in model.joint_frames
    (notice,) = model.warnings
    assert "'j'" in notice and 'the joint is fixed, so <' in notice
    with pytest.raises(ModelError, match="'j'"):
        load_urdf(text('revolute'))
    if 'axis' in inside:
        floating = load_urdf(text('floating'))
        assert floating.nv == 6 and 'the joint is floating' in floating.warnings[0]


def test_elements_without_a_fault_are_passed_over_in_silence():
    inside = '<axis xyz="0 0 0"/><limit effort="-1" velocity="-1"/><dynamics damping="1"/>'
    text = robot(link('a'), link('b', GOOD), joint('j', 'a', 'b', 'fixed', inside, None))
    assert load_urdf(text).warnings == ()


@pytest.mark.parametrize('what', ['effort', 'velocity'])
@pytest.mark.parametrize('kind', ['revolute', 'prismatic', 'continuous'])
def test_minus_one_as_no_limit_is_rejected_with_the_cure(what, kind):
    other = {'effort': 'velocity', 'velocity': 'effort'}[what]

    def text(limit):
        inside = f'<limit lower="-1" upper="1" {other}="2" {limit}/>'
        return robot(link('a'), link('b'), joint('j', 'a', 'b', kind, inside))

    with pytest.raises(ModelError, match=f'{what}="-1".*leave {what}.* out if there is no') as e:
        load_urdf(text(f'{what}="-1"'))
    assert ('or the whole <limit>' in str(e.value)) == (kind == 'continuous')
    limits = load_urdf(text('')).body(1).limits
    assert (getattr(limits, what), getattr(limits, other)) == (float('inf'), 2.0)
