# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The live page: access from this machine only, and allowed requests."""

import http.client
import json
import socket
import time

import numpy as np
import pytest
from support.waiting import CEILING

from rbd_ros import Robot, Simulator
from rbd_ros.lookup.resources import resource_path
from rbd_ros.viewer import LivePage, LiveSession, make_scene, session as session_module
from rbd_ros.viewer.session import FRAME


@pytest.fixture
def page():
    served = LivePage('<p>text</p>', port=0)
    yield served
    served.close()


def ask(page, method, path, body=None, **headers):
    """Return the status and body of an answer."""
    port = int(page.url.rstrip('/').rpartition(':')[2])
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=CEILING)
    given = {'Host': f'localhost:{port}', 'Content-Type': 'application/json'}
    given.update({name.replace('_', '-'): value for name, value in headers.items()})
    connection.request(method, path, body, given)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_it_serves_its_page_and_takes_requests(page):
    assert ask(page, 'GET', '/') == (200, b'<p>text</p>')
    assert ask(page, 'GET', '/other')[0] == 404
    assert ask(page, 'POST', '/pause', 'null')[0] == 204
    assert ask(page, 'POST', '/speed', '0.5')[0] == 204
    assert page.requests() == [('pause', None), ('speed', 0.5)]
    assert page.requests() == []


def test_the_head_is_that_of_the_page_and_differs_for_another_one(page):
    def head(of, path='/', **headers):
        port = int(of.url.rstrip('/').rpartition(':')[2])
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=CEILING)
        connection.request('HEAD', path, headers={'Host': f'localhost:{port}', **headers})
        answer = connection.getresponse()
        body = answer.read()
        assert body == b''
        connection.close()
        return answer

    answer = head(page)
    assert (answer.status, answer.headers['Content-Length']) == (200, str(len(b'<p>text</p>')))
    assert head(page, '/other').status == 404
    assert head(page, Host='evil.example').status == 403
    other, same = LivePage('<p>other</p>', 0), LivePage('<p>text</p>', 0)
    try:
        # A tab that stays open reloads when this differs.
        assert head(other).headers['ETag'] != answer.headers['ETag'] == head(same).headers['ETag']
    finally:
        other.close()
        same.close()


@pytest.mark.parametrize(
    ('path', 'body', 'headers', 'status'),
    [
        ('/explode', 'null', {}, 404),
        ('/play', 'nonsense', {}, 400),
        ('/play', '"' + 300 * 'x' + '"', {}, 400),
        # Another site in the same browser, by its own name or by a name that leads here.
        ('/play', 'null', {'Origin': 'http://evil.example'}, 403),
        ('/play', 'null', {'Host': 'evil.example'}, 403),
        # What forms of other sites can send.
        ('/play', 'null', {'Content_Type': 'text/plain'}, 403),
    ],
)
def test_a_request_that_is_not_of_the_page_is_rejected(page, path, body, headers, status):
    assert ask(page, 'POST', path, body, **headers)[0] == status
    assert page.requests() == []


def test_only_the_own_page_may_read(page):
    assert ask(page, 'GET', '/', Host='evil.example')[0] == 403


def test_another_host_needs_the_token():
    served = LivePage('<p>text</p>', port=0, host='0.0.0.0')
    try:
        name, _, rest = served.url.removeprefix('http://').partition(':')
        port, _, token = rest.partition('/')
        assert name == socket.gethostname() and len(token) > 20

        def status(method, path, **headers):
            connection = http.client.HTTPConnection('127.0.0.1', int(port), timeout=CEILING)
            given = {'Content-Type': 'application/json', 'Host': f'robot:{port}', **headers}
            connection.request(method, path, 'null' if method == 'POST' else None, given)
            found = connection.getresponse().status
            connection.close()
            return found

        assert status('GET', '/') == status('GET', '/events') == status('POST', '/pause') == 404
        assert status('GET', f'/{token}') == 200
        assert status('POST', f'/{token}pause') == 204
        assert status('POST', f'/{token}pause', Origin=f'http://robot:{port}') == 204
        for origin in ('http://elsewhere', 'null', f'http://localhost:{port}'):
            assert status('POST', f'/{token}pause', Origin=origin) == 403
            assert status('GET', f'/{token}events', Origin=origin) == 403
        assert served.requests() == 2 * [('pause', None)]
    finally:
        served.close()


