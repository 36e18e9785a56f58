# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mimic joints as exact gears, reflected rotor inertia, and functions without damping."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import layout, random_trees
from support.errors import relative_error
from support.random_trees import chain

from rbd_ros import Robot

TREES = [
    random_trees.tree(seed, 4, ('revolute', 'continuous', 'prismatic'), mimics=3, branching=0.6)
    for seed in range(30, 34)
]


def without_mimics(text):
    """Return the same tree with its followers free."""
    from xml.etree import ElementTree

    tree = ElementTree.fromstring(text)
    for joint in tree.findall('joint'):
        for mimic in joint.findall('mimic'):
            joint.remove(mimic)
    return ElementTree.tostring(tree, encoding='unicode')


@pytest.fixture(scope='module', params=range(len(TREES)), ids=str)
def gears(request):
    """Return robot with mimic joints, the free robot, G and the offsets: q_free = G q + offset."""
    text = TREES[request.param]
    geared, free = layout.read(text), layout.read(without_mimics(text))
    assert geared.mimics
    G, offset = np.zeros((free.nv, geared.nv)), np.zeros(free.nv)
    places = {joint.name: joint.v.start for joint in geared.joints}
    for joint in free.joints:
        leader, ratio, shift = geared.mimics.get(joint.name, (joint.name, 1.0, 0.0))
        G[joint.v.start, places[leader]], offset[joint.v.start] = ratio, shift
    return Robot.from_urdf(text), Robot.from_urdf(without_mimics(text)), G, offset, geared


@pytest.mark.seed('GR01', 'CT02', 'CT05', 'JM15')
def test_mimic_joints_project_the_free_robot(gears):
    robot, free, G, offset, places = gears
    q, v, a = places.random_states(np.random.default_rng(0))
    Q, V, A = G @ q + offset, G @ v, G @ a
    assert relative_error(robot.mass_matrix(q), G.T @ free.mass_matrix(Q) @ G) < 1e-14
    assert (
        relative_error(robot.inverse_dynamics(q, v, a), G.T @ free.inverse_dynamics(Q, V, A))
        < 1e-14
    )
    assert relative_error(robot.gravity_torque(q), G.T @ free.gravity_torque(Q)) < 1e-14
    assert (
        relative_error(robot.coriolis_matrix(q, v), G.T @ free.coriolis_matrix(Q, V) @ G) < 1e-13
    )
    assert relative_error(robot.momentum(q, v), free.momentum(Q, V)) < 1e-14
    link = places.links[-1]
    assert relative_error(robot.jacobian(q, link), free.jacobian(Q, link) @ G) < 1e-14
    for name, pose in robot.forward_kinematics(q).items():
        assert relative_error(pose, free.forward_kinematics(Q)[name]) < 1e-14


@pytest.mark.seed('GR01')
def test_mimic_joints_move_like_explicitly_constrained_ones(gears):
    """KKT system of the free robot with K q'' = 0.

    Same acceleration; the constraint does no work.
    """
    robot, free, G, offset, places = gears
    q, v, tau = places.random_states(np.random.default_rng(1))
    Q, V = G @ q + offset, G @ v
    U, s, _ = np.linalg.svd(G)
    K = U[:, len(s) :].T  # rows span the complement of G: K G = 0
    assert_allclose(K @ G, 0, atol=1e-14)
    T = np.linalg.lstsq(G.T, tau, rcond=None)[
        0
    ]  # any joint forces that give tau on the independent joints
    n, m = free.nv, len(K)
    kkt = np.block([[free.mass_matrix(Q), K.T], [K, np.zeros((m, m))]])
    solution = np.linalg.solve(kkt, np.r_[T - free.bias_force(Q, V), np.zeros(m)])
    assert_allclose(
        G @ robot.forward_dynamics(q, v, tau), solution[:n], rtol=1e-10, atol=1e-10
    )  # cond of about 1e3
    assert abs(V @ (K.T @ solution[n:])) < 1e-11 * np.abs(solution).max()


