"""Parameters, topics and services of the simulator."""

from __future__ import annotations

from typing import Any, Mapping, Tuple

from rbd_ros.nodes.common.declared import (
    DESCRIPTION_PARAMETERS,
    DESCRIPTION_TOPIC,
    DIAGNOSTICS_TOPIC,
    gravity_parameter,
    REAL_TIME_PARAMETERS,
)
from rbd_ros.nodes.common.interface import Action, NodeInterface, Parameter, Service, Topic
from rbd_ros.nodes.common.timing_thresholds import check_thresholds, threshold_parameters

ACTIONS = ('hold', 'gravity', 'zero')

FARTHEST = 1e5  # [rad or m]
WITH_WORLD = 'with `world` or rigid `ground`'
EACH_ROBOT = 'with parameter `robot_namespaces`, for each movable robot of the world'
AUTOMATIC = -1.0  # a rate that follows from who listens
USUAL_CLOCK_RATE = 100.0  # [Hz]
STATE_FIELDS = ('position', 'velocity', 'effort')
RIGID = 'rigid'
GROUND_LAWS = (RIGID, 'compliant')

SIMULATOR_PARAMETERS: Tuple[Parameter, ...] = (
    *DESCRIPTION_PARAMETERS,
    *REAL_TIME_PARAMETERS,
    gravity_parameter(live=False),
    Parameter(
        'floating_base',
        False,
        'Whether the root link moves freely instead of being fixed to the world.',
    ),
    Parameter(
        'timestep',
        0.001,
        'Simulated time between two cycles [s]: in each, commands are taken, the robot moves, its '
        'state is published. '
        'A whole number of nanoseconds.',
        positive=True,
        minimum=1e-6,
        maximum=1.0,
    ),
    Parameter('substeps', 1, 'Steps of the physics in one cycle.', minimum=1, maximum=1000),
    Parameter(
        'integrator',
        'semi_implicit',
        'Integration method.',
        choices=('semi_implicit', 'midpoint', 'rk4'),
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
        'lockstep',
        'off',
        'Whether to wait for a command after each state. off: no, time goes on; stamp: for the '
        'JointState on joint_commands that has the stamp of the state; order: each command is the '
        'answer to the next state. real_time_factor and command_timeout do not count then.',
        choices=('off', 'stamp', 'order'),
    ),
    Parameter(
        'lockstep_timeout',
        1.0,
        'Real time after which diagnostics tell that nobody answers in lockstep, and with `stamp` '
        'the state is sent again [s]; 0: never.',
        minimum=0.0,
        maximum=1e6,
        live=True,
    ),
    Parameter(
        'fault_seed',
        0,
        'Seed of all that faults do by chance: the same seed, the same faults and the same '
        'commands in lockstep give the same motion.',
        minimum=0,
        maximum=2**62,
        live=True,
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
        'What drives a joint until its first command. hold: the whole robot is locked by ideal '
        'brakes until any joint '
        'is commanded, then joints without a command are held by a servo; gravity: its gravity '
        'torque; zero: nothing.',
        choices=ACTIONS,
    ),
    Parameter(
        'command_timeout',
        0.5,
        'Real time after which a commanded effort, velocity or acceleration no longer counts [s]; '
        '0: never.',
        minimum=0.0,
        maximum=1e6,
        live=True,
    ),
    Parameter(
        'timeout_command',
        'hold',
        'What drives a joint whose command timed out. hold: a servo at the position it then has; '
        'gravity, zero: as in '
        'initial_command.',
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
        'Whether joints may be commanded by accelerations, on acceleration_commands.',
    ),
    Parameter(
        'initial_positions',
        (),
        'Positions at the start and after ~/reset [rad or m], in the order of initial_joints; '
        'empty: zero, moved into the limits.',
        minimum=-FARTHEST,
        maximum=FARTHEST,
    ),
    Parameter(
        'initial_joints',
        (),
        'Joints that initial_positions means; empty: all, in the order of the robot.',
        element=str,
    ),
    Parameter(
        'initial_base_pose',
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
        'Pose of a floating base at the start and after ~/reset: x, y, z [m], quaternion x, y, z, '
        'w.',
        length=7,
        minimum=-FARTHEST,
        maximum=FARTHEST,
    ),
    Parameter('ground', False, 'Whether there is ground, the half-space z <= ground_height.'),
    Parameter(
        'ground_law',
        'rigid',
        'Law of contact with the ground. rigid: nothing gives way, as in a world of one plane; '
        'compliant: a spring and a damper at each contact point.',
        choices=GROUND_LAWS,
    ),
    Parameter(
        'ground_height',
        0.0,
        'Height of the ground [m].',
        minimum=-FARTHEST,
        maximum=FARTHEST,
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
        'World around the robot, which it touches rigidly: path of a world file, package:// URI, '
        'or name of a world that comes with rbd_ros, such as table_world; none if empty.',
    ),
    Parameter(
        'spawnables',
        (),
        'Folders and files of what can be spawned (URDFs of one link, YAML entries), told by '
        '~/get_spawnables of simulation_interfaces.',
        element=str,
    ),
    Parameter(
        'robot_namespaces',
        False,
        'Whether each movable robot of the world has topics of its own below its name, instead of '
        'sharing joint_states and commands.',
    ),
    Parameter(
        'solver_tolerance',
        1e-10,
        'Velocity error of contacts in a world, as part of the largest velocity without contact '
        'forces.',
        positive=True,
        maximum=0.1,
    ),
    Parameter(
        'impact_law',
        'newton',
        'Law of restitution of impacts in a world. newton: velocities come back by it; poisson: '
        'impulses, and energy never grows, also with friction.',
        choices=('newton', 'poisson'),
    ),
    Parameter(
        'world_publish_rate',
        50.0,
        'Rate in simulated time of what is published about a world: objects, contacts, markers, '
        '/tf [Hz]; 0: every cycle.',
        minimum=0.0,
        maximum=1e6,
    ),
    Parameter(
        'publish_tf',
        True,
        'Whether poses of a floating base and of movable objects are published on /tf.',
    ),
    Parameter(
        'frame_prefix',
        '',
        'What the names of frames begin with in what is published about sensors, odometry and a '
        'world, such as left/.',
    ),
    Parameter(
        'odom_frame',
        'odom',
        'Frame that the pose of a floating base is in, on odom and /tf; it is where the world is.',
    ),
    Parameter(
        'imus',
        (),
        'Links with an inertial unit, besides those of the <ros2_control> tag; each has a topic.',
        element=str,
    ),
    Parameter(
        'force_torque_sensors',
        (),
        'Joints, fixed ones too, with a force and torque sensor, or links for the joints that '
        'bear them, besides those of the <ros2_control> tag; each has a topic.',
        element=str,
    ),
    Parameter(
        'joint_torques',
        False,
        'Whether what joints transmit is measured, and published on joint_torques.',
    ),
    Parameter(
        'sensor_publish_rate',
        100.0,
        'Rate in simulated time of inertial units, wrenches, joint torques, odometry and its '
        'frame on /tf [Hz]; 0: every cycle.',
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
        'Simulated time that a wrench of topic external_wrench acts [s]; 0: until the next one '
        'for the same link or object.',
        minimum=0.0,
        maximum=1e9,
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
        'Fields of joint_states, position among them; empty: the state interfaces of the '
        '<ros2_control> tag of the robot description, without a tag position, velocity and '
        'effort.',
        element=str,
        choices=STATE_FIELDS,
    ),
    Parameter(
        'clock_publish_rate',
        AUTOMATIC,
        'Rate of /clock in simulated time [Hz]; 0: /clock is not published; -1: every cycle while '
        'a controller_manager follows it, else 100.',
        minimum=AUTOMATIC,
        maximum=1e6,
    ),
    # Off: that it does not keep up with time is told anyway, and what a cycle takes depends on
    # the world.
    *threshold_parameters(),
)