@pytest.mark.parametrize('host', ['192.0.2.1', 'no.such.host.invalid'])
def test_a_host_that_is_not_this_machine_is_rejected(host):
    with pytest.raises(ValueError, match=f"host '{host}' is"):
        LivePage('', port=0, host=host)


def test_orders_beyond_measure_are_rejected(page):
    codes = [ask(page, 'POST', '/step', 'null')[0] for _ in range(110)]
    assert codes[:100] == [204] * 100 and set(codes[100:]) == {400}
    assert len(page.requests()) == 100


def test_states_arrive_and_the_end_ends_the_stream(page):
    port = int(page.url.rstrip('/').rpartition(':')[2])
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=CEILING)
    page.publish({'time': 1.5})
    connection.request('GET', '/events', headers={'Host': f'localhost:{port}'})
    stream = connection.getresponse()
    assert json.loads(stream.readline().removeprefix(b'data: ')) == {'time': 1.5}
    stream.readline()
    page.publish({'time': 2.5})
    assert json.loads(stream.readline().removeprefix(b'data: ')) == {'time': 2.5}
    page.close()
    assert stream.read().strip() == b''
    connection.close()


def test_a_port_in_use_is_rejected_with_the_cure(page):
    port = int(page.url.rstrip('/').rpartition(':')[2])
    with pytest.raises(ValueError, match=f'port {port} is in use: choose another, as --port'):
        LivePage('', port)
    with pytest.raises(ValueError, match='from 0 to 65535, got 70000'):
        LivePage('', 70000)


@pytest.fixture
def session():
    robot = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    simulator = Simulator(robot)
    simulator.reset([0.5, -1.0, 0.5, 0.3, 0.4, 0.2])
    started = LiveSession(simulator, make_scene(robot.model), port=0)
    yield started
    started.close()


def obey(session, name, value=None):
    path = f'/{name}'
    assert ask(session, 'POST', path, json.dumps(value))[0] == 204
    session.run(frames=1)


def test_a_session_obeys(session):
    simulator = session.simulator
    obey(session, 'pause')
    at = simulator.time
    session.run(frames=5)
    assert simulator.time == at and not session.playing
    obey(session, 'step')
    assert simulator.time == pytest.approx(at + 1e-3)
    obey(session, 'speed', 5)
    assert session.speed == 5.0
    for wrong in (0, -1, 1e9, 'fast', None, [1]):
        obey(session, 'speed', wrong)
        assert session.speed == 5.0
    obey(session, 'play')
    session.run(frames=3)
    assert session.playing and simulator.time > at + 1e-3
    obey(session, 'pause')
    obey(session, 'reset')
    assert simulator.time == 0.0
    assert np.array_equal(simulator.q, [0.5, -1.0, 0.5, 0.3, 0.4, 0.2])


def test_a_session_ends_after_its_time_and_is_never_fast(session):
    began = time.monotonic()
    session.run(duration=0.3)
    assert session.simulator.time == pytest.approx(0.3, abs=1e-3)
    assert time.monotonic() - began > 0.25


def test_time_passes_at_the_speed_that_is_chosen(session):
    session.run(frames=1)
    session.speed, began, start = 0.25, time.monotonic(), session.simulator.time
    session._restart_clock()
    session.run(frames=40)
    passed = session.simulator.time - start
    assert 0.0 < passed <= 0.25 * (time.monotonic() - began) + 2e-3


def test_dynamics_that_are_not_finite_pause_and_say_so(session):
    def fails(simulator):
        raise FloatingPointError('not finite')

    session.commands.law = fails
    session.run(frames=3)
    assert not session.playing and session._state()['message'] == 'not finite'


def test_a_session_that_is_stopped_does_not_run(session):
    begun = session.simulator.time
    session.stopped = True
    session.run()
    assert session.simulator.time == begun


