"""Simulation: a robot under torques, gravity, joint friction, limits and contact.

Compiled functions share their arguments: the records of plant.py, state.py and workspace.py under
the names of their fields, `h` for the length of the (sub)step [s], `v` for the velocity at its
end, (nv,) [rad/s, m/s], and `count` for the number of contact points near the ground.

The names below are loaded on first use: compiling a loop of this room takes none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from rbd_ros.simulation.actuators import DcMotor, JointFriction, Transmission, with_motors
    from rbd_ros.simulation.adaptive import Rollout, rollout
    from rbd_ros.simulation.contact_points import FaceContact, SphereContact
    from rbd_ros.simulation.event_driven import Event, EventDrivenSimulator
    from rbd_ros.simulation.simulator import Contact, SimulationStatus, Simulator, Snapshot
    from rbd_ros.simulation.world import World

__all__ = [
    'Contact',
    'DcMotor',
    'Event',
    'EventDrivenSimulator',
    'FaceContact',
    'JointFriction',
    'Rollout',
    'SimulationStatus',
    'Simulator',
    'Snapshot',
    'SphereContact',
    'Transmission',
    'World',
    'rollout',
    'with_motors',
]

# What is no part of the compiled step.
_EXACT = {
    'DcMotor': 'actuators',
    'Event': 'event_driven',
    'EventDrivenSimulator': 'event_driven',
    'FaceContact': 'contact_points',
    'JointFriction': 'actuators',
    'Rollout': 'adaptive',
    'SphereContact': 'contact_points',
    'Transmission': 'actuators',
    'rollout': 'adaptive',
    'with_motors': 'actuators',
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name in _EXACT:
        module = import_module(f'rbd_ros.simulation.{_EXACT[name]}')
        return getattr(module, name)
    if name in __all__:
        from rbd_ros.simulation import simulator, world

        return getattr(world if name == 'World' else simulator, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
