"""Triangles of mesh files, against coal and by hand."""

import numpy as np
import pytest
from support import example_robots, outside

from rbd_ros.contact.mesh import MeshError
from rbd_ros.viewer.triangles import read_triangles, simplified, Triangles

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
    """Corners of all triangles, (N, 3, 3), in an order of their own."""
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
    (part,) = read_triangles(str(path))
    assert len(part.vertices) == 4  # those that faces share are there once
    assert np.array_equal(corners_of([part]), sorted(triangles.tolist()))


@pytest.mark.parametrize('group', GROUPS)
def test_collada_places_scales_and_paints(tmp_path, group):
    path = tmp_path / 'm.dae'
    path.write_text(COLLADA.format(group=GROUPS[group]))
    (part,) = read_triangles(str(path))
    assert part.colour == (1.0, 0.5, 0.0, 1.0)
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    # Twice along x, a quarter turn about z, then 10 along x; in mm.
    x, y, z = (square * [2, 1, 1]).T
    moved = 1e-3 * np.stack([10.0 - y, x, z], axis=1)
    expected = sorted(moved[[[0, 1, 2], [0, 2, 3]]].tolist())
    assert np.allclose(corners_of([part]), expected, atol=1e-15)


def test_colours_of_an_obj_are_those_of_its_library(tmp_path):
    (tmp_path / 'm.mtl').write_text('newmtl a\nKd 1 0 0\nnewmtl b\nKd 0 1 0\n')
    text = 'mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n'
    path = tmp_path / 'm.obj'
    path.write_text(text + 'usemtl a\nf 1 2 3 4\nusemtl b\nf 1 2 4\nusemtl c\nf 1 3 4\n')
    found = [(part.colour, len(part.corners)) for part in read_triangles(str(path))]
    assert found == [((1.0, 0.0, 0.0, 1.0), 2), ((0.0, 1.0, 0.0, 1.0), 1), (None, 1)]


@pytest.mark.parametrize(
    ('name', 'content', 'message'),
    [
        ('a.stl', b'', 'neither a text STL file nor a whole binary one'),
        ('a.stl', b'solid a\nvertex 1 2\nendsolid', 'damaged'),
        ('a.stl', b'solid a\nendsolid', 'no triangles'),
        ('a.stl', b'solid\nvertex nan 0 0\nvertex 1 0 0\nvertex 0 1 0', 'not finite'),
        ('a.obj', b'v 0 0 0\nf 1 2 3\n', 'not there'),
        ('a.obj', b'v 0 0 0\n', 'no triangles'),
        ('a.dae', b'<COLLADA', 'not XML'),
        ('a.dae', b'<svg/>', 'not <COLLADA>'),
        ('a.dae', b'<COLLADA/>', 'no scene'),
        ('a.ply', b'ply', 'use STL, OBJ or DAE'),
    ],
)
def test_files_that_cannot_be_drawn_are_refused_by_name(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(MeshError, match=message) as refused:
        read_triangles(str(path))
    assert name in str(refused.value)
    with pytest.raises(MeshError, match='cannot be read'):
        read_triangles(str(tmp_path / 'missing.stl'))


@pytest.mark.slow
def test_collada_files_of_real_robots_are_what_coal_reads():
    coal = outside.load('coal')
    example_robots.path('panda')
    files = sorted(outside.example_robots_folder().rglob('*.dae'))[::8]
    assert files
    for file in files:
        parts = read_triangles(str(file))
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


def sphere(n):
    """A sphere of 2 n (n - 1) triangles."""
    turn, rise = np.linspace(0, 2 * np.pi, 2 * n + 1), np.linspace(0, np.pi, n + 1)
    u, w = np.meshgrid(turn, rise)
    vertices = np.stack([np.sin(w) * np.cos(u), np.sin(w) * np.sin(u), np.cos(w)], -1)
    k = np.arange(2 * n)[None, :] + (2 * n + 1) * np.arange(n)[:, None]
    one = np.stack([k, k + 2 * n + 1, k + 1], -1)
    two = np.stack([k + 1, k + 2 * n + 1, k + 2 * n + 2], -1)
    return Triangles(vertices.reshape(-1, 3), np.concatenate([one, two]).reshape(-1, 3))


@pytest.mark.parametrize('most', [300, 2000])
def test_fewer_triangles_keep_the_shape(most):
    full = sphere(100)
    less = simplified(full, most)
    assert 0.5 * most < len(less.corners) <= most
    radii = np.linalg.norm(less.vertices, axis=1)
    assert radii.max() <= 1.0 + 1e-9 and radii.min() > (0.8 if most == 300 else 0.99)
    a, b, c = np.moveaxis(less.vertices[less.corners], 1, 0)
    volume = np.einsum('ij,ij->i', a, np.cross(b, c)).sum() / 6.0
    assert abs(volume) > (0.6 if most == 300 else 0.95) * 4.0 / 3.0 * np.pi
    assert simplified(full, 10**6) is full
