# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Interface of the simulator: its parameters, topics, services and actions, and their checks."""

from __future__ import annotations

import math
from typing import Any, Mapping

from rbd_ros.hil.update_rate import steps_of_period
from rbd_ros.nodes.common.node_interface import NodeInterface
from rbd_ros.nodes.common.timing_thresholds import check_thresholds
from rbd_ros.nodes.simulator.interface.simulator_parameters import RIGID, SIMULATOR_PARAMETERS
from rbd_ros.nodes.simulator.interface.simulator_topics import SIMULATOR_TOPICS
from rbd_ros.nodes.simulator.simulator_services import SIMULATOR_ACTIONS, SIMULATOR_SERVICES
from rbd_ros.spatial.rotation import NORM_TOLERANCE

INTERFACE = NodeInterface(
    name='simulator',
    summary='Simulates a robot in place of its hardware: torques in, joint states out.',
    parameters=SIMULATOR_PARAMETERS,
    topics=SIMULATOR_TOPICS,
    services=SIMULATOR_SERVICES,
    actions=SIMULATOR_ACTIONS,
)


def has_rigid_ground(values: Mapping[str, Any]) -> bool:
    """Return whether there is rigid ground."""
    return bool(values['ground']) and values['ground_contact_model'] == RIGID


def check_simulator_parameters(values: Mapping[str, Any]) -> None:
    """Reject inconsistent parameters.

    :raises ValueError: with the parameter and its legal values
    """
    check_thresholds(values)
    nanoseconds = values['timestep'] * 1e9
    if abs(nanoseconds - round(nanoseconds)) > 1e-3:
        raise ValueError(
            f'timestep must be a whole number of nanoseconds, got {values["timestep"]!r} s'
        )
    rate = values['lockstep_update_rate']
    if rate:
        if values['lockstep'] != 'order':
            raise ValueError(
                f'lockstep_update_rate needs lockstep order, got {values["lockstep"]}'
            )
        if values['clock_publish_rate'] == 0.0:
            raise ValueError(
                'clock_publish_rate must not be 0 with lockstep_update_rate: a controller_manager '
                'cycles by /clock'
            )
        try:
            steps_of_period(rate, round(nanoseconds))
        except ValueError as error:
            raise ValueError(f'lockstep_update_rate: {error}') from None
    if values['servo_bandwidth'] * values['timestep'] > 0.5:
        raise ValueError(
            f'servo_bandwidth {values["servo_bandwidth"]:g} rad/s is too high for a timestep of '
            f'{values["timestep"]:g} s: at most {0.5 / values["timestep"]:g}'
        )
    if not values['odom_frame'].strip('/'):
        raise ValueError("odom_frame must be a name, such as odom, got ''")
    fields = values['state_fields']
    if fields and 'position' not in fields:
        raise ValueError(
            'state_fields must contain position, which subscribers of joint_states need'
        )
    names, positions = values['initial_joints'], values['initial_positions']
    if names and len(names) != len(positions):
        raise ValueError(
            f'initial_joints has {len(names)} names, initial_positions {len(positions)} numbers'
        )
    if values['world'].strip():
        if values['ground']:
            raise ValueError(
                'ground does not apply to a simulation with a world; add a plane to the world'
            )
        for name in (
            'ground_contact_model',
            'contact_friction',
            'contact_stiffness',
            'contact_damping',
        ):
            default = next(each.default for each in SIMULATOR_PARAMETERS if each.name == name)
            if values[name] != default:
                raise ValueError(
                    f'{name} {values[name]} does not apply to a simulation with a world; give '
                    f'its objects a surface, or leave {name} at {default}'
                )
    if has_rigid_ground(values):
        for name in ('contact_stiffness', 'contact_damping'):
            default = next(each.default for each in SIMULATOR_PARAMETERS if each.name == name)
            if values[name] != default:
                raise ValueError(
                    f'{name} {values[name]:g} applies to compliant ground only; set '
                    f'ground_contact_model to compliant, or leave {name} at {default:g}'
                )
    pose = values['initial_base_pose']
    if len(pose) not in (0, 1, 7):
        raise ValueError(
            f'initial_base_pose has {len(pose)} numbers: give 7 (x, y, z, quaternion x, y, z, w), '
            '1 (the height z), or none'
        )
    quaternion = pose[3:] or (0.0, 0.0, 0.0, 1.0)
    norm = math.sqrt(sum(x * x for x in quaternion))
    if not abs(norm - 1.0) <= NORM_TOLERANCE:
        raise ValueError(
            f'initial_base_pose: {list(quaternion)} is not a unit quaternion: its norm is '
            f'{norm:.6g}; the order is x, y, z [m], quaternion x, y, z, w (--start and q in '
            'Python: quaternion w, x, y, z first)'
        )
