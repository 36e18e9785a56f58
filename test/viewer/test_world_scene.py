# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Objects of a world in a scene: appearance, mobility, and pose."""

import numpy as np
import pytest
from support.mesh_files import box_triangles, write_obj
from support.simulated_robots import collision, link as body, robot
from support.urdf_text import joint, link, robot as urdf

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import load_urdf
from rbd_ros.viewer import drawn_shapes, make_scene, MotionRecording
from rbd_ros.viewer.page_text import arrow_length, reach
from rbd_ros.viewer.viewer_scene import RED, STONE
from rbd_ros.world import read_world, World, WorldFileError

SIZES = {
    'box': {'type': 'box', 'size': [1.0, 2.0, 3.0]},
    'ball': {'type': 'sphere', 'radius': 0.5},
    'can': {'type': 'cylinder', 'radius': 0.2, 'length': 0.6},
    'pill': {'type': 'capsule', 'radius': 0.2, 'length': 0.6},
}


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


def shape_of(scene, owner):
    (found,) = (shape for shape in scene.shapes if shape.owner == owner)
    return found


@pytest.mark.parametrize('movable', [False, True])
def test_objects_have_their_shapes_poses_and_colors(movable):
    more = {'static': False, 'density': 1000.0} if movable else {}
    place = {'xyz': [1.0, 2.0, 3.0], 'rpy': [0.1, -0.2, 0.3], **more}
    world = {name: {**entry, **place} for name, entry in SIZES.items()}
    world['ball']['color'] = [0.1, 0.2, 0.3, 0.4]
    around = read_world({'objects': world})
    scene = make_scene(None, world=around)
    found = [(shape.owner, shape.kind, shape.size) for shape in scene.shapes]
    assert found == [
        ('box', 'box', (1.0, 2.0, 3.0)),
        ('ball', 'sphere', (0.5,)),
        ('can', 'cylinder', (0.2, 0.6)),
        ('pill', 'capsule', (0.2, 0.6)),
    ]
    assert shape_of(scene, 'ball').color == (0.1, 0.2, 0.3, 0.4)
    assert shape_of(scene, 'can').color == (RED if movable else STONE)
    expected = around['can'].pose
    assert scene.objects == (tuple(SIZES) if movable else ())
    poses = scene.poses(None, np.empty((1, 0)))
    if movable:
        assert np.allclose(scene.start, expected)
        assert np.array_equal(shape_of(scene, 'can').placement, np.eye(4))
        assert [scene.frame_of(shape) for shape in scene.shapes] == [0, 1, 2, 3]
        assert np.allclose(poses[0, :, :3], [1.0, 2.0, 3.0])
    else:
        assert np.allclose(shape_of(scene, 'can').placement, expected)
        assert {scene.frame_of(shape) for shape in scene.shapes} == {-1}
        assert poses.shape == (1, 0, 7)


