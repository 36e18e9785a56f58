"""Parameters of the simulator node."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple

from rbd_ros.nodes.description import DESCRIPTION_PARAMETERS
from rbd_ros.nodes.parameters import Declaration

ACTIONS = ('hold', 'gravity', 'zero')

SIMULATOR_PARAMETERS: Tuple[Declaration, ...] = (
    *DESCRIPTION_PARAMETERS,
    Declaration('gravity', (0.0, 0.0, -9.81), 'Gravity in base coordinates [m/s^2].', length=3),
    Declaration(
        'floating_base',
        False,
        'Whether the root link moves freely instead of being fixed to the world.',
    ),
    Declaration(
        'timestep',
        0.001,
        'Simulated time between two cycles [s]: in each, commands are taken, the robot moves, its '
        'state is published. '
        'A whole number of nanoseconds.',
        positive=True,
        minimum=1e-6,
        maximum=1.0,
    ),
    Declaration('substeps', 1, 'Steps of the physics in one cycle.', minimum=1, maximum=1000),
    Declaration(
        'integrator', 'semi_implicit', 'Integration method.', choices=('semi_implicit', 'rk4')
    ),
    Declaration(
        'real_time_factor',
        1.0,
        'Simulated seconds in one real second; 0: as many as possible.',
        minimum=0.0,
        maximum=1e6,
        live=True,
    ),
    Declaration(
        'start_paused', False, 'Whether to wait for ~/pause (data: false) or ~/step at the start.'
    ),
    Declaration(
        'step_count',
        1,
        'Cycles that one call of ~/step simulates.',
        minimum=1,
        maximum=1_000_000,
        live=True,
    ),
    Declaration(
        'initial_command',
        'hold',
        'What drives a joint until its first command. hold: the whole robot is locked by ideal '
        'brakes until any joint '
        'is commanded, then joints without a command are held by a servo; gravity: its gravity '
        'torque; zero: nothing.',
        choices=ACTIONS,
    ),
    Declaration(
        'command_timeout',
        0.5,
        'Real time after which a commanded effort or velocity no longer counts [s]; 0: never.',
        minimum=0.0,
        maximum=1e6,
        live=True,
    ),
    Declaration(
        'timeout_command',
        'hold',
        'What drives a joint whose command timed out. hold: a servo at the position it then has; '
        'gravity, zero: as in '
        'initial_command.',
        choices=ACTIONS,
        live=True,
    ),
    Declaration(
        'servo_bandwidth',
        100.0,
        'Natural frequency of the servo that holds joints and follows position and velocity '
        'commands [rad/s]. '
        'At most 0.5 / timestep.',
        positive=True,
    ),
    Declaration(
        'joints',
        (),
        'Joints in the order of effort_commands; empty: all, in the order of the robot.',
        element=str,
    ),
    Declaration(
        'initial_positions',
        (),
        'Positions at the start and after ~/reset [rad or m], in the order of initial_joints; '
        'empty: zero, moved into '
        'the limits.',
    ),
    Declaration(
        'initial_joints',
        (),
        'Joints that initial_positions means; empty: all, in the order of the robot.',
        element=str,
    ),
    Declaration(
        'initial_base_pose',
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
        'Pose of a floating base at the start and after ~/reset: x, y, z [m], quaternion x, y, z, '
        'w.',
        length=7,
    ),
    Declaration('ground', False, 'Whether there is ground, the half-space z <= ground_height.'),
    Declaration('ground_height', 0.0, 'Height of the ground [m].'),
    Declaration('contact_stiffness', 5e4, 'Stiffness of each contact point [N/m].', positive=True),
    Declaration('contact_damping', 5e2, 'Damping of each contact point [N s/m].', minimum=0.0),
    Declaration('contact_friction', 0.8, 'Coefficient of friction with the ground.', minimum=0.0),
    Declaration(
        'external_wrench_duration',
        0.1,
        'Simulated time that a wrench of topic external_wrench acts [s]; 0: until the next one '
        'for the same link.',
        minimum=0.0,
        live=True,
    ),
    Declaration(
        'state_publish_rate',
        0.0,
        'Rate of joint_states in simulated time [Hz]; 0: every cycle.',
        minimum=0.0,
    ),
    Declaration(
        'clock_publish_rate',
        100.0,
        'Rate of /clock in simulated time [Hz]; 0: /clock is not published.',
        minimum=0.0,
    ),
)


def check_simulator_parameters(values: Mapping[str, Any]) -> Optional[str]:
    """Tell what is wrong with a set of parameters, or return None."""
    nanoseconds = values['timestep'] * 1e9
    if abs(nanoseconds - round(nanoseconds)) > 1e-3:
        return f'timestep must be a whole number of nanoseconds, got {values["timestep"]!r} s'
    if values['servo_bandwidth'] * values['timestep'] > 0.5:
        return (
            f'servo_bandwidth {values["servo_bandwidth"]:g} rad/s is too high for a timestep of '
            f'{values["timestep"]:g} s: at most {0.5 / values["timestep"]:g}'
        )
    if values['initial_joints'] and len(values['initial_joints']) != len(
        values['initial_positions']
    ):
        return (
            f'initial_joints has {len(values["initial_joints"])} names, initial_positions '
            f'{len(values["initial_positions"])} numbers'
        )
    quaternion = values['initial_base_pose'][3:]
    if not 0.5 < sum(x * x for x in quaternion) < 2.0:
        return f'initial_base_pose: {list(quaternion)} is not a unit quaternion'
    return None
