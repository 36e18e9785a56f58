# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Commands and states by the `<ros2_control>` tag, as of ros2_control's hardware."""

import math

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from node_harness import joint_state
from rclpy.serialization import serialize_message
from test_simulation_cycle import make
from test_simulator_commands import DiagnosticsRecorder, NAMES, ROBOT, SlowCommands

from rbd_ros.nodes.common.diagnostics import OK, WARN
from rbd_ros.nodes.simulator.commands.command_messages import Commands
from rbd_ros.nodes.simulator.commands.control_tag import NO_TAG, read_control_tag
from rbd_ros.nodes.simulator.interface.simulator_interface import (
    check_simulator_parameters,
    SIMULATOR_PARAMETERS,
)
from rbd_ros.simulation.stepping.drives import EFFORT, GRAVITY, POSITION, VELOCITY

NAN = math.nan
A, B, C, D = NAMES[:4]


def tag_text(**joints):
    """Return description with a tag; of each joint, command interfaces and state interfaces."""
    lines = ['<robot name="r"><ros2_control name="c" type="system"><hardware/>']
    for name, (commands, states) in joints.items():
        lines.append(f'<joint name="{name}">')
        lines += [f'<command_interface name="{each}"/>' for each in commands]
        lines += [f'<state_interface name="{each}"/>' for each in states]
        lines.append('</joint>')
    return '\n'.join([*lines, '</ros2_control></robot>'])


def tag_of(**joints):
    return read_control_tag(tag_text(**{name: (each, ()) for name, each in joints.items()}))


class Rig:
    """Commands under a tag, and a sender that says everything of its tag in every message."""

    def __init__(self, tag, kind=Commands):
        self.tag, self.reported, self.now = tag, DiagnosticsRecorder(), 1.0
        self.commands = kind(ROBOT, self.reported, (), 50.0, tag)
        self.drives = self.commands.drives
        self.commands.replace_commands('gravity', np.zeros(ROBOT.nq))

    def send(self, *, times=1, **values):
        """Send values of joints by interface, NaN for those that are not given."""
        packed = {
            field: [
                values.get(field, {}).get(name, NAN)
                for name, each in self.tag.joints.items()
                if field in each.commands
            ]
            for field in ('position', 'velocity', 'effort')
        }
        data = serialize_message(joint_state(list(self.tag.joints), **packed))
        for _ in range(times):
            self.now += 0.001
            taken = self.commands.take_joint_state(data, self.now)
        return taken

    def drive(self, name):
        """Return what drives a joint, and by what number."""
        j = self.commands.names.index(name)
        mode, drives = self.drives.mode[j], self.drives
        value = {EFFORT: drives.effort, POSITION: drives.position, VELOCITY: drives.velocity}
        return mode, float(value.get(mode, drives.gravity)[j]) if mode != GRAVITY else None


KINDS = pytest.mark.parametrize('kind', [Commands, SlowCommands], ids=['compiled', 'read'])


def test_a_tag_lists_the_interfaces_of_each_joint():
    text = tag_text(
        a=(['effort'], ['position', 'velocity']), b=([], ['position']), c=(['position'], [])
    )
    for source in (text, f'<?xml version="1.0" encoding="latin-1"?>\n{text}', f'\ufeff {text}'):
        tag = read_control_tag(source)
        assert list(tag.joints) == ['a', 'b', 'c']
        assert list(tag.holders(['c', 'x', 'a', 'b'], 'effort')) == [2]
        assert tag.shows('a', 'velocity') and not tag.shows('a', 'effort')
        assert tag.shows('x', 'effort')
        assert [tag.commandable(name) for name in 'abcx'] == [True, False, True, True]
    assert not read_control_tag('<robot name="r"/>') and not NO_TAG


def test_a_tag_is_read_from_a_file(tmp_path):
    file = tmp_path / 'arm.urdf'
    file.write_text('\n' + tag_text(a=(['effort'], [])))
    assert list(read_control_tag(str(file)).joints) == ['a']


