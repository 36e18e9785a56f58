# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Output of notebooks: tables and animations that escape names."""

from html.parser import HTMLParser

import numpy as np
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.html_tables import html_table
from rbd_ros.viewer import MotionRecording

#: A name that would run a script, and end an attribute.
NAME = '<script>"\'&amp;'
ESCAPED = '&lt;script&gt;&quot;&apos;&amp;amp;'


class Parsed(HTMLParser):
    """Elements with their attributes, and the texts between them."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, text):
        self.texts.append(text)

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)


@pytest.fixture(scope='module')
def robot():
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    return Robot.from_urdf(
        f'<robot name="{ESCAPED}"><link name="base"/><link name="{ESCAPED}">'
        f'<inertial><mass value="1"/>{inertia}</inertial>'
        '<visual><geometry><box size="1 1 1"/></geometry></visual></link>'
        f'<joint name="{ESCAPED}" type="revolute"><parent link="base"/><child link="{ESCAPED}"/>'
        '<axis xyz="0 0 1"/><limit lower="-1.5" upper="2.25" velocity="3" effort="40"/></joint>'
        '</robot>'
    )


def test_a_robot_is_a_table_of_joints_and_limits(robot):
    table = Parsed(robot._repr_html_())
    assert {tag for tag, _ in table.elements} == {'table', 'caption', 'tr', 'th', 'td'}
    assert table.texts[0] == repr(robot) and '<script>' in table.texts[0]
    assert table.texts[-6:] == [NAME, 'Revolute', '-1.5', '2.25', '3', '40']


def test_a_simulation_is_a_table_of_its_state(robot):
    ball = {'type': 'sphere', 'radius': 0.1, 'xyz': [5, 0, 1], 'static': False, 'mass': 1.0}
    simulator = Simulator(robot, world={'objects': {'<b>': ball}})
    simulator.reset([0.5], [0.25], time=2.0)
    table = Parsed(simulator._repr_html_())
    assert table.texts[0] == repr(simulator) and 'time 2 s' in table.texts[0]
    assert table.texts[-7:] == [NAME, '0.5', '0.25', '0', '<b>', '5 0 1', '0 0 0']
    assert table.count('tr') == 3


def test_a_joint_of_several_degrees_of_freedom_is_a_row():
    ball = {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0}
    assert 'ball' in Simulator(None, world={'objects': {'ball': ball}})._repr_html_()
    urdf = '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
    urdf += 'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    robot = Robot.from_urdf(urdf, floating_base=True)
    texts = Parsed(robot._repr_html_()).texts
    assert texts[-6:-4] == ['floating_base', 'Floating'] and texts[-1] == ' '.join(['inf'] * 6)


def test_a_recording_is_an_animation(robot):
    recording = MotionRecording(robot)
    assert recording._repr_html_() is None  # without frames: its name
    recording.add(0.0, [0.5])
    shown = Parsed(recording._repr_html_())
    [(tag, attributes)] = shown.elements
    assert tag == 'iframe' and attributes['srcdoc'] == recording.page()
    assert attributes['sandbox'] == 'allow-scripts'  # nothing of the notebook is in its reach
    assert '<script>"' not in attributes['srcdoc']


def test_cells_are_texts_numbers_and_arrays():
    table = html_table('a', ['<', '>'], [['&', 1 / 3], [np.array([1e9, np.inf]), [-2e-20, -0.5]]])
    assert table == (
        '<table><caption>a</caption><tr><th>&lt;</th><th>&gt;</th></tr>'
        '<tr><td>&amp;</td><td>0.3333</td></tr><tr><td>1e+09 inf</td><td>0 -0.5</td></tr></table>'
    )
