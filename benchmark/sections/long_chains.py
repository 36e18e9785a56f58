# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Large mechanisms: time to compile a function of 200 joints."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
import tempfile
from typing import List

from measurement.first_call import first_calls
from rows import Row

from sections.section import Section, Tools

NAME = 'long_chains'
_JOINTS = 200
_FUNCTIONS = (
    'inverse_dynamics',
    'mass_matrix',
    'forward_dynamics',
    'gravity_torque',
    'bias_force',
    'coriolis_matrix',
    'forward_kinematics',
    'energy',
    'center_of_mass',
    'inverse_dynamics_derivatives',
    'operational_inertia',
)
_LINK = """
<link name="link{k}"><inertial><origin xyz="0.02 0.01 0.1"/><mass value="{mass}"/>
<inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.012" iyz="0" izz="0.005"/></inertial></link>"""
_JOINT = """
<joint name="joint{k}" type="continuous"><parent link="link{k}"/><child link="link{next}"/>
<origin xyz="0 0.01 0.1" rpy="{roll} 0.2 0.1"/><axis xyz="{axis}"/></joint>"""


def chain(joints: int) -> str:
    """Return the URDF of a chain of revolute joints about alternating axes."""
    axes = ('0 0 1', '0 1 0', '1 0 0')
    links = [_LINK.format(k=k, mass=1.0 + 0.01 * k) for k in range(joints + 1)]
    between = [
        _JOINT.format(k=k, next=k + 1, roll=0.1 * (k % 5), axis=axes[k % 3]) for k in range(joints)
    ]
    return f'<robot name="chain of {joints}">{"".join(links + between)}</robot>'


def _rows() -> List[Row]:
    return [Row(NAME, f'{_JOINTS} joints', name, 's', 5.0) for name in _FUNCTIONS]


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix='rbd_ros-bench-')


def _measure(row: Row, tools: Tools) -> None:
    path = Path(_folder().name) / 'chain.urdf'
    path.write_text(chain(_JOINTS), encoding='utf-8')
    call = first_calls(str(path), row.function, batch=0)['cold']
    row.value = call['call_processor']
    row.detail = {'wall_s': call['call'], 'before_s': call['import'] + call['load']}


SECTION = Section(
    f'First call of a function of a chain of {_JOINTS} joints, nothing cached: processor time',
    _rows,
    _measure,
)
