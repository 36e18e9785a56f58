# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the simulator."""

from __future__ import annotations

from typing import Tuple

import yaml

from rbd_ros.hil.update_rate import MAX_UPDATE_RATE
from rbd_ros.model.bounded_yaml import compose_yaml
from rbd_ros.nodes.common.declared import (
    DESCRIPTION_PARAMETERS,
    gravity_parameter,
    REAL_TIME_PARAMETERS,
)
from rbd_ros.nodes.common.node_interface import Parameter
from rbd_ros.nodes.common.timing_thresholds import threshold_parameters
from rbd_ros.simulation.integrators import integrator_names

ACTIONS = ('hold', 'gravity', 'zero')
MAX_COORDINATE = 1e5  # [rad or m]
ADAPTIVE = 'adaptive'  # clock_policy: every cycle while a controller manager follows
STATE_FIELDS = ('position', 'velocity', 'effort')
RIGID = 'rigid'
GROUND_CONTACT_MODELS = (RIGID, 'compliant')


def fault_list(text: str) -> str:
    """Return the list of faults without the key `faults`, on the same lines.

    `ros2 param load` and `set` parse a text as YAML and fail on a mapping, but not on a list.

    :param text: YAML; texts other than a mapping with only that key are unchanged

    >>> fault_list('faults: [{fault: actuator_failure}]'), fault_list('faults: []')
    ('[{fault: actuator_failure}]', '')
    """
    try:
        top = compose_yaml(text)
    except yaml.YAMLError:
        return text
    if isinstance(top, yaml.MappingNode) and [key.value for key, _ in top.value] == ['faults']:
        top = top.value[0][1]
        begin, end = top.start_mark, top.end_mark
        indent = '' if top.flow_style else ' ' * begin.column
        text = '\n' * begin.line + indent + text[begin.index : end.index]
    return '' if isinstance(top, yaml.SequenceNode) and not top.value else text


#: Parameters with the frames of sensors.
SENSOR_PARAMETERS = ('imus', 'force_torque_sensors', 'sensors')

