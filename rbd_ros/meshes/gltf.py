# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""glTF 2.0 files (.glb, .gltf), checked here and read by trimesh.

The data for trimesh refers to no files, and has checked sizes only.
"""

from __future__ import annotations

from base64 import b64decode
import json
import os
from pathlib import Path
import re
import struct
from typing import Any, Dict, List, Set, Tuple
from urllib.parse import unquote, urlsplit

import numpy as np

from rbd_ros.bounded_files import read_bytes
from rbd_ros.meshes.collada import MAX_DEPTH, MAX_ELEMENTS, MAX_INSTANCES
from rbd_ros.meshes.library import load_trimesh, scene_parts
from rbd_ros.meshes.triangles import MAX_FILE_SIZE, MAX_PARTS, MAX_TRIANGLES, Triangles

#: From glTF axes, with y up, to those of ROS, with z up.
_UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])

_MAGIC, _JSON, _BINARY = b'glTF', b'JSON', b'BIN\0'
#: Sizes of number types [bytes], and counts of numbers per element.
_SIZES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_COUNTS = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4, 'MAT2': 4, 'MAT3': 9, 'MAT4': 16}
_FLOAT, _TRIANGLES, _STRIP, _FAN = 5126, 4, 5, 6
#: Extensions that do not change shapes.
_HARMLESS = re.compile(r'[A-Z]+_(materials|texture|lights)_\w+')


def read_gltf(path: Path) -> List[Triangles]:
    """Return the parts of the scene, in m and rotated so that z is up, as in RViz.

    Textures, vertex colors, skins and animations are ignored.

    :raises MeshError: without trimesh
    :raises ValueError: if the file is damaged, compressed, or refers to files elsewhere
    :raises OSError: if it, or a referenced file, cannot be read
    """
    trimesh = load_trimesh(path)
    data = read_bytes(path, MAX_FILE_SIZE)
    try:
        document, binary = _document(data)
        buffers = _buffers(document, binary, path.parent)
        _check(document)
    except (TypeError, AttributeError) as error:
        raise ValueError(f'it is not valid glTF: {error}') from error
    except RecursionError:
        raise ValueError('the JSON of the file is nested too deeply') from None
    named = {str(k): data for k, data in enumerate(buffers)}
    document['buffers'] = [{'uri': name} for name in named]
    parts = scene_parts(trimesh, json.dumps(document).encode(), 'gltf', named)
    return [Triangles(part.vertices @ _UPRIGHT.T, part.corners, part.color) for part in parts]


def _document(data: bytes) -> Tuple[Dict[str, Any], bytes]:
    """Return the document of a file, and the binary part of a GLB file."""
    binary = b''
    if data[:4] == _MAGIC:
        at = 12
        chunks: Dict[bytes, bytes] = {}
        while at + 8 <= len(data):
            size, kind = struct.unpack_from('<I4s', data, at)
            chunks.setdefault(kind, data[at + 8 : at + 8 + size])
            at += 8 + size
        if _JSON not in chunks or at > len(data):
            raise ValueError('its chunks do not have the declared length')
        data, binary = chunks[_JSON], chunks.get(_BINARY, b'')
    if len(data) - len(data.translate(None, b'[{,')) > MAX_ELEMENTS:
        raise ValueError(f'it has more than {MAX_ELEMENTS} values')
    document = json.loads(data)
    version = document.get('asset', {}).get('version')
    if not str(version).startswith('2.'):
        raise ValueError(f'it has version {version}; export it as version 2.0')
    return document, binary


def _buffers(document: Dict[str, Any], binary: bytes, folder: Path) -> List[bytes]:
    """Return the content of the buffers: of the file itself, or of files in its folder."""
    found: List[bytes] = []
    for k, each in enumerate(document.get('buffers', ())):
        uri, left = each.get('uri'), MAX_FILE_SIZE - sum(map(len, found))
        if uri is None:
            found.append(binary if k == 0 else b'')
        elif uri.startswith('data:'):
            found.append(b64decode(uri.partition('base64,')[2]))
        else:
            name, parts = os.path.normpath(unquote(uri)), urlsplit(uri)
            if parts.scheme or parts.netloc or os.path.isabs(name) or name.startswith('..'):
                raise ValueError(f'it names {uri[:200]!r}, which is outside its folder')
            found.append(read_bytes(folder / name, left))
    return found


def _check(document: Dict[str, Any]) -> None:
    """Reject ambiguous or unbounded content, and remove content that is not drawn.

    :raises ValueError: for rejected content
    """
    for name in document.get('extensionsRequired', ()):
        if not _HARMLESS.fullmatch(name):
            raise ValueError(
                f'it needs the extension {name[:80]}, which is not supported; export it without '
                'compression'
            )
    accessors = document.get('accessors', [])
    views = sum(_whole(each['byteLength']) for each in document.get('bufferViews', ()))
    size = sum(
        _whole(each['count']) * _SIZES[each['componentType']] * _COUNTS[each['type']]
        for each in accessors
    )
    if max(views, size) > MAX_FILE_SIZE:
        raise ValueError(f'it has more than {MAX_FILE_SIZE} bytes of numbers')
    sizes: List[Tuple[int, int]] = []  # numbers of parts and triangles of each mesh
    for mesh in document.get('meshes', ()):
        count = 0
        # Lines and points are not surfaces.
        shapes = [each for each in mesh['primitives'] if each.get('mode', _TRIANGLES) > 3]
        for shape in shapes:
            shape.pop('extensions', None)
            if shape.get('mode', _TRIANGLES) == _FAN:
                raise ValueError('it has triangle fans, which are not supported; export triangles')
            places = accessors[shape['attributes']['POSITION']]
            if places['componentType'] != _FLOAT or places['type'] != 'VEC3':
                raise ValueError(
                    'it has positions that are not three floats; export it without compression'
                )
            shape['attributes'] = {'POSITION': shape['attributes']['POSITION']}
            used = [places, *([accessors[shape['indices']]] if 'indices' in shape else [])]
            if any('sparse' in each or 'bufferView' not in each for each in used):
                raise ValueError(
                    'it has sparse accessors, which are not supported; export it without them'
                )
            # A strip has a triangle for each corner.
            count += used[-1]['count'] // (1 if shape.get('mode') == _STRIP else 3)
        mesh['primitives'] = shapes
        sizes.append((len(shapes), count))
    _check_nodes(document, sizes)
    for material in document.get('materials', ()):
        metallic = material.get('pbrMetallicRoughness', {})
        factor = metallic.get('baseColorFactor')
        material.clear()
        if factor and 'baseColorTexture' not in metallic:
            material['pbrMetallicRoughness'] = {'baseColorFactor': factor}
    for name in ('images', 'textures', 'samplers', 'cameras', 'skins', 'animations'):
        document.pop(name, None)


def _check_nodes(document: Dict[str, Any], sizes: List[Tuple[int, int]]) -> None:
    nodes, scenes = document.get('nodes', []), document.get('scenes', [])
    level = list(scenes[document.get('scene', 0)].get('nodes', ())) if scenes else []
    if len(nodes) > MAX_INSTANCES:
        raise ValueError(f'it has more than {MAX_INSTANCES} nodes')
    seen: Set[int] = set()
    parts = triangles = depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f'nodes are nested more than {MAX_DEPTH} deep')
        for k in level:
            if _whole(k) in seen:
                raise ValueError(f'node {k} is in the scene twice')
            seen.add(k)
            nodes[k].pop('camera', None)
            if 'mesh' in nodes[k]:
                parts += sizes[nodes[k]['mesh']][0]
                triangles += sizes[nodes[k]['mesh']][1]
        level = [child for k in level for child in nodes[k].get('children', ())]
    if triangles > MAX_TRIANGLES:
        raise ValueError(f'with all instances it has more than {MAX_TRIANGLES} triangles')
    if parts > MAX_PARTS:
        raise ValueError(f'with all instances it has more than {MAX_PARTS} parts')


def _whole(number: Any) -> int:
    if not isinstance(number, int) or number < 0:
        raise ValueError(f'{number!r} is not a valid number')
    return number
