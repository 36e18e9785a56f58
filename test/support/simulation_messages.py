# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ROS package simulation_interfaces: its newest version over DDS, all as plain classes.

`provide` generates version 2.1, see generated_messages.py, unless the package is installed. The
service SpawnEntity, which SpawnEntities has replaced, is omitted: the generators of some wheels
confuse it with the message of that name. `released` returns the fields of each released version,
for plain_messages.py.
"""

import importlib

from support import generated_messages

PACKAGE = 'simulation_interfaces'
OWN = (
    'Bounds', 'EntityCategory', 'EntityFilters', 'EntityInfo', 'EntityState', 'NamedPose',
    'Resource', 'Result', 'SimulationState', 'SimulatorFeatures', 'SpawnEntity', 'SpawnResult',
    'Spawnable', 'TagsFilter', 'WorldResource',
)  # fmt: skip
OTHERS = {
    'Accel': 'geometry_msgs', 'Pose': 'geometry_msgs', 'PoseStamped': 'geometry_msgs',
    'Twist': 'geometry_msgs', 'Vector3': 'geometry_msgs', 'Header': 'std_msgs',
}  # fmt: skip
PLAIN = {
    'uint8': 'uint8', 'uint16': 'uint16', 'uint64': 'uint64', 'bool': 'boolean',
    'string': 'string',
}  # fmt: skip

FIRST = (
    'SPAWNING DELETING NAMED_POSES POSE_BOUNDS ENTITY_TAGS ENTITY_BOUNDS ENTITY_BOUNDS_BOX '
    'ENTITY_BOUNDS_CONVEX ENTITY_CATEGORIES SPAWNING_RESOURCE_STRING ENTITY_STATE_GETTING '
    'ENTITY_STATE_SETTING ENTITY_INFO_GETTING ENTITY_INFO_SETTING SPAWNABLES'
).split()
RESETS = (
    'SIMULATION_RESET SIMULATION_RESET_TIME SIMULATION_RESET_STATE SIMULATION_RESET_SPAWNED '
    'SIMULATION_STATE_GETTING SIMULATION_STATE_SETTING SIMULATION_STATE_PAUSE'
).split()
STEPS = 'STEP_SIMULATION_SINGLE STEP_SIMULATION_MULTIPLE STEP_SIMULATION_ACTION'.split()
WORLDS = (
    'WORLD_LOADING WORLD_RESOURCE_STRING WORLD_TAGS WORLD_UNLOADING WORLD_INFO_GETTING '
    'AVAILABLE_WORLDS'
).split()
FEATURES = {
    **{name: k for k, name in enumerate(FIRST)},
    **{name: 20 + k for k, name in enumerate(RESETS)},
    **{name: 31 + k for k, name in enumerate(STEPS)},
    **{name: 40 + k for k, name in enumerate(WORLDS)},
    'SPAWNING_ENTITIES': 50,
}
SPAWN_CODES = {
    name: 101 + k
    for k, name in enumerate(
        'NAME_NOT_UNIQUE NAME_INVALID UNSUPPORTED_FORMAT NO_RESOURCE NAMESPACE_INVALID '
        'RESOURCE_PARSE_ERROR MISSING_ASSETS UNSUPPORTED_ASSETS INVALID_POSE'.split()
    )
}
CONSTANTS = {
    'Bounds': {'TYPE_EMPTY': 0, 'TYPE_BOX': 1, 'TYPE_CONVEX_HULL': 2, 'TYPE_SPHERE': 3},
    'EntityCategory': {
        'CATEGORY_OBJECT': 0,
        'CATEGORY_ROBOT': 1,
        'CATEGORY_HUMAN': 2,
        'CATEGORY_DYNAMIC_OBJECT': 4,
        'CATEGORY_STATIC_OBJECT': 5,
    },
    'Result': {
        'RESULT_FEATURE_UNSUPPORTED': 0,
        'RESULT_OK': 1,
        'RESULT_NOT_FOUND': 2,
        'RESULT_INCORRECT_STATE': 3,
        'RESULT_OPERATION_FAILED': 4,
    },
    'SimulationState': {
        'STATE_STOPPED': 0,
        'STATE_PLAYING': 1,
        'STATE_PAUSED': 2,
        'STATE_QUITTING': 3,
        'STATE_NO_WORLD': 4,
        'STATE_LOADING_WORLD': 5,
    },
    'SimulatorFeatures': FEATURES,
    'SpawnResult': SPAWN_CODES,
    'TagsFilter': {'FILTER_MODE_ANY': 0, 'FILTER_MODE_ALL': 1},
}
MESSAGES = {
    'Bounds': 'uint8 type, Vector3[] points',
    'EntityCategory': 'uint8 category',
    'EntityFilters': 'string filter, EntityCategory[] categories, TagsFilter tags, Bounds bounds',
    'EntityInfo': 'EntityCategory category, string description, string[] tags',
    'EntityState': 'Header header, Pose pose, Twist twist, Accel acceleration',
    'NamedPose': 'string name, string description, string[] tags, Pose pose',
    'Resource': 'string uri, string resource_string',
    'Result': 'uint8 result, string error_message',
    'SimulationState': 'uint8 state',
    'SimulatorFeatures': 'uint16[] features, string[] spawn_formats, string custom_info',
    'SpawnEntity': 'string name, bool allow_renaming, Resource entity_resource, '
    'string entity_namespace, PoseStamped initial_pose',
    'SpawnResult': 'Result result, string entity_name',
    'Spawnable': 'Resource entity_resource, string description, Bounds spawn_bounds',
    'TagsFilter': 'string[] tags, uint8 filter_mode',
    'WorldResource': 'string name, Resource world_resource, string description, string[] tags',
}
SERVICES = {
    'DeleteEntity': ('string entity', 'Result result'),
    'GetAvailableWorlds': (
        'string[] additional_sources, TagsFilter filter, bool offline_only, '
        'bool continue_on_error',
        'Result result, WorldResource[] worlds',
    ),
    'GetCurrentWorld': ('', 'Result result, WorldResource world'),
    'GetEntities': ('EntityFilters filters', 'Result result, string[] entities'),
    'GetEntitiesStates': (
        'EntityFilters filters',
        'Result result, string[] entities, EntityState[] states',
    ),
    'GetEntityBounds': ('string entity', 'Result result, Bounds bounds'),
    'GetEntityInfo': ('string entity', 'Result result, EntityInfo info'),
    'GetEntityState': ('string entity', 'Result result, EntityState state'),
    'GetNamedPoseBounds': ('string name', 'Result result, Bounds bounds'),
    'GetNamedPoses': ('TagsFilter tags', 'Result result, NamedPose[] poses'),
    'GetSimulationState': ('', 'SimulationState state, Result result'),
    'GetSimulatorFeatures': ('', 'SimulatorFeatures features'),
    'GetSpawnables': ('string[] sources', 'Result result, Spawnable[] spawnables'),
    'LoadWorld': (
        'Resource world_resource, bool fail_on_unsupported_element, '
        'bool ignore_missing_or_unsupported_assets',
        'Result result, WorldResource world',
    ),
    'ResetSimulation': ('uint8 scope', 'Result result'),
    'SetEntityInfo': ('string entity, EntityInfo info', 'Result result'),
    'SetEntityState': (
        'string entity, EntityState state, bool set_pose, bool set_twist, bool set_acceleration',
        'Result result',
    ),
    'SetSimulationState': ('SimulationState state', 'Result result'),
    'SpawnEntities': (
        'SpawnEntity[] spawn_requests',
        'Result result, SpawnResult[] results',
    ),
    'StepSimulation': ('uint64 steps', 'Result result'),
    'UnloadWorld': ('', 'Result result'),
}
ACTIONS = {
    'SimulateSteps': (
        'uint64 steps',
        'Result result',
        'uint64 completed_steps, uint64 remaining_steps',
    )
}


# Differences of releases from 2.1, newest first; None: missing. The branches humble, jazzy and
# kilted of the package are at 1.4, 1.5 and 1.6.
SPAWN_RESULT = 'Result result, string entity_name'
LOAD = 'bool fail_on_unsupported_element, bool ignore_missing_or_unsupported_assets'
SPAWN = 'string entity_namespace, PoseStamped initial_pose'
MANY = {'SpawnEntity': None, 'SpawnResult': None, 'SpawnEntities': None}
OF_2_0 = {
    'LoadWorld': (f'string uri, string resource_string, {LOAD}', SERVICES['LoadWorld'][1]),
    'SetEntityState': ('string entity, EntityState state', 'Result result'),
}
OF_1_4 = {
    **OF_2_0,
    'Spawnable': 'string uri, string description, Bounds spawn_bounds',
    'srv/SpawnEntity': (
        f'string name, bool allow_renaming, string uri, string resource_string, {SPAWN}',
        SPAWN_RESULT,
    ),
}
OF_1_0 = dict.fromkeys(
    'Resource WorldResource GetAvailableWorlds GetCurrentWorld LoadWorld UnloadWorld'.split()
)
OLDER = {
    '2.1.0': {},
    '2.0.0': {**OF_2_0, **MANY},
    '1.4.0 to 1.6.1': OF_1_4,
    '1.1.0 to 1.3.0': {**OF_1_4, **MANY},
    '1.0.0 to 1.0.1': {**OF_1_4, **MANY, **OF_1_0},
}


def released(version):
    """Return the fields of messages, requests and responses, and features, of some releases.

    :param version: one of `OLDER`
    :return: fields of each message; of each service; names of features with their numbers
    """
    older = OLDER[version]
    messages, services = dict(MESSAGES), dict(SERVICES)
    services['SpawnEntity'] = older.get('srv/SpawnEntity', (MESSAGES['SpawnEntity'], SPAWN_RESULT))
    for name, fields in older.items():
        for known in (messages, services):
            if name in known and not (known is services and name == 'SpawnEntity'):
                known[name] = fields
    messages, services = (
        {name: fields for name, fields in known.items() if fields is not None}
        for known in (messages, services)
    )
    features = {
        name: k
        for name, k in FEATURES.items()
        if ('SpawnEntities' in services or name != 'SPAWNING_ENTITIES')
        and ('LoadWorld' in services or name not in WORLDS)
    }
    return messages, services, features


def _kind(name):
    if name.endswith('[]'):
        return f'sequence<{_kind(name[:-2])}>'
    if name in PLAIN:
        return PLAIN[name]
    return f'{OTHERS.get(name, PACKAGE)}::msg::{name}'


def _struct(name, fields):
    members = [each.split() for each in fields.split(', ') if each]
    lines = [f'    {_kind(kind)} {member};' for kind, member in members]
    lines = lines or ['    uint8 structure_needs_at_least_one_member;']
    return '\n'.join([f'  struct {name} {{', *lines, '  };'])


def _file(folder, fields, structs):
    """Return the IDL text of a file that includes the messages of its fields."""
    used = {each.split()[0].removesuffix('[]') for each in ', '.join(fields).split(', ') if each}
    includes = [
        f'#include "{OTHERS.get(name, PACKAGE)}/msg/{name}.idl"'
        for name in sorted(used - set(PLAIN))
    ]
    return '\n'.join([*includes, f'module {PACKAGE} {{ module {folder} {{', *structs, '}; };', ''])


def _message(name):
    structs = []
    if name in CONSTANTS:
        values = [f'    const uint8 {key} = {value};' for key, value in CONSTANTS[name].items()]
        structs.append('\n'.join([f'  module {name}_Constants {{', *values, '  };']))
    return _file('msg', [MESSAGES[name]], [*structs, _struct(name, MESSAGES[name])])


def _parts(folder, name, fields, endings):
    structs = [_struct(f'{name}_{ending}', part) for ending, part in zip(endings, fields)]
    return _file(folder, fields, structs)


DEFINITIONS = {
    **{f'msg/{name}.idl': _message(name) for name in OWN},
    **{
        f'srv/{name}.idl': _parts('srv', name, fields, ('Request', 'Response'))
        for name, fields in SERVICES.items()
    },
    **{
        f'action/{name}.idl': _parts('action', name, fields, ('Goal', 'Result', 'Feedback'))
        for name, fields in ACTIONS.items()
    },
}


def provide(folder):
    """Make the package importable here and in processes started from here, or skip the test.

    :param folder: an empty folder that outlives the tests
    :return: its modules msg, srv and action
    """
    generated_messages.provide(PACKAGE, DEFINITIONS, ('geometry_msgs',), folder)
    return tuple(importlib.import_module(f'{PACKAGE}.{x}') for x in ('msg', 'srv', 'action'))
