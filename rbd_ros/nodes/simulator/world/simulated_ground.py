# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ground of the simulated robot: a world, rigid ground, compliant ground, or nothing."""

from __future__ import annotations

from typing import Any, Dict, Mapping

from rbd_ros.contact import ContactParameters, HalfSpace
from rbd_ros.model import Model
from rbd_ros.nodes.simulator.interface.simulator_interface import has_rigid_ground
from rbd_ros.nodes.simulator.world.world_source import srdf_of
from rbd_ros.world.world_objects import level_ground


def contact_options(parameters: Mapping[str, Any], model: Model) -> Dict[str, Any]:
    """Return the arguments of `Simulator` for the environment of a robot, and its SRDF.

    :param parameters: values of the simulator's parameters
    :param model: model of the robot
    :raises ValueError: for an unusable world or SRDF
    """
    if parameters['world'].strip():
        # Imported for a world only: other simulations start sooner.
        from rbd_ros.nodes.simulator.world.world_source import world_of

        return {'world': world_of(parameters, model)}
    srdf = srdf_of(parameters)
    if not parameters['ground']:
        return {'srdf': srdf}
    height, friction = parameters['ground_height'], parameters['contact_friction']
    if has_rigid_ground(parameters):
        return {'world': level_ground(model, height, friction), 'srdf': srdf}
    return {
        'srdf': srdf,
        'ground': HalfSpace(normal=(0.0, 0.0, 1.0), offset=height),
        'contact': ContactParameters(
            stiffness=parameters['contact_stiffness'],
            damping=parameters['contact_damping'],
            friction=friction,
        ),
    }