SIMULATOR_PARAMETERS: Tuple[Parameter, ...] = (
    *DESCRIPTION_PARAMETERS,
    *REAL_TIME_PARAMETERS,
    gravity_parameter(live=False),
    Parameter(
        'floating_base',
        False,
        'Whether the root link floats instead of being fixed to the world.',
    ),
    Parameter(
        'timestep',
        0.001,
        'Simulated time of a cycle [s], which applies commands, moves the robot and publishes '
        'its state. A whole number of nanoseconds.',
        positive=True,
        minimum=1e-6,
        maximum=1.0,
    ),
    Parameter('substeps', 1, 'Steps of the physics in one cycle.', minimum=1, maximum=1000),
    Parameter(
        'integrator',
        'semi_implicit',
        'Integration method.',
        choices=integrator_names(),
    ),
    Parameter(
        'real_time_factor',
        1.0,
        'Simulated seconds in one real second; 0: as many as possible.',
        minimum=0.0,
        maximum=1e6,
        live=True,
    ),
    Parameter(
        'max_catch_up_rate',
        1.2,
        'Maximum speed after a late cycle, relative to real_time_factor, to catch up; 1, or while '
        'a controller_manager follows /clock: delays are not caught up.',
        minimum=1.0,
        maximum=100.0,
        live=True,
    ),
    Parameter(
        'lockstep',
        'off',
        'Whether to wait for a command after each state. off: no, time continues; stamp: for the '
        'JointState on joint_commands that has the stamp of the state; order: each command is '
        'the answer to the next state. real_time_factor and command_timeout have no effect then.',
        choices=('off', 'stamp', 'order'),
    ),
    Parameter(
        'lockstep_timeout',
        1.0,
        'Real time without an answer in lockstep after which diagnostics report it [s]; 0: never. '
        'With `stamp`, the state is then sent again; with lockstep_update_rate, the robot is held '
        'while time advances by a period each second.',
        minimum=0.0,
        maximum=1e6,
        live=True,
    ),
    Parameter(
        'lockstep_update_rate',
        0,
        'update_rate of the controller_manager that answers in `order` [Hz]: states and /clock '
        'come once in its period, which must be a whole number of cycles; 0: no '
        'controller_manager answers.',
        minimum=0,
        maximum=MAX_UPDATE_RATE,
    ),
    Parameter(
        'fault_seed',
        0,
        'Seed of the random numbers of faults: the same seed, faults and commands in lockstep '
        'give the same motion.',
        minimum=0,
        maximum=2**62,
        live=True,
    ),
    Parameter(
        'faults',
        '',
        'Faults, which replace the previous ones: YAML such as "[{fault: joint_lock, joints: '
        '[elbow]}]"; empty: none.',
        live=True,
        keep=fault_list,
    ),
    Parameter(
        'snapshot_name',
        'snapshot',
        'Name of the snapshot of ~/save_snapshot and ~/restore_snapshot: letters, digits, _, - '
        'and dots.',
        live=True,
    ),
    Parameter(
        'snapshot_folder',
        '',
        'Folder in which ~/save_snapshot writes a file, NAME.npz, and ~/restore_snapshot reads '
        'it; the folder must exist; empty: snapshots are in memory only.',
    ),
    Parameter(
        'rewind_period',
        0.0,
        'Simulated time between two snapshots for ~/rewind [s]; 0: none.',
        minimum=0.0,
        maximum=1e6,
    ),
    Parameter(
        'rewind_count',
        100,
        'Number of snapshots for ~/rewind, the newest.',
        minimum=1,
        maximum=100_000,
    ),
    Parameter(
        'rewind_duration',
        1.0,
        'Minimum time by which ~/rewind goes back [s].',
        minimum=0.0,
        maximum=1e9,
        live=True,
    ),
    Parameter(
        'start_time',
        0.0,
        'Simulated time at the start [s], rounded to whole cycles. After a restart, set it above '
        'the last time of /clock, since subscribers would wait for that time.',
        minimum=0.0,
        # Above, floating-point times are not exact to the nanosecond.
        maximum=1e6,
    ),
    Parameter(
        'start_paused', False, 'Whether to wait for ~/pause (data: false) or ~/step at the start.'
    ),
    Parameter(
        'step_count',
        1,
        'Cycles that one call of ~/step simulates.',
        minimum=1,
        maximum=1_000_000,
        live=True,
    ),
    Parameter(
        'initial_command',
        'hold',
        'Drive of a joint until its first command. hold: ideal brakes lock the whole robot until '
        'any joint is commanded, then a servo holds joints without a command; gravity: its '
        'gravity torque; zero: none.',
        choices=ACTIONS,
    ),
    Parameter(
        'command_timeout',
        0.5,
        'Real time after which a commanded effort, velocity or acceleration expires [s]; 0: '
        'never.',
        minimum=0.0,
        maximum=1e6,
        live=True,
    ),
    Parameter(
        'timeout_command',
        'hold',
        'Drive of a joint whose command expired. hold: a servo at its present position; gravity, '
        'zero: as in initial_command.',
        choices=ACTIONS,
        live=True,
    ),
    Parameter(
        'servo_bandwidth',
        100.0,
        'Natural frequency of the servo that holds joints and follows position and velocity '
        'commands [rad/s]. '
        'At most 0.5 / timestep.',
        positive=True,
        maximum=1e6,
    ),
    Parameter(
        'joints',
        (),
        'Joints in the order of effort_commands and acceleration_commands; empty: all, in the '
        'order of the robot.',
        element=str,
    ),
    Parameter(
        'acceleration_commands',
        False,
        'Whether to accept commands of accelerations, on acceleration_commands.',
    ),
    Parameter(
        'initial_positions',
        (),
        'Positions at the start and after ~/reset [rad or m], in the order of initial_joints; '
        'empty: zero, moved into the limits.',
        minimum=-MAX_COORDINATE,
        maximum=MAX_COORDINATE,
    ),
    Parameter(
        'initial_joints',
        (),
        'Joints of initial_positions; empty: all, in the order of the robot.',
        element=str,
    ),
    Parameter(
        'initial_base_pose',
        (),
        'Pose of a floating base at the start and after ~/reset: x, y, z [m], quaternion x, y, '
        'z, w of norm 1 (q in Python and --start: w, x, y, z, then the position); or z alone, '
        'its height; empty: upright, with the robot standing on the surface below it.',
        minimum=-MAX_COORDINATE,
        maximum=MAX_COORDINATE,
    ),
    Parameter(
        'initial_group_state',
        '',
        'Name of a group state of the SRDF for the start and after ~/reset; initial_positions '
        'and initial_base_pose have priority. Empty: none.',
    ),
    Parameter(
        'robot_description_semantic',
        '',
        'SRDF of the robot: its XML, the path of its file, or a package:// URI. It has the '
        'disabled collisions, for a world or rigid ground, and the group states. Empty: that of '
        'the world file.',
    ),
    Parameter('ground', False, 'Whether there is ground, the half-space z <= ground_height.'),
    Parameter(
        'ground_contact_model',
        'rigid',
        'Contact model of the ground. rigid: no compliance, as a plane of a world; compliant: a '
        'spring and a damper at each contact point.',
        choices=GROUND_CONTACT_MODELS,
    ),
    Parameter(
        'ground_height',
        0.0,
        'Height of the ground [m].',
        minimum=-MAX_COORDINATE,
        maximum=MAX_COORDINATE,
    ),
    Parameter(
        'contact_stiffness',
        5e4,
        'Stiffness of each contact point with compliant ground [N/m].',
        positive=True,
        maximum=1e12,
    ),
    Parameter(
        'contact_damping',
        5e2,
        'Damping of each contact point with compliant ground [N s/m].',
        minimum=0.0,
        maximum=1e12,
    ),
    Parameter(
        'contact_friction',
        0.8,
        'Coefficient of friction with the ground.',
        minimum=0.0,
        maximum=1e3,
    ),
    Parameter(
        'world',
        '',
        'World around the robot, with rigid contact: path of a world file, package:// URI, or '
        'name of a world that comes with rbd_ros, such as table_world; none if empty.',
    ),
    Parameter(
        'spawnables',
        (),
        'Folders and files of objects to spawn (URDFs of one link, YAML entries), listed by '
        '~/get_spawnables of simulation_interfaces.',
        element=str,
    ),
    Parameter(
        'robot_namespaces',
        False,
        'Whether each movable robot of the world has its own topics in the namespace of its '
        'name, instead of sharing joint_states and commands.',
    ),
    Parameter(
        'solver_tolerance',
        1e-10,
        'Velocity error of contacts in a world, relative to the maximum velocity without contact '
        'forces.',
        positive=True,
        maximum=0.1,
    ),
    Parameter(
        'solver_iterations',
        1000,
        'Maximum number of iterations of a contact problem: it bounds the time of a step. A '
        'step that exceeds it counts as unconverged and adds no energy.',
        minimum=1,
        maximum=1000000,
    ),
    Parameter(
        'restitution_model',
        'newton',
        "Restitution model of impacts in a world. newton: Newton's ratio of velocities; "
        "poisson: Poisson's ratio of impulses, which never adds energy, even with friction.",
        choices=('newton', 'poisson'),
    ),
    Parameter(
        'enforce_velocity_limits',
        True,
        'Whether joints keep the velocity limits of the robot description; otherwise only a '
        'guard at 2000 rad/s or m/s limits them.',
    ),
    Parameter(
        'world_publish_rate',
        50.0,
        'Rate in simulated time of the topics of a world: objects, contacts, markers, /tf [Hz]; '
        '0: every cycle.',
        minimum=0.0,
        maximum=1e6,
    ),
    Parameter(
        'publish_tf',
        True,
        'Whether to publish poses of a floating base and of movable objects on /tf.',
    ),
    Parameter(
        'frame_prefix',
        '',
        'Prefix of the names of frames of sensors, odometry and a world, such as left/.',
    ),
    Parameter(
        'odom_frame',
        'odom',
        'Frame of the pose of a floating base, on odom and /tf; it coincides with the world.',
    ),
    Parameter(
        'imus',
        (),
        'Links with an IMU, in addition to those of the <ros2_control> tag; each has a topic.',
        element=str,
    ),
    Parameter(
        'force_torque_sensors',
        (),
        'Joints, also fixed ones, with a force and torque sensor, or links for the joints that '
        'carry them, in addition to those of the <ros2_control> tag; each has a topic.',
        element=str,
    ),
    Parameter(
        'sensors',
        (),
        'Sensors as kind:place, such as imus:tool0, also of kinds that other packages declare; '
        'each has a topic.',
        element=str,
    ),
    Parameter(
        'joint_torques',
        False,
        'Whether to publish the efforts that joints transmit on joint_torques.',
    ),
    Parameter(
        'sensor_publish_rate',
        100.0,
        'Rate in simulated time of IMUs, wrenches, joint torques, odometry and its frame on /tf '
        '[Hz]; 0: every cycle.',
        minimum=0.0,
        maximum=1e6,
    ),
    Parameter(
        'contact_arrow_scale',
        0.005,
        'Length of the arrows of contact forces [m/N].',
        positive=True,
        maximum=1e3,
        live=True,
    ),
    Parameter(
        'external_wrench_duration',
        0.1,
        'Duration of a wrench of topic external_wrench in simulated time [s]; 0: until the next '
        'one for the same link or object.',
        minimum=0.0,
        maximum=1e9,
        live=True,
    ),
    Parameter(
        'external_wrench_ramp',
        0.0,
        'Transition time of the wrench on a link or object to that of a message, and to zero '
        'after external_wrench_duration, in simulated time [s].',
        minimum=0.0,
        maximum=1e6,
        live=True,
    ),
    Parameter(
        'state_publish_rate',
        0.0,
        'Rate of joint_states in simulated time [Hz]; 0: every cycle.',
        minimum=0.0,
        maximum=1e6,
    ),
    Parameter(
        'state_fields',
        (),
        'Fields of joint_states, including position; empty: the state interfaces of the '
        '<ros2_control> tag of the robot description, without a tag position, velocity and '
        'effort.',
        element=str,
        choices=STATE_FIELDS,
    ),
    Parameter(
        'clock_publish_rate',
        100.0,
        'Rate of /clock in simulated time [Hz]; 0: /clock is not published.',
        minimum=0.0,
        maximum=1e6,
    ),
    Parameter(
        'clock_policy',
        ADAPTIVE,
        'When /clock is published. adaptive: every cycle while a controller_manager subscribes to '
        'it, otherwise at clock_publish_rate; fixed_rate: always at clock_publish_rate.',
        choices=(ADAPTIVE, 'fixed_rate'),
    ),
    # Off: delays are reported anyway, and the time of a cycle depends on the world.
    *threshold_parameters(),
)