INTERFACE = NodeInterface(
    name='simulator',
    summary='A simulated robot that stands in for the hardware: torques in, joint states out.',
    parameters=SIMULATOR_PARAMETERS,
    topics=(
        Topic(
            'joint_states',
            'sensor_msgs/msg/JointState',
            'out',
            'Position, velocity and applied effort of all joints with one degree of freedom, '
            'without what `state_fields` or the `<ros2_control>` tag leaves out; stamp in '
            'simulated time.',
        ),
        Topic(
            '/clock',
            'rosgraph_msgs/msg/Clock',
            'out',
            'Simulated time, `clock_publish_rate` times a simulated second, and after every step, '
            'pause and reset.',
            optional='unless `clock_publish_rate` is 0',
        ),
        Topic(
            'joint_commands',
            'sensor_msgs/msg/JointState',
            'in',
            'Commands by joint name, all or some joints.',
            depth=10,
        ),
        Topic(
            'effort_commands',
            'std_msgs/msg/Float64MultiArray',
            'in',
            'Efforts in the order of parameter `joints`.',
        ),
        Topic(
            'acceleration_commands',
            'std_msgs/msg/Float64MultiArray',
            'in',
            'Accelerations in the order of parameter `joints`; NaN: none for that joint.',
            optional='with parameter `acceleration_commands`',
        ),
        Topic(
            'external_wrench',
            'geometry_msgs/msg/WrenchStamped',
            'in',
            'Force and torque on the link or movable object `header.frame_id`, at its origin, in '
            'its axes.',
            depth=10,
        ),
        *(
            Topic(f'<robot>/{name}', kind, direction, text, depth=depth, optional=EACH_ROBOT)
            for name, kind, direction, text, depth in (
                (
                    'joint_states',
                    'sensor_msgs/msg/JointState',
                    'out',
                    'As `joint_states`, of that robot, by its own names of joints.',
                    1,
                ),
                (
                    'joint_commands',
                    'sensor_msgs/msg/JointState',
                    'in',
                    'As `joint_commands`, for that robot.',
                    10,
                ),
                (
                    'effort_commands',
                    'std_msgs/msg/Float64MultiArray',
                    'in',
                    'Efforts of all joints of that robot that can be commanded, in its order.',
                    1,
                ),
                (
                    'external_wrench',
                    'geometry_msgs/msg/WrenchStamped',
                    'in',
                    'As `external_wrench`, on a link of that robot.',
                    10,
                ),
            )
        ),
        Topic(
            '~/faults',
            'std_msgs/msg/String',
            'in',
            'YAML with a list `faults`: all that is to be wrong from now on, instead of what was '
            'before.',
            depth=10,
        ),
        Topic(
            'base_pose',
            'geometry_msgs/msg/PoseStamped',
            'out',
            'Pose of the base in the world.',
            optional='with `floating_base`',
        ),
        Topic(
            'base_twist',
            'geometry_msgs/msg/TwistStamped',
            'out',
            'Velocity of the base in the axes of its link.',
            optional='with `floating_base`',
        ),
        Topic(
            'odom',
            'nav_msgs/msg/Odometry',
            'out',
            'Pose of the base in `odom_frame`, and its velocity in the axes of its link.',
            depth=10,
            optional='with `floating_base`, where nav_msgs is installed',
        ),
        Topic(
            '<sensor>/imu',
            'sensor_msgs/msg/Imu',
            'out',
            'Orientation of the sensor in the world, angular velocity and proper acceleration in '
            'its axes.',
            depth=10,
            optional='for each sensor of `imus` and of the `<ros2_control>` tag',
        ),
        Topic(
            '<sensor>/wrench',
            'geometry_msgs/msg/WrenchStamped',
            'out',
            'Force and torque of the parent of the joint on its child, about the origin and in '
            'the axes of the child link.',
            depth=10,
            optional='for each sensor of `force_torque_sensors` and of the `<ros2_control>` tag',
        ),
        Topic(
            'joint_torques',
            'sensor_msgs/msg/JointState',
            'out',
            'As `effort`, what each joint transmits along its freedom.',
            depth=10,
            optional='with parameter `joint_torques`',
        ),
        Topic(
            '<robot>/joint_torques',
            'sensor_msgs/msg/JointState',
            'out',
            'As `joint_torques`, of that robot, by its own names of joints.',
            depth=10,
            optional=f'with `joint_torques`; {EACH_ROBOT}',
        ),
        Topic(
            '<robot>/odom',
            'nav_msgs/msg/Odometry',
            'out',
            'Pose of the base of that robot in the frame of the world, and its velocity in the '
            'axes of its link.',
            depth=10,
            optional=f'{EACH_ROBOT} whose base floats, where nav_msgs is installed',
        ),
        Topic(
            '~/objects',
            'sensor_msgs/msg/MultiDOFJointState',
            'out',
            'Pose and velocity of all movable objects by name, in the axes of the world, and what '
            'the contacts of each add up to, about its origin.',
            optional=WITH_WORLD,
        ),
        Topic(
            '/tf',
            'tf2_msgs/msg/TFMessage',
            'out',
            'Frame of a floating base in `odom_frame`, and frames of movable objects, and '
            '`odom_frame` itself, in that of the world.',
            depth=100,
            optional=(
                f'with `floating_base`, or {WITH_WORLD}; and `publish_tf`, where tf2_msgs is '
                'installed'
            ),
        ),
        Topic(
            '~/contact_wrenches',
            'geometry_msgs/msg/WrenchStamped',
            'out',
            'What the contacts of a link or movable object add up to, about its origin, in its '
            'axes: a message for each that touches anything, and one of zero when it no longer '
            'does.',
            depth=100,
            optional=WITH_WORLD,
        ),
        Topic(
            '~/contacts',
            'visualization_msgs/msg/MarkerArray',
            'out',
            'Contact forces as arrows; the namespace of each names who touches whom.',
            optional=WITH_WORLD,
        ),
        Topic(
            '~/world_markers',
            'visualization_msgs/msg/MarkerArray',
            'out',
            'Shapes and colours of what does not move.',
            transient_local=True,
            optional=WITH_WORLD,
        ),
        Topic(
            '~/object_markers',
            'visualization_msgs/msg/MarkerArray',
            'out',
            'Shapes and colours of the movable objects, where they are.',
            optional=WITH_WORLD,
        ),
        Topic(
            '~/place_object',
            'geometry_msgs/msg/TransformStamped',
            'in',
            'Puts the movable object `child_frame_id` somewhere, at rest; `header.frame_id` is '
            'the frame of the world, empty, or a link of the robot.',
            depth=10,
            optional=WITH_WORLD,
        ),
        Topic(
            '~/spawn_object',
            'std_msgs/msg/String',
            'in',
            'YAML that adds objects to the world, or says what pairs are like to touch: the '
            'sections `objects`, `defaults`, `pairs` and `ignore` of a world file.',
            depth=10,
            optional=WITH_WORLD,
        ),
        Topic(
            '~/delete_object',
            'std_msgs/msg/String',
            'in',
            'Name of an object, movable or not, that is taken out of the world.',
            depth=10,
            optional=WITH_WORLD,
        ),
        DESCRIPTION_TOPIC,
        DIAGNOSTICS_TOPIC,
    ),
    services=(
        Service(
            '~/pause',
            'std_srvs/srv/SetBool',
            'Lets time stand still (`true`) or go on (`false`); ends a `~/step` under way.',
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
            'Puts the robot at its initial position, at rest, commands forgotten and '
            '`initial_command` again; time goes on. Ends a `~/step` under way.',
        ),
        *(
            Service(
                f'~/{name}', f'simulation_interfaces/srv/{kind}', text, 'simulation_interfaces'
            )
            for name, kind, text in (
                ('get_simulator_features', 'GetSimulatorFeatures', 'Tells what is supported.'),
                ('get_simulation_state', 'GetSimulationState', 'Playing, paused or stopped.'),
                ('set_simulation_state', 'SetSimulationState', 'Plays, pauses or stops.'),
                ('reset_simulation', 'ResetSimulation', 'Like `~/reset`.'),
                ('step_simulation', 'StepSimulation', 'Like `~/step`, with a number of steps.'),
                ('get_entities', 'GetEntities', 'Names of robots and objects.'),
                ('get_entity_state', 'GetEntityState', 'Pose and velocity of a robot or object.'),
                ('get_entities_states', 'GetEntitiesStates', 'Those of several at a time.'),
                (
                    'set_entity_state',
                    'SetEntityState',
                    'Puts an object, or a robot whose base floats, somewhere, and gives it a '
                    'velocity.',
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
                    'Adds an object to the world: a URDF of one link, or an entry of a world '
                    'file.',
                ),
                ('spawn_entities', 'SpawnEntities', 'Adds several objects.'),
                ('delete_entity', 'DeleteEntity', 'Takes an object out of the world.'),
                (
                    'get_available_worlds',
                    'GetAvailableWorlds',
                    'World files that come with rbd_ros, and those of further folders.',
                ),
                ('get_current_world', 'GetCurrentWorld', 'Which world is around the robot.'),
                (
                    'load_world',
                    'LoadWorld',
                    'Puts another world around the robot, paused and reset.',
                ),
                ('unload_world', 'UnloadWorld', 'Takes all around the robot away.'),
            )
        ),
    ),
    actions=(
        Action(
            '~/simulate_steps',
            'simulation_interfaces/action/SimulateSteps',
            'Like `~/step`, with a number of steps and feedback after each.',
            'simulation_interfaces',
        ),
    ),
)


