"""What recorded joint states teach about a robot: its payload, inertias and friction, without ROS.

Recordings are read from CSV, MCAP and bags of ROS 2. The estimates say how sure they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.identification.base_parameters import identify_base_parameters, ModelEstimate
    from rbd_ros.identification.evaluation import evaluate, Evaluation, JointFit
    from rbd_ros.identification.fourier_excitation import Excitation, excitation
    from rbd_ros.identification.payload import identify_payload, PayloadEstimate
    from rbd_ros.identification.reading import read_recording
    from rbd_ros.identification.recording import Recording, RecordingError
    from rbd_ros.identification.regression import Estimate
    from rbd_ros.identification.urdf_patch import patched_urdf

_HOMES = {
    'Estimate': 'regression',
    'Evaluation': 'evaluation',
    'Excitation': 'fourier_excitation',
    'JointFit': 'evaluation',
    'ModelEstimate': 'base_parameters',
    'PayloadEstimate': 'payload',
    'Recording': 'recording',
    'RecordingError': 'recording',
    'evaluate': 'evaluation',
    'excitation': 'fourier_excitation',
    'identify_base_parameters': 'base_parameters',
    'identify_payload': 'payload',
    'patched_urdf': 'urdf_patch',
    'read_recording': 'reading',
}

__all__ = [
    'Estimate',
    'Evaluation',
    'Excitation',
    'JointFit',
    'ModelEstimate',
    'PayloadEstimate',
    'Recording',
    'RecordingError',
    'evaluate',
    'excitation',
    'identify_base_parameters',
    'identify_payload',
    'patched_urdf',
    'read_recording',
]

__getattr__, __dir__ = lazy_names(
    __name__, {name: f'rbd_ros.identification.{module}' for name, module in _HOMES.items()}
)
