# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Convex decomposition of meshes by the library coacd, whose parts are cached on disk.

It is collision-aware (Wei et al. 2022), takes up to minutes, and has no bounds of its own: it runs
in another process, which may crash or be ended.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from io import BytesIO
import logging
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory
import time
from typing import List

import numpy as np

from rbd_ros import meshes  # which loads readers of files on first use
from rbd_ros.array_types import FloatArray
from rbd_ros.bounded_files import read_bytes
from rbd_ros.collision.shapes.contact_shapes import ConvexHull
from rbd_ros.compiler import cache
from rbd_ros.model import geometry

#: Maximum number of triangles of a mesh that is decomposed.
MAX_TRIANGLES = 20_000

#: Longest time that it may take [s].
MAX_WAIT = 600.0

#: Logs at WARNING, which is shown by default: a program that waits for minutes must say why.
_log = logging.getLogger('rbd_ros')
_MAX_BYTES = 100_000_000  # of its result
_RUN = """
import sys
folder, threshold, *sys.path = sys.argv[1:]
import coacd
import numpy as np
coacd.set_log_level('off')
mesh = np.load(folder + '/mesh.npz')
mesh = coacd.Mesh(mesh['vertices'], mesh['corners'])
parts = coacd.run_coacd(mesh, threshold=float(threshold), seed=0)
np.savez(folder + '/parts.npz', *(vertices for vertices, _ in parts))
"""


def convex_parts(mesh: geometry.Mesh, threshold: float) -> List[FloatArray]:
    """Return the vertices of convex parts that a mesh is made of, each (N, 3) [m].

    :param mesh: mesh of a file, which is closed
    :param threshold: maximum concavity of a part, relative to half the longest edge of the
        mesh's bounding box, 0.01 to 1
    :raises MeshError: if it cannot be decomposed, naming mesh and cure

    >>> from rbd_ros.collision.shapes.convex_decomposition import convex_parts
    >>> from rbd_ros.model import geometry
    >>> convex_parts(geometry.Mesh('hook.stl', None, (1.0, 1.0, 1.0)), 0.05)
    Traceback (most recent call last):
        ...
    rbd_ros.meshes.triangles.MeshError: hook.stl was not found; add the folder of its package to \
package_paths
    """
    if mesh.path is None:
        raise meshes.MeshError(
            f'{mesh.uri} was not found; add the folder of its package to package_paths'
        )
    triangles = np.ascontiguousarray(meshes.mesh_triangles(mesh.path, mesh.scale), dtype=float)
    key = {
        'triangles': hashlib.sha256(triangles.tobytes()).hexdigest(),
        'threshold': threshold,
        'run': _RUN,
    }
    name = cache.entry_name('convex_parts', 'any', cache.digest(key))
    entry = cache.load(name)
    if entry is None:
        parts = _decomposed(triangles, threshold, mesh.uri)
        header = {'counts': [len(part) for part in parts]}
        content = b''.join(part.tobytes() for part in parts)
        cache.store(name, header, content)
    else:
        header, content = entry
        ends = np.cumsum(header['counts'])[:-1]
        parts = np.split(np.frombuffer(content).reshape(-1, 3), ends)
    return parts


def _decomposed(triangles: FloatArray, threshold: float, name: str) -> List[FloatArray]:
    problem = f'{name} has no convex decomposition'
    if find_spec('coacd') is None:
        raise meshes.MeshError(
            f"{problem}: it needs coacd (pip install 'rbd_ros[decomposition]'); or leave "
            'convex_decomposition out'
        )
    if len(triangles) > MAX_TRIANGLES:
        raise meshes.MeshError(
            f'{problem}: it has {len(triangles)} triangles, more than {MAX_TRIANGLES}; simplify it'
        )
    if not meshes.is_closed(triangles):
        raise meshes.MeshError(f'{problem}: it is not closed; close it')
    _log.warning('decomposing mesh %r into convex parts (once; cached)', name)
    began = time.monotonic()
    vertices, corners = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    with TemporaryDirectory() as folder:
        np.savez(Path(folder, 'mesh.npz'), vertices=vertices, corners=corners.reshape(-1, 3))
        try:
            done = subprocess.run(
                [sys.executable, '-c', _RUN, folder, repr(threshold), *sys.path],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=MAX_WAIT,
            )
            if done.returncode:
                words = done.stderr.decode(errors='replace').strip() or 'no reason given'
                raise OSError(f'coacd ended with {done.returncode}, {words.splitlines()[-1]}')
            content = BytesIO(read_bytes(Path(folder, 'parts.npz'), _MAX_BYTES))
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise meshes.MeshError(
                f'{problem}: {error}; repair or simplify it, or raise the threshold'
            ) from None
    with np.load(content) as found:
        parts = [np.asarray(found[each], dtype=float) for each in found.files]
    solid = [part for part in parts if _encloses_volume(part)]
    if not solid:
        raise meshes.MeshError(f'{problem}: no part has a volume; repair it')
    seconds = time.monotonic() - began
    _log.warning('mesh %r has %d convex parts (%.1f s)', name, len(solid), seconds)
    return solid


def _encloses_volume(points: FloatArray) -> bool:
    try:
        ConvexHull(points)
    except ValueError:
        return False
    return True
