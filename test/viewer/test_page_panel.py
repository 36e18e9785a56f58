# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The panel of a page in a real browser: sliders, plots, overlays, camera, keys, settings."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import browser, outside
from support.waiting import until

from rbd_ros import Robot, Simulator
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import LiveSession, make_scene, MotionRecording
from rbd_ros.viewer.session import record

pytestmark = pytest.mark.slow

SLIDE = """((k, value) => {
    const slider = viewer.panel.rows[k].slider;
    slider.value = value;
    slider.dispatchEvent(new Event('input'));
})"""
IS_SHOWN = "!document.getElementById('{}').parentElement.hidden"
PRESS = "window.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{}', bubbles: true }}))"


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


class Shown:
    """A live page and its session."""

    def __init__(self, page, robot, **options):
        self.page = page
        self.session = LiveSession(Simulator(robot), make_scene(robot.model), port=0, **options)
        page.open(self.session.url)

    def until(self, condition):
        until(lambda: self.page.evaluate(condition), condition, lambda: self.session.run(frames=1))

    def click(self, name):
        self.page.evaluate(f"document.getElementById('{name}').click()")


@pytest.fixture
def live(page, robot):
    shown = Shown(page, robot)
    yield shown
    shown.session.close()
    assert page.complaints == []


def test_a_slider_moves_its_joint(live):
    simulator = live.session.simulator
    live.page.evaluate(f'{SLIDE}(2, 0.5)')
    until(
        lambda: abs(simulator.q[2] - 0.5) < 0.02,
        lambda: f'the elbow is at {simulator.q}',
        lambda: live.session.run(frames=1),
    )
    assert_allclose(np.delete(simulator.q, 2), 0.0, atol=0.02)
    live.until('Math.abs(parseFloat(viewer.panel.rows[2].value.textContent) - 0.5) < 0.03')
    assert live.page.evaluate('viewer.panel.rows[2].value.textContent').endswith(' rad')


def test_a_slider_applies_an_effort(live):
    live.page.evaluate(
        "const c = document.getElementById('command'); c.value = 'effort';"
        "c.dispatchEvent(new Event('change'))"
    )
    limit = live.session.simulator.robot.effort_limits[0]
    assert float(live.page.evaluate('viewer.panel.rows[0].slider.max')) == limit
    live.page.evaluate(f'{SLIDE}(0, 5)')
    until(
        lambda: live.session.simulator.tau[0] == 5.0,
        'the effort',
        lambda: live.session.run(frames=1),
    )


def test_without_a_simulation_sliders_place_the_robot(page, robot):
    shown = Shown(page, robot, static_reason='')
    try:
        assert page.evaluate("document.getElementById('panel').hidden") is False
        for name in ('play', 'step', 'keep', 'speed', 'slider', 'pulling', 'command-choice'):
            assert page.evaluate(f"document.getElementById('{name}').hidden"), name
        assert page.evaluate("document.getElementById('plot-section').hidden")
        assert not page.evaluate(IS_SHOWN.format('contacts'))
        page.evaluate(f'{SLIDE}(1, -1.25)')
        until(
            lambda: shown.session.simulator.q[1] == -1.25,
            'the joint',
            lambda: shown.session.run(frames=1),
        )
        pose = shown.session.scene.poses(robot, [shown.session.simulator.q])[0, -1]
        shown.until(f'Math.abs(viewer.links.at(-1).position.x - ({pose[0]})) < 1e-5')
        shown.click('reset')
        until(
            lambda: shown.session.simulator.q[1] == 0.0,
            'the start',
            lambda: shown.session.run(frames=1),
        )
        assert page.complaints == []
    finally:
        shown.session.close()


