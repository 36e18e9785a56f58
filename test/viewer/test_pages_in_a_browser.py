# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pages in a real browser: drawing, motion, input, and no external requests."""

import io

from matplotlib import image
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support import browser, outside
from support.waiting import CEILING, until

from rbd_ros import Robot, Simulator
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import LiveSession, make_scene, MotionRecording, session as session_module
from rbd_ros.viewer.session import record

pytestmark = pytest.mark.slow

# Frames come when the test calls `frame`, with the time that it says [ms].
FRAMES = """const due = [];
window.requestAnimationFrame = (call) => due.push(call);
window.frame = (stamp) => {
    due.splice(0).forEach((call) => call(stamp));
    return Number(document.body.dataset.time);
};"""


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


@pytest.fixture
def page(tmp_path):
    line = outside.browser_problem()
    if line is not None:
        pytest.skip(line)
    with browser.browser(tmp_path / 'profile') as started:
        yield started


def picture(page):
    """Return the screenshot as numbers, without the bar at the bottom."""
    pixels = image.imread(io.BytesIO(page.screenshot()), format='png')
    return pixels[: int(0.8 * len(pixels)), :, :3]


def test_a_recording_draws_and_moves_without_a_network(robot, page, tmp_path):
    simulator = Simulator(robot)
    simulator.reset([0.5, -1.0, 0.5, 0.3, 0.4, 0.2])
    recording = record(simulator, make_scene(robot.model), 1.0)
    path = tmp_path / 'motion.html'
    recording.write(path)
    page.open(f'{path.as_uri()}#t=0')
    first = picture(page)
    # The blue of the arm's material is there, and shades of it.
    blue = (first[..., 2] > 1.4 * first[..., 0]) & (first[..., 2] > 0.2)
    assert blue.mean() > 0.005
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 100
    slider = "document.getElementById('slider')"
    page.evaluate(f"{slider}.value = 1; {slider}.dispatchEvent(new Event('input'))")
    assert page.evaluate('document.body.dataset.time') == '1'
    changed = np.abs(picture(page) - first).max(axis=-1) > 0.1
    assert changed.mean() > 0.01
    # Links are where the robot's kinematics has them.
    poses = recording.scene.poses(robot, [recording.configurations[-1]])[0]
    for k, pose in enumerate(poses):
        link = f'viewer.links[{k}]'
        found = page.evaluate(f'[...{link}.position.toArray(), ...{link}.quaternion.toArray()]')
        assert np.allclose(found[:3], pose[:3], atol=1e-6)
        assert abs(np.dot(found[3:], pose[3:])) > 1.0 - 1e-6
    assert [url for url in page.requests if not url.startswith(('file:', 'data:', 'blob:'))] == []
    assert page.complaints == []


def test_a_recording_plays_at_real_speed_and_stops_at_its_end(robot, page, tmp_path):
    path = tmp_path / 'motion.html'
    record(Simulator(robot), make_scene(robot.model), 1.0).write(path)
    page.open(path.as_uri(), first=FRAMES)

    def shown(*stamps):
        return page.evaluate(f'{list(stamps)}.map(frame)')

    # It plays by itself, with the time of the frames, however far they are apart.
    assert shown(5000, 5016, 5100, 5600) == pytest.approx([0.0, 0.016, 0.1, 0.6], abs=1e-9)
    press = "document.getElementById('play').click()"
    label = "document.getElementById('play').textContent"
    page.evaluate(press)
    assert page.evaluate(label) == 'Play'
    assert shown(5700, 9000) == pytest.approx([0.6, 0.6], abs=1e-9)
    page.evaluate(press)
    assert page.evaluate(label) == 'Pause'
    assert shown(9100, 9200, 9700) == pytest.approx([0.6, 0.7, 1.0], abs=1e-9)
    assert page.evaluate('document.body.dataset.playing') == 'false'
    # From its end it restarts.
    page.evaluate(press)
    assert shown(9800, 9900) == pytest.approx([0.0, 0.1], abs=1e-9)


