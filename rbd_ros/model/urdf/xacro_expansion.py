# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Expansion of xacro in a separate process."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
import re
import signal
import subprocess
import sys
from typing import Any, Dict, Iterable, Mapping, Optional

from rbd_ros.model.errors import did_you_mean, ModelError, similar_names

#: Maximum wall time of the process, including file access [s].
MAX_WAIT = 600.0

# xacro's message about a missing argument.
_MISSING = re.compile(r'Undefined substitution argument (\w+)')
_PACKAGE = re.compile(r"there is no package '[^']*'")
_START = (
    'import json, sys; request = json.load(sys.stdin); sys.path[:] = request["path"]; '
    'from rbd_ros.model.urdf.xacro_process import main; main(request)'
)


def expand_xacro(
    file: Optional[str],
    text: Optional[str] = None,
    arguments: Optional[Mapping[str, str]] = None,
    package_paths: Iterable[Any] = (),
) -> str:
    """Return the URDF from xacro in a file or a text.

    :param file: path of the file, None for a text
    :param text: the document, without a file
    :param arguments: arguments by name
    :param package_paths: directories that are searched first for packages, see `MeshPaths`
    :raises ModelError: if xacro is missing or cannot expand it, or an argument is unknown
    """
    label = 'the description' if file is None else file
    missing = (
        f'{label} needs the Python package xacro, which is not installed: apt install '
        'ros-$ROS_DISTRO-xacro, or pip install xacro'
    )
    if importlib.util.find_spec('xacro') is None:
        raise ModelError(missing)
    root = str(Path(__file__).resolve().parents[3])
    request = {
        'path': [root, *sys.path],
        'file': file,
        'text': text,
        'arguments': dict(arguments or {}),
        'package_paths': [str(each) for each in package_paths],
    }
    try:
        done = subprocess.run(
            [sys.executable, '-S', '-c', _START],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            encoding='utf-8',
            timeout=MAX_WAIT,
        )
        answer = json.loads(done.stdout) if done.stdout else {}
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise ModelError(f'xacro cannot expand {label}: {error}; run xacro first') from None
    if 'urdf' in answer:
        return str(answer['urdf'])
    raise ModelError(
        missing if 'missing' in answer else _problem(label, answer, done.returncode, done.stderr)
    )


def _problem(label: str, answer: Dict[str, Any], code: int, output: str) -> str:
    if 'unknown' in answer:
        name, known = answer['unknown'][0], answer['known']
        there = f'there are {", ".join(known)}' if known else 'there is none'
        cure = did_you_mean(similar_names(name, known)) or '; leave it out'
        return f'{label}: no file has the xacro argument {name!r}, {there}{cure}'
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return (
            f'xacro cannot expand {label}: the expansion takes too long; correct its loops and '
            'recursion'
        )
    reason = answer.get('error') or (output.strip().splitlines() or [f'it ended with {code}'])[-1]
    missing, package = _MISSING.search(reason), _PACKAGE.search(reason)
    if missing:
        cure = f'give the file its argument {missing[1]}, as {missing[1]}:=VALUE'
    elif package:
        reason = package[0]  # xacro says it twice
        cure = (
            'give the folder that holds it as a package path (--package-path, package_paths, '
            'ROS_PACKAGE_PATH), or source its workspace'
        )
    else:
        cure = f'correct it until "xacro {label}" prints a URDF'
    place = f' (in {answer["place"]})' if 'place' in answer else ''
    return f'xacro cannot expand {label}: {reason}{place}; {cure}'
