# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mesh files read by trimesh: written by hand, and rejected if hostile."""

from base64 import b64encode
import json
import os
import struct
import sys

import numpy as np
import pytest
from support import outside
from support.mesh_files import box_triangles

from rbd_ros.meshes import (
    gltf,
    is_closed,
    library,
    mesh_triangles,
    mesh_vertices,
    MeshError,
    read_mesh,
)

outside.load('trimesh')

#: A solid that is none of its mirror images.
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], dtype=float)
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
DATA = TETRAHEDRON.astype('<f4').tobytes() + np.array(FACES, '<u2').tobytes()


def document(**more):
    """Return the document of glTF with one tetrahedron."""
    return {
        'asset': {'version': '2.0'},
        'scene': 0,
        'scenes': [{'nodes': [0]}],
        'nodes': [{'mesh': 0}],
        'meshes': [{'primitives': [{'attributes': {'POSITION': 0}, 'indices': 1, 'material': 0}]}],
        'materials': [{'pbrMetallicRoughness': {'baseColorFactor': [1.0, 0.2, 0.0, 1.0]}}],
        'accessors': [
            {'bufferView': 0, 'componentType': 5126, 'count': 4, 'type': 'VEC3'},
            {'bufferView': 1, 'componentType': 5123, 'count': 12, 'type': 'SCALAR'},
        ],
        'bufferViews': [
            {'buffer': 0, 'byteOffset': 0, 'byteLength': 48},
            {'buffer': 0, 'byteOffset': 48, 'byteLength': 24},
        ],
        'buffers': [{'byteLength': len(DATA)}],
        **more,
    }


def glb(document, data=DATA):
    text = json.dumps(document).encode()
    text += b' ' * (-len(text) % 4)
    chunks = struct.pack('<I4s', len(text), b'JSON') + text
    chunks += struct.pack('<I4s', len(data), b'BIN\0') + data
    return struct.pack('<4sII', b'glTF', 2, 12 + len(chunks)) + chunks


def write(path, document, uri=None):
    """Return the GLB file, or a glTF file whose buffer is where `uri` says."""
    if path.suffix == '.glb':
        path.write_bytes(glb(document))
    else:
        document = {**document, 'buffers': [{'byteLength': len(DATA), 'uri': uri}]}
        path.write_text(json.dumps(document))
    return str(path)


def ordered(triangles):
    return np.array(sorted(triangles.tolist()))


@pytest.mark.parametrize(
    'uri', [None, 'm.bin', 'with%20space.bin', 'data:application/octet-stream;base64,']
)
def test_gltf_is_read_with_its_color_and_turned_upright(tmp_path, uri):
    """As RViz, Blender and Drake do it: y points up in the file, and z in ROS."""
    suffix = 'glb' if uri is None else 'gltf'
    if uri and uri.endswith('bin'):
        (tmp_path / uri.replace('%20', ' ')).write_bytes(DATA)
    elif uri:
        uri += b64encode(DATA).decode()
    path = write(tmp_path / f'm.{suffix}', document(), uri)
    (part,) = read_mesh(path)
    assert part.color == (1.0, 0.2, 0.0, 1.0)
    x, y, z = TETRAHEDRON.T
    expected = np.column_stack([x, -z, y])[FACES]
    assert np.array_equal(ordered(mesh_triangles(path)), ordered(expected))
    assert is_closed(mesh_triangles(path))


def test_gltf_places_its_nodes_and_mirrored_meshes_face_outwards(tmp_path):
    half = np.sqrt(0.5)
    nodes = [
        {'children': [1, 2], 'translation': [1, 2, 3]},
        {'mesh': 0, 'rotation': [0, 0, half, half], 'scale': [2, 1, 1]},
        {'mesh': 0, 'matrix': [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1]},
    ]
    path = write(tmp_path / 'm.glb', document(nodes=nodes))
    # Twice as long along x, and then x is along y.
    first = (TETRAHEDRON * [2, 1, 1])[:, [1, 0, 2]] * [-1, 1, 1] + [1, 2, 3]
    second = (TETRAHEDRON * [1, 1, -1]) + [1, 2, 3]
    expected = np.concatenate([first[FACES], second[np.array(FACES)[:, ::-1]]])
    expected = expected[..., [0, 2, 1]] * [1, -1, 1]
    found = mesh_triangles(path)
    volumes = np.linalg.det(found).reshape(2, 4).sum(axis=1) / 6.0
    assert np.allclose(sorted(volumes), [1.0, 2.0])  # negative where it is inside out
    assert np.allclose(np.sort(found.reshape(-1, 3), 0), np.sort(expected.reshape(-1, 3), 0))