def test_frames_are_those_of_links_and_then_of_objects(arm):
    scene = make_scene(arm.model, world='config/table_world.yaml')
    count = len(scene.links)
    assert scene.objects == ('box', 'peg', 'ball', 'roller')
    assert scene.frames == (*scene.links, *scene.objects)
    moved = np.tile(np.eye(4), (4, 1, 1))
    moved[2, :3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    moved[:, 0, 3] = [1.0, 2.0, 3.0, 4.0]
    q = arm.neutral()[None]
    poses = scene.poses(arm, q, moved)[0]
    assert np.array_equal(poses[:count], make_scene(arm.model).poses(arm, q)[0])
    assert np.allclose(poses[count:, 0], [1.0, 2.0, 3.0, 4.0])
    assert np.allclose(poses[count + 2, 3:], [0, 0, np.sqrt(0.5), np.sqrt(0.5)])
    start = scene.poses(arm, q)[0, count:, :3]
    assert np.allclose(start[0], [0.7, 0.0, 0.45])


def test_an_object_and_a_link_may_have_one_name():
    model = load_urdf(
        urdf(link('box', '<visual><geometry><sphere radius="1"/></geometry></visual>'))
    )
    box = {'type': 'box', 'size': [1, 1, 1], 'static': False, 'mass': 1.0}
    scene = make_scene(model, world={'objects': {'box': box}})
    assert scene.frames == ('box', 'object/box')
    assert [scene.frame_of(shape) for shape in scene.shapes] == [0, 1]


def test_planes_are_grounds_and_without_a_world_there_are_none(arm):
    scene = make_scene(None, world={'objects': {'floor': {'type': 'plane', 'xyz': [0, 0, -1]}}})
    (ground,) = scene.grounds
    assert ground.pose[2, 3] == -1.0 and ground.color is None and scene.shapes == ()
    assert make_scene(arm.model).grounds is None
    assert make_scene(arm.model, world=World()).grounds == ()


def test_a_further_robot_stands_where_its_configuration_has_it(arm):
    scene = make_scene(None, world='config/table_world.yaml')
    q = arm.neutral()
    names = list(arm.joint_names)
    q[names.index('shoulder_lift_joint')], q[names.index('elbow_joint')] = -1.2, 1.5
    base = np.diag([-1.0, -1.0, 1.0, 1.0])
    base[0, 3] = 1.6
    own = make_scene(arm.model)
    found = [shape for shape in scene.shapes if shape.owner == 'second_arm']
    assert [shape.link for shape in found] == [shape.link for shape in own.shapes]
    for shape, expected in zip(found, own.shapes):
        placed = base @ arm.frame(expected.link).pose(q) @ expected.placement
        assert np.allclose(shape.placement, placed)


def test_a_height_field_is_seen_from_above_as_its_rows_are_written():
    heights = [[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]]
    field = {'type': 'height_field', 'size': [4.0, 2.0], 'heights': heights}
    scene = make_scene(None, world={'objects': {'hill': field}})
    part = scene.parts[0]
    at = {(round(x, 9), round(y, 9)): z for x, y, z in part.vertices.tolist()}
    expected = {(-2.0, 1.0): 0.0, (0.0, 1.0): 0.1, (2.0, 1.0): 0.2}
    expected |= {(-2.0, -1.0): 0.3, (0.0, -1.0): 0.4, (2.0, -1.0): 0.5}
    assert at == expected
    # Triangles cover the rectangle once, and look upward.
    a, b, c = (part.vertices[part.corners[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    assert (normal[:, 2] > 0.0).all() and np.isclose(0.5 * normal[:, 2].sum(), 8.0)


def test_a_large_height_field_is_drawn_by_some_rows(tmp_path):
    rows, columns = 401, 300
    heights = np.add.outer(np.arange(rows), 1000.0 * np.arange(columns))
    np.save(tmp_path / 'hill.npy', heights)
    field = {'type': 'height_field', 'size': [4.0, 2.0], 'file': str(tmp_path / 'hill.npy')}
    scene = make_scene(None, triangles=5000, world={'objects': {'hill': field}})
    (part,) = scene.parts
    assert 4000 < len(part.corners) <= 5000
    x, y = part.vertices[:, 0], part.vertices[:, 1]
    # What is drawn lies on the surface, and reaches its edges.
    j, i = (x / 4.0 + 0.5) * (columns - 1), (0.5 - y / 2.0) * (rows - 1)
    assert np.allclose(part.vertices[:, 2], i + 1000.0 * j)
    assert (x.min(), x.max(), y.min(), y.max()) == (-2.0, 2.0, -1.0, 1.0)
    assert 'hill is drawn with' in scene.notices[0] and '401x300' in scene.notices[0]


def test_a_convex_mesh_is_drawn_as_its_hull(tmp_path):
    # A tetrahedron with a dent: a fifth vertex inside.
    vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]]
    faces = [[1, 3, 2], [1, 2, 4], [1, 4, 3], [2, 3, 5], [3, 4, 5], [4, 2, 5]]
    lines = ['v {} {} {}'.format(*v) for v in vertices] + ['f {} {} {}'.format(*f) for f in faces]
    (tmp_path / 'm.obj').write_text('\n'.join(lines))
    mesh = {'type': 'mesh', 'file': str(tmp_path / 'm.obj'), 'scale': [2, 2, 2]}
    counts = []
    for convex in (False, True):
        scene = make_scene(None, world={'objects': {'m': {**mesh, 'convex': convex}}})
        counts.append(len(scene.parts[0].corners))
        assert scene.parts[0].vertices.max() == 2.0
    assert counts == [6, 4]


def test_a_decomposed_mesh_is_drawn_as_its_parts_among_collision_shapes(tmp_path, monkeypatch):
    def convex_parts(mesh, threshold):
        return [threshold * np.eye(4, 3) * k * mesh.scale for k in (1, 2, 3)]

    monkeypatch.setattr(drawn_shapes, 'convex_parts', convex_parts)
    write_obj(tmp_path / 'm.obj', box_triangles((0.2, 0.2, 0.2)))
    shape = collision(f'mesh filename="file://{tmp_path / "m.obj"}" scale="2 2 2"')
    hook = robot(body('hook', 1.0, (0.1, 0.1, 0.1), shape=shape), floating_base=True)
    mesh = {'type': 'mesh', 'file': str(tmp_path / 'm.obj'), 'scale': [2, 2, 2]}
    world = {
        'robot': {'links': {'hook': {'convex_decomposition': 0.1}}},
        'objects': {'m': {**mesh, 'convex_decomposition': 0.1}, 'whole': mesh},
    }
    for shapes, count in (('collision', 3), ('visual', 1)):
        scene = make_scene(hook.model, shapes, world=world)
        owners = [each.owner for each in scene.shapes]
        # The link has no visual shape: its collision shape is drawn instead.
        assert owners == [*['robot'] * 3, *['m'] * count, 'whole']
        assert len(scene.parts) == 4  # of one file and scale once
        sizes = [scene.parts[each.size[0]].vertices.max() for each in scene.shapes[:3]]
        assert np.allclose(sizes, [0.2, 0.4, 0.6])


def test_the_weight_is_that_of_movable_bodies(arm):
    box = {'type': 'box', 'size': [1, 1, 1], 'static': False, 'mass': 2.0}
    still = {'type': 'box', 'size': [1, 1, 1]}
    world = {'gravity': [0, 0, -2], 'objects': {'box': box, 'still': still}}
    assert np.isclose(make_scene(None, world=world).weight, 4.0)
    mass = sum(body.inertia.mass for body in arm.model.bodies)
    assert np.isclose(make_scene(arm.model).weight, 9.81 * mass)
    assert np.isclose(make_scene(arm.model, world=world).weight, 2.0 * (mass + 2.0))


def test_a_distant_object_does_not_move_the_camera_away(arm):
    poses = make_scene(arm.model).poses(arm, arm.neutral()[None])[0]
    _, alone = reach(make_scene(arm.model), poses)
    wall = {'type': 'box', 'size': [0.1, 0.1, 0.1], 'xyz': [50.0, 0, 0]}
    world = {'objects': {'wall': wall}}
    assert reach(make_scene(arm.model, world=world), poses)[1] == alone
    wall['xyz'] = [0.8, 0.0, 0.0]
    assert reach(make_scene(arm.model, world=world), poses)[1] > alone
    # Where nothing moves, all of it counts.
    center, radius = reach(make_scene(None, world=world), np.empty((0, 7)))
    assert np.allclose(center, [0.8, 0.0, 0.0]) and np.isclose(radius, 0.05 * np.sqrt(3.0))


def test_an_invalid_world_is_reported():
    with pytest.raises(WorldFileError, match='type is missing'):
        make_scene(None, world={'objects': {'box': {'size': [1, 1, 1]}}})


@pytest.mark.parametrize(
    ('given', 'message'),
    [
        ({'objects': np.eye(4)[None]}, r'objects must have shape \(4, 4, 4\), got \(1, 4, 4\)'),
        ({'objects': np.full((4, 4, 4), np.nan)}, 'objects and contacts must be finite'),
        ({'contacts': np.zeros((2, 5))}, r'contacts must have shape \(C, 6\), got \(2, 5\)'),
        ({'contacts': [[np.inf] * 6]}, 'objects and contacts must be finite'),
    ],
)
def test_frames_that_do_not_fit_the_world_are_rejected(arm, given, message):
    recording = MotionRecording(arm, make_scene(arm.model, world='config/table_world.yaml'))
    with pytest.raises(ValueError, match=message):
        recording.add(0.0, arm.neutral(), **given)
    assert len(recording) == 0


def test_objects_stay_where_they_were(arm):
    recording = MotionRecording(arm, make_scene(arm.model, world='config/table_world.yaml'))
    moved = np.tile(np.eye(4), (4, 1, 1))
    for time, objects in ((0.0, None), (1.0, moved), (2.0, None)):
        recording.add(time, arm.neutral(), objects)
    assert np.array_equal(recording.objects[0], recording.scene.start)
    assert np.array_equal(recording.objects[1], moved)
    assert np.array_equal(recording.objects[2], moved)


def test_shapes_of_a_further_robot_are_placed_although_links_are_merged(tmp_path):
    ball = '<visual><origin xyz="0.1 0 0"/><geometry><sphere radius="1"/></geometry></visual>'
    text = urdf(
        link('a'),
        link('b'),
        link('c', ball),
        joint('i', 'a', 'b'),
        joint('j', 'b', 'c', 'fixed', inside='<origin xyz="5 0 0" rpy="0 0 1.5707963267948966"/>'),
    )
    (tmp_path / 'other.urdf').write_text(text)
    world = {'robots': {'other': {'urdf': str(tmp_path / 'other.urdf'), 'xyz': [0, 0, 7]}}}
    (found,) = make_scene(None, world=world).shapes
    assert np.allclose(found.placement[:3, 3], [5.0, 0.1, 7.0])
    assert np.allclose(found.placement[:3, 0], [0.0, 1.0, 0.0])


def test_the_camera_fits_the_size_of_shapes():
    halves = {
        'box': (0.5, 1, 1.5),
        'ball': [0.5] * 3,
        'can': (0.2, 0.2, 0.3),
        'pill': (0.2, 0.2, 0.5),
    }
    for name, half in halves.items():
        scene = make_scene(None, world={'objects': {name: SIZES[name]}})
        assert np.isclose(reach(scene, np.empty((0, 7)))[1], np.linalg.norm(half))


def test_movable_bodies_and_objects_near_them_are_in_view():
    free = {'static': False, 'density': 1000.0}
    world = {
        'ball': {**SIZES['ball'], **free, 'xyz': [13.0, 0, 0]},
        'pill': {**SIZES['pill'], **free, 'xyz': [10.0, 0, 0], 'rpy': [np.pi / 2, 0, 0.0]},
    }
    world['pill']['length'] = 2.0
    scene = make_scene(None, world={'objects': world})
    poses = scene.poses(None, np.empty((1, 0)))[0]
    center, radius = reach(scene, poses)
    assert np.allclose(center, [11.65, 0.0, 0.0])
    assert np.isclose(radius, 0.5 * np.linalg.norm([3.7, 2.4, 1.0]))
    # A cube stands so that its farthest corner is just within twice that radius, or just not.
    for part, seen in ((0.999, True), (1.001, False)):
        x = 11.65 + np.sqrt((2.0 * radius * part) ** 2 - 2 * 0.05**2) - 0.05
        cube = {'type': 'box', 'size': [0.1, 0.1, 0.1], 'xyz': [x, 0, 0]}
        scene = make_scene(None, world={'objects': {**world, 'cube': cube}})
        assert (reach(scene, poses)[1] > radius) == seen


def test_arrows_are_as_long_as_the_square_root_of_their_force():
    assert np.isclose(arrow_length(4.0, 16.0, 3.0), 0.75)
    assert arrow_length(0.0, 16.0, 3.0) == 0.0
    assert arrow_length(1e9, 16.0, 3.0) == 6.0  # at most
    assert np.isclose(arrow_length(4.0, 0.0, 1.0), 1.0)  # of what has no weight, by newtons


def test_the_camera_fits_the_size_of_meshes(tmp_path):
    (tmp_path / 'm.obj').write_text('v 2 3 4\nv 4 3 4\nv 2 7 4\nv 2 3 10\nf 1 2 3\nf 1 2 4\n')
    mesh = {'type': 'mesh', 'file': str(tmp_path / 'm.obj'), 'xyz': [10, 0, 0]}
    center, radius = reach(make_scene(None, world={'objects': {'m': mesh}}), np.empty((0, 7)))
    assert np.allclose(center, [13.0, 5.0, 7.0]) and np.isclose(radius, np.sqrt(14.0))