def test_the_past_can_be_looked_at_again(live):
    live.until('Number(document.body.dataset.time) >= 0')
    live.page.evaluate(f'{SLIDE}(0, 1.0)')
    shown = 'Number(document.body.dataset.time)'
    now = float(live.page.evaluate(shown)) + 0.3
    live.until(f'{shown} > {now}')
    live.page.evaluate(
        "const s = document.getElementById('slider'); s.value = 0;"
        "s.dispatchEvent(new Event('input'))"
    )
    first = float(live.page.evaluate(shown))
    assert first < now
    live.until("document.body.dataset.playing === 'false'")
    assert float(live.page.evaluate(shown)) == first
    assert live.session.simulator.time > now
    live.click('play')
    live.until(f"{shown} > {now} && document.body.dataset.playing === 'true'")
    assert live.session.playing


def test_a_reset_returns_to_the_kept_state(live):
    simulator = live.session.simulator
    live.page.evaluate(f'{SLIDE}(0, 1.0)')
    live.until('Number(document.body.dataset.time) > 0.3')
    live.page.evaluate(PRESS.format(' '))
    live.until("document.body.dataset.playing === 'false'")
    kept = simulator.q
    assert abs(kept[0]) > 1e-3
    live.click('keep')
    live.session.run(frames=2)
    live.page.evaluate(PRESS.format('ArrowRight'))
    until(
        lambda: not np.array_equal(simulator.q, kept),
        'a step',
        lambda: live.session.run(frames=1),
    )
    live.page.evaluate(PRESS.format('Backspace'))
    until(lambda: np.array_equal(simulator.q, kept), 'a reset', lambda: live.session.run(frames=1))


@pytest.mark.parametrize('name', ['frames', 'axes', 'masses', 'inertias'])
def test_more_can_be_shown(live, name):
    group = f'viewer.overlays.groups.{name}'
    assert live.page.evaluate(f'{group}.some((each) => each.visible)') is False
    live.click(name)
    assert live.page.evaluate(f'{group}.every((each) => each.visible)')
    drawn = live.page.evaluate(f'{group}.length')
    scene = live.session.scene
    count = {'frames': 3 * len(scene.links), 'axes': len(scene.joints)}
    assert drawn == count.get(name, len(scene.masses))


def test_signals_are_plotted(live):
    live.page.evaluate("document.getElementById('plot-section').open = true")
    live.page.evaluate(f'{SLIDE}(3, 0.7)')
    live.until(
        'viewer.plot.count > 20 && viewer.plot.plot && viewer.plot.plot.data[0].length > 10'
    )
    names = live.page.evaluate(
        "[...document.getElementById('signal').options].map((o) => o.value)"
    )
    assert names == ['position', 'velocity', 'effort']
    live.page.evaluate(
        "const s = document.getElementById('signal'); s.value = 'velocity';"
        "s.dispatchEvent(new Event('change'))"
    )
    series = live.page.evaluate('viewer.plot.plot.series.map((each) => each.label)')
    assert series == ['time [s]', *(each.name for each in live.session.scene.joints)]
    assert live.page.evaluate('Math.max(...viewer.plot.plot.data[4])') > 0.01
    assert live.page.evaluate('viewer.plot.plot.axes[1].label') == 'velocity [rad/s]'


def test_views_fit_and_follow(live):
    page = live.page
    page.evaluate("document.querySelector('[data-view=top]').click()")
    x, y, z = page.evaluate('viewer.camera.position.toArray()')
    target = page.evaluate('viewer.views.target().toArray()')
    assert abs(x - target[0]) < 0.01 and abs(y - target[1]) < 0.01 and z > target[2]
    live.click('fit')
    # Every link is in the picture.
    inside = """viewer.links.map((each) => each.position.clone().project(viewer.camera))
        .every((p) => Math.abs(p.x) < 1 && Math.abs(p.y) < 1)"""
    assert page.evaluate(inside)
    last = len(live.session.scene.links) - 1
    page.evaluate(
        f"const f = document.getElementById('follow'); f.value = {last};"
        "f.dispatchEvent(new Event('change'))"
    )
    apart = f'viewer.camera.position.clone().sub(viewer.links[{last}].position).toArray()'
    before, at = page.evaluate(apart), page.evaluate('viewer.camera.position.toArray()')
    page.evaluate(f'{SLIDE}(1, 0.6)')
    live.until('Number(document.body.dataset.time) > 0.5')
    assert_allclose(page.evaluate(apart), before, atol=1e-6)
    assert (
        np.linalg.norm(np.subtract(page.evaluate('viewer.camera.position.toArray()'), at)) > 0.05
    )