class Clock:
    """A clock that advances only by sleeps, and by given durations of steps."""

    def __init__(self):
        self.now, self.cost = 100.0, 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def torque(self, simulator):
        self.now += self.cost


@pytest.fixture
def clock(monkeypatch):
    made_up = Clock()
    monkeypatch.setattr(session_module, 'time', made_up)
    return made_up


@pytest.fixture
def timed(clock, session):
    """Return a session whose steps take what the clock says."""
    session.commands.law = clock.torque
    session._restart_clock()
    return session


def run_until(session, clock, instant):
    """Show pictures until an instant; the simulated and the real time of each, (N, 2)."""
    found = [(session.simulator.time, clock.now)]
    while clock.now < instant:
        session.run(frames=1)
        found.append((session.simulator.time, clock.now))
    return np.array(found)


@pytest.mark.parametrize('speed', [1.0, 0.25, 4.0])
def test_a_lag_is_caught_up_at_a_bounded_speed(timed, clock, speed):
    timed.speed = speed
    timed._restart_clock()
    begin = clock.now
    run_until(timed, clock, begin + 1.0)
    clock.cost = 0.4  # one step of 0.4 s, as if something else had the processor
    timed.run(frames=1)
    clock.cost = 0.0
    behind = speed * (clock.now - begin) - timed.simulator.time
    assert behind > 0.3 * speed
    found = run_until(timed, clock, begin + 3.0)
    lag = speed * (clock.now - begin) - timed.simulator.time
    assert abs(lag) <= speed * FRAME + 2e-3
    # The first picture may make up for a tenth of a second, others for their own; to a step.
    steps = np.diff(found, axis=0)
    assert steps[0, 0] <= 1.5 * speed * 0.1 + 1.01e-3
    steps = steps[1:]
    assert (steps[:, 0] <= 1.5 * speed * FRAME + 1.01e-3).all()
    assert steps[:, 0].max() >= 1.5 * speed * FRAME - 1.01e-3


def test_a_second_of_a_long_lag_is_caught_up(timed, clock):
    begin = clock.now
    run_until(timed, clock, begin + 1.0)
    clock.now += 60.0
    found = run_until(timed, clock, begin + 66.0)
    # 59 s are dropped for good; a picture's time is open at both ends.
    lag = (clock.now - begin) - timed.simulator.time
    assert lag == pytest.approx(59.0, abs=2 * FRAME + 2e-3)
    assert np.diff(found[:, 0]).max() <= 1.5 * 0.1 + 1.01e-3


def test_a_machine_that_is_too_slow_shows_pictures_nonetheless(timed, clock):
    begin = clock.now
    clock.cost = 4e-3  # a step of 1 ms
    found = run_until(timed, clock, begin + 10.0)
    assert np.diff(found[:, 1]).max() <= FRAME + 4.1e-3
    assert timed.simulator.time == pytest.approx(2.5, abs=0.03)
    assert timed._state()['factor'] == pytest.approx(0.25, abs=0.02)
    # When it is quick again, it makes up a second and then passes as chosen.
    clock.cost = 0.0
    run_until(timed, clock, begin + 14.0)
    assert timed._state()['factor'] == pytest.approx(1.0, abs=0.05)
    assert timed.simulator.time == pytest.approx(2.5 + 5.0, abs=0.05)


def test_slow_steps_without_a_torque_end_a_picture_in_time(session, clock, monkeypatch):
    step = session.simulator.step

    def slow(*args, n=1, **kwargs):
        clock.now += 4e-3 * n
        return step(*args, n=n, **kwargs)

    monkeypatch.setattr(session.simulator, 'step', slow)
    session._restart_clock()
    found = run_until(session, clock, clock.now + 5.0)
    # Parts of a picture have at most 4 steps, for any delay.
    assert np.diff(found[:, 1]).max() <= FRAME + 4 * 4.1e-3


def test_low_speeds_pass_as_chosen_although_a_picture_has_no_step(timed, clock):
    timed.speed = 0.01
    timed._restart_clock()
    begin = clock.now
    run_until(timed, clock, begin + 10.0)
    assert timed.simulator.time == pytest.approx(0.1, abs=1.1e-3)
