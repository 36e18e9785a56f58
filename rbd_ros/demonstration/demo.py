# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros demo`: a simulated arm tracks a fast motion over ROS 2 under three control laws.

Simulator, inverse_dynamics node and recorder are separate processes that communicate by DDS, on
this machine only. This program plans the motion, starts and stops them, and reports.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
import json
import os
from pathlib import Path
import select
import sys
import tempfile
import time
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import yaml

from rbd_ros.bounded_files import read_end
from rbd_ros.demonstration.child_processes import ChildProcesses, Interrupted
from rbd_ros.demonstration.demo_motion import Demonstration, demonstration
from rbd_ros.demonstration.demo_plot import plot
from rbd_ros.demonstration.demo_report import ratio, report
from rbd_ros.demonstration.experiment import ANSWERS, evaluate, Law, measure, Plan, Recording
from rbd_ros.lookup.robots import load_robot
from rbd_ros.nodes.bench.domains import free_domain
from rbd_ros.nodes.inverse_dynamics import INTERFACE
from rbd_ros.robot import Robot

# The last one is the default of inverse_dynamics; the others disable parts of it.
LAWS = (
    Law('feedback', 'feedback alone', {'feedforward': 'none', 'friction_compensation': 'none'}),
    Law(
        'gravity',
        'gravity + feedback',
        {'feedforward': 'gravity', 'friction_compensation': 'none'},
    ),
    Law(
        'inverse_dynamics',
        'inverse dynamics + feedback',
        {name: INTERFACE.defaults[name] for name in ('feedforward', 'friction_compensation')},
    ),
)
REAL_TIME = 'real_time'  # key of the run with measured times
LAST_WORDS = 60.0  # timeout of the recorder's end [s]
BAR = 30


class DemoError(RuntimeError):
    """The demo could not run; the message gives the reason."""


def run(arguments: argparse.Namespace) -> int:
    """Run the demo.

    :param arguments: arguments of `rbd_ros.cli.demo`
    :return: exit code, see the help text
    """
    try:
        return _Demo(arguments).run()
    except Interrupted as stop:
        print(f'\n{stop}; all processes have ended', file=sys.stderr)
        return 128 + stop.number
    except (DemoError, OSError, ValueError) as error:
        print(f'\ndemo: error: {error}', file=sys.stderr)
        return 2


def _message(line: bytes) -> Optional[dict]:
    """Return a report of the recorder; None for output of its middleware on the same stream.

    Fast DDS writes there about a read-only /dev/shm, and works without it.
    """
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) and 'event' in message else None


