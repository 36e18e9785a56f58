# SPDX-License-Identifier: Apache-2.0
"""Machine code of the torque law's variants, and of gravity, made once for a robot."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple, Union
from weakref import WeakKeyDictionary

from rbd_ros.compiler import compile_lock, Definition, make_kernel
from rbd_ros.compiler.runtime.kernel import InterpretedKernel, Kernel
from rbd_ros.control.law.law_equations import holding_definition, law_definition
from rbd_ros.robot import Robot

# Kernels of laws, by robot, and by their definition and its arguments.
LawKernel = Union[Kernel, InterpretedKernel]
_kernels: WeakKeyDictionary[Robot, Dict[Tuple[Any, ...], LawKernel]] = WeakKeyDictionary()


def law_kernel(robot: Robot, *variant: Any) -> LawKernel:
    """Return machine code of a variant of the law, made once for a robot; see `law_definition`."""
    return _made_once(robot, law_definition, *variant)


def holding_kernel(robot: Robot, payload_link: Optional[str], own_weight: bool) -> LawKernel:
    """Return machine code of the torque against gravity, by configuration, gravity and payload.

    :param robot: the robot
    :param payload_link: link that carries the payload; None: there is none, nor its argument
    :param own_weight: whether the robot's own links count
    """
    if own_weight:
        payload: Tuple[str, ...] = () if payload_link is None else (f'payload:{payload_link}',)
        return robot.kernel('gravity_torque', runtime=('gravity', *payload))
    return _made_once(robot, holding_definition, payload_link)


def _made_once(robot: Robot, definition: Callable[..., Definition], *variant: Any) -> LawKernel:
    with compile_lock:
        known = _kernels.setdefault(robot, {})
        key = (definition.__name__, *variant)
        if key not in known:
            known[key] = make_kernel(definition(robot.model, *variant))
        return known[key]
