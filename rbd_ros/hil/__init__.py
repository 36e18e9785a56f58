"""Hardware-in-the-loop bench without ROS: faults of a simulated robot and of its messages.

See docs/hil.md. The simulator node uses it (nodes/simulator/fault_ports.py).
"""

from rbd_ros.hil.fault_injector import Change, FaultInjector
from rbd_ros.hil.faults import Fault, FaultError, Kind, KINDS, read_faults
from rbd_ros.hil.message_link import Disturbance, MessageLink
from rbd_ros.hil.plant_faults import PlantFaults
from rbd_ros.hil.sensor_faults import SensorFaults

__all__ = [
    'Change',
    'Disturbance',
    'Fault',
    'FaultError',
    'FaultInjector',
    'KINDS',
    'Kind',
    'MessageLink',
    'PlantFaults',
    'SensorFaults',
    'read_faults',
]
