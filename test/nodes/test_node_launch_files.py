"""The launch files, where launch and launch_ros are installed."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / 'launch').glob('*.launch.py'))

RUN = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import EmitEvent, IncludeLaunchDescription, TimerAction
from launch.events import Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
path, duration, *arguments = sys.argv[1:]
service = LaunchService()
service.include_launch_description(LaunchDescription([
    IncludeLaunchDescription(
        PythonLaunchDescriptionSource(path),
        launch_arguments=[tuple(a.split(':=')) for a in arguments]),
    TimerAction(period=float(duration), actions=[EmitEvent(event=Shutdown())])]))
sys.exit(service.run())
"""


def needs_launch():
    pytest.importorskip('launch', reason='launch is not installed (it is not on PyPI)')
    pytest.importorskip('launch_ros', reason='launch_ros is not installed (it is not on PyPI)')


def description(path):
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    return get_launch_description_from_python_launch_file(str(path))


def test_there_is_a_launch_file_for_each_node_and_for_the_whole():
    assert [path.name for path in FILES] == [
        'bringup.launch.py',
        'gravity_compensation.launch.py',
        'inverse_dynamics.launch.py',
        'simulator.launch.py',
    ]


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_every_argument_is_described_and_has_a_default(path):
    needs_launch()
    arguments = description(path).get_launch_arguments()
    assert 'urdf' in {argument.name for argument in arguments}
    for argument in arguments:
        assert '.' in argument.description, argument.name
        assert argument.default_value is not None, argument.name


@pytest.mark.parametrize('name', ['simulator', 'gravity_compensation', 'inverse_dynamics'])
def test_arguments_that_are_parameters_are_declared_by_the_node(name):
    needs_launch()
    import importlib
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, ROOT / 'launch' / f'{name}.launch.py')
    file = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(file)
    home = 'simulator_parameters' if name == 'simulator' else name
    table = getattr(importlib.import_module(f'rbd_ros.nodes.{home}'), f'{name.upper()}_PARAMETERS')
    assert set(file.PARAMETERS) - {'use_sim_time'} <= {d.name for d in table}


@pytest.mark.ros
@pytest.mark.parametrize(
    'arguments',
    [
        [],
        ['controller:=gravity_compensation', 'namespace:=cell', 'initial_positions:=[0.5, -0.5]'],
    ],
)
def test_the_whole_starts_runs_and_ends_cleanly(arguments, tmp_path):
    needs_launch()
    from ament_index_python.packages import get_package_prefix, PackageNotFoundError
    from node_harness import Ros

    try:
        get_package_prefix('rbd_ros')
    except PackageNotFoundError:
        pytest.skip('rbd_ros is not in a sourced workspace')
    from sensor_msgs.msg import JointState

    urdf = ROOT / 'urdf' / 'two_link_arm.urdf'
    with Ros(tmp_path) as ros:
        prefix = '/cell' if 'namespace:=cell' in arguments else ''
        commands = ros.listen(JointState, f'{prefix}/joint_commands')
        log = tmp_path / 'launch.log'
        with open(log, 'w') as file:
            process = subprocess.Popen(
                [
                    sys.executable,
                    '-c',
                    RUN,
                    str(ROOT / 'launch' / 'bringup.launch.py'),
                    '20',
                    f'urdf:={urdf}',
                    'rviz:=false',
                    *arguments,
                ],
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, 'ROS_DOMAIN_ID': str(ros.domain), 'ROS_LOG_DIR': str(tmp_path)},
            )
        ros.until(lambda: len(commands) > 100 or process.poll() is not None, 'torques', 60.0)
        assert process.wait(60) == 0, log.read_text()
        assert len(commands) > 100, log.read_text()
        assert log.read_text().count('process has finished cleanly') >= 2
