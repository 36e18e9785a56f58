# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contents of the public API's pages, docs/api/*.md, and the starting points of their examples."""

ARM = """\
import numpy as np
from rbd_ros import Robot

np.set_printoptions(precision=3, suppress=True)
robot = Robot.from_urdf('urdf/six_axis_arm.urdf')
q = np.array([0.0, -0.5, 1.5, 0.5, 1.0, 0.0])  # [rad]
v = np.array([0.5, -0.2, 0.3, 0.0, 0.4, 1.0])  # [rad/s]
a = np.array([1.0, 0.0, -2.0, 0.5, 0.0, 3.0])  # [rad/s^2]
tau = robot.inverse_dynamics(q, v, a)  # [N m]
"""
FLOATING = """\
import numpy as np
from rbd_ros import Robot

np.set_printoptions(precision=3, suppress=True)
robot = Robot.from_urdf('urdf/six_axis_arm.urdf', floating_base=True)
q, v = robot.neutral(), np.zeros(robot.nv)  # of the base first, then of the six joints
q[7:], v[6:] = [0.0, -0.5, 1.5, 0.5, 1.0, 0.0], [0.5, -0.2, 0.3, 0.0, 0.4, 1.0]
qdd, tau = np.zeros(6), np.array([0.0, 5.0, 2.0, 0.0, 0.5, 0.0])  # of the joints alone
"""
MECHANISM = """\
from rbd_ros.model import Frame, LoopJoint
from rbd_ros.model.joints import Revolute
from rbd_ros.spatial import PluckerTransform

# Three links of 0.3 m, 0.25 m and 0.22 m, the last one hinged to a pivot on the ground.
chain = Robot.from_urdf('urdf/planar_3r.urdf').model
ground = chain.frame('plane_link')
pivot = Frame(ground.body, PluckerTransform.translation((0.43, 0.02, 0.0)) * ground.placement)
hinge = LoopJoint('hinge', pivot, chain.frame('tip_link'), Revolute((0.0, 0.0, 1.0)))
"""
FOUR_BAR = (
    """\
import numpy as np
from rbd_ros import Robot
"""
    + MECHANISM
    + """\
np.set_printoptions(precision=3, suppress=True)
robot = Robot(chain.with_loops([hinge]))
up = np.arctan2(4.0, 3.0)
q = np.array([up, -up, -np.pi / 2])  # up, right, down to the pivot [rad]
v = np.array([1.1, -1.892, 1.992])  # [rad/s]
tau = np.zeros(3)  # [N m]
"""
)
ALGORITHMS = (
    ARM
    + """\
model = robot.model  # texts take a model, and lists of floats

"""
    + MECHANISM
    + """\
four_bar = Robot(chain.with_loops([hinge]))
up = np.arctan2(4.0, 3.0)
q4 = np.array([up, -up, -np.pi / 2])  # up, right, down to the pivot [rad]
v4 = np.array([1.1, -1.892, 1.992])  # [rad/s]
terms = four_bar.loops.equations_of_motion(q4, v4, [0.0])  # H, C, K, k
"""
)

SPATIAL = """\
import numpy as np
from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.textbook.planar.planar_algebra import (
    PlanarArticulatedInertia,
    PlanarForceVector,
    PlanarInertia,
    PlanarMotionSubspace,
    PlanarMotionVector,
    PlanarTransform,
)

np.set_printoptions(precision=3, suppress=True)
# A tool of 2 kg whose center of mass is 0.1 m in front of its frame.
tool = RigidBodyInertia.from_mass_center(2.0, (0.0, 0.0, 0.1), np.diag([0.01, 0.01, 0.004]))
plate = PlanarInertia.from_mass_center(2.0, (0.1, 0.0), 0.01)
"""

TOUCH = (
    ARM
    + """\
point = robot.frame('tool0').pose(q)[None, :3, 3]  # of one contact, (1, 3) [m]
normal = np.array([[0.0, 0.0, 1.0]])  # the ground's, upwards
still = np.zeros((1, 3))  # neither point nor normal moves
"""
)