def test_joints_of_several_tags_are_known_together():
    one, two = tag_text(a=(['effort'], [])), tag_text(b=(['position'], []), a=(['velocity'], []))
    text = one.replace('</robot>', two[two.index('<ros2') :])
    tag = read_control_tag(text)
    assert tag.joints['a'].commands == {'effort', 'velocity'} and 'b' in tag.joints


@KINDS
def test_each_value_goes_to_the_joint_that_declares_the_interface(kind):
    rig = Rig(tag_of(**{A: ['effort'], B: [], C: ['position', 'velocity'], D: ['effort']}), kind)
    for k in range(6):  # read at first, then taken by machine code
        assert rig.send(
            effort={A: 1.0 + k, D: 2.0}, position={C: 0.1 * (k + 1)}, velocity={C: 0.5}
        )
    assert rig.drive(A) == (EFFORT, 6.0) and rig.drive(D) == (EFFORT, 2.0)
    assert rig.drive(C) == (POSITION, 0.1 * 6)
    assert rig.drives.velocity[rig.commands.names.index(C)] == 0.5
    assert rig.drive(B) == (GRAVITY, None)
    assert rig.commands.accepted == 6 and rig.commands.rejected == 0


@KINDS
def test_joints_without_commands_may_be_unknown(kind):
    rig = Rig(tag_of(**{'mimic': [], A: ['effort'], 'wheel': []}), kind)
    assert rig.send(times=5, effort={A: 3.0})
    assert rig.drive(A) == (EFFORT, 3.0)
    assert 'unknown joints' not in rig.reported.codes


@pytest.mark.parametrize('commands, codes', [([], []), (['effort'], ['no actuator'])])
def test_joints_without_actuators_are_reported_if_they_are_to_be_commanded(commands, codes):
    rig = Rig(tag_of(**{A: ['effort'], B: commands}))
    rig.commands._passive = frozenset([B])
    assert rig.send(effort={A: 3.0, B: 1.0})
    assert rig.drive(A) == (EFFORT, 3.0) and rig.drive(B) == (GRAVITY, None)
    assert [code for code in rig.reported.codes if code == 'no actuator'] == codes


def test_an_unknown_joint_with_a_command_is_reported():
    rig = Rig(tag_of(**{A: ['effort'], 'wheel': ['effort']}))
    assert rig.send(effort={A: 3.0, 'wheel': 1.0})
    assert 'unknown joints' in rig.reported.codes


def test_without_a_tag_a_field_is_as_long_as_the_names():
    rig = Rig(NO_TAG)
    message = serialize_message(joint_state([A, B], effort=[1.0]))
    assert not rig.commands.take_joint_state(message, 1.0)
    assert rig.reported.codes[-1] == 'effort has wrong length'
    assert rig.commands.take_joint_state(
        serialize_message(joint_state([A, B], effort=[1.0, 2.0])), 1.0
    )


def test_other_nodes_may_send_by_name_despite_a_tag():
    rig = Rig(tag_of(**{A: ['position'], B: [], C: ['position']}))
    data = serialize_message(joint_state([A, B, C], effort=[1.0, 2.0, 3.0]))
    assert all(rig.commands.take_joint_state(data, 1.0 + k) for k in range(5))
    assert [rig.drive(name) for name in (A, B, C)] == [(EFFORT, k) for k in (1.0, 2.0, 3.0)]


def test_values_that_fit_neither_names_nor_tag_are_rejected_with_both_numbers():
    rig = Rig(tag_of(**{A: ['effort'], B: ['effort'], C: [], D: []}))
    texts = []
    rig.reported.event = lambda subject, level, message, code=None: texts.append(message)
    data = serialize_message(joint_state([A, B, C, D], effort=[1.0, 2.0, 3.0]))
    assert not rig.commands.take_joint_state(data, 1.0)
    assert '3 elements for 4 names, 2 of them with the command interface effort' in texts[-1]


@KINDS
def test_a_packed_value_that_is_infinite_rejects_the_message(kind):
    rig = Rig(tag_of(**{A: ['effort'], B: []}), kind)
    rig.send(times=5, effort={A: 1.0})
    assert not rig.send(effort={A: math.inf})
    assert rig.reported.codes[-1] == 'not finite' and rig.drive(A) == (EFFORT, 1.0)


