# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""An FMU as an archive: description, sources, and a binary if there is a C compiler."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
import platform
import shutil
import subprocess
import sys
import tempfile
from typing import Dict, NamedTuple, Optional
import zipfile

from rbd_ros.compiler.targets.c99_library import library_name
from rbd_ros.contact import HalfSpace
from rbd_ros.fmi import functions, interface
from rbd_ros.fmi.description import build_description, model_description, page
from rbd_ros.fmi.physics_source import physics_source
from rbd_ros.fmi.variables import variables
from rbd_ros.robot import Robot
from rbd_ros.simulation.physics import IntegratorName

_MACHINES = {'x86_64': 'x86_64', 'amd64': 'x86_64', 'aarch64': 'aarch64', 'arm64': 'aarch64'}
# No fused multiply-add: results are those of the source on every processor.
_OPTIONS = ['-std=c99', '-O2', '-ffp-contract=off', '-fPIC', '-shared', '-fvisibility=hidden']
_DATE = (1980, 1, 1, 0, 0, 0)  # deterministic archives


class Fmu(NamedTuple):
    """The content of an FMU.

    :param identifier: name of the binary, a valid C name
    :param files: texts by path in the archive
    :param stack: maximum stack size of a kernel [bytes]
    """

    identifier: str
    files: Dict[str, str]
    stack: int

    def archive(self, binaries: Optional[Dict[str, bytes]] = None) -> bytes:
        """Return the bytes of the archive.

        :param binaries: further files by path
        """
        content = {name: text.encode() for name, text in self.files.items()}
        content.update(binaries or {})
        made = io.BytesIO()
        with zipfile.ZipFile(made, 'w', zipfile.ZIP_DEFLATED) as archive:
            for name, data in content.items():
                info = zipfile.ZipInfo(name, _DATE)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o644 << 16
                archive.writestr(info, data)
        return made.getvalue()


def make_fmu(
    robot: Robot,
    timestep: float = 1e-3,
    integrator: Optional[IntegratorName] = None,
    ground: Optional[HalfSpace] = None,
    name: Optional[str] = None,
    tool: str = 'rbd_ros',
) -> Fmu:
    """Return the robot as an FMU with the steps of `rbd_ros.Simulator`.

    :param timestep: h; communication steps are multiples of it [s]
    :param integrator: one of simulation/integrators; None: as in `Simulator`
    :param ground: compliant ground; None: none; FMUs have no rigid contact
    :param name: name of the binary, a valid C name; None: the robot's name
    :param tool: generation tool in the description
    :raises ValueError: for an invalid argument, or loops that cannot be closed
    :raises ModelError: for a model that cannot be simulated: joints that depend on time
    """
    identifier = library_name(robot.model.name) if name is None else name
    if library_name(identifier) != identifier.lower() or not identifier.isascii():
        raise ValueError(f'{identifier!r} is not a valid name in C')
    made = physics_source(robot, timestep, integrator, ground)
    declared = variables(robot, made.start)
    files = {'fmi3Interface.h': interface.header(), **made.files}
    start = f'#define START_POSITIONS {{{", ".join(map(repr, made.start))}}}\n\n'
    files['simulation.h'] = files['simulation.h'].replace('/* Members', f'{start}/* Members', 1)
    digest = hashlib.sha256('\0'.join([repr(declared), *files.values()]).encode())
    token = f'{{{digest.hexdigest()[:32]}}}'
    files['fmu.c'] = functions.source(token)
    about = (
        f'Rigid-body dynamics of {robot.name}: torque in, joint state out. Steps of {timestep:g} '
        f's, {made.integrator.replace("_", "-")}'
        f'{", soft contact with the ground" if ground else ", no contact"}.'
    )
    description = model_description(
        robot.name, identifier, token, declared, float(timestep), tool, about
    )
    sources = [file for file in files if file.endswith('.c')]
    content = {
        'modelDescription.xml': description,
        'documentation/index.html': page(robot.name, about, declared),
        'sources/buildDescription.xml': build_description(identifier, sources),
        **{f'sources/{file}': text for file, text in files.items()},
    }
    return Fmu(identifier, content, made.stack)


def compile_fmu(fmu: Fmu) -> Dict[str, bytes]:
    """Return the binary of an FMU for this machine by path; empty without C compiler or Linux.

    :raises RuntimeError: if the compiler fails
    """
    compiler = shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')
    machine = _MACHINES.get(platform.machine().lower())
    if compiler is None or machine is None or not sys.platform.startswith('linux'):
        return {}
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        for name, text in fmu.files.items():
            if name.startswith('sources/') and not name.endswith('.xml'):
                path = Path(folder, Path(name).name)
                path.write_text(text, encoding='utf-8')
                sources += [str(path)] * (path.suffix == '.c')
        target = Path(folder, f'{fmu.identifier}.so')
        command = [compiler, *_OPTIONS, '-o', str(target), *sources, '-lm']
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(
                f'{compiler} cannot compile the sources: {done.stderr.strip()[:500]}'
            )
        return {f'binaries/{machine}-linux/{target.name}': target.read_bytes()}
