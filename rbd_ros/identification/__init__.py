# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Identification from recorded joint states: payload, inertias and friction, without ROS.

Recordings are read from CSV, MCAP and ROS 2 bags. Estimates have confidence intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.identification.fourier_excitation import Excitation, excitation
    from rbd_ros.identification.model_validation import JointFit, ModelValidation, validate_model
    from rbd_ros.identification.payload_identification import identify_payload, PayloadEstimate
    from rbd_ros.identification.recording import Recording, RecordingError
    from rbd_ros.identification.recording_reader import read_recording, read_robot_description
    from rbd_ros.identification.regression import Estimate
    from rbd_ros.identification.robot_identification import identify_base_parameters, ModelEstimate
    from rbd_ros.identification.urdf_patch import patched_urdf

__all__ = [
    'Estimate',
    'Excitation',
    'JointFit',
    'ModelEstimate',
    'ModelValidation',
    'PayloadEstimate',
    'Recording',
    'RecordingError',
    'excitation',
    'identify_base_parameters',
    'identify_payload',
    'patched_urdf',
    'read_recording',
    'read_robot_description',
    'validate_model',
]

__getattr__, __dir__ = lazy_names(__name__)