def geared_pair(ratio, rotor=0.0):
    """Return a pendulum and a rotor on the base that turns `ratio` times as fast."""
    rotor_inertia = [rotor, 0, 0, rotor, 0, rotor]
    arm = chain(
        [
            {
                'type': 'revolute',
                'axis': [0, 1, 0],
                'mass': 1.0,
                'center': [0, 0, -0.5],
                'inertia': [0.1, 0, 0, 0.1, 0, 0.1],
            }
        ]
    )
    entries = ' '.join(
        f'{k}="{v}"' for k, v in zip(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), rotor_inertia)
    )
    extra = (
        f'<link name="rotor"><inertial><mass value="0.2"/><inertia {entries}/></inertial></link>'
        '<joint name="motor" type="continuous"><parent link="base"/><child link="rotor"/>'
        '<axis xyz="0 1 0"/>'
        f'<mimic joint="joint1" multiplier="{ratio}"/></joint></robot>'
    )
    return arm.replace('</robot>', extra)


@pytest.mark.seed('GR01', 'GR03')
@pytest.mark.parametrize('ratio', [1.0, -3.0, 100.0])
def test_rotor_on_a_gear_reflects_ratio_squared(ratio):
    """A rotor whose base does not move: armature rho^2 I is exact."""
    rotor = 2e-4
    robot = Robot.from_urdf(geared_pair(ratio, rotor))
    plain = Robot.from_urdf(geared_pair(1.0, 0.0), armature={'joint1': ratio**2 * rotor})
    expected = 0.1 + 0.25 + ratio**2 * rotor
    assert_allclose(robot.mass_matrix([0.3]), [[expected]], rtol=1e-14)
    assert_allclose(plain.mass_matrix([0.3]), [[expected]], rtol=1e-14)
    for what in (robot, plain):
        a = what.forward_dynamics([0.3], [1.0], [0.7])
        assert_allclose(a, (0.7 - 9.81 * 0.5 * np.sin(0.3)) / expected, rtol=1e-13)


@pytest.mark.seed('GR02', kind='full')
def test_geared_two_link_arm_has_the_printed_mass_matrix():
    """Book figure 9.2.

    G^T H G = [[H11 + r1^2 H22, H13 + r2 H14], [., H33 + r2^2 H44]] for lambda = (0, 0, 1, 1).
    """
    r1, r2 = 5.0, -7.0

    def link(name, izz, mass, center):
        return (
            f'<link name="{name}"><inertial><origin xyz="{center} 0 0"/><mass value="{mass}"/>'
            f'<inertia ixx="0.01" '
            f'ixy="0" ixz="0" iyy="0.01" iyz="0" izz="{izz}"/></inertial></link>'
        )

    def joint(name, parent, child, x, mimic=''):
        return (
            f'<joint name="{name}" type="continuous"><parent link="{parent}"/>'
            f'<child link="{child}"/>'
            f'<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/>{mimic}</joint>'
        )

    def robot(*mimics):
        return Robot.from_urdf(
            '<robot name="geared">'
            + '<link name="base"/>'
            + link('arm', 0.3, 2.0, 0.4)
            + link('rotor1', 1e-3, 0.3, 0.0)
            + link('forearm', 0.1, 1.0, 0.3)
            + link('rotor2', 2e-3, 0.2, 0.0)
            + joint('q1', 'base', 'arm', 0.0)
            + joint('q2', 'base', 'rotor1', 0.0, mimics[0])
            + joint('q3', 'arm', 'forearm', 0.8)
            + joint('q4', 'arm', 'rotor2', 0.1, mimics[1])
            + '</robot>'
        )

    free = robot('', '')
    assert free.joint_names == ('q1', 'q3', 'q4', 'q2')
    H = free.mass_matrix([0.2, 0.7, -7 * 0.7, 1.0])
    order = [0, 3, 1, 2]  # to q1, q2, q3, q4
    H = H[np.ix_(order, order)]
    assert np.all(
        H[[0, 1, 1, 2], [1, 2, 3, 3]] == 0.0
    )  # pattern of the seed: H12 = H23 = H24 = H34 = 0
    geared = robot(
        f'<mimic joint="q1" multiplier="{r1}"/>', f'<mimic joint="q3" multiplier="{r2}"/>'
    )
    coupling = H[0, 2] + r2 * H[0, 3]
    expected = [[H[0, 0] + r1**2 * H[1, 1], coupling], [coupling, H[2, 2] + r2**2 * H[3, 3]]]
    assert geared.joint_names == ('q1', 'q3')
    assert_allclose(geared.mass_matrix([0.2, 0.7]), expected, rtol=1e-13)


