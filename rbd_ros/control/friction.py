"""Torque lost to joint friction, as a controller adds it again."""

from __future__ import annotations

from typing import Union

import numpy as np


def friction_torque(
    v: np.ndarray,
    viscous: np.ndarray,
    coulomb: np.ndarray,
    transition_velocity: Union[float, np.ndarray],
) -> np.ndarray:
    """Torque that overcomes friction at a velocity: viscous v + coulomb tanh(v / transition).

    The hyperbolic tangent replaces the sign, which would chatter around rest.

    :param v: velocity, (..., nv) [rad/s or m/s]
    :param viscous: viscous damping, (nv,) [N m s/rad or N s/m]
    :param coulomb: Coulomb friction, (nv,) [N m or N]
    :param transition_velocity: velocity at which 76 % of the Coulomb friction act, one number or
        (nv,) [rad/s or m/s]
    :return: torque, (..., nv) [N m or N]
    """
    return viscous * v + coulomb * np.tanh(v / transition_velocity)
