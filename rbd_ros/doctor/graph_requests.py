# SPDX-License-Identifier: Apache-2.0
"""Questions to the nodes of a ROS graph: whether they follow /clock, and their lifecycle states.

All are asked at once, with a timeout: a node that does not answer is left out.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, Tuple

#: Time that nodes have to answer [s], and the maximum number of nodes that are asked.
PATIENCE = 2.0
MAX_NODES = 200

_PARAMETERS, _STATE = 'rcl_interfaces/srv/GetParameters', 'lifecycle_msgs/srv/GetState'
_BOOL = 1  # rcl_interfaces/msg/ParameterType.PARAMETER_BOOL

#: Name of a node and what it answered.
Answers = Tuple[Tuple[str, Any], ...]


def ask_nodes(
    node: Any, names: Tuple[str, ...], spin: Callable[[float], None]
) -> Tuple[Answers, Answers]:
    """Return `use_sim_time` of nodes, and lifecycle states of those that are managed.

    :param node: node that asks
    :param names: full names of the nodes
    :param spin: lets the executor of `node` work for some time [s]
    :return: (name, whether it follows /clock) and (name, label of its state), of those that answer
    """
    from rcl_interfaces.srv import GetParameters

    services = {name: set(types) for name, types in node.get_service_names_and_types()}
    asked: List[Tuple[Any, Dict[str, Any], str]] = []
    sim_time: Dict[str, Any] = {}
    states: Dict[str, Any] = {}
    for name in dict.fromkeys(names[:MAX_NODES]):
        if _PARAMETERS in services.get(f'{name}/get_parameters', ()):
            client = node.create_client(GetParameters, f'{name}/get_parameters')
            asked.append((client, sim_time, name))
        if _STATE in services.get(f'{name}/get_state', ()):
            from lifecycle_msgs.srv import GetState

            asked.append((node.create_client(GetState, f'{name}/get_state'), states, name))
    end = time.monotonic() + PATIENCE
    waiting = asked
    while waiting and time.monotonic() < end:
        later = []
        for client, answers, name in waiting:
            if not client.service_is_ready():
                later.append((client, answers, name))
            elif answers is sim_time:
                request = GetParameters.Request(names=['use_sim_time'])
                answers[name] = client.call_async(request)
            else:
                answers[name] = client.call_async(GetState.Request())
        waiting = later
        spin(0.02)
    while time.monotonic() < end and not all(
        future.done() for future in (*sim_time.values(), *states.values())
    ):
        spin(0.02)
    return _follows(sim_time), _labels(states)


def _answered(futures: Dict[str, Any]) -> List[Tuple[str, Any]]:
    return [
        (name, future.result())
        for name, future in sorted(futures.items())
        if future.done() and future.exception() is None
    ]


def _follows(futures: Dict[str, Any]) -> Answers:
    found = []
    for name, answer in _answered(futures):
        if answer.values and answer.values[0].type == _BOOL:
            found.append((name, bool(answer.values[0].bool_value)))
    return tuple(found)


def _labels(futures: Dict[str, Any]) -> Answers:
    return tuple((name, answer.current_state.label) for name, answer in _answered(futures))