@pytest.mark.seed('GR03')
def test_armature_adds_to_the_diagonal_of_all_algorithms():
    text = random_trees.tree(40, 5, ('revolute', 'continuous', 'prismatic'))
    plain = Robot.from_urdf(text)
    inertia = dict(zip(plain.joint_names, np.linspace(0.1, 0.9, plain.nv)))
    robot = Robot.from_urdf(text, armature=inertia)
    diagonal = np.array(list(inertia.values()))
    q, v, a = layout.read(text).random_states(np.random.default_rng(0))
    assert_allclose(robot.armature, diagonal)
    assert relative_error(robot.mass_matrix(q), plain.mass_matrix(q) + np.diag(diagonal)) < 1e-14
    tau = robot.inverse_dynamics(q, v, a)
    assert relative_error(tau, plain.inverse_dynamics(q, v, a) + diagonal * a) < 1e-14
    assert_allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-11, atol=1e-11)
    assert relative_error(robot.bias_force(q, v), plain.bias_force(q, v)) < 1e-14
    extra = 0.5 * diagonal @ v**2
    assert robot.energy(q, v).kinetic == pytest.approx(
        plain.energy(q, v).kinetic + extra, rel=1e-13
    )


@pytest.mark.seed('GR03', 'GR01')
def test_armature_of_a_mimic_joint_is_reflected():
    text = geared_pair(4.0)
    robot = Robot.from_urdf(text, armature={'joint1': 0.5, 'motor': 0.01})
    assert_allclose(robot.armature, [0.5 + 16 * 0.01])
    assert_allclose(robot.mass_matrix([0.0]), [[0.35 + 0.5 + 0.16]], rtol=1e-14)


def test_armature_of_an_unknown_joint_is_rejected():
    with pytest.raises(ValueError, match='elbow'):
        Robot.from_urdf(TREES[0], armature={'elbow': 1.0})


@pytest.mark.parametrize('value', [-1.0, float('nan'), float('inf'), 'much'])
def test_impossible_armature_is_rejected(value):
    with pytest.raises(ValueError):
        Robot.from_urdf(TREES[0], armature={'joint1': value})


@pytest.mark.seed('BL12')
def test_damping_and_friction_stay_out_of_the_rigid_body_algorithms():
    """They are kept for the simulator; dynamics is that of the frictionless robot."""
    plain_text = TREES[0]
    damped_text = plain_text.replace('<axis', '<dynamics damping="3.0" friction="2.0"/><axis')
    plain, damped = Robot.from_urdf(plain_text), Robot.from_urdf(damped_text)
    assert np.all(damped.damping >= 3.0) and np.all(damped.friction >= 2.0)
    assert not np.any(plain.damping) and not np.any(plain.friction)
    q, v, a = layout.read(plain_text).random_states(np.random.default_rng(0))
    assert np.array_equal(damped.inverse_dynamics(q, v, a), plain.inverse_dynamics(q, v, a))
    assert np.array_equal(damped.forward_dynamics(q, v, a), plain.forward_dynamics(q, v, a))
    assert damped.energy(q, v) == plain.energy(q, v)


