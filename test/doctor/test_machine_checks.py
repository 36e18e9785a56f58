# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Findings about the machine, from simulated system information."""

from importlib import metadata
import os
import re
import resource

import pytest
from support import outside
from support.source_imports import ROOT

from rbd_ros.doctor.machine import (
    cache_finding,
    CAP_IPC_LOCK,
    check_machine,
    compiler_finding,
    cores_finding,
    governor_finding,
    installed_middleware,
    library_findings,
    LOCKED_MEMORY,
    OLDEST,
    OLDEST_PYTHON,
    python_finding,
    real_time_findings,
    ros_findings,
)


def by_subject(findings):
    return {finding.subject: finding for finding in findings}


def test_oldest_versions_are_those_of_the_package():
    text = (ROOT / 'setup.py').read_text(encoding='utf-8')
    declared = dict(re.findall(r"'([\w-]+)>=([\d.]+)'", text))
    for name, oldest in OLDEST.items():
        assert declared[name] == '.'.join(map(str, oldest))
    assert f"python_requires='>={'.'.join(map(str, OLDEST_PYTHON))}'" in text


def test_every_warning_and_error_has_a_cure():
    assert all(finding.cure for finding in check_machine() if finding.level != 'ok')


@pytest.mark.parametrize(
    ('version', 'level'),
    [((3, 9), 'error'), ((3, 10), 'ok'), ((3, 14), 'ok'), ((3, 15), 'warn'), ((4, 0), 'warn')],
)
def test_versions_of_python(version, level):
    assert python_finding(version).level == level
    assert python_finding().level in ('ok', 'warn')


def test_versions_of_libraries():
    versions = {'numpy': '1.21.0rc1', 'scipy': '1.10.1', 'llvmlite': '0.36.9', 'pyyaml': '5.3'}

    def version(name):
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    levels = {f.subject: f.level for f in library_findings(version)}
    assert levels == {
        'numpy': 'ok',
        'scipy': 'ok',
        'llvmlite': 'error',
        'pyyaml': 'error',
        'matplotlib': 'error',
    }
    del versions['llvmlite']
    assert by_subject(library_findings(version))['llvmlite'].level == 'warn'


def test_a_missing_compiler_is_reported_with_its_reason():
    assert compiler_finding(None).level == 'ok'
    missing = compiler_finding('llvmlite is not installed (pip install llvmlite)')
    assert missing.level == 'warn' and missing.message.startswith('llvmlite is not installed')
    assert missing.cure == 'pip install -U llvmlite'
    assert compiler_finding('RBD_ROS_COMPILER is off').cure == 'unset RBD_ROS_COMPILER'


def test_a_missing_cache_is_reported(tmp_path):
    assert str(tmp_path) in cache_finding(lambda: tmp_path).message
    assert 'RBD_ROS_CACHE_DIR' in cache_finding(lambda: None).cure


@pytest.mark.parametrize(
    ('priority', 'memory', 'user', 'levels'),
    [
        (0, 65536, 1000, ['warn', 'warn']),
        (0, 65536, 0, ['ok', 'ok']),
        (99, 2**40, 1000, ['ok', 'ok']),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, 1000, ['ok', 'ok']),
        (1, LOCKED_MEMORY - 1, 1000, ['ok', 'warn']),
        (1, LOCKED_MEMORY, 1000, ['ok', 'ok']),
    ],
)
def test_permissions_of_real_time(priority, memory, user, levels):
    def limit(kind):
        # the soft limit can be raised to the hard one
        return 0, priority if kind == resource.RLIMIT_RTPRIO else memory

    assert [finding.level for finding in real_time_findings(limit, user)] == levels


@pytest.mark.parametrize(
    ('capabilities', 'levels'),
    [
        (1 << 14 | 1 << 23, ['ok', 'ok']),
        (~(1 << 14), ['ok', 'warn']),
        (~(1 << 23), ['warn', 'ok']),
        (0, ['warn', 'warn']),
    ],
)
def test_root_has_the_capabilities_of_the_container(capabilities, levels):
    found = real_time_findings(lambda kind: (0, 0), 0, capabilities)
    assert [finding.level for finding in found] == levels


def test_the_limits_are_those_of_the_option_of_nodes():
    realtime = outside.load('rbd_ros.nodes.common.realtime')
    assert realtime.ENOUGH_MEMORY == LOCKED_MEMORY
    assert realtime.CAP_IPC_LOCK == CAP_IPC_LOCK


def test_cores_that_can_be_named_are_reported():
    assert cores_finding([2, 1]).message == 'this process may use 1, 2'
    found = by_subject(check_machine())['cores']
    assert found.level == 'ok'
    assert found.message == 'this system does not report it' or found.message.endswith(
        ', '.join(map(str, sorted(os.sched_getaffinity(0))))
    )


