# SPDX-License-Identifier: Apache-2.0
"""Machine code of the torque law's variants, and of gravity, made once for a robot."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple, Union
from weakref import WeakKeyDictionary

from rbd_ros.compiler import compile_lock, make_kernel
from rbd_ros.compiler.runtime.kernel import InterpretedKernel, Kernel
from rbd_ros.control.control_arrays import FloatArray
from rbd_ros.control.law.law_equations import law_definition
from rbd_ros.robot import Robot

# Kernels of laws, by robot and by the arguments of `law_definition`.
LawKernel = Union[Kernel, InterpretedKernel]
_kernels: WeakKeyDictionary[Robot, Dict[Tuple[Any, ...], LawKernel]] = WeakKeyDictionary()


def law_kernel(robot: Robot, *variant: Any) -> LawKernel:
    """Return machine code of a variant of the law, made once for a robot; see `law_definition`."""
    with compile_lock:
        known = _kernels.setdefault(robot, {})
        if variant not in known:
            known[variant] = make_kernel(law_definition(robot.model, *variant))
        return known[variant]


def gravity_function(
    robot: Robot, payload_link: Optional[str], own_weight: bool
) -> Callable[..., FloatArray]:
    """Return the torque against gravity as a function of a configuration, gravity and payload.

    :param robot: the robot
    :param payload_link: link that carries the payload; None: there is none, nor its argument
    :param own_weight: whether the robot's own links count
    """
    payload: Tuple[str, ...] = () if payload_link is None else (f'payload:{payload_link}',)
    whole: Callable[..., FloatArray] = robot.function('gravity_torque', ('gravity', *payload))
    if own_weight:
        return whole
    links: Callable[..., FloatArray] = robot.function('gravity_torque', ('gravity',))
    return lambda q, gravity, *mass: whole(q, gravity, *mass) - links(q, gravity)
