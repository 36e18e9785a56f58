# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Allowed-collision matrices: links connected by joints, and SRDF files."""

from itertools import combinations

from hypothesis import given, HealthCheck, settings, strategies as st
import pytest
from support import example_robots
from support.simulated_robots import collision, joint, link, robot

from rbd_ros.collision.scene.scene import make_scene, neutral_configuration
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import load_urdf
from rbd_ros.model.combined_models import combine_models
from rbd_ros.world import allowed_pairs, SrdfError, World
from rbd_ros.world.allowed_collisions import read_srdf

ARM = load_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
SRDF = """<?xml version="1.0"?>
<robot name="six_axis_arm">
  <group name="arm"><link name="nothing_of_this_is_read"/></group>
  <disable_collisions link1="wrist_3_link" link2="base_link" reason="Never"/>
  <disable_collisions link1="forearm_link" link2="wrist_2_link" reason="User"/>
  <disable_default_collisions link="tool0"/>
  <enable_collisions link1="tool0" link2="shoulder_link"/>
</robot>
"""


def test_links_of_one_body_and_of_connected_bodies_are_allowed():
    pairs = allowed_pairs(ARM)
    for a, b in combinations(sorted(ARM.links), 2):
        i, j = ARM.links[a].body, ARM.links[b].body
        connected = i == j or (i and ARM.body(i).parent == j) or (j and ARM.body(j).parent == i)
        assert ((a, b) in pairs) == bool(connected), (a, b)
    assert ('base_link', 'base_link_inertia') in pairs and ('base_link', 'shoulder_link') in pairs
    assert ('tool0', 'wrist_3_link') in pairs and ('tool0', 'wrist_2_link') in pairs
    assert ('shoulder_link', 'wrist_1_link') not in pairs


def test_pairs_are_of_two_links_in_the_order_of_the_alphabet():
    for srdf in (None, SRDF):
        assert all(a < b for a, b in allowed_pairs(ARM, srdf))


def chain(*links):
    """Return the model of links with or without a mass and a shape.

    Each on a hinge at the one before.
    """
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    text = '<link name="base"/>'
    for k, (heavy, shaped) in enumerate(links):
        inside = (mass + '</inertial>') * heavy + shape * shaped
        text += (
            f'<link name="l{k}">{inside}</link><joint name="j{k}" type="continuous"><parent '
            f'link="{f"l{k - 1}" if k else "base"}"/><child link="l{k}"/></joint>'
        )
    return load_urdf(f'<robot name="r">{text}</robot>', floating_base=True)


@pytest.mark.parametrize(
    ('between', 'allowed'),
    [
        ([(1, 1)], False),
        ([(1, 0)], True),  # no shape keeps them apart
        ([(0, 1)], True),  # without mass it is a part of a joint
        ([(0, 0), (1, 0)], True),
        ([(1, 0), (1, 1)], False),
    ],
)
def test_links_without_shape_or_mass_connect_their_neighbors(between, allowed):
    pairs = allowed_pairs(chain((1, 1), *between, (1, 1)))
    assert (('l0', f'l{len(between) + 1}') in pairs) == allowed


def test_the_world_and_links_of_a_robot_without_masses_connect_nothing():
    pairs = allowed_pairs(chain((0, 1), (0, 1), (0, 1)))
    assert ('l0', 'l2') not in pairs and ('l0', 'l1') in pairs
    both = combine_models({'a': chain((1, 1)), 'b': chain((1, 1))}, {})
    assert ('a/l0', 'b/l0') not in allowed_pairs(both)


def test_an_srdf_enables_pairs_that_shapeless_links_connect():
    model = chain((1, 1), (1, 0), (1, 1))
    srdf = '<robot><enable_collisions link1="l0" link2="l2"/></robot>'
    assert ('l0', 'l2') not in allowed_pairs(model, srdf)
    assert 'are connected by links without shapes' in make_scene(model, World()).notices[0]
    assert not make_scene(model, World(srdf=srdf)).notices


@pytest.mark.parametrize('gap, across, left_out', [
    (1e-4, True, True), (3e-4, True, False), (-1e-3, True, True),
    (1e-4, False, False), (-1e-3, False, True),
])  # fmt: skip
def test_a_knuckle_of_two_axes_is_omitted(gap, across, left_out):
    """Faces a tenth of a millimetre apart across a small link; fingers that close may touch."""
    box = collision('box size="0.1 0.1 0.1"')
    small = collision('sphere radius="0.001"')
    parent, height = ('small', -0.5) if across else ('trunk', 0.0)
    model = robot(
        link('base'),
        link('trunk', 1.0, shape=small),
        link('first', 1.0, shape=box),
        link('second', 1.0, shape=box),
        link('small', 0.1, shape=small),
        joint('a', 'base', 'trunk'),
        joint('b', 'trunk', 'first'),
        joint('c', 'first', 'small', xyz=(0, 0, 0.5)),
        joint('d', parent, 'second', xyz=(0.1 + gap, 0, height)),
    ).model
    notices = make_scene(model, World(), neutral_configuration(model)).notices
    assert any('1 pair of links that are in contact' in text for text in notices) == left_out


