"""Simulation: a robot that moves under torques, gravity, joint friction, limits and contact with the ground."""

from rbd_ros.simulation.simulator import Contact, SimulationStatus, Simulator, Snapshot

__all__ = ['Contact', 'SimulationStatus', 'Simulator', 'Snapshot']
