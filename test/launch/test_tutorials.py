# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The tutorials, followed literally in an empty folder, with and without `ros2`.

Nodes get additional parameters to wait for each other on slow machines.
"""

import os
from pathlib import Path
import subprocess
import time

import pytest
from support import outside
from support.page_commands import environment, Shell
from support.tutorial import agree, Run, Save, steps, Stop
from support.waiting import CEILING, until

from rbd_ros.nodes.bench.domains import free_domain

TUTORIALS = ('gravity_compensation', 'feedforward', 'ros2_control')
FIRST = 'gravity_compensation'  # whose files the others use
LOOKING = 20.0  # for a topic, by commands that do not find it at once [s]
NOT_YET = 'does not appear to be published yet'
READY = ('ready after', 'torque: publishing', 'robot ')  # what nodes say when they run
INSTALLS = ('sudo',)
# Parameters by which simulator and torque node wait for each other, on any machine.
WAITING = {
    'rbd_ros.nodes.simulator': {'lockstep': 'stamp'},
    **dict.fromkeys(
        ('rbd_ros.nodes.gravity_compensation', 'rbd_ros.nodes.inverse_dynamics'),
        {'state_timeout': 0.0, 'output': 'joint_state'},
    ),
}
IN_LOCKSTEP = ('gravity_compensation', 'feedforward')  # the controller of the other is no node
LATE = 'over-run'  # message of a simulator that is too slow
ATTEMPTS = 3


def own(command, with_ros2):
    """Return whether a command is for a reader with ros2, or for one without."""
    if command.begins('ros2'):
        return with_ros2
    return not (with_ros2 and command.begins('python', '-m'))


def text_of(command, name):
    """Return the text of a command of a tutorial, with parameters to wait where its node can."""
    if name not in IN_LOCKSTEP:
        return command.text
    if command.begins('ros2', 'launch'):
        given = {k: v for each in WAITING.values() for k, v in each.items()}
        return ' '.join([command.text, *(f'{k}:={v}' for k, v in given.items())])
    given = WAITING.get(command.words[2], {}) if command.begins('python', '-m') else {}
    return ' '.join([command.text, *(f'-p {k}:={v}' for k, v in given.items())])


def lack():
    """Return what this machine lacks to follow the pages with ros2; None if nothing."""
    return outside.program_problem('ros2') or outside.problem('launch_ros')


@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.parametrize('with_ros2', [False, True], ids=['plain', 'ros2'])
@pytest.mark.parametrize('name', TUTORIALS)
def test_a_tutorial_works_as_documented(name, with_ros2, tmp_path):
    outside.load('rclpy')
    if with_ros2 and lack():
        pytest.skip(lack())
    if with_ros2 and name == 'ros2_control':
        prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
        if not any(Path(each, 'lib', 'controller_manager').is_dir() for each in prefixes):
            pytest.skip(outside.lacks('controller_manager', outside.SOURCE))
    domain, lock = free_domain(os.getpid())
    with lock:
        for attempt in range(ATTEMPTS):
            folder = tmp_path / str(attempt)
            folder.mkdir()
            if read(name, with_ros2, folder, domain, attempt == ATTEMPTS - 1):
                break


def read(name, with_ros2, folder, domain, for_good):
    """Follow a tutorial; return False if the machine was too busy for its output."""
    for step in steps(FIRST):
        if isinstance(step, Save):
            (folder / step.name).write_text(step.text)
    staying = []
    try:
        for step in steps(name):
            if isinstance(step, Save):
                (folder / step.name).write_text(step.text)
            elif isinstance(step, Stop):
                stop(staying)
            elif not step.command.begins(*INSTALLS) and own(step.command, with_ros2):
                try:
                    follow(step, text_of(step.command, name), folder, domain, staying)
                except AssertionError:
                    if for_good or not any(LATE in shell.output() for shell in staying):
                        raise
                    return False
        stop(staying)
    finally:
        for shell in staying:
            shell.stop()
    return True


def follow(step, text, folder, domain, staying):
    """Run a command by its text; one that stays is waited for until it runs."""
    if step.command.stays:
        staying.append(Shell(text, folder, domain))
        shell = staying[-1]
        until(lambda: any(word in shell.output() for word in READY) or not shell.alive())
        assert shell.alive(), f'{step.command}\n{shell.output()}'
        return
    for shell in staying:
        wait_for_simulator(shell)
    end, unseen = time.monotonic() + LOOKING, True
    while unseen:
        run = subprocess.run(
            ['bash', '-c', text],
            cwd=folder,
            env=environment(folder, domain),
            capture_output=True,
            text=True,
            timeout=CEILING,
        )
        # ros2 looks for a topic for a moment only; a reader calls it again.
        unseen = NOT_YET in run.stdout + run.stderr and time.monotonic() < end
    assert run.returncode == 0, f'{step.command}\n{run.stdout}{run.stderr}'
    if step.shows:
        missing = agree(step.shows, run.stdout)
        assert missing is None, f'{step.command}: not printed: {missing}\n{run.stdout}'


def wait_for_simulator(shell):
    """Wait until a simulator has compiled its robot; a controller waits for it, too."""

    def ready():
        assert shell.alive(), shell.output()
        return '[simulator]' not in shell.output() or 'robot ' in shell.output()

    until(ready, shell.output)


def stop(staying):
    """Ctrl-C: all end, and in good order."""
    while staying:
        shell = staying.pop()
        assert shell.stop() == 0, shell.output()


@pytest.mark.parametrize('name', TUTORIALS)
def test_steps_of_a_page_are_found(name):
    found = steps(name)
    assert any(isinstance(each, Save) for each in found)
    assert any(isinstance(each, Run) and each.shows for each in found)
    assert any(isinstance(each, Stop) for each in found)
    assert any(isinstance(each, Run) and each.command.begins('ros2') for each in found)


def test_documented_output_is_compared_with_printed_output():
    printed = 'a 1.00\nb 2\nc 3\n'
    assert agree('a 1.01\n...\nc 3\n', printed) is None
    assert agree('a 1...\n...\n', printed) is None
    assert agree('a 1.3\n...\n', printed) == 'a 1.3'
    assert agree('a 1.00\nc 3\n', printed) == 'c 3'
    assert agree('...\nb 3\n...\n', printed) == 'b 3'
    assert 'nothing more' in agree('a 1.00\n', printed)


def test_the_launch_file_takes_the_files_of_the_page(machine, tmp_path, monkeypatch):
    machine.packages |= {
        'controller_manager',
        'robot_state_publisher',
        'joint_state_broadcaster',
        'joint_trajectory_controller',
        'joint_state_topic_hardware_interface',
    }
    monkeypatch.chdir(tmp_path)
    for step in [*steps(FIRST), *steps('ros2_control')]:
        if isinstance(step, Save):
            (tmp_path / step.name).write_text(step.text)
    [script] = [s for s in steps('ros2_control') if isinstance(s, Save) and 'TAG' in s.text]
    exec(compile(script.text, script.name, 'exec'), {})
    launches = [
        step.command.words
        for step in steps('ros2_control')
        if isinstance(step, Run) and step.command.begins('ros2', 'launch')
    ]
    assert len(launches) == 2
    for launch in launches:
        nodes = machine.launch(launch[3], *launch[4:])
        assert nodes['simulator'].remappings['joint_states'] == 'simulator/joint_states'
        assert {'joint_state_broadcaster', 'arm_controller'} <= set(nodes['spawner'].arguments)