IDENTIFICATION = (
    ARM.replace(
        'from rbd_ros import Robot\n',
        'from rbd_ros import Robot\n'
        'from rbd_ros.control import payload_parameters\n'
        'from rbd_ros.identification import Recording\n'
        'from rbd_ros.lookup.resources import resource_path\n',
    )
    + """\


def recorded(payload=np.zeros(10), noise=0.01):
    times = np.arange(0.0, 20.0, 0.004)  # [s]
    w, rng = 2.0 * np.pi * np.array([0.11, 0.13, 0.17, 0.19, 0.23, 0.29]), np.random.default_rng(1)
    phases = np.outer(times, w), np.outer(times, 2.7 * w)
    positions = q + 0.6 * np.sin(phases[0]) + 0.2 * np.cos(phases[1])
    v = w * (0.6 * np.cos(phases[0]) - 0.54 * np.sin(phases[1]))
    a = w**2 * (-0.6 * np.sin(phases[0]) - 1.458 * np.cos(phases[1]))
    carrying = robot.function('inverse_dynamics', ('payload:tool0',))
    efforts = carrying(positions, v, a, payload) + robot.damping * v + robot.friction * np.sign(v)
    efforts += noise * efforts.std(axis=0) * rng.normal(size=efforts.shape)
    return Recording(robot.joint_names, times, positions, efforts)
"""
)

CONTROL = (
    ARM
    + """\
from rbd_ros.control import (
    default_gains,
    DesiredMotion,
    Feedforward,
    friction_torque,
    GuidingSettings,
    HandGuiding,
    static_torque_margin,
    JointTrajectory,
    LawSettings,
    payload_parameters,
    pd_gains,
    StateGuard,
    TorqueLaw,
    TorqueLimiter,
    TorqueLimits,
)
from rbd_ros.control.law.task_impedance import TaskImpedance
from rbd_ros.lookup.resources import resource_path

settings = LawSettings.for_robot(robot)  # all defaults
arm = robot.joint_names
limits = robot.lower_limits, robot.upper_limits  # [rad]
rest = np.zeros(6)  # [rad/s]
"""
)

#: Setup of a page's examples, where that is not `ARM`.
SETUPS = {
    'floating_base': FLOATING,
    'loops': FOUR_BAR,
    'algorithms': ALGORITHMS,
    'simulation': ARM.replace('import Robot', 'import Robot, Simulator'),
    'viewer': ARM.replace('import Robot', 'import Robot, Simulator')
    + 'from rbd_ros.viewer import LivePage, LiveSession, make_scene, MotionRecording\n',
    'contacts': TOUCH,
    'collision': ARM,
    'world': ARM,
    'identification': IDENTIFICATION,
    'constraints': 'import numpy as np\n\nnp.set_printoptions(precision=3, suppress=True)\n',
    'spatial': SPATIAL,
    'model': ARM + 'model = robot.model\n',
    'control': CONTROL,
    'doctor': ARM + 'model = robot.model\n',
}

#: Objects on the page of a family, besides those of `reference.HOMES`.
MORE = {
    'frame': (
        'rbd_ros.robot.frame:SingularTaskError',
        'rbd_ros.robot.inverse_kinematics:InverseKinematics',
    ),
    'hybrid': ('rbd_ros.robot.families.hybrid_family:HybridFunctions',),
    'loops': ('rbd_ros.textbook.closed_loops.explicit_loops_family:ExplicitLoops',),
    'contacts': ('rbd_ros.textbook.contact_dynamics.contacts_family:ContactFunctions',),
    'regressors': (
        'rbd_ros.algorithms.regressors.base_parameters:BaseParameters',
        'rbd_ros.algorithms.regressors.physical_consistency:ConsistentFit',
    ),
}