PRIMITIVE = {'attributes': {'POSITION': 0}, 'indices': 1}
ACCESSOR = {'bufferView': 0, 'componentType': 5126, 'count': 4, 'type': 'VEC3'}


@pytest.mark.parametrize(
    ('more', 'problem'),
    [
        ({'asset': {'version': '1.0'}}, 'version 1.0; export it as version 2.0'),
        ({'extensionsRequired': ['KHR_draco_mesh_compression']}, 'KHR_draco_mesh_compression'),
        ({'nodes': [{'mesh': 0, 'children': [0]}]}, 'node 0 is in the scene twice'),
        ({'nodes': [{'children': [1, 1]}, {'mesh': 0}]}, 'node 1 is in the scene twice'),
        ({'nodes': [{'children': [k + 1]} for k in range(99)] + [{'mesh': 0}]}, 'nested more'),
        ({'scenes': [{'nodes': [0]}], 'nodes': [{}] * 50_001}, 'more than 50000 nodes'),
        ({'accessors': [ACCESSOR, {**ACCESSOR, 'count': 10**12}]}, 'bytes of numbers'),
        ({'accessors': [ACCESSOR, {**ACCESSOR, 'count': -1}]}, '-1 is not a valid number'),
        ({'accessors': [{**ACCESSOR, 'sparse': {}}, ACCESSOR]}, 'sparse'),
        ({'accessors': [{**ACCESSOR, 'componentType': 5122}, ACCESSOR]}, 'not three floats'),
        ({'bufferViews': [{'buffer': 0, 'byteLength': 10**9}]}, 'bytes of numbers'),
        ({'meshes': [{'primitives': [{**PRIMITIVE, 'mode': 6}]}]}, 'fans'),
        ({'meshes': [{'primitives': [{**PRIMITIVE, 'mode': 1}]}]}, 'no triangles'),
        ({'meshes': [{'primitives': [PRIMITIVE] * 100_001}]}, 'more than 100000 parts'),
        ({'buffers': [{'uri': 'http://example.org/m.bin'}]}, 'outside its folder'),
        ({'buffers': [{'uri': '//example.org/m.bin'}]}, 'outside its folder'),
        ({'buffers': [{'uri': '../m.bin'}]}, 'outside its folder'),
        ({'buffers': [{'uri': 'a/%2e%2e/%2e%2e/m.bin'}]}, 'outside its folder'),
        ({'buffers': [{'uri': '/dev/zero'}]}, 'outside its folder'),
        (
            {'buffers': [{'uri': 'none.bin'}]},
            'm.glb: its file .*none.bin cannot be read',
        ),
        ({'buffers': [{'uri': 'endless'}]}, 'names a file that cannot be read: .*it is a device'),
        ({'buffers': []}, 'm.glb is damaged'),
        ({'meshes': 3}, 'it is not valid glTF'),
    ],
)
def test_gltf_that_leads_astray_is_rejected(tmp_path, more, problem):
    os.symlink('/dev/zero', tmp_path / 'endless')
    (tmp_path / 'm.glb').write_bytes(glb(document(**more)))
    with pytest.raises(MeshError, match=problem) as caught:
        read_mesh(str(tmp_path / 'm.glb'))
    assert 'm.glb' in str(caught.value)


def test_triangles_of_many_instances_all_count(tmp_path, monkeypatch):
    monkeypatch.setattr(gltf, 'MAX_TRIANGLES', 11)
    nodes = [{'mesh': 0}] * 3
    path = write(tmp_path / 'm.glb', document(nodes=nodes, scenes=[{'nodes': [0, 1, 2]}]))
    with pytest.raises(MeshError, match='with all instances it has more than 11 triangles'):
        read_mesh(path)


@pytest.mark.parametrize('content', [b'', b'glTF', glb(document())[:-1], b'[' * 100_000, b'[]'])
def test_half_of_a_gltf_file_is_rejected(tmp_path, content):
    (tmp_path / 'm.glb').write_bytes(content)
    with pytest.raises(MeshError, match='m.glb is damaged'):
        read_mesh(str(tmp_path / 'm.glb'))


def test_textures_are_ignored(tmp_path):
    material = {'pbrMetallicRoughness': {'baseColorTexture': {'index': 0}}}
    more = {
        'materials': [material],
        'textures': [{'source': 0}],
        'images': [{'uri': 'http://example.org/picture.png'}],
    }
    (part,) = read_mesh(write(tmp_path / 'm.glb', document(**more)))
    assert part.color is None and len(part.corners) == 4