class _Demo:
    """One run of the demo."""

    def __init__(self, arguments: argparse.Namespace):
        self._arguments = arguments
        self._begin = time.monotonic()
        self._bars = sys.stdout.isatty()
        self._shown = ''  # law of the current bar

    def run(self) -> int:
        options = self._arguments
        self._output = Path(options.output).resolve()
        self._output.mkdir(parents=True, exist_ok=True)
        self._found = load_robot(options.robot, options.xacro)
        with ExitStack() as stack:
            domain = options.domain_id
            if domain is None:
                domain, lock = free_domain(os.getpid())
                stack.enter_context(lock)
            children = stack.enter_context(ChildProcesses(self._environment(domain), self._output))
            self._print(f'{self._found.path.name}: planning a motion within the limits')
            self._robot = Robot.from_urdf(
                self._found.source, armature=self._armature(), extension=self._extension()
            )
            motion = demonstration(self._robot)
            self._plan = self._make_plan(motion)
            self._describe(motion)
            measured = (replace(LAWS[-1], key=REAL_TIME),)
            with tempfile.TemporaryDirectory(prefix='rbd_ros_demo_') as folder:
                problem = self._run_laws(children, Path(folder), self._plan, lockstep=True)
                if problem:
                    raise DemoError(self._failure(children, 'recorder', problem))
                children.stop()
                plan = replace(self._plan, laws=measured)
                problem = self._run_laws(children, Path(folder), plan, lockstep=False)
        return self._report(problem)

    def _print(self, text: str) -> None:
        print(f'[{time.monotonic() - self._begin:5.1f} s] {text}', flush=True)

    # -- the plan ---------------------------------------------------------------------------------

    def _armature(self) -> Optional[str]:
        armature = self._arguments.armature
        return None if armature is None else str(Path(armature).resolve())

    def _extension(self) -> Optional[str]:
        extension = self._arguments.extension
        return None if extension is None else str(Path(extension).resolve())

    def _make_plan(self, motion: Demonstration) -> Plan:
        trajectory, scale = motion.trajectory, self._arguments.time_scale
        if not scale >= 1.0:
            raise DemoError(
                f'--time-scale must be at least 1, got {scale:g}, since the motion reaches the '
                'limits'
            )
        return Plan(
            trajectory.joint_names,
            trajectory.times * scale,
            trajectory.positions,
            trajectory.velocities / scale,
            trajectory.accelerations / scale**2,
            LAWS,
        )

    def _describe(self, motion: Demonstration) -> None:
        scale = self._arguments.time_scale
        text = f'{self._robot.nv} joints, {scale * motion.trajectory.end_time:.2f} s'
        if scale == 1.0:
            text += f', limited by the {motion.limited_by}'
        self._print(text)

    def _units(self) -> List[Tuple[str, str]]:
        units = self._robot.model.position_units
        return [(unit, 'N' if unit == 'm' else 'N m') for unit in units]

    # -- the processes ----------------------------------------------------------------------------

    def _environment(self, domain: int) -> Dict[str, str]:
        environment = {
            **os.environ,
            'ROS_DOMAIN_ID': str(domain),
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
            'PYTHONUNBUFFERED': '1',
        }
        if os.environ.get('ROS_DISTRO') in ('humble', 'iron'):
            environment['ROS_LOCALHOST_ONLY'] = '1'
        else:
            environment.pop('ROS_LOCALHOST_ONLY', None)
        return environment

    def _parameters(self, plan: Plan, lockstep: bool) -> Dict[str, dict]:
        expanded = self._found.expanded
        description = (
            {'robot_description_file': str(self._found.path)}
            if expanded is None
            else {'robot_description': expanded}
        )
        if self._armature() is not None:
            description['armature_file'] = self._armature()
        if self._extension() is not None:
            description['extension_file'] = self._extension()
        # Everything except the robot and its start has its default.
        simulator = {
            **description,
            'timestep': plan.period,
            'initial_positions': plan.positions[0].tolist(),
        }
        control = {**description, 'use_sim_time': True, **plan.laws[0].parameters}
        if self._arguments.natural_frequency is not None:
            control['natural_frequency'] = self._arguments.natural_frequency
        if lockstep:
            simulator['lockstep'] = 'stamp'
            # In lockstep the simulator waits, and only commands with a stamp are answers.
            control.update(state_timeout=0.0, output='joint_state')
        return {
            'simulator': {'ros__parameters': simulator},
            'inverse_dynamics': {'ros__parameters': control},
        }

    def _run_laws(self, children: ChildProcesses, folder: Path, plan: Plan, lockstep: bool) -> str:
        """Run and record the laws of a plan.

        :return: why the recorder failed; empty if it did not
        :raises DemoError: if a process fails
        """
        file = folder / 'parameters.yaml'
        file.write_text(yaml.safe_dump(self._parameters(plan, lockstep)))
        plan.save(folder / 'plan.npz')
        for name, remapping in (
            ('simulator', []),
            ('inverse_dynamics', ['-r', f'joint_commands:={ANSWERS}'] if lockstep else []),
        ):
            command = [sys.executable, '-m', f'rbd_ros.nodes.{name}', '--ros-args', *remapping]
            children.start(name, [*command, '--params-file', str(file)], urgent=not lockstep)
        command = [sys.executable, '-m', 'rbd_ros.demonstration.recorder']
        command += [str(folder / 'plan.npz'), str(self._output)]
        recorder = children.start(
            'recorder', command + ['--lockstep'] * lockstep, pipe=True, urgent=not lockstep
        )
        how = 'in lockstep' if lockstep else 'in real time'
        self._print(f'simulator, inverse_dynamics and recorder are starting, {how}')
        return self._follow(children, recorder.stdout, plan)

    def _follow(self, children: ChildProcesses, pipe: Any, plan: Plan) -> str:
        """Show the progress of the recorder until it ends; see `_run_laws`."""
        titles = {law.key: law.title for law in plan.laws}
        while True:
            ready, _, _ = select.select([pipe], [], [], 0.2)
            line = pipe.readline() if ready else b''
            for name in children.exited():
                if name != 'recorder':
                    raise DemoError(self._failure(children, name, 'ended'))
            if not ready:
                continue
            if not line:
                raise DemoError(self._failure(children, 'recorder', 'ended'))
            message = _message(line)
            if message is None:
                continue
            event = message.pop('event')
            if event == 'done':
                children.wait('recorder', LAST_WORDS)
                return ''
            if event == 'error':
                return str(message['message'])
            if event == 'ready':
                self._print('all nodes are running')
            elif event == 'waiting':
                self._print_between_bars(
                    f'waiting for {message["what"]} (a first run compiles the simulation)'
                )
            else:
                self._show(titles[message['law']], message.get('part', 0.0))

    def _show(self, title: str, part: float) -> None:
        """Show the progress of a law by a growing bar; without a terminal, only its beginning."""
        if not self._bars:
            if part == 0.0 and title != self._shown:
                self._print(title)
                self._shown = title
            return
        bar = '#' * round(BAR * part)
        begin = '\r' if title == self._shown else '\n' if self._shown else ''
        elapsed = time.monotonic() - self._begin
        print(f'{begin}[{elapsed:5.1f} s] {title:<26} [{bar:<{BAR}}]', end='', flush=True)
        self._shown = title

    def _print_between_bars(self, text: str) -> None:
        """Print a text between bars; the bar restarts on a new line."""
        if self._bars:
            print()
        self._print(text)
        self._shown = ''

    def _failure(self, children: ChildProcesses, name: str, what: str) -> str:
        """Return the text of a failure, with the last lines of all nonempty logs."""
        text = f'{name}: {what}'
        for log in (children.log(n) for n in ('simulator', 'inverse_dynamics', 'recorder')):
            lines = read_end(log, 1 << 16).strip().splitlines() if log.is_file() else []
            if lines:
                text += '\n'.join(['', f'-- {log}', *lines[-8:]])
        return text

    # -- the result -------------------------------------------------------------------------------

    def _report(self, problem: str) -> int:
        """Show and check the results; return the exit code.

        :param problem: why real time was not measured; empty if it was
        """
        plan, units, limits = self._plan, self._units(), self._robot.effort_limits
        if self._bars:
            print()
        runs = {law.key: evaluate(plan, self._recording(law.key)) for law in plan.laws}
        timing = None if problem else measure(plan, self._recording(REAL_TIME))
        table = report(plan, runs, units, limits, timing)
        (self._output / 'table.txt').write_text(table + '\n')
        print(f'\n{table}\n')
        if problem:
            self._print(f'real time was not measured: {problem}')
        first, *_, last = runs.values()
        times = ratio(first, last)
        verdict = f'inverse dynamics tracks {times:.0f} times closer than feedback alone'
        if not self._arguments.no_plot:
            path = self._output / 'tracking.png'
            rate = f'{1.0 / plan.period:.0f} Hz'
            title = f'{self._robot.name}: one motion, three control laws, {rate} over ROS 2'
            plot(path, title, verdict, plan, runs, units, limits)
            self._print(f'plot: {path}')
        reached = times >= self._arguments.threshold and np.isfinite(times)
        required = f'{self._arguments.threshold:g}'
        self._print(f'{"PASS" if reached else "FAIL"}: {verdict} (required: at least {required})')
        return 0 if reached else 1

    def _recording(self, key: str) -> Recording:
        return Recording.load(self._output / f'{key}.npz')