def test_governors_that_save_power_are_reported(tmp_path):
    assert governor_finding(str(tmp_path)).level == 'ok'
    for number, name in enumerate(('performance', 'powersave')):
        folder = tmp_path / f'cpu{number}' / 'cpufreq'
        folder.mkdir(parents=True)
        (folder / 'scaling_governor').write_text(f'{name}\n')
        level = governor_finding(str(tmp_path)).level
        assert level == ('ok' if name == 'performance' else 'warn')


def test_without_rclpy_nothing_else_is_reported_about_ros():
    (finding,) = ros_findings({'ROS_DOMAIN_ID': 'x'}, rclpy=False)
    assert (finding.subject, finding.level) == ('rclpy', 'warn') and 'pip install' in finding.cure


@pytest.mark.parametrize(
    ('domain', 'level'),
    [
        *[('', 'ok'), ('0', 'ok'), ('101', 'ok'), ('102', 'warn'), ('232', 'warn')],
        *[
            ('233', 'error'),
            ('-1', 'error'),
            ('seven', 'error'),
            ('1.5', 'error'),
            (' 7', 'error'),
        ],
    ],
)
def test_domains(domain, level):
    finding = by_subject(ros_findings({'ROS_DOMAIN_ID': domain}, rclpy=True))['ROS_DOMAIN_ID']
    assert finding.level == level and bool(finding.cure) == (level != 'ok')


@pytest.mark.parametrize(
    ('environment', 'level', 'what'),
    [
        ({}, 'ok', 'whole local network'),
        ({'ROS_LOCALHOST_ONLY': '1'}, 'ok', 'this machine only'),
        ({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}, 'ok', 'this machine only'),
        ({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'}, 'ok', 'whole local network'),
        ({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'OFF'}, 'warn', 'not even on this machine'),
        ({'ROS_AUTOMATIC_DISCOVERY_RANGE': 'localhost'}, 'error', 'unknown value'),
        ({'RMW_IMPLEMENTATION': 'rmw_zenoh_cpp'}, 'ok', 'as configured in Zenoh'),
        (
            {'RMW_IMPLEMENTATION': 'rmw_zenoh_cpp', 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'},
            'warn',
            'rmw_zenoh_cpp does not read ROS_AUTOMATIC_DISCOVERY_RANGE',
        ),
        (
            {'RMW_IMPLEMENTATION': 'rmw_zenoh_cpp', 'ROS_LOCALHOST_ONLY': '1'},
            'warn',
            'rmw_zenoh_cpp does not read ROS_LOCALHOST_ONLY',
        ),
    ],
)
def test_discovery(environment, level, what):
    finding = by_subject(ros_findings(environment, rclpy=True))['discovery']
    assert finding.level == level and what in finding.message


def test_the_middleware_and_the_distribution_are_named():
    names = {'RMW_IMPLEMENTATION': 'rmw_cyclonedds_cpp', 'ROS_DISTRO': 'jazzy'}
    found = by_subject(ros_findings(names, rclpy=True, installed=()))
    assert found['RMW'].message == 'rmw_cyclonedds_cpp' and 'jazzy' in found['rclpy'].message


def test_a_middleware_that_is_not_installed_is_an_error():
    names = {'RMW_IMPLEMENTATION': 'rmw_cyclonedds_cpp', 'ROS_DISTRO': 'jazzy'}
    installed = ['rmw_zenoh_cpp', 'rmw_fastrtps_cpp']
    finding = by_subject(ros_findings(names, rclpy=True, installed=installed))['RMW']
    assert finding.level == 'error' and 'rmw_fastrtps_cpp, rmw_zenoh_cpp' in finding.message
    assert 'ros-jazzy-rmw-cyclonedds-cpp' in finding.cure
    for installed in ([], ['rmw_cyclonedds_cpp']):
        finding = by_subject(ros_findings(names, rclpy=True, installed=installed))['RMW']
        assert finding.level == 'ok'
    finding = by_subject(ros_findings({}, rclpy=True, installed=['rmw_zenoh_cpp']))['RMW']
    assert finding.level == 'ok' and finding.message.endswith('(installed: rmw_zenoh_cpp)')


def test_installed_middleware_is_found_in_the_prefixes(tmp_path):
    for place, name in (('a', 'rmw_zenoh_cpp'), ('b', 'rmw_x'), ('b', 'rmw_implementation')):
        folder = tmp_path / place / 'share' / 'ament_index' / 'resource_index' / 'rmw_typesupport'
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    prefixes = os.pathsep.join(str(tmp_path / place) for place in ('a', 'none', 'b'))
    here = installed_middleware({})
    assert set(installed_middleware({'AMENT_PREFIX_PATH': prefixes})) == {
        'rmw_x',
        'rmw_zenoh_cpp',
        *here,
    }
    assert 'rmw_implementation' not in installed_middleware({'AMENT_PREFIX_PATH': prefixes})
    found = ros_findings(
        {'RMW_IMPLEMENTATION': 'rmw_x', 'AMENT_PREFIX_PATH': prefixes}, rclpy=True
    )
    assert by_subject(found)['RMW'].level == 'ok'