#: Pages of modules: names that they define without an underscore are public.
MODULES = {
    'simulation': (
        'rbd_ros.simulation.simulator',
        'rbd_ros.simulation.rollouts.rollouts',
        'rbd_ros.simulation.records.snapshot_file',
        'rbd_ros.simulation.physics',
        'rbd_ros.textbook.simulation.adaptive',
        'rbd_ros.textbook.simulation.event_driven',
        'rbd_ros.simulation.stepping.actuators',
        'rbd_ros.textbook.simulation.contact_points',
        'rbd_ros.contact.ground',
        'rbd_ros.contact.compliant_surfaces',
    ),
    'collision': (
        'rbd_ros.collision.shapes.contact_shapes',
        'rbd_ros.collision.queries',
        'rbd_ros.meshes.reading',
        'rbd_ros.meshes.triangles',
        'rbd_ros.collision.shapes.concave_shapes',
    ),
    'world': (
        'rbd_ros.world.world',
        'rbd_ros.world.surfaces',
        'rbd_ros.world.world_file',
        'rbd_ros.world.world_objects',
        'rbd_ros.world.solids',
        'rbd_ros.world.allowed_collisions',
    ),
    'constraints': (
        'rbd_ros.textbook.complementarity.lcp',
        'rbd_ros.constraints.friction',
        'rbd_ros.constraints.friction_solution',
        'rbd_ros.constraints.friction_bodies',
        'rbd_ros.textbook.complementarity.gauss',
        'rbd_ros.textbook.complementarity.unilateral',
        'rbd_ros.textbook.complementarity.minimal_set',
    ),
    'model': (
        'rbd_ros.model.urdf.urdf_reader',
        'rbd_ros.textbook.models.dh',
        'rbd_ros.textbook.models.random_models',
        'rbd_ros.textbook.models.model_assembly',
        'rbd_ros.model.combined_models',
        'rbd_ros.model.parent_array',
        'rbd_ros.textbook.models.connectivity_graph',
        'rbd_ros.model.floating_model',
        'rbd_ros.model.locked_joints',
        'rbd_ros.model.removed_links',
        'rbd_ros.model.equivalent',
        'rbd_ros.textbook.models.frame_placement',
        'rbd_ros.textbook.planar.planar_model',
        'rbd_ros.textbook.models.joint_forces',
        'rbd_ros.model.model_parts',
        'rbd_ros.model.geared_tree',
        'rbd_ros.model.model',
        'rbd_ros.model.joint_registry',
    ),
    'spatial': (
        'rbd_ros.spatial.spatial_vectors',
        'rbd_ros.spatial.transform',
        'rbd_ros.spatial.inertia',
        'rbd_ros.textbook.spatial_algebra.inverse_inertia',
        'rbd_ros.spatial.pseudo_inertia',
        'rbd_ros.spatial.rotation',
        'rbd_ros.textbook.spatial_algebra.screws',
        'rbd_ros.textbook.spatial_algebra.subspaces',
        'rbd_ros.textbook.spatial_algebra.moving_frames',
        'rbd_ros.spatial.axial_screw',
        'rbd_ros.textbook.planar.planar_vectors',
        'rbd_ros.textbook.planar.planar_transform',
        'rbd_ros.textbook.planar.planar_inertia',
    ),
    'viewer': (
        'rbd_ros.viewer.motion_recording',
        'rbd_ros.viewer.session',
        'rbd_ros.viewer.drawings',
        'rbd_ros.viewer.live',
        'rbd_ros.viewer.viewer_scene',
    ),
    'export': ('rbd_ros.robot.export', 'rbd_ros.robot.accuracy_diagnosis'),
    'identification': (
        'rbd_ros.identification.recording',
        'rbd_ros.identification.payload_identification',
        'rbd_ros.identification.robot_identification',
        'rbd_ros.identification.fourier_excitation',
        'rbd_ros.identification.model_validation',
        'rbd_ros.identification.urdf_patch',
        'rbd_ros.control.momentum_observer',
    ),
    'control': (
        'rbd_ros.control.law.torque_law',
        'rbd_ros.control.law.law_settings',
        'rbd_ros.control.law.gains',
        'rbd_ros.control.law.insufficient_stiffness',
        'rbd_ros.control.law.task_impedance',
        'rbd_ros.control.law.limits',
        'rbd_ros.control.motion.motion_options',
        'rbd_ros.control.motion.desired_motion',
        'rbd_ros.control.motion.trajectory',
        'rbd_ros.control.motion.trajectory_checks',
        'rbd_ros.control.analysis.trajectory_report',
        'rbd_ros.control.analysis.feedforward_trajectory',
        'rbd_ros.control.law.feedforward',
        'rbd_ros.control.law.friction_compensation',
        'rbd_ros.model.payload',
        'rbd_ros.control.analysis.static_torque_margin',
        'rbd_ros.control.law.gravity_direction',
        'rbd_ros.control.law.bumpless_transfer',
        'rbd_ros.control.law.hand_guiding',
        'rbd_ros.control.law.servo_offset',
        'rbd_ros.control.guards',
    ),
    'doctor': (
        'rbd_ros.doctor.findings',
        'rbd_ros.doctor.urdf_lint',
        'rbd_ros.doctor.machine',
        'rbd_ros.doctor.graph_snapshot',
        'rbd_ros.doctor.graph',
        'rbd_ros.doctor.graph_time',
        'rbd_ros.doctor.graph_reading',
        'rbd_ros.doctor.events_executor',
    ),
}

