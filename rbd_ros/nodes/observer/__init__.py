"""The parts of the node external_torque_observer."""
