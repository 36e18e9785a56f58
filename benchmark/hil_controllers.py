#!/usr/bin/env python3
"""Controllers in the process of the bench: how many times faster than real time, per core.

    benchmark/hil_controllers.py [--runs 5] [--json FILE]

The six-axis arm, 5 s at 1 kHz, with noise and latency, by processor time: a function in Python,
one in C of exported kernels, an FMU, and an FMU as plant. The fastest of the runs counts. Exit
code 1 if a kind is below the floor. Wants a C compiler and fmpy.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
import sys
import tempfile
import time

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / 'test')]
os.environ['OPENBLAS_NUM_THREADS'] = '1'  # read when NumPy is imported

from support.c_example import build_example, EXAMPLE  # noqa: E402
from support.small_units import Number, numbers, write_unit  # noqa: E402
import yaml  # noqa: E402

from rbd_ros import Robot  # noqa: E402
from rbd_ros.fmi import compile_unit, make_unit  # noqa: E402
from rbd_ros.hil import Bench, read_scenario  # noqa: E402
from rbd_ros.hil.controllers import make_controller  # noqa: E402
from rbd_ros.resources import resource_path  # noqa: E402

FLOOR = 20.0  # times real time
INPUTS = ('position', 'velocity', 'wanted_position', 'wanted_velocity', 'wanted_acceleration')
LAW = """
    static const double kp[6] = {1200, 1200, 600, 60, 20, 2}, kd[6] = {80, 80, 40, 2, 0.5, 0.02};
    for (int k = 0; k < 6; ++k)
        x[30 + k] = kp[k] * (x[12 + k] - x[k]) + kd[k] * (x[18 + k] - x[6 + k]);
"""


def scenarios(folder: Path):
    """Scenarios by what they measure."""
    build_example(folder / 'build')
    robot = Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))
    unit = make_unit(robot, 0.001, 'semi_implicit')
    (folder / 'arm.fmu').write_bytes(unit.archive(compile_unit(unit)))
    joints = robot.joint_names
    variables = [v for name in INPUTS for v in numbers(f'{{joint}}.{name}', joints, 'input')]
    variables += numbers('{joint}.effort', joints, 'output')
    for version in ('2.0', '3.0'):
        path = folder / f'law{version[0]}.fmu'
        write_unit(path, version, [*variables, Number('unused', 'parameter')], LAW)
    content = yaml.safe_load((EXAMPLE / 'scenario.yaml').read_text())
    computed = {'python': 'rbd_ros.hil.controllers:computed_torque'}
    in_c = {'c': {'library': 'build/libcontrol.so', 'function': 'computed_torque'}}
    for name, changes in (
        ('function in Python', {'controller': computed}),
        ('function in C', {'controller': in_c}),
        ('FMU, FMI 2.0', {'controller': {'fmu': 'law2.fmu'}}),
        ('FMU, FMI 3.0', {'controller': {'fmu': 'law3.fmu'}}),
        ('function in C, FMU as plant', {'controller': in_c, 'plant': {'fmu': 'arm.fmu'}}),
        ('FMU, FMU as plant', {'controller': {'fmu': 'law3.fmu'}, 'plant': {'fmu': 'arm.fmu'}}),
    ):
        path = folder / 'scenario.yaml'
        path.write_text(yaml.safe_dump({**content, **changes}))
        yield name, read_scenario(path)


def speed(scenario, runs: int) -> float:
    """Times real time, of the fastest run.

    :raises RuntimeError: if a run fails
    """
    bench, best = Bench(scenario), 0.0
    for _ in range(runs):
        begin = time.process_time()
        run = bench.run(make_controller(scenario))
        best = max(best, scenario.duration / (time.process_time() - begin))
        if run.failure:
            raise RuntimeError(run.failure)
    return best


def main() -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--json', type=Path, help='write the results there, too')
    arguments = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, scenario in scenarios(Path(folder)):
            results[name] = speed(scenario, arguments.runs)
            print(f'{name:30s}{results[name]:8.0f} x')
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + '\n')
    good = min(results.values()) >= FLOOR
    print('PASS' if good else f'BELOW: at least {FLOOR:.0f} times real time')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
