# SPDX-License-Identifier: Apache-2.0
"""Hardware-in-the-loop bench without ROS: faults of a simulated robot and of its messages.

See docs/hil.md. The simulator node uses it (nodes/simulator/fault_ports.py).
"""

from rbd_ros.hil.bench import Bench, Run
from rbd_ros.hil.controller_entry import Controller
from rbd_ros.hil.failures import ControllerFailure, PlantFailure
from rbd_ros.hil.fault_injector import Change, FaultInjector
from rbd_ros.hil.faults import Fault, FaultError, Kind, KINDS, read_faults
from rbd_ros.hil.message_link import Disturbance, MessageLink
from rbd_ros.hil.plant_faults import PlantFaults
from rbd_ros.hil.recorded_run import HilRecordingError
from rbd_ros.hil.run_recorder import RunRecorder
from rbd_ros.hil.run_replay import Replay, replay
from rbd_ros.hil.scenario import Limits, read_scenario, Scenario, ScenarioError
from rbd_ros.hil.sensor_faults import SensorFaults
from rbd_ros.hil.verdict import Check, judge, Verdict

__all__ = [
    'Bench',
    'Change',
    'Check',
    'Controller',
    'ControllerFailure',
    'Disturbance',
    'Fault',
    'FaultError',
    'FaultInjector',
    'KINDS',
    'Kind',
    'Limits',
    'MessageLink',
    'PlantFailure',
    'PlantFaults',
    'HilRecordingError',
    'Replay',
    'Run',
    'RunRecorder',
    'Scenario',
    'ScenarioError',
    'SensorFaults',
    'Verdict',
    'judge',
    'read_faults',
    'read_scenario',
    'replay',
]
