"""Simulation: a robot under torques, gravity, joint friction, limits and contact."""

from rbd_ros.simulation.simulator import Contact, SimulationStatus, Simulator, Snapshot

__all__ = ['Contact', 'SimulationStatus', 'Simulator', 'Snapshot']