def test_a_live_page_shows_and_commands_the_simulation(robot, page):
    session = LiveSession(Simulator(robot), make_scene(robot.model), port=0)
    try:
        session.playing = False
        page.open(session.url)

        def run_until(condition):
            until(lambda: page.evaluate(condition), condition, lambda: session.run(frames=1))

        run_until("document.body.dataset.playing === 'false'")
        press = "document.getElementById('{}').click()"
        page.evaluate(press.format('step'))
        run_until('Number(document.body.dataset.time) > 0')
        assert session.simulator.time == pytest.approx(1e-3)
        page.evaluate(press.format('play'))
        run_until('Number(document.body.dataset.time) > 0.3')
        assert session.playing
        page.evaluate(press.format('play'))
        run_until("document.body.dataset.playing === 'false'")
        pose = session.scene.poses(robot, [session.simulator.q])[0, -1]
        found = page.evaluate('viewer.links.at(-1).position.toArray()')
        assert np.allclose(found, pose[:3], atol=1e-6)
        page.evaluate(press.format('reset'))
        run_until("document.body.dataset.time === '0'")
        assert session.simulator.time == 0.0
        # Every address it asked for is its own.
        assert all(url.startswith((session.url, 'data:')) for url in page.requests)
        assert page.complaints == []
    finally:
        session.close()
    page.wait("document.getElementById('notice').textContent.includes('ended')")


def test_the_page_gives_the_reason_without_a_simulation(robot, page):
    simulator = Simulator(robot)
    simulator.reset([0.3, -1.0, 0.8, 0.0, 0.5, 0.0])
    session = LiveSession(
        simulator, make_scene(robot.model), port=0, static_reason='It has no masses.'
    )
    try:
        page.open(session.url)
        session.run(frames=1)
        page.wait("document.getElementById('notice').textContent === 'It has no masses.'")
        shown = "[...document.querySelectorAll('#bar > *')].filter((each) => !each.hidden)"
        assert page.evaluate(f'{shown}.map((each) => each.id)') == ['reset', 'toggle']
        # Explicit requests are possible.
        page.evaluate(
            "fetch('play', {method: 'POST', headers: {'Content-Type': 'application/json'}, "
            "body: 'null'}).then(() => 0)"
        )
        session.run(frames=3)
        assert session.simulator.time == 0.0
        pose = session.scene.poses(robot, [simulator.q])[0, -1]
        found = page.evaluate('viewer.links.at(-1).position.toArray()')
        assert np.allclose(found, pose[:3], atol=1e-6)
        assert page.complaints == []
    finally:
        session.close()
    page.wait("document.getElementById('notice').textContent.includes('ended')")


def test_on_a_phone_nothing_of_the_bar_is_outside(robot, page):
    simulator = Simulator(robot)
    simulator.reset([0.6, 1.57, 0.0, 0.0, 0.0, 0.0])  # stretched to the right
    session = LiveSession(simulator, make_scene(robot.model), port=0)
    session.playing = False
    try:
        page.open(session.url)
        page.call(
            'Emulation.setDeviceMetricsOverride',
            width=320,
            height=640,
            deviceScaleFactor=1,
            mobile=True,
        )
        page.wait('viewer.camera.aspect === 0.5')
        edges = """[...document.querySelectorAll('#bar > *')].filter(each => !each.hidden)
            .map(each => each.getBoundingClientRect()).map(at => [at.left, at.right, at.bottom])"""
        for left, right, bottom in page.evaluate(edges):
            assert 0 <= left and right <= 320 and bottom <= 640
        # The arm is within the sides as well.
        shown = "document.body.dataset.time === '0'"
        until(lambda: page.evaluate(shown), shown, lambda: session.run(frames=1))
        page.evaluate("document.querySelector('[data-view=home]').click()")
        page.evaluate('viewer.camera.updateMatrixWorld()')
        places = 'viewer.links.map((each) => each.position.clone().project(viewer.camera).x)'
        assert np.abs(page.evaluate(places)).max() < 1.0
    finally:
        session.close()


def test_a_tab_takes_the_robot_that_its_port_has_now(robot, page):
    first = LiveSession(Simulator(robot), make_scene(robot.model), port=0)
    page.open(first.url)
    assert page.evaluate('viewer.links.length') == len(first.scene.links)
    opened = page.evaluate('performance.timeOrigin')
    port = int(first.url.rstrip('/').rpartition(':')[2])
    first.run(frames=1)
    page.wait("document.getElementById('time').textContent !== ''")
    first.close()
    other = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))
    second = LiveSession(Simulator(other), make_scene(other.model), port=port)
    try:
        page.wait(f'performance.timeOrigin > {opened} && document.body?.dataset.ready === "true"')
        assert page.evaluate('viewer.links.length') == len(second.scene.links)
        assert second.scene.links != first.scene.links
    finally:
        second.close()


