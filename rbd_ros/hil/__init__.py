# SPDX-License-Identifier: Apache-2.0
"""Hardware-in-the-loop bench without ROS: faults of a simulated robot and of its messages.

See docs/hil.md. The simulator node uses it (nodes/simulator/fault_ports.py).
"""

from rbd_ros.hil.bench import Bench, Run
from rbd_ros.hil.failures import ControllerFailure, PlantFailure
from rbd_ros.hil.faults.fault_injector import FaultChange, FaultInjector
from rbd_ros.hil.faults.fault_kind import FaultKind
from rbd_ros.hil.faults.faults import Fault, FAULT_KINDS, FaultError, read_faults
from rbd_ros.hil.faults.message_link import Disturbance, MessageLink
from rbd_ros.hil.faults.plant_faults import PlantFaults
from rbd_ros.hil.faults.sensor_faults import SensorFaults
from rbd_ros.hil.report.recorded_run import HilRecordingError
from rbd_ros.hil.report.run_recorder import RunRecorder
from rbd_ros.hil.report.run_replay import Replay, replay
from rbd_ros.hil.report.verdict import Check, judge, Verdict
from rbd_ros.hil.scenario.controller_entry import Controller
from rbd_ros.hil.scenario.scenario import Limits, read_scenario, Scenario, ScenarioError

__all__ = [
    'Bench',
    'FaultChange',
    'Check',
    'Controller',
    'ControllerFailure',
    'Disturbance',
    'Fault',
    'FaultError',
    'FaultInjector',
    'FAULT_KINDS',
    'FaultKind',
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
