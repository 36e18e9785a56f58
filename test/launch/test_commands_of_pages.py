# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The commands of the documentation behave as the pages say.

Commands that run until Ctrl-C are started, must show the promised output, and end by Ctrl-C with
exit code 0. Commands that end by themselves run with those before them in their code block, or
with the first launch of their page; nothing may be rejected, and motions must take place.
"""

from dataclasses import dataclass
import importlib.util
import itertools
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import pytest
from support import outside
from support.page_commands import Command, commands, PAGES, Shell
from support.source_imports import ROOT
from support.waiting import CEILING, until
import yaml

LOOKING = 20.0  # for a node, by commands that do not find it at once [s]
MOVED = 1e-3  # what counts as a motion [rad]
REACHED = 1e-3  # how near its goal a motion ends with the defaults, as the pages say [rad]
ARM = ROOT / 'urdf' / 'six_axis_arm.urdf'
DROPPED = 'the trajectory is dropped'  # message of a node about lost states on a busy machine
ATTEMPTS = 5  # at a motion that is lost

ELSEWHERE = {
    ('scripts/demo',): 'test/demo runs it',
    ('rbd_ros', 'demo'): 'test/demo runs it',
    ('rbd_ros', 'feedforward'): 'test/cli runs it',
    ('rbd_ros', 'codegen'): 'test/cli runs it',
    ('rbd_ros', 'doctor'): 'test/cli runs it',
    ('rbd_ros', 'identify'): 'test/cli runs it',
    ('rbd_ros', 'validate-model'): 'test/cli runs it',
    ('rbd_ros', 'excitation-trajectory'): 'test/cli runs it',
    ('rbd_ros', 'hil'): 'test/cli and test/hil run it',
    ('rbd_ros', 'static-torque'): 'test/cli runs it',
    ('rbd_ros', 'simulate'): 'test/cli and test/viewer run it',
    ('python', 'examples/record_simulated_arm.py'): 'test/cli runs it',
    ('scripts/test',): 'it runs this test',
    ('pip', 'install'): 'installs; test_distributions.py builds and reads what is installed',
    ('cd', '~/ws/src'): 'needs a workspace and the address of the repository',
    ('rosdep', 'install'): 'needs a workspace, and installs',
    ('.', 'install/setup.bash'): 'needs a workspace',
}
#: Answers of services: those of std_srvs, of parameters, and of simulation_interfaces.
SUCCESS = re.compile(
    r'success=True|successful=True|Result\(result=1,|GetSimulatorFeatures_Response\(features'
)
NOT_YET = 'does not appear to be published yet'
MOVERS = ('/joint_trajectory', '/external_wrench', '/joint_commands')
EXAMPLE_ROBOTS = ('panda', 'ur5', 'z1', 'talos_reduced')
COMMANDS = [command for page in PAGES for command in commands(page)]


def elsewhere(command):
    return any(command.begins(*words) for words in ELSEWHERE)


def lack(command):
    """Return what this machine lacks to run a command; None if it can be run."""
    if outside.problem('rclpy'):
        return outside.problem('rclpy')
    if command.words[0] == 'ros2':
        if outside.program_problem('ros2'):
            return outside.program_problem('ros2')
        if share_of_rbd_ros() != ROOT / 'launch':
            return outside.lacks('rbd_ros', f'not in the workspace: {outside.SOURCE}')
    if set(command.words) & {f'urdf:={name}' for name in EXAMPLE_ROBOTS}:
        return outside.problem('example_robot_data')
    published_with = {'nav_msgs': '/odom'}
    for package in ('simulation_interfaces', 'control_msgs', 'nav_msgs'):
        topic = published_with.get(package, f'{package}/')
        if any(f'{package}/' in word or word == topic for word in command.words):
            if importlib.util.find_spec(package) is None:
                return outside.lacks(package, f'not installed: {outside.SOURCE}')
    needed = []
    if command.begins('ros2', 'run') and command.words[2] != 'rbd_ros':
        needed = [command.words[2]]
    if 'ros2_control.launch.py' in command.words:
        needed = ['controller_manager']
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    for package in needed:
        if not any(Path(prefix, 'lib', package).is_dir() for prefix in prefixes):
            return outside.lacks(package, f'not installed: {outside.SOURCE}')
    return None


def share_of_rbd_ros():
    """Return launch folder of the sourced workspace; that of this checkout if it is the same."""
    for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        folder = Path(prefix, 'share', 'rbd_ros', 'launch')
        if folder.is_dir():
            own = ROOT / 'launch'
            same = all(
                (folder / file.name).is_file()
                and (folder / file.name).read_text() == file.read_text()
                for file in own.glob('*.launch.py')
            )
            return own if same else folder
    return None


@dataclass(frozen=True)
class Scene:
    """Commands that stay, started together, and those that are run while they do."""

    stay: tuple[Command, ...]
    end: tuple[Command, ...] = ()

    def __str__(self):
        first = (self.stay or self.end)[0]
        return f'{first.page}:{first.line}'


def home_of(here):
    """Return what the commands of a page are for that stand in blocks without a launch.

    The first block of several launches and of one who listens to them; without one, the first
    launch: in a block of launches alone, each is another way.
    """
    for _, block in itertools.groupby(here, key=lambda command: command.block):
        block = tuple(block)
        together = tuple(c for c in block if c.begins('ros2', 'launch') and c.stays)
        if len(together) > 1 and any(c.listens for c in block):
            return together
    return tuple(c for c in here if c.begins('ros2', 'launch') and c.stays)[:1]


def scenes():
    """Return all that is run, each command once.

    What must run first, with what is run beside it.
    """
    beside, stays = {}, {}  # by the words of the commands that stay
    for page in PAGES:
        here = [c for c in COMMANDS if c.page == page and not elsewhere(c)]
        home = home_of(here)
        for _, block in itertools.groupby(here, key=lambda command: command.block):
            launched = ()
            for command in block:
                if command.stays and not command.listens:
                    launched += (command,)
                    continue
                alone = command.words[:2] in (('rbd_ros', 'info'), ('ros2', 'launch'))
                stay = () if alone else launched or home
                stays.setdefault(names(stay), stay)
                beside.setdefault(names(stay), {}).setdefault(command.words, command)
    found = [Scene(stays[key], tuple(end.values())) for key, end in beside.items()]
    seen = {words for key in beside for words in key}
    for command in COMMANDS:
        if command.stays and not command.listens and command.words not in seen:
            seen.add(command.words)
            found.append(Scene((command,)))
    return found


def names(several):
    return tuple(command.words for command in several)


class Observed:
    """Messages in a ROS domain while commands run."""

    def __init__(self, ros, folder):
        from sensor_msgs.msg import JointState

        self.ros, self.folder, self._JointState = ros, folder, JointState
        self._messages = {}
        self.staying = []  # shells of the commands that stay

    def shell(self, command):
        return Shell(command.text, self.folder, self.ros.domain)

    def messages(self, topic):
        """Return messages of a topic; of those that come within a pause of `wait`, the newest."""
        from node_harness import reliable

        if topic not in self._messages:
            self._messages[topic] = self.ros.listen(self._JointState, topic, reliable(1))
        return self._messages[topic]

    def state(self, topic):
        """Return the newest positions by joint, and their time."""
        newest = self.messages(topic)[-1]
        seconds = newest.header.stamp.sec + newest.header.stamp.nanosec * 1e-9
        return dict(zip(newest.name, newest.position)), seconds

    def dropped(self):
        """Return how many motions were dropped so far."""
        return sum(shell.output().count(DROPPED) for shell in self.staying)

    def wait(self, condition, what, shell=None):
        """Wait for a condition, but not for a process that has ended.

        Messages come a thousand times a second: between two looks is a pause, for which the nodes
        can use the processor.
        """

        def seen():
            newest = {s.name: s.message for s in self.ros.diagnostics}
            output = shell.output()[-3000:] if shell is not None else ''
            return f'{what}\ndiagnostics: {newest}\n{output}'

        def spin():
            assert shell is None or shell.alive() or condition(), seen()
            time.sleep(0.02)
            for _ in range(5):
                self.ros.executor.spin_once(timeout_sec=0.0)

        until(condition, seen, spin)

    def rejections(self, since):
        """Return the messages of nodes about rejected messages, after a time for each."""
        heard = {status.name for status in self.ros.diagnostics}
        begin = self.ros.mark()
        self.wait(
            lambda: heard <= {status.name for status in self.ros.diagnostics[begin:]},
            'diagnostics of all nodes',
        )
        return {s.message for s in self.ros.diagnostics[since:] if 'rejected' in s.message}


@pytest.fixture
def observed(tmp_path):
    outside.load('rclpy')
    harness = str(ROOT / 'test' / 'nodes')
    if harness not in sys.path:
        sys.path.append(harness)
    from node_harness import Ros

    for name in ('arm.urdf', 'robot.urdf', 'arm.urdf.xacro'):
        shutil.copy(ARM, tmp_path / name)
    controllers = (ROOT / 'config' / 'ros2_control.yaml').read_text()
    (tmp_path / 'controllers.yaml').write_text(
        controllers.replace('effort_trajectory_controller', 'arm_controller')
    )
    for folder in ('urdf', 'config'):  # content of a checkout
        shutil.copytree(ROOT / folder, tmp_path / folder)
    with Ros(tmp_path) as ros:
        yield Observed(ros, tmp_path)


class Lost(AssertionError):
    """A motion that a busy machine lost: its node never got it, or dropped it."""


# -- what commands promise ------------------------------------------------------------------------


def namespace(command):
    given = [word.partition(':=')[2] for word in command.words if word.startswith('namespace:=')]
    return f'/{given[0]}' if given else ''


def topic(command, name):
    """Return the topic of a node by its name in the node."""
    moved = [word.partition(':=')[2] for word in command.words if word.startswith(f'{name}:=')]
    return moved[0] if moved else f'{namespace(command)}/{name}'


def promise(command):
    """Return the topic on which a command that stays must publish; None for a controller alone."""
    if any('bringup' in word for word in command.words):
        alone = 'controller:=none' in command.words
        return topic(command, 'joint_states' if alone else 'joint_commands')
    if any('simulator' in word or '_world.launch' in word for word in command.words):
        return topic(command, 'joint_states')
    return None


def until_it_shows(command, shell, observed):
    target = promise(command)
    if target is not None:
        received = observed.messages(target)
        observed.wait(lambda: len(received) > 10, f'{target} of {command}', shell)
    else:
        word = 'robot ' if 'rbd_ros' in ' '.join(command.words) else 'Spinning'
        if 'autostart:=false' in command.words:
            word = 'waiting for transitions'
        observed.wait(lambda: word in shell.output(), f'{word!r} of {command}', shell)
    assert shell.alive(), f'{command}\n{shell.output()}'


def message(command):
    """Return what `ros2 topic pub` sends."""
    return yaml.safe_load(command.words[-1])


def position_limits():
    limits = {}
    for joint in ElementTree.parse(ARM).iter('joint'):
        limit = joint.find('limit')
        if limit is not None:
            limits[joint.get('name')] = float(limit.get('lower')), float(limit.get('upper'))
    return limits


def published_topic(command):
    return next((word for word in command.words if word.startswith('/')), '')


def check_effect(command, observed, before, states, dropped):
    """Wait for the motion that a page promises, and look where it ends.

    :param dropped: motions that were dropped before
    """
    target = published_topic(command)
    _, sent_at = observed.state(states)

    def positions():
        return observed.state(states)[0]

    if target.endswith('/joint_trajectory'):
        sent = message(command)
        goal = dict(zip(sent['joint_names'], sent['points'][-1]['positions']))
        end = time.monotonic() + LOOKING

        def reached():
            return all(abs(positions()[name] - x) < REACHED for name, x in goal.items())

        def lost():
            rests = all(abs(positions()[name] - x) < MOVED for name, x in before.items())
            return observed.dropped() > dropped or (rests and time.monotonic() > end)

        observed.wait(lambda: reached() or lost(), f'the goal of {command}: {goal}')
        if not reached():
            raise Lost(f'{command} was lost')
        _, reached_at = observed.state(states)
        observed.wait(lambda: observed.state(states)[1] > reached_at + 1.0, 'a second more')
        errors = {name: positions()[name] - x for name, x in goal.items()}
        assert max(map(abs, errors.values())) < REACHED, f'{command}: {errors}'
    elif target.endswith('/external_wrench'):
        observed.wait(
            lambda: any(abs(positions()[name] - x) > MOVED for name, x in before.items()),
            f'a motion by {command}',
        )
    elif target.endswith('/joint_commands'):
        [name] = message(command)['name']
        observed.wait(
            lambda: abs(positions()[name] - before[name]) > MOVED, f'a motion by {command}'
        )
        observed.wait(lambda: observed.state(states)[1] > sent_at + 1.0, 'a second more')
        stops = [
            joint
            for joint, (lower, upper) in position_limits().items()
            if not lower + MOVED < positions()[joint] < upper - MOVED
        ]
        assert not stops, f'{command} drives into the stops: {stops}'


def until_it_hears(command, shell, observed):
    """Wait for a message; the shell that has shown it.

    `ros2 topic echo` looks for the topic for a moment only, which may be too short on a busy
    machine: then it is called again, as a user would.
    """
    shells = [shell]

    def heard():
        last = shells[-1]
        if '---' in last.output():
            return last
        if not last.alive() and '---' not in last.output():
            assert NOT_YET in last.output(), f'{command}\n{last.output()}'
            shells.append(observed.shell(command))
        return None

    return until(heard, lambda: f'{command}\n{shells[-1].output()}')


def run(command, observed, states):
    """Run a command that ends, or subscribes, with the processes that it is for.

    A lost motion is requested again, as by a user.
    """
    for attempt in range(ATTEMPTS):
        dropped = observed.dropped()
        try:
            return run_once(command, observed, states, dropped)
        except AssertionError as error:
            lost = isinstance(error, Lost) or observed.dropped() > dropped
            if not lost or attempt == ATTEMPTS - 1:
                raise


def run_once(command, observed, states, dropped):
    since = observed.ros.mark()
    moves = command.begins('ros2', 'topic', 'pub') and published_topic(command).endswith(MOVERS)
    if moves:
        observed.wait(lambda: observed.messages(states), f'{states} for {command}')
        before = observed.state(states)[0]
    shell = observed.shell(command)
    try:
        if command.begins('ros2', 'topic', 'echo'):
            shell = until_it_hears(command, shell, observed)
        if command.stays:
            return
        observed.wait(lambda: not shell.alive(), f'the end of {command}')
        end = time.monotonic() + LOOKING
        while 'Node not found' in shell.output() and time.monotonic() < end:
            # ros2 looks half a second for nodes, its daemon from when it was started by the first
            # command; a busy machine may need that by itself.
            shell = observed.shell(command)
            observed.wait(lambda ended=shell: not ended.alive(), f'the end of {command}')
        assert shell.process.returncode == 0, f'{command}\n{shell.output()}'
        if command.begins('ros2', 'param', 'set'):
            assert 'successful' in shell.output(), f'{command}\n{shell.output()}'
        if command.begins('ros2', 'lifecycle', 'set'):
            assert 'Transitioning successful' in shell.output(), f'{command}\n{shell.output()}'
        if command.begins('ros2', 'service') or '&&' in command.words:
            assert SUCCESS.search(shell.output()), f'{command}\n{shell.output()}'
        if command.begins('ros2', 'action'):
            assert 'finished with status: SUCCEEDED' in shell.output(), shell.output()
        if moves:
            check_effect(command, observed, before, states, dropped)
    finally:
        shell.stop()
    rejected = observed.rejections(since)
    assert not rejected, f'{command}: {rejected}'


# -- tests ----------------------------------------------------------------------------------------


def test_every_command_of_the_pages_is_of_a_kind_that_is_tested():
    strange = [str(c) for c in COMMANDS if not (c.stays or c.ends or elsewhere(c))]
    assert not strange, strange


def test_every_command_is_in_a_scene_or_run_elsewhere():
    run_here = {c.words for scene in scenes() for c in (*scene.stay, *scene.end)}
    assert {c.words for c in COMMANDS if not elsewhere(c)} == run_here


@pytest.mark.parametrize(
    'answer, works',
    [
        ("std_srvs.srv.Trigger_Response(success=True, message='')", True),
        ("std_srvs.srv.Trigger_Response(success=False, message='')", False),
        (
            'simulation_interfaces.srv.StepSimulation_Response(result=simulation_interfaces.msg.'
            "Result(result=1, error_message=''))",
            True,
        ),
        (
            'simulation_interfaces.srv.StepSimulation_Response(result=simulation_interfaces.msg.'
            "Result(result=101, error_message='already in that state'))",
            False,
        ),
    ],
)
def test_answers_are_understood(answer, works):
    assert bool(SUCCESS.search(answer)) == works


def test_files_that_commands_name_are_there(observed):
    ours = re.compile(r'(?:urdf|controllers_file|robot_description_file):=(\w[\w./]*\.\w+)$')
    named = {
        found[1]
        for command in COMMANDS
        if not elsewhere(command) and not command.words[0] == 'cd'
        for found in filter(None, map(ours.match, command.words))
    }
    assert {'arm.urdf', 'arm.urdf.xacro', 'controllers.yaml'} <= named
    missing = sorted(name for name in named if not (observed.folder / name).is_file())
    assert not missing


#: As `run_executable` of ros2run does, which leaves Ctrl-C to the group.
RUN = """exec python -c "
import subprocess
child = subprocess.Popen(['sleep', '1000'])
while child.poll() is None:
    try:
        child.wait()
    except KeyboardInterrupt:
        pass