# -- several interfaces of one joint --------------------------------------------------------------

ALL = tag_of(**{A: ['position', 'velocity', 'effort'], B: ['position', 'velocity', 'effort']})


@pytest.fixture(params=[Commands, SlowCommands], ids=['compiled', 'read'])
def switching(request):
    return Rig(ALL, request.param)


def test_a_position_overrides_the_zero_effort_of_a_stopped_controller(switching):
    for k in range(6):
        switching.send(effort={A: 5.0 + k, B: 1.0})
    switching.send(times=6, effort={A: 0.0, B: 0.0}, position={A: 0.3, B: 0.4})
    assert switching.drive(A) == (POSITION, 0.3) and switching.drive(B) == (POSITION, 0.4)


def test_a_changing_effort_overrides_a_constant_position(switching):
    switching.send(times=5, position={A: 0.3, B: 0.4})
    switching.send(effort={A: 0.0, B: 0.0}, position={A: 0.3, B: 0.4})
    assert switching.drive(A) == (POSITION, 0.3)  # zero: no controller, or one that begins
    switching.send(times=5, effort={A: 2.0, B: 0.0}, position={A: 0.3, B: 0.4})
    assert switching.drive(A) == (EFFORT, 2.0)
    switching.send(effort={A: 0.0, B: 0.1}, position={A: 0.3, B: 0.4})
    assert switching.drive(A) == (EFFORT, 0.0)  # it goes through zero while others act


def test_a_constant_position_is_effective_again_after_all_efforts_become_zero(switching):
    switching.send(times=5, position={A: 0.3, B: 0.4})
    switching.send(times=5, effort={A: 2.0, B: 1.0}, position={A: 0.3, B: 0.4})
    switching.send(times=2, effort={A: 0.0, B: 0.0}, position={A: 0.3, B: 0.4})
    assert switching.drive(A) == (POSITION, 0.3) and switching.drive(B) == (POSITION, 0.4)


def test_a_new_position_overrides_a_constant_effort(switching):
    switching.send(times=5, effort={A: 2.0, B: 1.0})
    switching.send(times=5, effort={A: 2.0, B: 1.0}, position={A: 0.3})
    assert switching.drive(A) == (POSITION, 0.3) and switching.drive(B) == (EFFORT, 1.0)


def test_velocity_and_position_take_turns(switching):
    switching.send(times=5, position={A: 0.3}, velocity={A: 0.0})
    switching.send(times=5, position={A: 0.3}, velocity={A: 0.5})
    assert switching.drive(A) == (VELOCITY, 0.5)
    switching.send(times=5, position={A: 0.3}, velocity={A: 0.0})
    assert switching.drive(A) == (VELOCITY, 0.0)  # it stops; it does not go back
    switching.send(position={A: 0.4}, velocity={A: 0.1})
    assert switching.drive(A) == (POSITION, 0.4)
    assert switching.drives.velocity[switching.commands.names.index(A)] == 0.1


def test_a_velocity_of_zero_is_effective_after_an_effort_becomes_zero(switching):
    switching.send(times=5, effort={A: 2.0}, velocity={A: 0.0})
    assert switching.drive(A) == (EFFORT, 2.0)
    switching.send(effort={A: 0.0}, velocity={A: 0.0})
    assert switching.drive(A) == (VELOCITY, 0.0)


def test_a_velocity_of_zero_with_a_position_is_ignored(switching):
    switching.send(times=5, position={A: 0.3})
    switching.send(times=5, position={A: 0.3}, velocity={A: 0.0})
    assert switching.drive(A) == (POSITION, 0.3)


def test_after_a_substitute_the_same_command_is_new(switching):
    switching.send(times=5, position={A: 0.3})
    switching.send(times=5, position={A: 0.3}, effort={A: 2.0})
    assert switching.drive(A) == (EFFORT, 2.0)
    switching.commands.expire(switching.now + 1.0, 0.5, 'hold', np.zeros(ROBOT.nq))
    assert switching.drive(A)[0] == POSITION
    switching.send(position={A: 0.3}, effort={A: 2.0})
    assert switching.drive(A) == (EFFORT, 2.0)