WORLD = {
    'objects': {
        'floor': {'type': 'plane', 'color': [0.2, 0.7, 0.2]},
        'wall': {'type': 'box', 'size': [0.1, 1.0, 0.3], 'xyz': [0.7, 0, 0.15]},
        'pill': {
            'type': 'capsule',
            'radius': 0.1,
            'length': 0.4,
            'xyz': [0.0, -0.5, 0.3],
            'color': [1, 0, 0],
            'static': False,
            'mass': 1.0,
        },
        'hill': {
            'type': 'height_field',
            'size': [0.5, 0.5],
            'xyz': [-0.4, -0.4, 0],
            'heights': [[0, 0.1], [0.1, 0.2]],
        },
    }
}


def test_a_world_is_drawn_and_its_objects_move(robot, page, tmp_path):
    scene = make_scene(robot.model, world=WORLD)
    recording = MotionRecording(robot, scene)
    force = [0.0, -0.5, 0.6, 0.0, 0.0, 300.0]
    for k, contacts in enumerate(([], [force, force])):
        moved = scene.start.copy()
        moved[0, 0, 3] += 0.1 * k
        recording.add(float(k), robot.neutral(), moved, np.reshape(contacts, (-1, 6)))
    path = tmp_path / 'motion.html'
    recording.write(path)
    page.open(f'{path.as_uri()}#t=0')
    first = picture(page)
    red, green, blue = (first[..., k] for k in range(3))
    assert ((green > 1.5 * red) & (green > 1.5 * blue)).mean() > 0.1  # the floor
    pill = (red > 2.0 * green) & (red > 2.0 * blue)
    assert pill.mean() > 0.005
    # Objects follow links; what stands still is in the world, where it is said to be.
    number = len(scene.links)
    assert page.evaluate(f'viewer.links[{number}].name') == 'pill'
    found = page.evaluate(f'viewer.links[{number}].position.toArray()')
    assert np.allclose(found, [0.0, -0.5, 0.3], atol=1e-6)
    assert page.evaluate('viewer.arrows.arrows.length') == 0
    slider = "document.getElementById('slider')"
    page.evaluate(f"{slider}.value = 1; {slider}.dispatchEvent(new Event('input'))")
    found = page.evaluate(f'viewer.links[{number}].position.toArray()')
    assert np.allclose(found, [0.1, -0.5, 0.3], atol=1e-6)
    shown = 'viewer.arrows.arrows.filter(arrow => arrow.visible).length'
    assert page.evaluate(shown) == 2
    arrow = 'viewer.arrows.arrows[0]'
    assert np.allclose(page.evaluate(f'{arrow}.position.toArray()'), force[:3], atol=1e-6)
    length = page.evaluate(f'{arrow}.children[0].scale.y')
    assert np.isclose(length, 0.5 * recording.radius * np.sqrt(300.0 / scene.weight), rtol=1e-5)
    # The shaft, which stands along y, is turned along the force.
    assert np.allclose(page.evaluate(f'{arrow}.quaternion.toArray()')[1:3], [0, 0], atol=1e-6)
    before = picture(page)
    page.evaluate("document.getElementById('contacts').click()")
    assert page.evaluate(shown) == 0
    assert (np.abs(picture(page) - before).max(axis=-1) > 0.1).sum() > 20
    page.evaluate("document.getElementById('contacts').click()")
    assert page.evaluate(shown) == 2
    assert page.complaints == []


def mouse(page, kind, at, shift=False, ctrl=False, button='left'):
    page.call(
        'Input.dispatchMouseEvent',
        type=kind,
        x=at[0],
        y=at[1],
        button=button,
        buttons=0 if kind == 'mouseReleased' else {'left': 1, 'right': 2}[button],
        clickCount=1,
        modifiers=8 * shift + 2 * ctrl,
    )


NOTICE = "document.getElementById('notice').textContent"

# Where a point of a link is on the page [pixels].
PLACE = """(() => {
    const frame = viewer.links.at(-1), canvas = document.querySelector('canvas');
    frame.updateMatrixWorld(); viewer.camera.updateMatrixWorld();
    const at = frame.position.clone().project(viewer.camera);
    return [(at.x + 1) / 2 * canvas.clientWidth, (1 - at.y) / 2 * canvas.clientHeight];
})()"""