" """


def test_processes_of_a_killed_test_end(tmp_path):
    code = (
        'import sys, time; sys.path.insert(0, sys.argv[1]); from pathlib import Path; '
        'from support.page_commands import Shell; '
        'print(Shell(sys.argv[3], Path(sys.argv[2]), 1).process.pid, flush=True); '
        'time.sleep(1000)'
    )
    words = [sys.executable, '-c', code, str(ROOT / 'test'), str(tmp_path), RUN]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as killed:
        started = int(killed.stdout.readline())
        until(lambda: _running(started) == 2, lambda: 'its child', lambda: time.sleep(0.02))
        killed.kill()
    until(lambda: not _running(started), lambda: f'the end of {started}', lambda: time.sleep(0.02))


def _running(group):
    """Return the number of running processes of a group, without zombies."""
    found = 0
    for file in Path('/proc').glob('[0-9]*/stat'):
        try:
            state, _, process_group = file.read_text().rpartition(')')[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        found += int(process_group) == group and state != 'Z'
    return found


@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.parametrize('scene', scenes(), ids=str)
def test_commands_of_a_page_do_as_documented(scene, observed):
    able = {c: lack(c) for c in (*scene.stay, *scene.end)}
    stay = [c for c in scene.stay if able[c] is None]
    end = [c for c in scene.end if able[c] is None]
    if (scene.stay and not stay) or not (stay or end):
        pytest.skip(next(reason for reason in able.values() if reason))

    shells = {}
    try:
        for command in stay:
            shells[command] = observed.shell(command)
        observed.staying = [*shells.values()]
        for command, shell in shells.items():
            until_it_shows(command, shell, observed)
        for command in end:
            states = f'/{published_topic(command).strip("/").rpartition("/")[0]}/joint_states'
            run(command, observed, states.replace('//', '/'))
        codes = {str(command): shell.stop() for command, shell in shells.items()}
        assert set(codes.values()) <= {0}, f'{codes}\n' + '\n'.join(
            shell.output()[-2000:] for shell in shells.values()
        )
    finally:
        for shell in shells.values():
            shell.stop()
        if any(c.begins('ros2') for c in end):  # they leave a daemon, one for each ROS domain
            Shell('ros2 daemon stop', observed.folder, observed.ros.domain).process.wait(CEILING)