def motorised_arm(rotors=None, rho=1.0):
    """Return three-link arm in space; each motor sits on the link before the one that it moves.

    :param rotors: whether the motors have rotors, and their inertia about their axes [kg m^2];
        else they are dead masses on the links that carry them
    :param rho: gear ratio, rotor by link
    """
    links, joints, previous = ['<link name="base"/>'], [], 'base'
    axes = ('0 0 1', '0 1 0', '0.6 0 0.8')
    for i, axis in enumerate(axes, start=1):
        motor = f'{i}th_motor'
        inertia = 'ixx="{0}" iyy="{0}" izz="{0}" ixy="0" ixz="0" iyz="0"'.format(rotors or 0.0)
        links.append(
            f'<link name="link{i}"><inertial><origin xyz="0.2 0.03 -0.05"/>'
            f'<mass value="{3 - i / 2}"/>'
            '<inertia ixx="0.02" iyy="0.05" izz="0.06" ixy="0.003" ixz="0" iyz="-0.004"/>'
            '</inertial></link>'
            f'<link name="{motor}"><inertial><mass value="0.3"/><inertia {inertia}/></inertial>'
            '</link>'
        )
        kind = 'continuous' if rotors else 'fixed'
        mimic = f'<axis xyz="{axis}"/><mimic joint="joint{i}" multiplier="{rho!r}"/>'
        place = '0.4 0 0' if i > 1 else '0 0 0.3'
        joints.append(
            f'<joint name="joint{i}" type="continuous"><parent link="{previous}"/>'
            f'<child link="link{i}"/><origin xyz="{place}"/><axis xyz="{axis}"/></joint>'
            f'<joint name="motor{i}" type="{kind}"><parent link="{previous}"/>'
            f'<child link="{motor}"/><origin xyz="{place}"/>{mimic if rotors else ""}</joint>'
        )
        previous = f'link{i}'
    return f'<robot name="motorised">{"".join(links)}{"".join(joints)}</robot>'


@pytest.mark.seed('GR03', kind='full')
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_armature_is_the_limit_of_small_fast_rotors(sign):
    """Rotors as bodies on gears (exact), and their inertia rho^2 I on the diagonal (example 9.5).

    What armature neglects is of the order of rho I: couplings of rotors to the links that carry
    them, and gyroscopic torques. With rho^2 I the same it goes as 1/rho.
    """
    reflected = 0.08
    state = np.random.default_rng(4).normal(size=(3, 3))
    q, v, tau = state[0], 2.0 * state[1], 5.0 * state[2]
    joints = {f'joint{i}': reflected for i in (1, 2, 3)}
    quick = Robot.from_urdf(motorised_arm(), armature=joints)
    none = Robot.from_urdf(motorised_arm())
    approximate = quick.forward_dynamics(q, v, tau)
    errors = []
    for rho in (10.0, 100.0, 1000.0):
        exact = Robot.from_urdf(motorised_arm(reflected / rho**2, sign * rho))
        assert exact.nv == 3
        found = exact.forward_dynamics(q, v, tau)
        errors.append(np.abs(found - approximate).max())
        torque = exact.inverse_dynamics(q, v, found) - quick.inverse_dynamics(q, v, found)
        assert 0.0 < np.abs(torque).max() < 20.0 * reflected / rho * (1.0 + np.abs(v).max() ** 2)
    assert 0.05 < errors[1] / errors[0] < 0.2 and 0.05 < errors[2] / errors[1] < 0.2
    assert errors[2] < 1e-2 * np.abs(approximate).max()
    assert np.abs(none.forward_dynamics(q, v, tau) - approximate).max() > 10 * errors[0]
    assert np.abs(quick.forward_dynamics(q, v, quick.inverse_dynamics(q, v, tau)) - tau).max() < (
        1e-11
    )
