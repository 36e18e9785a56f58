# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Readers of mesh files, against coal and by hand."""

from itertools import product
import os
import struct

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots, outside
from support.mesh_files import BOX_FACES, box_triangles, write_stl

from rbd_ros.meshes import is_closed, mesh_triangles, mesh_vertices, MeshError, read_mesh
from rbd_ros.world import triangles_inertia

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]

COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit meter="0.001"/><up_axis>Y_UP</up_axis></asset>
  <library_effects>
    <effect id="e"><profile_COMMON><technique><phong><diffuse><color>1 0.5 0 1</color></diffuse>
    </phong></technique></profile_COMMON></effect>
  </library_effects>
  <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array>0 0 0 1 0 0 1 1 0 0 1 0 5 5 5</float_array>
    <technique_common><accessor stride="3"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    {group}
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node>
    <translate>10 0 0</translate>
    <node><rotate>0 0 2 30</rotate><rotate>0 0 1 60</rotate><scale>2 1 1</scale>
      <instance_geometry url="#g"><bind_material><technique_common>
        <instance_material symbol="x" target="#m"/>
      </technique_common></bind_material></instance_geometry>
    </node></node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"""
INPUTS = (
    '<input semantic="NORMAL" source="#n" offset="0"/>'
    '<input semantic="VERTEX" source="#v" offset="1"/>'
)
GROUPS = {
    'triangles': f'<triangles material="x">{INPUTS}<p>9 0 9 1 9 2 9 0 9 2 9 3</p></triangles>',
    'polylist': f'<polylist material="x">{INPUTS}<vcount>4</vcount><p>9 0 9 1 9 2 9 3</p>'
    '</polylist>',
    'polygons': f'<polygons material="x">{INPUTS}<p>9 0 9 1 9 2 9 3</p></polygons>',
}


def corners_of(parts):
    """Return the corners of all triangles, (N, 3, 3), in a canonical order."""
    every = np.concatenate([part.vertices[part.corners] for part in parts])
    return np.array(sorted(every.tolist()))


@pytest.mark.parametrize('suffix', ['obj', 'stl', 'text.stl'])
def test_formats_hold_the_same_triangles(tmp_path, suffix):
    path = tmp_path / f'm.{suffix}'
    triangles = TETRAHEDRON[FACES]
    if suffix == 'obj':
        lines = [f'v {x} {y} {z}' for x, y, z in TETRAHEDRON]
        lines += ['f ' + ' '.join(f'{k + 1}//1' for k in face) for face in FACES[:3]]
        lines.append('f -3 -2 -1')
        path.write_text('\n'.join(lines))
    elif suffix == 'stl':
        facet = np.dtype([('n', '<f4', 3), ('v', '<f4', (3, 3)), ('a', '<u2')])
        data = np.zeros(4, facet)
        data['v'] = triangles
        path.write_bytes(b'solid'.ljust(80) + (4).to_bytes(4, 'little') + data.tobytes())
    else:
        vertices = [[f'vertex {x} {y} {z}' for x, y, z in triangle] for triangle in triangles]
        path.write_text('solid a\n' + '\n'.join('\n'.join(v) for v in vertices) + '\nendsolid')
    (part,) = read_mesh(str(path))
    assert len(part.vertices) == 4  # those that faces share are there once
    assert np.array_equal(corners_of([part]), sorted(triangles.tolist()))


@pytest.mark.parametrize('group', GROUPS)
def test_collada_places_scales_and_paints(tmp_path, group):
    path = tmp_path / 'm.dae'
    path.write_text(COLLADA.format(group=GROUPS[group]))
    (part,) = read_mesh(str(path))
    assert part.color == (1.0, 0.5, 0.0, 1.0)
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    # Twice along x, a quarter turn about z, then 10 along x; in mm.
    x, y, z = (square * [2, 1, 1]).T
    moved = 1e-3 * np.stack([10.0 - y, x, z], axis=1)
    expected = sorted(moved[[[0, 1, 2], [0, 2, 3]]].tolist())
    assert np.allclose(corners_of([part]), expected, atol=1e-15)


def test_colors_of_an_obj_are_those_of_its_library(tmp_path):
    (tmp_path / 'm.mtl').write_text('newmtl a\nKd 1 0 0\nnewmtl b\nKd 0 1 0\n')
    text = 'mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n'
    path = tmp_path / 'm.obj'
    path.write_text(text + 'usemtl a\nf 1 2 3 4\nusemtl b\nf 1 2 4\nusemtl c\nf 1 3 4\n')
    found = [(part.color, len(part.corners)) for part in read_mesh(str(path))]
    assert found == [((1.0, 0.0, 0.0, 1.0), 2), ((0.0, 1.0, 0.0, 1.0), 1), (None, 1)]


@pytest.mark.slow
def test_collada_files_of_real_robots_agree_with_coal():
    coal = outside.load('coal')
    example_robots.path('panda')
    files = sorted(outside.example_robots_folder().rglob('*.dae'))[::8]
    assert files
    for file in files:
        parts = read_mesh(str(file))
        model = coal.MeshLoader().load(str(file), np.ones(3))
        vertices = np.concatenate([part.vertices for part in parts])
        expected = model.vertices()
        size = np.abs(expected).max()
        for bound in (np.min, np.max):
            found = bound(vertices, axis=0)
            assert np.allclose(found, bound(expected, axis=0), rtol=0, atol=1e-5 * size), file
        # It drops triangles without area.
        count = sum(len(part.corners) for part in parts)
        assert model.num_tris <= count <= 1.05 * model.num_tris, file


def binary_stl(triangles):
    facets = b''.join(struct.pack('<12fH', 0, 0, 0, *np.ravel(t), 0) for t in triangles)
    return b'solid misleading'.ljust(80) + struct.pack('<I', len(triangles)) + facets


def text_stl(triangles):
    facets = ''.join(
        'facet normal 0 0 0\nouter loop\n'
        + ''.join(f'vertex {x} {y} {z}\n' for x, y, z in t)
        + 'endloop\nendfacet\n'
        for t in triangles
    )
    return f'solid cube\n{facets}endsolid cube\n'.encode()


def obj(_):
    return (
        b'v 9 9 9\n'
        + b''.join(b'v %g %g %g\n' % tuple(p) for p in CUBE)
        + (b'f 2/1/1 3//1 4 5\nf -1 -2 -3\nf 6 7 8\n')
    )


@pytest.mark.parametrize('suffix, write', [('stl', binary_stl), ('STL', text_stl), ('obj', obj)])
def test_mesh_files_give_their_vertices_scaled(tmp_path, suffix, write):
    triangles = [CUBE[[0, 1, 2]], CUBE[[3, 4, 5]], CUBE[[5, 6, 7]]]
    path = tmp_path / f'cube.{suffix}'
    path.write_bytes(write(triangles))
    vertices = np.unique(mesh_vertices(str(path), (1, 2, 3)), axis=0)
    assert np.array_equal(vertices, np.unique(CUBE * [1, 2, 3], axis=0))


def test_half_of_a_binary_mesh_is_distinguished_from_a_text(tmp_path):
    path = tmp_path / 'half.stl'
    whole = b'binary'.ljust(80) + binary_stl([CUBE[:3]] * 4)[80:]
    path.write_bytes(whole)
    assert len(mesh_vertices(str(path))) == 12
    path.write_bytes(whole[:-10])
    with pytest.raises(MeshError, match='neither a text STL file nor a complete binary'):
        mesh_vertices(str(path))


def test_faces_count_back_from_the_vertices_read_so_far(tmp_path):
    path = tmp_path / 'back.obj'
    path.write_text('v 1 0 0\nv 2 0 0\nv 3 0 0\nv 4 0 0\nf -1 -2 -3\nv 5 0 0\nv 6 0 0\n')
    assert list(mesh_vertices(str(path))[:, 0]) == [2, 3, 4]


def test_a_binary_file_may_begin_like_a_text(tmp_path):
    path = tmp_path / 'box.stl'
    write_stl(path, box_triangles((1.0, 2.0, 4.0)))
    data = path.read_bytes()
    path.write_bytes(b'solid' + data[5:])
    assert_allclose(mesh_triangles(str(path)), box_triangles((1.0, 2.0, 4.0)))
    path.write_bytes(data + b'more')  # some writers do
    assert len(mesh_triangles(str(path))) == 12
    path.write_bytes(data[:-1])
    with pytest.raises(MeshError, match='nor|complete binary'):
        mesh_triangles(str(path))


def test_polygons_and_negative_numbers_of_obj_files(tmp_path):
    lines = ['# a box of quadrilaterals']
    lines += [f'v {x} {y} {z}' for x, y, z in product((-1, 1), repeat=3)]
    lines += ['f ' + ' '.join(f'{k - 8}/1/2' for k in face) for face in BOX_FACES]
    path = tmp_path / 'box.obj'
    path.write_text('\n'.join(lines))
    triangles = mesh_triangles(str(path))
    assert triangles.shape == (12, 3, 3) and is_closed(triangles)
    assert_allclose(triangles_inertia(triangles).mass, 8.0)


#: Invalid files, and their messages.
DAMAGED = [
    ('a.stl', b'', 'neither a text STL file nor a complete binary one'),
    ('a.stl', b'x' * 200, 'neither a text STL file nor a complete binary one'),
    ('a.stl', b'x' * 83, 'neither a text STL file nor a complete binary one'),
    ('a.stl', binary_stl([CUBE[:3]] * 4)[:-10], 'damaged'),
    ('a.stl', b'solid a\nvertex 1 2\nendsolid', 'damaged'),
    ('a.stl', b'solid a\nvertex 1 2', 'damaged'),
    ('a.stl', b'solid a\nvertex 1 2 x\n', 'damaged'),
    ('a.stl', b'solid a\nvertex 1 2 3\n', 'damaged'),
    ('a.stl', b'solid\nvertex nan 0 0\nvertex 1 0 0\nvertex 0 1 0', 'not finite'),
    ('a.obj', b'v 1 2\nf 1 1 1', 'a vertex has no z'),
    ('a.obj', b'v a b c\n', 'damaged'),
    ('a.obj', b'v 0 0 0\nf 1 2 3\n', 'a vertex that does not exist'),
    ('a.obj', b'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n', 'a vertex that does not exist'),
    ('a.obj', b'v 0 0 0\nf -2 1 1\n', 'a vertex that does not exist'),
    ('a.obj', b'v 0 0 0\nf 0 1 1\n', 'a vertex that does not exist'),
    ('a.obj', b'v 0 0 0\nf 1//2 a b\n', 'damaged'),
    ('a.obj', b'v 0 0 0\nf 1 1 99999999999999999999\n', 'damaged'),
    ('a.obj', b'v 0 0 0\nv inf 0 0\nv 0 1 0\nf 1 2 3\n', 'not finite'),
    ('a.dae', b'<COLLADA', 'not XML'),
    ('a.dae', b'<svg/>', 'not <COLLADA>'),
    ('a.dae', b'<COLLADA/>', 'no scene'),
    ('a.off', b'OFF', 'this format is not supported; use STL, OBJ, DAE, GLB, glTF or PLY'),
    ('a', b'?', 'this format is not supported; use STL, OBJ, DAE, GLB, glTF or PLY'),
]
#: Files of nothing.
EMPTY = [
    ('a.stl', b'solid a\nendsolid'),
    ('a.stl', b'\0' * 84),
    ('a.obj', b''),
    (
        'a.dae',
        b'<COLLADA><library_visual_scenes><visual_scene/></library_visual_scenes></COLLADA>',
    ),
]


@pytest.mark.parametrize('read', [read_mesh, mesh_triangles, mesh_vertices])
@pytest.mark.parametrize(('name', 'content', 'problem'), DAMAGED)
def test_damaged_files_are_rejected_by_name(tmp_path, name, content, problem, read):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(MeshError, match=problem) as caught:
        read(str(path))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize('read', [read_mesh, mesh_triangles, mesh_vertices])
@pytest.mark.parametrize(('name', 'content'), EMPTY)
def test_empty_files_are_rejected_by_name(tmp_path, name, content, read):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(MeshError, match=f'{name} holds no (triangles|vertices); export it again'):
        read(str(path))


@pytest.mark.parametrize('content', [b'v 0 0 0\nv 1 0 0\nv 0 1 0\n', b'v 0 0 0\nf\nf 1\nf 1 1\n'])
def test_vertices_alone_are_a_hull_but_no_surface(tmp_path, content):
    path = tmp_path / 'a.obj'
    path.write_bytes(content)
    assert len(mesh_vertices(str(path))) == content.count(b'v')
    for read in (read_mesh, mesh_triangles):
        with pytest.raises(MeshError, match='a.obj holds no triangles'):
            read(str(path))


@pytest.mark.parametrize('read', [read_mesh, mesh_triangles, mesh_vertices])
def test_files_that_cannot_be_opened_are_rejected_by_name(tmp_path, read):
    with pytest.raises(MeshError, match='gone.stl cannot be read: No such file'):
        read('/gone.stl')
    (tmp_path / 'folder.stl').mkdir()
    with pytest.raises(MeshError, match='folder.stl cannot be read'):
        read(str(tmp_path / 'folder.stl'))
    large = tmp_path / 'large.stl'
    with large.open('wb') as file:
        file.truncate(500_000_001)
    with pytest.raises(
        MeshError, match='has 500000001 bytes or more, more than the limit of 500000000'
    ):
        read(str(large))


# -- work without end


def collada_of(nodes, root='n0'):
    """Return the COLLADA of one tetrahedron, of which `nodes` make instances."""
    numbers = ' '.join(str(x) for x in TETRAHEDRON.ravel())
    faces = ' '.join(str(k) for face in FACES for k in face)
    return f"""<COLLADA><library_geometries><geometry id="g"><mesh>
    <source id="s"><float_array>{numbers}</float_array></source>
    <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
    <triangles><input semantic="VERTEX" source="#v" offset="0"/><p>{faces}</p></triangles>
    </mesh></geometry></library_geometries><library_nodes>{nodes}</library_nodes>
    <library_visual_scenes><visual_scene id="w"><node><instance_node url="#{root}"/></node>
    </visual_scene></library_visual_scenes>
    <scene><instance_visual_scene url="#w"/></scene></COLLADA>"""


def doubling(depth, leaf):
    nodes = [
        f'<node id="n{k}">' + f'<instance_node url="#n{k + 1}"/>' * 2 + '</node>'
        for k in range(depth)
    ]
    return ''.join(nodes) + f'<node id="n{depth}">{leaf}</node>'


GEOMETRY = '<instance_geometry url="#g"/>'


@pytest.mark.slow
def test_nodes_may_be_instances_of_others_of_a_bounded_number(tmp_path):
    path = tmp_path / 'a.dae'
    path.write_text(collada_of(doubling(10, GEOMETRY)))
    assert mesh_triangles(str(path)).shape == (4 * 2**10, 3, 3)
    for leaf in (GEOMETRY, ''):
        path.write_text(collada_of(doubling(50, leaf)))
        with pytest.raises(MeshError, match='a.dae is damaged .*more than [0-9]+'):
            read_mesh(str(path))


def test_a_node_that_is_an_instance_of_itself_is_named(tmp_path):
    path = tmp_path / 'a.dae'
    path.write_text(
        collada_of(
            '<node id="n0"><instance_node url="#n1"/></node>'
            '<node id="n1"><node><instance_node url="#n0"/></node></node>'
        )
    )
    with pytest.raises(MeshError, match="the node 'n0' is an instance of itself"):
        read_mesh(str(path))


def test_a_mesh_of_xml_declares_no_entities(tmp_path):
    path = tmp_path / 'a.dae'
    path.write_text('<!DOCTYPE COLLADA [<!ENTITY a "lol">]><COLLADA>&a;</COLLADA>')
    with pytest.raises(MeshError, match="declares the entity 'a'"):
        read_mesh(str(path))
    path.write_text('<!DOCTYPE COLLADA>' + collada_of(f'<node id="n0">{GEOMETRY}</node>'))
    assert len(mesh_triangles(str(path))) == 4


@pytest.mark.parametrize('name', ['a.stl', 'a.obj', 'a.dae'])
def test_a_mesh_is_a_regular_file(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(MeshError, match=f'{name}: it is a named pipe'):
        read_mesh(str(tmp_path / name))


def test_a_material_library_is_a_regular_file_or_omitted(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    path = tmp_path / 'a.obj'
    triangle = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n'
    for library, kind in (('pipe', 'named pipe'), ('/dev/zero', 'device')):
        path.write_text(f'mtllib {library}\n{triangle}')
        with pytest.raises(MeshError, match=f'a.obj names a file .*{library}: it is a {kind}'):
            read_mesh(str(path))
    for library in ('gone', '.', 'a.obj/b', 'x' * 300):
        path.write_text(f'mtllib {library}\n{triangle}')
        assert [part.color for part in read_mesh(str(path))] == [None]


def test_a_line_of_an_obj_is_bounded(tmp_path):
    path = tmp_path / 'a.obj'
    path.write_text('v 0 0 0\nv 1 0 0\nv 0 1 0\nf' + ' 1 2 3' * 1000 + '\n')
    assert mesh_triangles(str(path)).shape == (2998, 3, 3)
    path.write_text('f' + ' 1' * (1 << 20))
    with pytest.raises(MeshError, match='a line of 1048576 bytes or more'):
        read_mesh(str(path))


# -- ids


def two_geometries(first, second, shared='x', inside=True):
    """Return the COLLADA of two geometries whose sources have one id."""

    def geometry(name, points, source):
        numbers = ' '.join(str(x) for x in np.ravel(points))
        faces = ' '.join(str(k) for k in range(len(points)))
        return f"""<geometry id="{name}"><mesh>
        <source id="{source}"><float_array>{numbers}</float_array></source>
        <vertices id="{source}v"><input semantic="POSITION" source="#{shared}"/></vertices>
        <triangles><input semantic="VERTEX" source="#{source}v" offset="0"/><p>{faces}</p>
        </triangles></mesh></geometry>"""

    sources = (shared, shared) if inside else (shared, 'own')
    return f"""<COLLADA><library_geometries>{geometry('g', first, sources[0])}
    {geometry('h', second, sources[1])}</library_geometries><library_visual_scenes>
    <visual_scene id="w"><node><instance_geometry url="#g"/><instance_geometry url="#h"/></node>
    </visual_scene></library_visual_scenes><scene><instance_visual_scene url="#w"/></scene>
    </COLLADA>"""


def test_ids_that_two_geometries_share_are_each_their_own(tmp_path):
    path = tmp_path / 'a.dae'
    first, second = TETRAHEDRON[[0, 1, 2]], 7.0 * TETRAHEDRON[[0, 1, 3, 1, 2, 3]]
    path.write_text(two_geometries(first, second))
    one, other = read_mesh(str(path))
    assert_allclose(one.vertices[one.corners].reshape(-1, 3), first)
    assert_allclose(other.vertices[other.corners].reshape(-1, 3), second)
    # A source of another geometry is found where its id is there once.
    path.write_text(two_geometries(first, 7.0 * first, inside=False))
    one, other = read_mesh(str(path))
    assert_allclose(other.vertices[other.corners].reshape(-1, 3), first)


def test_an_id_that_could_mean_two_things_is_named(tmp_path):
    path = tmp_path / 'a.dae'
    text = collada_of(f'<node id="n0">{GEOMETRY}</node>')
    path.write_text(text.replace('<library_nodes>', '<library_nodes><node id="n0"/>'))
    with pytest.raises(MeshError, match="the id 'n0' occurs 2 times"):
        read_mesh(str(path))


def test_padding_of_nul_bytes_is_omitted(tmp_path):
    path = tmp_path / 'a.dae'
    text = collada_of(f'<node id="n0">{GEOMETRY}</node>')
    path.write_bytes(text.encode() + bytes(7))
    assert len(mesh_triangles(str(path))) == 4
    path.write_bytes(('<?xml version="1.0" encoding="UTF-16"?>' + text).encode('utf-16'))
    assert len(mesh_triangles(str(path))) == 4


def test_a_text_may_be_in_one_line_and_its_name_may_be_anything(tmp_path):
    path = tmp_path / 'a.stl'
    path.write_text(
        '  Solid my-vertex FACET outer loop VERTEX 0 0 0 Vertex 1 0 0 vertex\t0 1 0 endloop'
    )
    assert_allclose(mesh_triangles(str(path)), [[[0, 0, 0], [1, 0, 0], [0, 1, 0]]])
