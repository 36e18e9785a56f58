# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Process that expands xacro: it evaluates expressions of a file within limits.

Limits of memory and processor time end infinite expansions, and xacro's warnings stay in it.
"""

from __future__ import annotations

from io import StringIO
import json
import os
import re
import resource
import sys
from types import ModuleType
from typing import Any, Dict, List, Optional, Set

from rbd_ros.bounded_files import MAX_TEXT, read_text
from rbd_ros.model.urdf.mesh_paths import MeshPaths

#: Maximum processor time [s] and memory [bytes].
MAX_TIME = 60
MAX_MEMORY = 4 << 30


class _Arguments(Dict[str, str]):
    """Arguments by name that record which of them are used."""

    def __init__(self, given: Dict[str, str]):
        super().__init__(given)
        self.requested: Set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.requested.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.requested.add(name)
        return super().__getitem__(name)


class _PackageNotFoundError(KeyError):
    def __str__(self) -> str:
        return str(self.args[0])


def main(request: Dict[str, Any]) -> None:
    """Write the expanded document, or the reason of a failure, as JSON to the standard output.

    :param request: `file` or `text`; `arguments` by name; `package_paths`
    """
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_TIME, MAX_TIME))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    answer: Dict[str, Any]
    try:
        answer = _expanded(request)
    except MemoryError:
        answer = {'error': f'it takes more than {MAX_MEMORY} bytes of memory'}
    except RecursionError:
        answer = {'error': 'its macros call each other without end'}
    except Exception as error:  # an expression in the file may raise anything
        cause = getattr(error, 'exc', None)
        if isinstance(cause, OSError) and cause.filename:  # xacro says it twice
            reason = f'{cause.filename}: {cause.strerror}'
        else:
            reason = ' '.join(str(error).split()) or type(error).__name__
        answer = {'error': reason, **_place(request)}
    json.dump(answer, sys.stdout)


def _expanded(request: Dict[str, Any]) -> Dict[str, Any]:
    try:
        import xacro
    except ImportError:
        return {'missing': True}

    file: Optional[str] = request['file']
    _find_packages(MeshPaths(file and os.path.dirname(file), request['package_paths']))
    # Included files, and those read by expressions, must be regular and bounded as well.
    xacro.open = lambda name: StringIO(read_text(name, MAX_TEXT, 'utf-8-sig').lstrip())
    given: Dict[str, str] = request['arguments']
    arguments = _Arguments(given)
    xacro.init_stacks(file)
    includes: List[str] = []
    xacro.all_includes = includes
    document = xacro.parse(None, file) if file else xacro.parse(request['text'])
    xacro.process_doc(document, mappings=arguments)
    files = [file, *includes] if file else includes
    unknown = [name for name in given if name not in arguments.requested]
    if unknown:
        texts = [request['text'] or '', *(read_text(each, MAX_TEXT) for each in files)]
        # Whether one is used may depend on another one.
        known = _named(texts)
        unknown = [name for name in unknown if name not in known]
        if unknown:
            return {'unknown': unknown, 'known': sorted(known)}
    return {'urdf': document.toprettyxml(indent='  ')}


def _named(texts: List[str]) -> Set[str]:
    """Return the arguments that are declared or used anywhere in files."""
    found: Set[str] = set()
    for text in texts:
        found.update(re.findall(r'<xacro:arg\b[^>]*?\bname\s*=\s*["\'](\w+)["\']', text))
        found.update(re.findall(r'\$\(\s*arg\s+(\w+)\s*\)', text))
    return found


def _find_packages(paths: MeshPaths) -> None:
    """Resolve $(find package) like package://."""

    def get_package_share_directory(package: str, *_: Any, **__: Any) -> str:
        found = paths.package(package)
        if found is None:
            raise _PackageNotFoundError(f'there is no package {package!r}')
        return found

    packages: Any = ModuleType('ament_index_python.packages')
    packages.get_package_share_directory = get_package_share_directory
    packages.PackageNotFoundError = _PackageNotFoundError
    index: Any = ModuleType('ament_index_python')
    index.packages = packages
    index.get_package_share_directory = get_package_share_directory
    index.PackageNotFoundError = _PackageNotFoundError
    sys.modules['ament_index_python'] = index
    sys.modules['ament_index_python.packages'] = packages


def _place(request: Dict[str, Any]) -> Dict[str, str]:
    """Return the file of the xacro error, if it is another one."""
    xacro: Any = sys.modules.get('xacro')
    files = getattr(xacro, 'filestack', None) or []
    inner = files[-1] if files else None
    return {'place': inner} if inner and inner != request['file'] else {}