TITLES = {
    'robot': ('Robot', 'configurations, dynamics, kinematics, kernels'),
    'frame': (
        'Frames',
        'motion of a link or joint frame, inverse kinematics, Jacobians, inertia felt there',
    ),
    'derivatives': ('Derivatives', 'the dynamics together with their derivatives'),
    'hybrid': ('Hybrid dynamics', 'forces given at some joints, accelerations at the others'),
    'loops': ('Kinematic loops', 'constraints, ranks, forward dynamics of closed loops'),
    'regressors': (
        'Regressors',
        'linear in the inertial parameters; base parameters; physical consistency',
    ),
    'articulated': ('Articulated bodies', 'handles, assemblies, divide and conquer'),
    'floating_base': ('Floating bases', 'the base apart from the joints'),
    'centroidal': ('Centroidal momentum', 'momentum about the center of mass'),
    'contacts': ('Contacts', 'normals and equations of point contacts, rolling'),
    'impacts': ('Impacts', 'impulses, collisions with and without friction'),
    'denoc': ('DeNOC', 'the decoupled natural orthogonal complement'),
    'simulation': (
        'Simulation',
        '`Simulator`, `Physics`, `integrate_ode`, events, motors, surfaces',
    ),
    'collision': ('Collision', 'shapes, their contact points and distances'),
    'world': ('World', 'objects around a robot, surfaces, world files'),
    'constraints': (
        'Contact problems',
        'complementarity problems, states of contacts, minimal sets',
    ),
    'model': ('Models', 'readers of URDF and DH tables, random models, assembly, variants'),
    'spatial': ('Spatial vector algebra', 'vectors, transforms, inertias, screws, planar algebra'),
    'algorithms': ('Algorithms', 'functions of a model, also for `Robot.kernel`'),
    'viewer': ('Viewer', 'motions as pages for a browser, recorded and live'),
    'identification': (
        'Identification',
        'payloads, inertias and friction from recordings; external torques',
    ),
    'export': ('Export and diagnostics', 'C99 libraries; accuracy of a model'),
    'control': ('Control', 'torque laws, limits, desired motion, trajectories; without ROS'),
    'doctor': ('Doctor', 'findings with cures about a URDF, the machine and a ROS graph'),
}