def test_links_that_a_loop_joint_connects_are_allowed():
    urdf, extension = (
        resource_path(folder, name)
        for folder, name in (('urdf', 'four_bar.urdf'), ('config', 'four_bar.yaml'))
    )
    assert ('coupler', 'rocker') in allowed_pairs(load_urdf(urdf, extension=extension))
    assert ('coupler', 'rocker') not in allowed_pairs(load_urdf(urdf))


def test_an_srdf_adds_pairs_and_takes_pairs_away():
    plain, pairs = allowed_pairs(ARM), allowed_pairs(ARM, SRDF)
    added = {('base_link', 'wrist_3_link'), ('forearm_link', 'wrist_2_link')}
    added |= {tuple(sorted(('tool0', link))) for link in ARM.links if link != 'tool0'}
    assert pairs == (plain | added) - {('shoulder_link', 'tool0')}
    near = '<robot><enable_collisions link1="upper_arm_link" link2="shoulder_link"/></robot>'
    assert allowed_pairs(ARM, near) == plain - {('shoulder_link', 'upper_arm_link')}


def test_an_srdf_comes_from_a_file_too(tmp_path):
    path = tmp_path / 'arm.srdf'
    path.write_text(SRDF)
    assert allowed_pairs(ARM, path) == allowed_pairs(ARM, str(path)) == allowed_pairs(ARM, SRDF)
    label, entries = read_srdf(path)
    assert 'arm.srdf' in label and [entry.line for entry in entries] == [4, 5, 6, 7]


@pytest.mark.parametrize(
    'old, new, message',
    [
        ('base_link', 'base_lnk', "line 4: <disable_collisions>: .*'base_lnk'; did you mean"),
        ('wrist_2_link', 'forearm_link', 'line 5: .*both links are .forearm_link.'),
        ('link="tool0"', '', 'line 6: <disable_default_collisions> has no link'),
        ('link2="shoulder_link"', 'link2=""', 'line 7: <enable_collisions> has no link2'),
        ('link1="forearm_link"', 'link1="x" link1="y"', 'line 5: duplicate attribute'),
        ('</group>', '</grup>', 'line 3: mismatched tag'),
        ('<robot', '<!DOCTYPE robot><robot', 'line 2: document types are not supported'),
        ('</robot>', '', 'no element found'),
        ('robot', 'sdf', 'line 2: the root element is <sdf>'),
    ],
)
def test_errors_name_file_and_line(tmp_path, old, new, message):
    path = tmp_path / 'bad.srdf'
    assert old in SRDF
    path.write_text(SRDF.replace(old, new))
    with pytest.raises(SrdfError, match=message) as caught:
        allowed_pairs(ARM, path)
    assert 'bad.srdf' in str(caught.value)


def test_files_that_are_not_there_or_too_large_are_rejected(tmp_path, monkeypatch):
    with pytest.raises(SrdfError, match="none.srdf': there is no such file"):
        allowed_pairs(ARM, tmp_path / 'none.srdf')
    with pytest.raises(SrdfError, match='it is a folder; give a file'):
        allowed_pairs(ARM, tmp_path)
    (tmp_path / 'a.srdf').write_bytes(b'<?xml version="1.0" encoding="none"?><robot/>')
    with pytest.raises(SrdfError, match='a.srdf'):
        allowed_pairs(ARM, tmp_path / 'a.srdf')
    monkeypatch.setattr('rbd_ros.world.allowed_collisions.MAX_BYTES', 100)
    with pytest.raises(SrdfError, match='larger than 100 bytes'):
        allowed_pairs(ARM, SRDF)
    short = '<robot/>'.ljust(100)
    (tmp_path / 'a.srdf').write_text(short)
    assert allowed_pairs(ARM, tmp_path / 'a.srdf') == allowed_pairs(ARM)
    (tmp_path / 'a.srdf').write_text(short + ' ')
    with pytest.raises(SrdfError, match='more than the limit of 100'):
        allowed_pairs(ARM, tmp_path / 'a.srdf')


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_edit_gives_another_error(data):
    at = data.draw(st.integers(0, len(SRDF)))
    cut = data.draw(st.integers(0, 20))
    text = SRDF[:at] + data.draw(st.text(max_size=6)) + SRDF[at + cut :]
    if not text.lstrip().startswith('<'):
        text = '<' + text
    try:
        pairs = allowed_pairs(ARM, text)
    except SrdfError as error:
        assert 'SRDF: line' in str(error)
    else:
        assert all(a in ARM.links and b in ARM.links for a, b in pairs)


def test_the_panda_of_others(tmp_path):
    """Hand and fingers are connected, fingers are not: only an SRDF says that they may meet."""
    model = load_urdf(example_robots.path('panda'))
    pairs = allowed_pairs(model)
    assert ('panda_hand', 'panda_leftfinger') in pairs
    assert ('panda_link7', 'panda_hand') not in pairs and ('panda_hand', 'panda_link7') in pairs
    assert ('panda_leftfinger', 'panda_rightfinger') not in pairs
    assert ('panda_link0', 'panda_link2') not in pairs
