# SPDX-License-Identifier: Apache-2.0
"""Parameter files of ROS: which node gets what of them, and the same file for a namespace."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, Tuple

import yaml

from rbd_ros.bounded_files import MAX_TEXT, read_text
from rbd_ros.launching.launch_processes import log_folder
from rbd_ros.model.bounded_yaml import compose_yaml, load_yaml

PARAMETERS = 'ros__parameters'
#: Wildcards of rcl by the expressions that they are.
WILDCARDS = {'/**': '(/[^/]+)*', '/*': '/[^/]+'}


def node_parameters(file: str, node: str) -> Dict[str, Any]:
    """Return the parameters that a file gives to a node.

    :param file: path of the file
    :param node: name of the node with its namespace, such as /left/simulator
    """
    found: Dict[str, Any] = {}
    for name, values in _nodes('', load_yaml(read_text(file, MAX_TEXT))):
        parts = re.split(r'(/\*\*|/\*)(?=/|$)', name)
        if re.fullmatch(''.join(WILDCARDS.get(part, re.escape(part)) for part in parts), node):
            found.update(values)
    return found


def _nodes(outer: str, content: Any) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """Yield the names of nodes, and their parameters."""
    for key, value in content.items() if isinstance(content, dict) else ():
        if key == PARAMETERS:
            yield outer, value if isinstance(value, dict) else {}
        else:
            yield from _nodes(f'{outer}/{str(key).strip("/")}', value)


def file_in_namespace(file: str, namespace: str) -> str:
    """Return the path of a parameter file whose nodes without a namespace are in this one.

    Nodes with a namespace, or with a wildcard in their name, stay as they are.

    :param file: path of the file
    :param namespace: the namespace; empty: it is that file
    """
    if not namespace:
        return file
    top = compose_yaml(read_text(file, MAX_TEXT))
    for key, value in top.value:
        name = key.value.strip('/')
        inside = value.value if isinstance(value, yaml.MappingNode) else ()
        is_node = any(inner.value == PARAMETERS for inner, _ in inside)
        if is_node and '/' not in name and '*' not in name:
            key.value = f'/{namespace.strip("/")}/{name}'
    copy = log_folder() / f'controllers_of_{namespace.strip("/").replace("/", "_")}.yaml'
    copy.write_text(yaml.serialize(top), encoding='utf-8')
    return str(copy)