@pytest.mark.parametrize('shift', [True, False])
def test_a_body_is_pulled_with_the_pointer(robot, page, shift, monkeypatch):
    # The page says again that it holds it, which may take long on a busy machine.
    monkeypatch.setattr(session_module, '_HOLD', CEILING)
    simulator = Simulator(robot)
    simulator.reset([0.5, -1.0, 1.2, 0.3, 0.4, 0.2])
    torque = lambda now: robot.gravity_torque(now.q)  # noqa: E731
    session = LiveSession(simulator, make_scene(robot.model), torque, port=0)
    try:
        session.playing = False
        page.open(session.url)

        def run_until(condition):
            until(condition, meanwhile=lambda: session.run(frames=1))

        run_until(lambda: page.evaluate('document.body.dataset.time') == '0')
        if not shift:
            page.evaluate("document.getElementById('pull').click()")
        assert 'drag it' in page.evaluate(NOTICE)
        view = page.evaluate('viewer.camera.position.toArray()')
        at = np.array(page.evaluate(PLACE))
        begun = session.scene.poses(robot, [simulator.q])[0, -1, :3]
        mouse(page, 'mousePressed', at, shift)
        run_until(lambda: session._pull is not None)
        # What is held is a point on the surface of what is seen there, at its depth.
        pull = session._pull
        assert np.linalg.norm(pull.position() - begun) < 0.2
        assert np.allclose(pull.target, pull.position(), atol=1e-5)
        mouse(page, 'mouseMoved', at + (60, -40), shift)
        run_until(lambda: np.linalg.norm(pull.target - pull.position()) > 0.02)
        assert page.evaluate('viewer.pull.line.visible')
        end = page.evaluate('viewer.pull.line.position.toArray()')
        assert np.allclose(end, pull.position(), atol=1e-5)
        # The target is under the pointer.
        seen = page.evaluate(
            PLACE.replace(
                'frame.position.clone()', f'frame.position.clone().set(...{pull.target.tolist()})'
            )
        )
        assert np.allclose(seen, at + (60, -40), atol=1.0)
        session.playing = True
        session._restart_clock()
        distance = np.linalg.norm(pull.target - pull.position())
        run_until(lambda: np.linalg.norm(pull.target - pull.position()) < 0.7 * distance)
        mouse(page, 'mouseReleased', at + (60, -40), shift)
        run_until(lambda: session._pull is None)
        run_until(lambda: page.evaluate(NOTICE) == '')  # who has done it knows how
        assert not page.evaluate('viewer.pull.line.visible')
        # The camera stayed, and turns again now, or where nothing is.
        assert np.allclose(page.evaluate('viewer.camera.position.toArray()'), view)
        mouse(page, 'mousePressed', (20, 60))
        mouse(page, 'mouseMoved', (80, 60))
        mouse(page, 'mouseReleased', (80, 60))
        assert not np.allclose(page.evaluate('viewer.camera.position.toArray()'), view)
        assert page.complaints == []
    finally:
        session.close()


AXES = """(() => {
    const [x, y, z] = [0, 1, 2].map((k) => new THREE.Vector3().setFromMatrixColumn(
        viewer.camera.matrixWorld, k).toArray());
    return [x, y, z];
})()"""


