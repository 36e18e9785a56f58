# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hardware-in-the-loop bench without ROS: faults of a simulated robot and of its messages.

See docs/hil.md. The simulator node uses it (nodes/simulator/fault_ports.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.hil.bench import Bench, Run
    from rbd_ros.hil.faults.disturbances import Disturbance, MessageLink, SensorFaults
    from rbd_ros.hil.faults.fault_injector import FaultChange, FaultInjector, PlantFaults
    from rbd_ros.hil.faults.faults import Fault, FAULT_KINDS, FaultError, read_faults
    from rbd_ros.hil.faults.kinds import FaultKind
    from rbd_ros.hil.plants.plant import PlantFailure
    from rbd_ros.hil.report.recorded_run import HilRecordingError
    from rbd_ros.hil.report.run_recorder import RunRecorder
    from rbd_ros.hil.report.run_replay import Replay, replay
    from rbd_ros.hil.report.verdict import Check, judge, Verdict
    from rbd_ros.hil.scenario.controller_entry import Controller, ControllerFailure
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

__getattr__, __dir__ = lazy_names(__name__)