def ply(kind, count=4):
    lines = ['ply', f'format {kind} 1.0', f'element vertex {count}']
    lines += [f'property float {axis}' for axis in 'xyz']
    lines += ['element face 4', 'property list uchar int vertex_indices', 'end_header', '']
    head = '\n'.join(lines).encode()
    if kind == 'ascii':
        rows = [*TETRAHEDRON.tolist(), *([3, *face] for face in FACES)]
        return head + '\n'.join(' '.join(map(str, row)) for row in rows).encode() + b'\n'
    faces = np.array([(3, face) for face in FACES], [('n', 'u1'), ('v', '<i4', 3)])
    return head + TETRAHEDRON.astype('<f4').tobytes() + faces.tobytes()


@pytest.mark.parametrize('kind', ['ascii', 'binary_little_endian'])
def test_ply_is_read_as_it_stands(tmp_path, kind):
    path = tmp_path / 'm.ply'
    path.write_bytes(ply(kind))
    found = mesh_triangles(str(path), (1.0, 1.0, 2.0))
    assert np.array_equal(ordered(found), ordered(TETRAHEDRON[FACES] * [1, 1, 2]))


@pytest.mark.parametrize(
    'content',
    [b'', b'ply\n', ply('ascii')[:-20], ply('binary_little_endian')[:-1]],
)
def test_half_of_a_ply_file_is_rejected(tmp_path, content):
    (tmp_path / 'm.ply').write_bytes(content)
    with pytest.raises(MeshError, match='m.ply is damaged'):
        read_mesh(str(tmp_path / 'm.ply'))


def test_a_ply_with_too_few_vertices_is_rejected(tmp_path):
    (tmp_path / 'm.ply').write_bytes(ply('binary_little_endian', 10**15))
    with pytest.raises(MeshError, match='m.ply is damaged'):
        read_mesh(str(tmp_path / 'm.ply'))


def test_lines_of_a_text_of_ply_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(library, 'MAX_LINES', 7)
    (tmp_path / 'm.ply').write_bytes(ply('ascii'))
    with pytest.raises(MeshError, match='more than 7 lines; write it as binary PLY'):
        read_mesh(str(tmp_path / 'm.ply'))
    (tmp_path / 'm.ply').write_bytes(ply('binary_little_endian'))
    assert len(read_mesh(str(tmp_path / 'm.ply'))) == 1


def test_points_of_a_ply_are_a_hull_but_no_surface(tmp_path):
    (tmp_path / 'm.ply').write_bytes(ply('ascii').replace(b'element face 4', b'element face 0'))
    assert mesh_vertices(str(tmp_path / 'm.ply')).shape == (4, 3)
    with pytest.raises(MeshError, match='no triangles'):
        read_mesh(str(tmp_path / 'm.ply'))


@pytest.mark.parametrize('suffix', ['glb', 'gltf', 'ply'])
def test_without_trimesh_the_message_says_how_to_get_it(tmp_path, monkeypatch, suffix):
    monkeypatch.setitem(sys.modules, 'trimesh', None)
    with pytest.raises(MeshError, match=rf"m.{suffix}: .* needs trimesh \(pip install 'rbd_ros\["):
        read_mesh(str(tmp_path / f'm.{suffix}'))


@pytest.mark.slow
def test_a_glb_is_drawn_weighs_and_touches_like_any_mesh(tmp_path):
    """Of a box, 1 x 2 x 3 m in the axes of the file: it stands 2 m high."""
    from rbd_ros import Robot, Simulator
    from rbd_ros.doctor.urdf_lint import lint_model
    from rbd_ros.viewer import make_scene

    triangles = box_triangles((1, 2, 3)).astype('<f4')
    data = triangles.tobytes()
    more = {
        'meshes': [{'primitives': [{'attributes': {'POSITION': 0}}]}],
        'accessors': [{**ACCESSOR, 'count': 36}],
        'bufferViews': [{'buffer': 0, 'byteLength': len(data)}],
    }
    (tmp_path / 'box.glb').write_bytes(glb(document(**more), data))
    geometry = f'<geometry><mesh filename="{tmp_path}/box.glb"/></geometry>'
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    robot = Robot.from_urdf(
        f'<robot name="r"><link name="box"><inertial><mass value="1"/>{inertia}</inertial>'
        f'<visual>{geometry}</visual><collision>{geometry}</collision></link></robot>',
        floating_base=True,
    )
    scene = make_scene(robot.model)
    assert scene.notices == () and np.allclose(np.ptp(scene.parts[0].vertices, axis=0), (1, 3, 2))
    simulator = Simulator(robot, ground=True)
    assert simulator.q[6] == pytest.approx(1.0, abs=1e-6)
    assert not [each for each in lint_model(robot.model) if 'mesh' in each.message]