#: Names without an underscore that are of no use alone, with the reason.
NOT_FOR_USERS = {
    'rbd_ros.model.joint_registry:joint_name': 'what `rbd_ros info` shows',
    'rbd_ros.simulation.physics:Physics.failure': 'called by code that steps by machine code',
    'rbd_ros.simulation.physics:Physics.allow_external_forces': '`Simulator.apply_wrench` does it',
    'rbd_ros.simulation.physics:Steps': 'what compiled loops call',
    'rbd_ros.simulation.physics:clear_record': 'called by what takes a step back',
    'rbd_ros.simulation.records.snapshots:Snapshot': 'opaque',
    'rbd_ros.contact.compliant_surfaces:Surface': 'what surfaces have in common',
    'rbd_ros.contact.detection:ContactShapes': 'a record of compiled loops',
    'rbd_ros.contact.shapes:contact_shapes': 'what `Simulator` touches the ground with',
    'rbd_ros.contact.shapes:hull_points': 'a part of it',
    'rbd_ros.collision.queries:checked_pose': 'a check of arguments',
    'rbd_ros.simulation.rollouts.rollouts:checked_array': 'arguments of `Simulator.rollout`',
    'rbd_ros.simulation.rollouts.rollouts:checked_starts': 'arguments of `Simulator.rollout`',
    'rbd_ros.simulation.rollouts.rollouts:result_arrays': 'its results',
    'rbd_ros.textbook.simulation.adaptive:dynamics': 'what `integrate_ode` integrates',
    'rbd_ros.textbook.simulation.adaptive:applied_force': 'a part of it',
    'rbd_ros.textbook.simulation.adaptive:Counted': 'a part of it',
    'rbd_ros.textbook.simulation.adaptive:StepControl': 'a part of it',
    'rbd_ros.textbook.simulation.contact_points:CandidateContacts': 'a part of a simulator',
    'rbd_ros.constraints.friction:contact_residuals': 'a part of `residuals`',
    'rbd_ros.constraints.friction:moments_of': 'likewise',
    'rbd_ros.constraints.friction_solution:scaled_space': 'what compiled loops solve',
    'rbd_ros.textbook.complementarity.minimal_set:normal_screws': 'a part of its file',
    'rbd_ros.identification.recording:columns_of': 'a part of its file',
    'rbd_ros.identification.recording:recording_of': 'likewise',
    'rbd_ros.identification.payload_identification:parameter_transform': 'arithmetic of its file',
    'rbd_ros.identification.robot_identification:consistent': 'a part of `identify`',
    'rbd_ros.identification.robot_identification:with_extent': 'likewise',
    'rbd_ros.identification.model_validation:last_link': 'a part of `validate_model`',
    'rbd_ros.textbook.planar.planar_vectors:vector2': 'checks of arguments',
    'rbd_ros.textbook.planar.planar_vectors:dot2': 'arithmetic of its file',
    'rbd_ros.control.law.gains:gravity_gradient': 'a part of `default_gains`',
    'rbd_ros.control.law.gains:needed_stiffness': 'likewise',
    'rbd_ros.model.geared_tree:gear_limits': 'a part of a model',
    'rbd_ros.model.geared_tree:GearLimits': 'likewise',
    'rbd_ros.model.model:position_periods': '`Robot.position_periods`',
    'rbd_ros.spatial.inertia:violated_conditions': 'a check of models',
    'rbd_ros.doctor.graph_reading:ask_nodes': 'a part of `read_graph`',
    'rbd_ros.meshes.reading:read_stl': 'a part of `read_mesh`',
    'rbd_ros.meshes.reading:read_obj': 'likewise',
    'rbd_ros.world.world_objects:world_object': 'entries of world files',
    'rbd_ros.world.world_objects:bounded': 'entries of world files',
    'rbd_ros.world.world_objects:length': 'entries of world files',
    'rbd_ros.world.world_objects:placement': 'entries of world files',
    'rbd_ros.world.world_objects:read_color': 'entries of world files',
    'rbd_ros.world.world_objects:read_surface': 'entries of world files',
    'rbd_ros.world.world_objects:surface_of': 'entries of world files',
    'rbd_ros.world.world_objects:file_of': 'entries of world files',
    'rbd_ros.model.floating_model:not_floating': 'checks of arguments',
    'rbd_ros.textbook.models.dh:checked': 'checks of arguments',
    'rbd_ros.model.combined_models:transform_of_pose': 'checks of arguments',
    'rbd_ros.control.law.law_equations:holding_kernel': 'a part of `TorqueLaw`',
    'rbd_ros.control.law.prepared_law:LawMemory': 'for machine code',
    'rbd_ros.control.law.torque_law:TorqueLaw.memory': 'for machine code',
    'rbd_ros.control.law.torque_law:TorqueLaw.problem': 'what nodes report',
    'rbd_ros.control.law.torque_law:TorqueLaw.replace_settings': 'for nodes, with their lock',
    'rbd_ros.control.law.law_settings:check_integral': 'checks of arguments',
    'rbd_ros.control.law.gains:min_damping_rate': 'a part of `default_gains`',
    'rbd_ros.control.law.gains:friction_stiffness': 'a part of `TorqueLaw`',
    'rbd_ros.control.law.task_impedance:task_forces': 'a part of the law',
    'rbd_ros.control.law.task_impedance:pose_error': 'a part of the law',
    'rbd_ros.control.law.task_impedance:TaskImpedance.numbers': 'what the law takes',
    'rbd_ros.control.law.limits:LimiterMemory': 'for machine code',
    'rbd_ros.control.law.hand_guiding:GuidingMemory': 'for machine code',
    'rbd_ros.control.law.hand_guiding:guide': 'a part of machine code that answers states',
    'rbd_ros.control.law.limits:limit': 'a part of machine code that limits',
    'rbd_ros.control.law.limits:limiter_sent': 'likewise',
    'rbd_ros.model.floating_model:reject_second_base': 'a part of `with_floating_base`',
    'rbd_ros.control.analysis.closed_loop_statics:ClosedPoses': 'a part of `static_torque_margin`',
    'rbd_ros.model.model_parts:snapped': 'a part of `Model`',
    'rbd_ros.control.motion.motion_plan:MotionPlan': 'opaque, made by `DesiredMotion.plan`',
    'rbd_ros.control.motion.trajectory_checks:checked_names': 'checks of arguments',
    'rbd_ros.control.motion.trajectory_checks:check_known': 'checks of arguments',
    'rbd_ros.control.motion.trajectory_checks:checked_times': 'checks of arguments',
    'rbd_ros.control.motion.trajectory_checks:check_size': 'checks of arguments',
    'rbd_ros.control.motion.trajectory_checks:checked_values': 'checks of arguments',
    'rbd_ros.control.motion.trajectory_checks:check_end_at_rest': 'checks of arguments',
    'rbd_ros.control.analysis.feedforward_trajectory:completed': 'a part of `add_feedforward`',
    'rbd_ros.control.analysis.feedforward_trajectory:check_moves': 'checks of arguments',
    'rbd_ros.control.analysis.feedforward_trajectory:subdivided': 'a part of `add_feedforward`',
    'rbd_ros.control.law.feedforward:check_robot': 'checks of arguments',
    'rbd_ros.model.payload:check_payload': 'checks of arguments',
    'rbd_ros.control.law.gravity_direction:unit': 'arithmetic of its file',
    'rbd_ros.control.guards:GuardMemory': 'for machine code',
    'rbd_ros.control.guards:check_values': 'a part of `StateGuard`',
    'rbd_ros.control.guards:check_time': 'a part of `StateGuard`',
    'rbd_ros.control.guards:StateGuard.problem': 'called by code that checks by machine code',
    'rbd_ros.doctor.graph_snapshot:some': 'text of findings',
    'rbd_ros.doctor.findings:finding_lines': 'text of `rbd_ros doctor`',
    'rbd_ros.doctor.findings:counted': 'text of `rbd_ros doctor`',
    'rbd_ros.doctor.findings:worst_level': 'text of `rbd_ros doctor`',
    'rbd_ros.doctor.urdf_lint:inertia_findings': 'a part of `lint_model`',
    'rbd_ros.doctor.urdf_lint:shape_findings': 'a part of `lint_model`',
    'rbd_ros.doctor.urdf_lint:mesh_findings': 'a part of `lint_model`',
    'rbd_ros.doctor.urdf_lint:chain_findings': 'a part of `lint_model`',
    'rbd_ros.doctor.urdf_lint:limit_findings': 'a part of `lint_model`',
    'rbd_ros.doctor.machine:python_finding': 'a part of `check_machine`',
    'rbd_ros.doctor.machine:library_findings': 'a part of `check_machine`',
    'rbd_ros.doctor.machine:compiler_finding': 'a part of `check_machine`',
    'rbd_ros.doctor.machine:cache_finding': 'a part of `check_machine`',
    'rbd_ros.doctor.machine:real_time_findings': 'a part of `check_machine`',
    'rbd_ros.doctor.machine:cores_finding': 'a part of `check_machine`',
    'rbd_ros.doctor.machine:governor_finding': 'a part of `check_machine`',
    'rbd_ros.doctor.machine:installed_middleware': 'a part of `check_machine`',
    'rbd_ros.doctor.machine:ros_findings': 'a part of `check_machine`',
    'rbd_ros.doctor.graph_snapshot:Endpoint': 'a part of `Graph`',
    'rbd_ros.doctor.graph_snapshot:Topic': 'a part of `Graph`',
    'rbd_ros.doctor.graph_snapshot:ReceivedStates': 'a part of `Graph`',
    'rbd_ros.doctor.graph_snapshot:ReceivedClock': 'a part of `Graph`',
    'rbd_ros.doctor.graph:node_findings': 'a part of `check_graph`',
    'rbd_ros.doctor.graph:quality_findings': 'a part of `check_graph`',
    'rbd_ros.doctor.graph:publisher_findings': 'a part of `check_graph`',
    'rbd_ros.doctor.graph:rate_findings': 'a part of `check_graph`',
    'rbd_ros.doctor.graph:joint_findings': 'a part of `check_graph`',
    'rbd_ros.doctor.graph_time:sim_time_findings': 'a part of `check_graph`',
    'rbd_ros.doctor.graph_time:clock_findings': 'a part of `check_graph`',
    'rbd_ros.doctor.graph:lifecycle_findings': 'a part of `check_graph`',
    'rbd_ros.doctor.graph:middleware_findings': 'a part of `check_graph`',
    'rbd_ros.doctor.graph_reading:described_joints': 'a part of `read_graph`',
    'rbd_ros.doctor.graph_reading:model_joints': 'a part of `read_graph`',
    'rbd_ros.doctor.events_executor:try_events_executor': 'a part of `rbd_ros doctor`',
    'rbd_ros.doctor.events_executor:executor_finding': 'a part of `rbd_ros doctor`',
    'rbd_ros.collision.shapes.contact_shapes:Plane.half_sizes': 'for compiled loops',
    'rbd_ros.collision.shapes.contact_shapes:Sphere.half_sizes': 'for compiled loops',
    'rbd_ros.collision.shapes.contact_shapes:Capsule.half_sizes': 'for compiled loops',
    'rbd_ros.collision.shapes.contact_shapes:Box.half_sizes': 'for compiled loops',
    'rbd_ros.collision.shapes.contact_shapes:Cylinder.half_sizes': 'for compiled loops',
    'rbd_ros.collision.shapes.contact_shapes:ConvexHull.half_sizes': 'for compiled loops',
    'rbd_ros.collision.shapes.concave_shapes:TriangleMesh.half_sizes': 'for compiled loops',
    'rbd_ros.collision.shapes.concave_shapes:HeightField.half_sizes': 'for compiled loops',
    'rbd_ros.control.motion.desired_motion:DesiredMotion.clock': 'for nodes',
    'rbd_ros.control.motion.desired_motion:DesiredMotion.path_time': 'for nodes',
    'rbd_ros.control.motion.desired_motion:DesiredMotion.advance_at_rest': 'for nodes',
    'rbd_ros.control.motion.desired_motion:DesiredMotion.is_at_rest': 'for nodes',
    'rbd_ros.control.law.gravity_direction:down_of_orientation': 'a part of a node',
    'rbd_ros.control.law.gravity_direction:down_from_acceleration': 'a part of a node',
    'rbd_ros.control.law.gravity_direction:FilteredDirection': 'a part of a node',
    'rbd_ros.control.law.gravity_direction:TurningDirection': 'a part of a node',
    'rbd_ros.control.law.bumpless_transfer:BumplessTransfer': 'a part of a node',
    'rbd_ros.control.law.servo_offset:servo_command': 'a part of a node',
    'rbd_ros.simulation.physics:Physics.allow_servos': 'for the bench and nodes',
    'rbd_ros.simulation.physics:Physics.allow_friction': 'for the bench and nodes',
    'rbd_ros.simulation.physics:Physics.change_inertias': 'for the bench and nodes',
    'rbd_ros.simulation.physics:Physics.prepare_inertias': 'for the bench and nodes',
    'rbd_ros.simulation.physics:Physics.clear_near_pairs': 'for the bench and nodes',
    'rbd_ros.viewer.session:object_poses': 'a part of `record` and `LiveSession`',
    'rbd_ros.viewer.session:contact_forces': 'a part of `record` and `LiveSession`',
    'rbd_ros.viewer.viewer_scene:quaternions': 'arithmetic of its file',
    'rbd_ros.model.geared_tree:GearedTree': 'a part of `Model`',
    'rbd_ros.model.floating_model:is_free': 'a part of `with_floating_base`',
    'rbd_ros.model.floating_model:is_free_base': 'a part of `with_floating_base`',
    'rbd_ros.textbook.planar.planar_model:to_plane': 'a part of `planar_model`',
    'rbd_ros.textbook.planar.planar_model:plane_normal': 'a part of `planar_model`',
    'rbd_ros.world.world:is_solid': 'a part of `solid_inertia`',
    'rbd_ros.world.world:World.moving_in': 'a part of simulations',
    'rbd_ros.world.world:World.names_links': 'a part of simulations',
    'rbd_ros.world.world:WorldRobot.base_placement': 'a part of simulations',
    'rbd_ros.world.surfaces:rigid': 'a part of `World.surface_between`',
    'rbd_ros.world.surfaces:directed_by_first': 'a part of `World.surface_between`',
    'rbd_ros.world.allowed_collisions:connected_bodies': 'a part of `allowed_pairs`',
    'rbd_ros.world.allowed_collisions:enabled_pairs': 'a part of `allowed_pairs`',
    'rbd_ros.world.allowed_collisions:read_srdf': 'a part of `allowed_pairs`',
    'rbd_ros.world.allowed_collisions:srdf_elements': 'a part of `allowed_pairs`',
    'rbd_ros.control.motion.desired_motion:DesiredMotion.resume_after_gap': 'for nodes',
    'rbd_ros.control.motion.desired_motion:DesiredMotion.restart_time': 'for nodes',
    'rbd_ros.control.guards:StateGuard.time_jumped': 'for nodes',
    'rbd_ros.control.law.torque_law:TorqueLaw.gravity_function': 'for nodes',
    'rbd_ros.control.law.limits:TorqueLimiter.resume': 'for nodes',
    'rbd_ros.control.analysis.trajectory_report:effort_samples': 'a part of `check_trajectory`',
    'rbd_ros.control.motion.trajectory:JointTrajectory.within_segments': 'a part of trajectories',
    'rbd_ros.control.motion.trajectory:JointTrajectory.coefficients': 'a part of trajectories',
}

#: Files of rbd_ros with algorithms.
PARTS_OF_ALGORITHMS = {
    'algorithms.array',
    'algorithms.articulated_body.aba',
    'algorithms.articulated_body.matrices',
    'algorithms.closed_loops.jets',
    'algorithms.declaration',
    'algorithms.derivatives.response',
    'algorithms.hinge_trees.crba_by_screws',
    'algorithms.hinge_trees.forward_dynamics_by_screws',
    'algorithms.hinge_trees.hinge_frames',
    'algorithms.inertia_matrix.expanded_parents',
    'algorithms.inverse_dynamics.forces',
    'algorithms.kinds',
    'algorithms.regressors.physical_consistency',
    'textbook.articulated_body.bodies_in_base',
    'textbook.contact_dynamics.contact_kinds',
    'textbook.denoc.links',
    'textbook.floating_base.floating_base_kinds',
    'textbook.floating_base.floating_state',
}

#: Folders without algorithms.
FOLDERS_OF_PARTS = (
    'textbook.complementarity',
    'textbook.models',
    'textbook.planar',
    'textbook.simulation',
    'textbook.spatial_algebra',
)