def test_a_body_is_rotated_with_ctrl(robot, page, monkeypatch):
    monkeypatch.setattr(session_module, '_HOLD', CEILING)
    simulator = Simulator(robot)
    simulator.reset([0.5, -1.0, 1.2, 0.3, 0.4, 0.2])
    session = LiveSession(simulator, make_scene(robot.model), port=0)
    try:
        session.playing = False
        page.open(session.url)

        def run_until(condition):
            until(condition, meanwhile=lambda: session.run(frames=1))

        run_until(lambda: page.evaluate('document.body.dataset.time') == '0')
        view = page.evaluate('viewer.camera.position.toArray()')
        at, (right, up, back) = np.array(page.evaluate(PLACE)), np.array(page.evaluate(AXES))
        height = page.evaluate('innerHeight')

        def turned():
            if session._pull is None or session._pull.orientation is None:
                return None
            now = session._pull.orientation @ session._pull.pose()[:3, :3].T
            return Rotation.from_matrix(now).as_rotvec()

        # To the right about the axis up, down about the axis to the right, half a turn for the
        # height; with Shift clockwise. It does not move, since the simulation does not play.
        for shift, expected in ((False, 60 * up + 40 * right), (True, -60 * back)):
            expected *= np.pi / height
            mouse(page, 'mousePressed', at, ctrl=True, shift=shift)
            mouse(page, 'mouseMoved', at + (60, 40), ctrl=True, shift=shift)
            run_until(lambda: turned() is not None and np.linalg.norm(turned()) > 0.1)
            assert np.allclose(turned(), expected, atol=1e-5)
            line = page.evaluate('viewer.pull.line.quaternion.toArray()')
            along = Rotation.from_quat(line).apply([0.0, 1.0, 0.0])
            assert np.allclose(along, expected / np.linalg.norm(expected), atol=1e-5)
            mouse(page, 'mouseReleased', at + (60, 40), ctrl=True, shift=shift)
            run_until(lambda: session._pull is None)
        # At most 2.5 rad, from which the shorter way is the same.
        mouse(page, 'mousePressed', at, ctrl=True)
        mouse(page, 'mouseMoved', (at[0] + 10 * height, at[1]), ctrl=True)
        run_until(lambda: turned() is not None and np.linalg.norm(turned()) > 0.1)
        assert np.allclose(turned(), 2.5 * up, atol=1e-5)
        mouse(page, 'mouseReleased', at, ctrl=True)
        run_until(lambda: session._pull is None)
        # The right button pulls.
        mouse(page, 'mousePressed', at, ctrl=True, button='right')
        mouse(page, 'mouseMoved', at + (60, 40), ctrl=True, button='right')
        run_until(lambda: session._pull is not None)
        assert session._pull.orientation is None
        mouse(page, 'mouseReleased', at + (60, 40), ctrl=True, button='right')
        run_until(lambda: session._pull is None)
        assert np.allclose(page.evaluate('viewer.camera.position.toArray()'), view)
        assert page.complaints == []
    finally:
        session.close()


def touch(page, kind, *points):
    """Let fingers touch, move or leave the page."""
    fingers = [{'x': x, 'y': y, 'id': k} for k, (x, y) in enumerate(points)]
    page.call('Input.dispatchTouchEvent', type=kind, touchPoints=fingers)


def test_one_finger_orbits_and_two_zoom_and_move_the_view(robot, page):
    session = LiveSession(Simulator(robot), make_scene(robot.model), port=0)
    try:
        session.playing = False
        page.open(session.url)
        shown = "document.body.dataset.time === '0'"
        until(lambda: page.evaluate(shown), shown, lambda: session.run(frames=1))
        page.evaluate("document.getElementById('pull').click()")
        state = """[viewer.camera.position.distanceTo(viewer.views.target()),
            ...viewer.camera.position.toArray(), ...viewer.views.target().toArray()]"""

        def after(*steps):
            before = np.array(page.evaluate(state))
            for count in range(len(steps[0])):
                touch(page, 'touchStart', *steps[0][: count + 1])
            for points in steps[1:]:
                touch(page, 'touchMove', *points)
            touch(page, 'touchEnd')
            page.evaluate('new Promise((done) => requestAnimationFrame(done))')
            now = np.array(page.evaluate(state))
            return before[0], now[0], np.abs(now[1:] - before[1:]).reshape(2, 3).max(axis=1)

        before, now, (position, target) = after([(20, 60)], [(60, 60)], [(90, 70)])
        assert np.isclose(now, before) and position > 0.1 * before and target < 1e-9
        # Apart: nearer. The second one may be on a body, also while "Pull" is switched on.
        at = page.evaluate(PLACE)
        fingers = [[(20 - d, 60), (at[0] + d, at[1])] for d in (0, 10)]
        before, now, _ = after(*fingers)
        assert now < 0.98 * before and not page.evaluate('viewer.pull.isUsed()')
        # Both along: the view moves.
        fingers = [[(20 + d, 60), (120 + d, 60)] for d in (0, 20, 40)]
        before, now, (position, target) = after(*fingers)
        assert np.isclose(now, before, rtol=0.02) and target > 0.01 * before
        # The page itself is not zoomed.
        assert page.evaluate('visualViewport.scale') == 1.0
        assert page.complaints == []
    finally:
        session.close()
