# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The machine and the versions of a measurement, without names of hosts or users."""

from __future__ import annotations

from importlib import metadata
import os
from pathlib import Path
import platform
from typing import Any, Dict, Optional

from rbd_ros import __version__

_PACKAGES = ('numpy', 'llvmlite', 'pin')


def machine() -> Dict[str, Any]:
    """Return facts about this machine: CPU, cores, widest vectors, operating system."""
    return {
        'cpu': _cpu_model(),
        'architecture': platform.machine(),
        'cores': len(os.sched_getaffinity(0))
        if hasattr(os, 'sched_getaffinity')
        else os.cpu_count(),
        'vectors': _widest_vectors(),
        'system': platform.system(),
    }


def versions() -> Dict[str, Optional[str]]:
    """Return the versions of Python, this package and its dependencies; None if not installed."""
    found: Dict[str, Optional[str]] = {'python': platform.python_version(), 'rbd_ros': __version__}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def _cpu_model() -> str:
    for name in ('model name', 'Model', 'Hardware'):
        if value := _cpu_field(name):
            return value
    return platform.processor() or platform.machine()


def _widest_vectors() -> str:
    flags = _cpu_field('flags').split()
    known = (('avx512f', 'AVX-512'), ('avx2', 'AVX2'), ('avx', 'AVX'), ('sse2', 'SSE2'))
    return next((name for flag, name in known if flag in flags), '')


def _cpu_field(name: str) -> str:
    try:
        for line in Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines():
            key, _, value = line.partition(':')
            if key.strip() == name:
                return value.strip()
    except OSError:
        pass
    return ''