def test_after_nan_in_all_fields_the_same_command_is_new(switching):
    switching.send(times=5, position={A: 0.3})
    switching.send(times=5, position={A: 0.3}, velocity={A: 0.5})
    assert switching.drive(A) == (VELOCITY, 0.5)
    switching.send()
    switching.send(position={A: 0.3}, velocity={A: 0.5})
    assert switching.drive(A) == (POSITION, 0.3)


def test_nothing_but_an_effort_of_zero_is_an_effort_of_zero(switching):
    switching.send(times=5, effort={A: 0.0})
    assert switching.drive(A) == (EFFORT, 0.0)


def test_nan_leaves_a_velocity_running(switching):
    switching.send(times=5, velocity={A: 0.5, B: 0.2})
    assert not switching.send()
    assert switching.drive(A) == (VELOCITY, 0.5)
    switching.send(times=5, velocity={B: 0.3})
    assert switching.drive(A) == (VELOCITY, 0.5) and switching.drive(B) == (VELOCITY, 0.3)
    switching.send(times=5, position={B: 0.3})
    assert switching.drive(A) == (VELOCITY, 0.5)


def test_after_a_reset_an_unchanged_command_counts_as_new(switching):
    switching.send(times=5, effort={A: 0.0}, position={A: 0.3})
    switching.commands.replace_commands('hold', np.zeros(ROBOT.nq))
    switching.send(effort={A: 0.0}, position={A: 0.3})
    assert switching.drive(A) == (POSITION, 0.3)


# -- reports --------------------------------------------------------------------------------------


class Texts:
    """Stands in for diagnostics: events and conditions with their levels."""

    def __init__(self):
        self.events, self.condition_now = [], None

    def event(self, subject, level, message, code=None):
        self.events.append((level, code, message))

    def condition(self, subject, level, message, code=None):
        self.condition_now = (level, code, message)


def watched(rig):
    """Return the report of a rig."""
    rig.commands.reports.diagnostics = texts = Texts()
    rig.commands.watch(rig.now, 0.5)
    return [(level, code) for level, code, _ in texts.events], [m for _, _, m in texts.events]


def test_a_constant_concurrent_command_is_named_without_a_warning(switching):
    switching.send(times=5, effort={A: 2.0, B: 1.0})
    assert watched(switching) == ([], [])
    switching.send(times=5, effort={A: 0.0, B: 1.0}, position={A: 0.3, B: 0.1})
    switching.send(times=5, effort={A: 0.0, B: 1.5}, position={A: 0.3, B: 0.1})
    watched(switching)
    switching.send(times=5, effort={A: 0.0, B: 1.5}, position={A: 0.4, B: 0.1})
    reported, texts = watched(switching)
    assert reported == [(OK, 'standing command')]
    assert f'{B} (effort counts)' in texts[0] and A not in texts[0]
    assert watched(switching) == ([], [])


def test_contradictory_commands_are_named_with_a_warning(switching):
    for k in range(6):
        switching.send(effort={A: 1.0 + k, B: 1.0}, position={A: 0.1 * k})
    reported, texts = watched(switching)
    assert reported == [(WARN, 'contradictory commands')]
    assert f'{A} (effort counts)' in texts[0] and B not in texts[0]


def test_position_and_velocity_together_are_no_contradiction(switching):
    for k in range(1, 6):
        switching.send(position={A: 0.1 * k}, velocity={A: 0.1 + 0.01 * k}, effort={A: 0.0})
    assert switching.drive(A) == (POSITION, 0.5)
    assert watched(switching) == ([], [])