def has_rigid_ground(values: Mapping[str, Any]) -> bool:
    """Return whether there is ground, and it does not give way."""
    return bool(values['ground']) and values['ground_law'] == RIGID


def check_simulator_parameters(values: Mapping[str, Any]) -> None:
    """Refuse a set of parameters that do not go together.

    :raises ValueError: naming the parameter and what would be legal
    """
    check_thresholds(values)
    nanoseconds = values['timestep'] * 1e9
    if abs(nanoseconds - round(nanoseconds)) > 1e-3:
        raise ValueError(
            f'timestep must be a whole number of nanoseconds, got {values["timestep"]!r} s'
        )
    if values['servo_bandwidth'] * values['timestep'] > 0.5:
        raise ValueError(
            f'servo_bandwidth {values["servo_bandwidth"]:g} rad/s is too high for a timestep of '
            f'{values["timestep"]:g} s: at most {0.5 / values["timestep"]:g}'
        )
    if AUTOMATIC < values['clock_publish_rate'] < 0.0:
        raise ValueError(
            f'clock_publish_rate must be -1, 0 or positive, got {values["clock_publish_rate"]:g}'
        )
    if not values['odom_frame'].strip('/'):
        raise ValueError("odom_frame must be a name, such as odom, got ''")
    fields = values['state_fields']
    if fields and 'position' not in fields:
        raise ValueError(
            'state_fields must have position among them: whoever reads joint_states expects it'
        )
    names, positions = values['initial_joints'], values['initial_positions']
    if names and len(names) != len(positions):
        raise ValueError(
            f'initial_joints has {len(names)} names, initial_positions {len(positions)} numbers'
        )
    if values['world'].strip():
        if values['ground']:
            raise ValueError('ground is not for a simulation with a world: let there be a plane')
        if values['integrator'] == 'rk4':
            raise ValueError("integrator 'rk4' knows no world: choose semi_implicit or midpoint")
    if has_rigid_ground(values):
        if values['integrator'] == 'rk4':
            raise ValueError(
                "integrator 'rk4' knows no rigid ground: choose semi_implicit or midpoint, or "
                'ground_law compliant'
            )
        for name in ('contact_stiffness', 'contact_damping'):
            default = next(each.default for each in SIMULATOR_PARAMETERS if each.name == name)
            if values[name] != default:
                raise ValueError(
                    f'{name} {values[name]:g} is for ground that gives way: set ground_law to '
                    f'compliant, or leave {name} at {default:g}'
                )
    quaternion = values['initial_base_pose'][3:]
    if not 0.5 < sum(x * x for x in quaternion) < 2.0:
        raise ValueError(f'initial_base_pose: {list(quaternion)} is not a unit quaternion')
