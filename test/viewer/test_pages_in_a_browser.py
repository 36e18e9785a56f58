"""Pages in a real browser: they draw, move, obey, and load nothing from anywhere."""

import io

from matplotlib import image
import numpy as np
import pytest
from support import browser, outside

from rbd_ros import Robot, Simulator
from rbd_ros.resources import resource_path
from rbd_ros.viewer import LiveSession, make_scene
from rbd_ros.viewer.session import record

pytestmark = pytest.mark.slow

# The time of a frame, and the time that the page shows in it [s]. The page has asked for the frame
# before, so it has drawn when this is called.
FRAME = """new Promise(done => requestAnimationFrame(stamp => done(
    [stamp / 1000, Number(document.body.dataset.time)])))"""


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
    """Screenshot as numbers, without the bar at the bottom."""
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
    page.open(path.as_uri())
    assert page.evaluate('document.body.dataset.playing') == 'true'
    page.wait("document.body.dataset.playing === 'false'")
    assert page.evaluate('Number(document.body.dataset.time)') == pytest.approx(1.0, abs=1e-6)
    # From a moment on, time on the page is that of the clock.
    page.evaluate("document.getElementById('play').click()")
    page.evaluate('new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))')
    begun = page.evaluate(FRAME)
    page.wait('Number(document.body.dataset.time) > 0.5')
    clock, shown = np.subtract(page.evaluate(FRAME), begun)
    assert shown <= clock + 1e-3  # a slow machine shows fewer frames, not a slower motion
    page.evaluate("document.getElementById('play').click()")
    assert page.evaluate("document.getElementById('play').textContent") == 'Play'


def test_a_live_page_shows_and_commands_the_simulation(robot, page):
    session = LiveSession(Simulator(robot), make_scene(robot.model), port=0)
    try:
        session.playing = False
        page.open(session.url)

        def run_until(condition):
            for _ in range(600):
                session.run(frames=1)
                if page.evaluate(condition):
                    return
            raise AssertionError(condition)

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