@pytest.mark.parametrize('count, timeout, level', [(30, 0.5, WARN), (3, 0.5, OK), (30, 0.0, OK)])
def test_the_end_of_position_commands_is_detected(switching, count, timeout, level):
    """Of a controller, with a warning; a single command is enough to go somewhere."""
    commands = switching.commands
    commands.reports.diagnostics = texts = Texts()
    switching.send(times=count, position={A: 0.3, B: 0.2})
    patience = timeout or 1.0
    commands.watch(switching.now + 0.9 * patience, timeout)
    assert texts.condition_now[:2] == (OK, 'receiving')
    commands.watch(switching.now + 1.1 * patience, timeout)
    assert texts.condition_now[:2] == (level, 'command_timeout')
    assert all(name in texts.condition_now[2] for name in (A, B, f'{patience:g} s'))
    assert switching.drive(A) == (POSITION, 0.3)
    switching.now += 10.0
    switching.send(position={A: 0.4})
    assert texts.condition_now[:2] == (OK, 'receiving')


def test_no_command_timeout_is_reported_while_any_joint_is_commanded(switching):
    commands = switching.commands
    switching.send(times=5, position={A: 0.3, B: 0.2})
    commands.reports.diagnostics = texts = Texts()
    switching.now += 0.8
    switching.send(position={A: 0.4})
    commands.watch(switching.now, 0.5)
    assert texts.condition_now is None


# -- states ---------------------------------------------------------------------------------------


def states_of(tag=NO_TAG, **parameters):
    """Return a state while locked, and one while the robot moves."""
    cycle, ports = make(ROBOT, tag=tag, **parameters)
    cycle.run()
    ports.by_name.append(serialize_message(joint_state([A], effort=[1.0])))
    cycle.run()
    cycle.publish()
    return cycle, ports.states[-3:]


def test_without_a_tag_all_fields_are_published():
    _, states = states_of()
    for state in states:
        assert all(
            len(field) == len(NAMES) and np.isfinite(field).all()
            for field in (state.position, state.velocity, state.effort)
        )


def test_states_have_the_interfaces_of_the_tag():
    """The hardware fails on others if they are finite, and if there are no positions at all."""
    text = tag_text(**{A: ([], ['velocity', 'position']), B: ([], ['velocity']), C: ([], [])})
    own = set(NAMES) - {A, B, C}
    cycle, states = states_of(read_control_tag(text))
    for state in states:
        at = {name: k for k, name in enumerate(state.name)}
        finite = {
            field: {name for name in NAMES if math.isfinite(getattr(state, field)[at[name]])}
            for field in ('position', 'velocity', 'effort')
        }
        assert finite == {'position': {A} | own, 'velocity': {A, B} | own, 'effort': own}
    q, v = cycle.simulator.q, cycle.simulator.v
    j = cycle.commands.names.index(A)
    assert states[-1].position[at[A]] == q[cycle.commands.at_q[j]]
    assert states[-1].velocity[at[A]] == v[cycle.commands.at_v[j]] != 0.0
    assert states[-2] == states[-1] or repr(states[-2]) == repr(states[-1])


def test_a_field_that_no_joint_has_is_empty():
    text = tag_text(**{name: (['effort'], ['position', 'velocity']) for name in NAMES})
    for state in states_of(read_control_tag(text))[1]:
        assert not state.effort and len(state.velocity) == len(state.position) == len(NAMES)
    text = tag_text(**{name: (['effort'], ['effort']) for name in NAMES})
    for state in states_of(read_control_tag(text))[1]:
        assert not state.velocity and np.isfinite(state.effort).all()
        assert len(state.position) == len(NAMES) and np.isnan(state.position).all()


def test_the_parameter_overrides_the_tag():
    text = tag_text(**{name: (['effort'], ['position', 'velocity']) for name in NAMES})
    fields = ('position', 'effort')
    for state in states_of(read_control_tag(text), state_fields=fields)[1]:
        assert not state.velocity and np.isfinite([*state.position, *state.effort]).all()


def test_positions_cannot_be_omitted():
    values = {each.name: each.default for each in SIMULATOR_PARAMETERS}
    with pytest.raises(ValueError, match='must contain position'):
        check_simulator_parameters({**values, 'state_fields': ('effort',)})