def test_the_link_under_the_pointer_is_named(live):
    live.session.run(frames=1)
    live.until('Number(document.body.dataset.time) >= 0')
    scene = live.session.scene
    number = scene.links.index('forearm_link')
    x, y = live.page.evaluate(
        f"""(() => {{
            viewer.links[{number}].updateWorldMatrix(true, true);
            const mesh = viewer.links[{number}].children.find((each) => each.isMesh);
            const at = mesh.geometry.boundingSphere || (mesh.geometry.computeBoundingSphere(),
                mesh.geometry.boundingSphere);
            const p = at.center.clone().applyMatrix4(mesh.matrixWorld).project(viewer.camera);
            return [(p.x + 1) / 2 * innerWidth, (1 - p.y) / 2 * innerHeight];
        }})()"""
    )
    live.page.call('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)
    live.page.wait("!document.getElementById('tip').hidden")
    lines = live.page.evaluate("document.getElementById('tip').textContent").splitlines()
    assert lines[0] == 'forearm_link' and lines[1].startswith('elbow_joint: ')
    assert lines[2] == '2.846 kg'


def test_a_recording_has_values_plots_and_keys(page, robot, tmp_path):
    simulator = Simulator(robot)
    simulator.reset([0.5, -1.0, 0.5, 0.3, 0.4, 0.2])
    recording = record(simulator, make_scene(robot.model), 0.5)
    path = tmp_path / 'motion.html'
    recording.write(path)
    page.open(f'{path.as_uri()}#t=0')
    assert page.evaluate('viewer.panel.rows[0].value.textContent') == '0.500 rad'
    assert page.evaluate("document.querySelectorAll('#joints input').length") == 0
    page.evaluate(PRESS.format('ArrowRight'))
    assert float(page.evaluate('document.body.dataset.time')) == pytest.approx(1 / 60, abs=1e-3)
    page.evaluate(PRESS.format('ArrowLeft'))
    assert float(page.evaluate('document.body.dataset.time')) == pytest.approx(0.0, abs=1e-3)
    page.evaluate("document.getElementById('plot-section').open = true")
    page.wait('viewer.plot.plot && viewer.plot.plot.data[0].length > 0')
    data = np.array(page.evaluate('viewer.plot.plot.data.map((row) => [...row])'))
    assert_allclose(data[0], recording.times - recording.times[0], atol=1e-6)
    assert_allclose(data[1:].T, recording.configurations, atol=1e-6)
    assert page.complaints == []


def test_drawings_are_shown_moved_and_removed(live):
    drawings, page = live.session.drawings, live.page
    drawings.add_line('path', [[0, 0, 0], [0.5, 0, 0.2], [0.5, 0.3, 0.2]], color=(1, 0, 0))
    drawings.add_ball('goal', [0.5, 0.1, 0.2], radius=0.02)
    drawings.add_text('name', [0.0, 0.0, 0.3], 'the <goal>')
    live.until('viewer.drawings.group.children.length === 2')
    points = page.evaluate(
        '[...viewer.drawings.group.children[0].geometry.attributes.position.array]'
    )
    expected = [[0, 0, 0], [0.5, 0, 0.2], [0.5, 0, 0.2], [0.5, 0.3, 0.2]]
    assert_allclose(points, np.ravel(expected), atol=1e-6)
    assert page.evaluate("document.getElementById('labels').textContent") == 'the <goal>'
    left = "parseFloat(document.querySelector('#labels span').style.left)"
    live.until(f'0 < {left} && {left} < innerWidth')
    drawings.add_ball('goal', [0.1, 0.2, 0.3], radius=0.02)
    live.until('Math.abs(viewer.drawings.group.children[1].position.x - 0.1) < 1e-6')
    for name in ('path', 'goal', 'name'):
        drawings.remove(name)
    live.until('viewer.drawings.group.children.length === 0')
    assert page.evaluate("document.getElementById('labels').textContent") == ''


def test_contacts_can_be_hidden_only_where_there_are_some(page, robot, tmp_path):
    scene = make_scene(robot.model)
    for contacts in ([], [[0.5, 0.0, 0.0, 0.0, 0.0, 20.0]]):
        recording = MotionRecording(robot, scene)
        recording.add(0.0, robot.neutral(), contacts=np.reshape(contacts, (-1, 6)))
        path = tmp_path / f'{len(contacts)}.html'
        recording.write(path)
        page.open(path.as_uri())
        assert page.evaluate(IS_SHOWN.format('contacts')) == bool(contacts)
    for world in (None, {}):
        simulator = Simulator(robot, world=world)
        session = LiveSession(simulator, make_scene(robot.model, world=world), port=0)
        try:
            page.open(session.url)
            assert page.evaluate(IS_SHOWN.format('contacts')) == (world is not None)
        finally:
            session.close()


def test_the_axes_of_a_plot_follow_the_color_scheme(page, robot, tmp_path):
    path = tmp_path / 'motion.html'
    record(Simulator(robot), make_scene(robot.model), 0.1).write(path)
    page.open(f'{path.as_uri()}#t=0')
    page.evaluate("document.getElementById('panel').hidden = false")
    page.evaluate("document.getElementById('plot-section').open = true")
    page.wait('viewer.plot.plot !== null')
    # Mean brightness of the axis labels, left of the curves.
    brightness = """(() => {
        const { ctx, bbox } = viewer.plot.plot;
        const { data } = ctx.getImageData(0, 0, bbox.left, bbox.height);
        let sum = 0, count = 0;
        for (let k = 0; k < data.length; k += 4) {
            if (data[k + 3] < 200) continue;
            sum += data[k];
            count += 1;
        }
        return sum / count;
    })()"""
    page.wait(f'{brightness} < 80')
    media = [{'name': 'prefers-color-scheme', 'value': 'dark'}]
    page.call('Emulation.setEmulatedMedia', features=media)
    page.wait(f'{brightness} > 180')


def test_dark_mode_is_dark(page, robot):
    shown = Shown(page, robot)
    try:
        light = page.evaluate('viewer.background().getHexString()')
        page.call(
            'Emulation.setEmulatedMedia',
            features=[{'name': 'prefers-color-scheme', 'value': 'dark'}],
        )
        page.wait(f"viewer.background().getHexString() !== '{light}'")
        assert int(page.evaluate('viewer.background().getHexString()')[:2], 16) < 0x40
        text = page.evaluate('getComputedStyle(document.body).color')
        assert min(int(x) for x in text[4:-1].split(',')) > 200
    finally:
        shown.session.close()


def test_every_control_has_a_name(live):
    unnamed = live.page.evaluate(
        """[...document.querySelectorAll('button, input, select')].filter((each) =>
            !each.textContent.trim() && !each.ariaLabel && !each.labels?.length)
            .map((each) => each.outerHTML)"""
    )
    assert unnamed == []


def test_a_picture_is_saved(live):
    live.page.evaluate(
        """window.saved = [];
        HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };
        URL.createObjectURL = (blob) => {
            blob.arrayBuffer().then((all) => saved.push([...new Uint8Array(all.slice(0, 4))]));
            return '';
        };"""
    )
    live.click('picture')
    live.page.wait('saved.length === 2')
    # The first bytes of every PNG.
    assert live.page.evaluate('saved') == ['six_axis_arm.png', [0x89, 0x50, 0x4E, 0x47]]
