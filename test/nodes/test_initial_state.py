# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Initial state of the simulated robot: positions, poses and heights, and SRDF group states."""

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from test_cycle_memory import Quiet
from test_simulation_cycle import Recorder
from test_world_interface import WorldRecorder

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.simulator.cycle.simulation_cycle import SimulationCycle
from rbd_ros.nodes.simulator.interface.simulator_interface import (
    check_simulator_parameters,
    INTERFACE,
)

LEG = [0.0, 0.8, -1.6]
CROUCHING = 0.4 * np.cos(0.8) + 0.022
SRDF = (
    '<robot><group_state name="bent" group="legs">'
    '<joint name="front_left_knee_joint" value="-1.6"/></group_state>'
    '<group_state name="up" group="legs"><joint name="root" value="1 2 3 0 0 0 1"/></group_state>'
    '</robot>'
)


def make(robot, **parameters):
    values = {**INTERFACE.defaults, **parameters}
    check_simulator_parameters(values)
    return SimulationCycle(robot, values, Quiet(), Recorder(), lambda _: None, WorldRecorder)


@pytest.fixture(scope='module')
def walker():
    return Robot.from_urdf(resource_path('urdf', 'quadruped.urdf'), floating_base=True)


@pytest.mark.parametrize(
    ('parameters', 'position'),
    [
        ({}, [0, 0, 0.422]),
        ({'ground_height': -2.0}, [0, 0, -1.578]),
        ({'ground_contact_model': 'compliant'}, [0, 0, 0.422]),
        ({'initial_positions': LEG * 4}, [0, 0, CROUCHING]),
        ({'initial_base_pose': [0.7]}, [0, 0, 0.7]),
        (
            {'initial_base_pose': [1, 2, 0.1, 0, 0, 0, 1], 'initial_positions': LEG * 4},
            [1, 2, 0.1],
        ),
        ({'initial_group_state': 'bent'}, [0, 0, 0.422]),
        ({'initial_group_state': 'bent', 'initial_positions': LEG * 4}, [0, 0, CROUCHING]),
        ({'initial_group_state': 'up', 'initial_positions': LEG * 4}, [1, 2, 3]),
        ({'initial_group_state': 'up', 'initial_base_pose': [0.7]}, [1, 2, 0.7]),
    ],
)
def test_a_floating_base_stands_unless_it_is_placed(walker, parameters, position):
    values = {
        'ground': True,
        'initial_command': 'zero',
        'robot_description_semantic': SRDF,
        **parameters,
    }
    cycle = make(walker, **values)
    cycle.reset()
    q = cycle.simulator.q
    assert q[4:7] == pytest.approx(position, abs=2e-7)
    assert q[:4].tolist() == [1, 0, 0, 0]
    if 'initial_positions' in parameters:
        assert q[7:].tolist() == LEG * 4
    elif parameters.get('initial_group_state') == 'bent':
        assert q[q != 0.0].tolist() == pytest.approx([1.0, 0.422, -1.6], abs=2e-7)


@pytest.mark.parametrize(
    ('parameters', 'message'),
    [
        ({'initial_group_state': 'bent'}, 'initial_group_state: .* there is no SRDF'),
        (
            {'initial_group_state': 'bend', 'robot_description_semantic': SRDF},
            "initial_group_state: .*'bend'; did you mean 'bent'",
        ),
        ({'robot_description_semantic': 'none.srdf'}, "'none.srdf': there is no such file"),
        (
            {'robot_description_semantic': 'package://none/a.srdf'},
            'robot_description_semantic: .* was not found below package_paths',
        ),
    ],
)
def test_an_unknown_name_is_rejected(walker, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(walker, **parameters)
