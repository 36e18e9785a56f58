"""Matrices by which forces, energy and momentum are linear in the inertial parameters."""
