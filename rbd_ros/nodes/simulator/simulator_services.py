# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Services and actions of the simulator."""

from __future__ import annotations

from typing import Tuple

from rbd_ros.nodes.common.node_interface import Action, Service

SIMULATOR_SERVICES: Tuple[Service, ...] = (
    Service(
        '~/pause',
        'std_srvs/srv/SetBool',
        'Pauses simulated time (`true`) or continues it (`false`); ends a running `~/step`.',
    ),
    Service(
        '~/step',
        'std_srvs/srv/Trigger',
        'Simulates `step_count` cycles as fast as possible, only while paused; state and '
        '/clock are published before the answer.',
    ),
    Service(
        '~/reset',
        'std_srvs/srv/Trigger',
        'Moves the robot to its initial position, at rest, and clears commands, so that '
        '`initial_command` applies; time continues. Ends a running `~/step`.',
    ),
    Service(
        '~/save_snapshot',
        'std_srvs/srv/Trigger',
        'Saves the whole state as `snapshot_name`, and in a file if `snapshot_folder` is set.',
    ),
    Service(
        '~/restore_snapshot',
        'std_srvs/srv/Trigger',
        'Restores the snapshot `snapshot_name`; time continues. Ends a running `~/step`.',
    ),
    Service(
        '~/rewind',
        'std_srvs/srv/Trigger',
        'Goes back by `rewind_duration`, with `rewind_period`; time continues. Ends a running '
        '`~/step`.',
    ),
    *(
        Service(f'~/{name}', f'simulation_interfaces/srv/{kind}', text, 'simulation_interfaces')
        for name, kind, text in (
            ('get_simulator_features', 'GetSimulatorFeatures', 'Reports the supported features.'),
            ('get_simulation_state', 'GetSimulationState', 'Playing, paused or stopped.'),
            ('set_simulation_state', 'SetSimulationState', 'Plays, pauses or stops.'),
            ('reset_simulation', 'ResetSimulation', 'Like `~/reset`.'),
            ('step_simulation', 'StepSimulation', 'Like `~/step`, with a number of steps.'),
            ('get_entities', 'GetEntities', 'Names of robots and objects.'),
            ('get_entity_state', 'GetEntityState', 'Pose and velocity of a robot or object.'),
            (
                'get_entities_states',
                'GetEntitiesStates',
                'Poses and velocities of several robots and objects.',
            ),
            (
                'set_entity_state',
                'SetEntityState',
                'Sets pose and velocity of an object, or of a robot with a floating base.',
            ),
            (
                'get_entity_info',
                'GetEntityInfo',
                'Category, description and tags of a robot or object.',
            ),
            ('set_entity_info', 'SetEntityInfo', 'Sets them.'),
            (
                'get_entity_bounds',
                'GetEntityBounds',
                'Box along the axes of the world around its collision shapes.',
            ),
            (
                'spawn_entity',
                'SpawnEntity',
                'Adds an object to the world: a URDF of one link, or an entry of a world file.',
            ),
            ('spawn_entities', 'SpawnEntities', 'Adds several objects.'),
            ('delete_entity', 'DeleteEntity', 'Removes an object from the world.'),
            ('get_named_poses', 'GetNamedPoses', 'Named poses of the world.'),
            (
                'get_named_pose_bounds',
                'GetNamedPoseBounds',
                'Box of a named pose, along its axes.',
            ),
            (
                'get_spawnables',
                'GetSpawnables',
                'Files that `~/spawn_entity` takes, in folders or the parameter `spawnables`.',
            ),
            (
                'get_available_worlds',
                'GetAvailableWorlds',
                'World files that come with rbd_ros, and those of further folders.',
            ),
            ('get_current_world', 'GetCurrentWorld', 'Current world.'),
            (
                'load_world',
                'LoadWorld',
                'Loads another world, paused and reset.',
            ),
            ('unload_world', 'UnloadWorld', 'Removes the world except the robot.'),
        )
    ),
)

SIMULATOR_ACTIONS: Tuple[Action, ...] = (
    Action(
        '~/simulate_steps',
        'simulation_interfaces/action/SimulateSteps',
        'Like `~/step`, with a number of steps and feedback after each.',
        'simulation_interfaces',
    ),
)
