# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings computed from a torque node's parameters and robot."""

from __future__ import annotations

from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from rbd_ros.control import LawSettings, payload_parameters, TorqueLaw, TorqueLimits
from rbd_ros.control.law.closed_loop_law import ClosedLoopLaw
from rbd_ros.model.unknown_masses import require_masses
from rbd_ros.nodes.common.realtime import check_cores
from rbd_ros.nodes.common.timing_thresholds import check_thresholds
from rbd_ros.nodes.torque.controlled_dofs import ControlledDofs
from rbd_ros.nodes.torque.safety_parameters import check_safety
from rbd_ros.robot import Robot

PAYLOAD = ('payload_mass', 'payload_center_of_mass', 'payload_inertia')

Values = Mapping[str, Any]


def per_joint(name: str, values: Sequence[float], size: int) -> np.ndarray:
    """Return an array for all joints, (size,), from one number or one for each.

    :raises ValueError: for another number of values
    """
    if len(values) not in (1, size):
        raise ValueError(f'parameter {name} has {len(values)} numbers; give 1 or {size}')
    return np.full(size, values[0]) if len(values) == 1 else np.array(values)


class Prepared(NamedTuple):
    """Settings computed from a set of parameters, for a known robot.

    :param settings: settings of the law
    :param law: the law, a new one only if the payload has another link
    :param payload_link: link that can carry a payload, or empty
    :param limits: limits of torque and of its rate
    :param task_frame: link of the impedance springs, or empty
    :param own: settings of a node's additional parts
    """

    settings: LawSettings
    law: Union[TorqueLaw, ClosedLoopLaw]
    payload_link: str
    limits: TorqueLimits
    task_frame: str = ''
    own: Any = None


def checked_payload(values: Values) -> Tuple[Optional[str], Optional[np.ndarray]]:
    """Return the link that carries the payload, and its inertial parameters, (10,).

    None without a link.

    :raises ValueError: for an invalid payload
    """
    link = values['payload_link']
    if not link and values['payload_mass'] > 0.0:
        raise ValueError(
            'payload_mass needs payload_link; set it to the link that carries the payload'
        )
    payload = payload_parameters(*(values[name] for name in PAYLOAD))
    return (link, payload) if link else (None, None)


def check_alone(values: Values) -> None:
    """Reject parameters that are invalid for every robot, by a ValueError."""
    checked_payload(values)
    check_cores(values['cpu_affinity'])
    check_thresholds(values)
    check_safety(values)


def effort_limits(robot: Robot, values: Values) -> np.ndarray:
    """Return the smaller of the robot's and the parameters' limits, (nv,) [N m or N]."""
    limits = values['effort_limits']
    if not limits:
        return robot.effort_limits
    return np.minimum(robot.effort_limits, per_joint('effort_limits', limits, robot.nv))


def prepare(
    dofs: ControlledDofs,
    values: Values,
    options: Dict[str, Any],
    own_weight: bool,
    own: Any,
    known: Optional[Prepared],
) -> Prepared:
    """Prepare the law and its limits, without side effects.

    :param dofs: joints of the robot
    :param values: values of the node's parameters by name
    :param options: arguments of `LawSettings.for_robot` from the node
    :param own_weight: whether the torque includes the weight of the robot's links
    :param own: settings of the node's additional parts
    :param known: present settings, whose law is reused if possible
    :raises ValueError: if the parameters cannot be used
    """
    robot, closing = dofs.robot, dofs.closing
    link, frame = values['payload_link'], values.get('task_frame', '')
    for name in (link, frame):
        if name:
            robot.model.link(name)
    limits = effort_limits(robot, values)
    settings = LawSettings.for_robot(
        dofs.moved,
        **{
            'payload': checked_payload(values)[1],
            'effort_limits': limits[dofs.chosen],
            'transition_velocity': values['coulomb_smoothing_velocity'] or None,
            **options,
        },
    )
    if own_weight and settings.feedforward != 'none':
        require_masses(robot.model, settings.gravity)
    law: Union[TorqueLaw, ClosedLoopLaw]
    if known is not None and (known.payload_link, known.task_frame) == (link, frame):
        law = known.law
    elif closing is not None:
        law = ClosedLoopLaw(closing, settings, link or None, own_weight)
    else:
        # Other links need other machine code, compiled here, outside the control loop.
        law = TorqueLaw(robot, settings, link or None, frame or None, own_weight)
    if isinstance(law, ClosedLoopLaw):
        law.check(settings)
    return Prepared(
        settings,
        law,
        link,
        TorqueLimits(np.where(dofs.commanded, limits, 0.0), values['torque_rate_limit'] or None),
        frame,
        own,
    )
