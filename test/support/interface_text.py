# SPDX-License-Identifier: Apache-2.0
"""Text generated from a node's interface: its configuration file and the tables of its page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import re
import textwrap
from typing import Any, Dict, Iterable, List

from rbd_ros.nodes.common.node_interface import NodeInterface, Offer, Parameter
from rbd_ros.nodes.torque.torque_interface import TORQUE_TOPICS

WIDTH = 99
MARK = '<!-- {}: written by scripts/update_node_pages -->'
END = '<!-- end -->'


def yaml_text(interface: NodeInterface) -> str:
    """Return the configuration file with all parameters at their defaults."""
    name = interface.name
    lines = [
        f'# Parameters of the node {name}, all at their defaults; docs/nodes/{name}.md explains '
        'them.',
        '# Launch files and the command line override these values.',
        '/**:',
        '  ros__parameters:',
    ]
    for parameter in interface.parameters:
        text = f'{parameter.description}{legal(parameter)}'
        lines += textwrap.wrap(
            text, WIDTH, initial_indent='    # ', subsequent_indent='    # ',
            break_on_hyphens=False,
        )  # fmt: skip
        lines.append(f'    {parameter.name}: {literal(parameter.default)}')
    return '\n'.join(lines) + '\n'


def legal(parameter: Parameter) -> str:
    """Return legal words of a parameter as a sentence, empty if it is not one of several words."""
    if not parameter.choices:
        return ''
    return f' One of: {", ".join(choice or repr("") for choice in parameter.choices)}.'


def literal(value: Any) -> str:
    """Return the value as YAML writes it."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, tuple):
        return '[' + ', '.join(literal(v) for v in value) + ']'
    if isinstance(value, float) and 'e' in repr(value) and '.' not in repr(value):
        return repr(value).replace('e', '.0e')  # without a point, YAML takes it for a text
    return repr(value)


def parameter_table(interface: NodeInterface) -> str:
    """Return the Markdown table of the parameters."""
    rows = []
    for p in interface.parameters:
        rows.append(
            [
                f'`{p.name}`',
                p.kind,
                f'`{literal(p.default)}`',
                interval(p),
                'yes' if p.live else '',
                p.description + legal(p),
            ]
        )
    return _table(['name', 'type', 'default', 'range', 'live', 'meaning'], rows)


def interval(parameter: Parameter) -> str:
    """Return the range of a number as an interval, and the length of a list if it is fixed."""
    parts = []
    if parameter.maximum is not None:
        low = '(0' if parameter.positive else f'[{parameter.minimum:g}'
        parts.append(f'{low}, {parameter.maximum:g}]')
    if parameter.length is not None:
        parts.append(f'{parameter.length} elements')
    return ', '.join(parts)


def topic_table(interface: NodeInterface) -> str:
    """Return the Markdown table of the topics."""
    rows = []
    for t in interface.topics:
        kind = t.kind.replace('/msg/', '/')
        when = f' ({t.optional})' if t.optional else ''
        rows.append([f'`{t.name}`', kind, t.direction, t.quality, t.description + when])
    return _table(['topic', 'type', 'direction', 'QoS', 'content'], rows)


def service_table(interface: NodeInterface) -> str:
    """Return the Markdown table of the services."""
    return _offer_table('service', interface.services)


def action_table(interface: NodeInterface) -> str:
    """Return the Markdown table of the actions."""
    return _offer_table('action', interface.actions)


def _offer_table(what: str, offers: Iterable[Offer]) -> str:
    rows = [
        [f'`{each.name}`', re.sub('/(srv|action)/', '/', each.kind), each.description]
        for each in offers
    ]
    notes = [
        f'\nThose of `{package}` are available if that package is installed.'
        for package in dict.fromkeys(each.optional for each in offers if each.optional)
    ]
    return '\n'.join([_table([what, 'type', 'effect'], rows), *notes])


def _table(titles: List[str], rows: List[List[str]]) -> str:
    lines = ['| ' + ' | '.join(titles) + ' |', '|' + '---|' * len(titles)]
    lines += ['| ' + ' | '.join(cell.replace('|', r'\|') for cell in row) + ' |' for row in rows]
    return '\n'.join(lines)


def pages(folder: Path, interfaces: Iterable[NodeInterface]) -> Dict[Path, NodeInterface]:
    """Return what the tables of each page list.

    What all torque nodes declare is on torque_nodes.md, and not on their own pages.

    :param folder: docs/nodes
    """
    interfaces = list(interfaces)
    torque_nodes = [each for each in interfaces if set(TORQUE_TOPICS) <= set(each.topics)]
    common = torque_nodes[0]
    for other in torque_nodes[1:]:
        common = _filtered(common, lambda entry, kept: entry in kept, other)
    result = {folder / 'torque_nodes.md': common}
    for each in interfaces:
        if each in torque_nodes:
            each = _filtered(each, lambda entry, listed: entry not in listed, common)
        result[_page_with_tables(folder, each.name)] = each
    return result


def _filtered(interface: NodeInterface, keep: Any, other: NodeInterface) -> NodeInterface:
    """Return the interface with the entries for which `keep(entry, those of the other)`."""
    kept = {
        part: tuple(e for e in getattr(interface, part) if keep(e, getattr(other, part)))
        for part in ('parameters', 'topics', 'services', 'actions')
    }
    return replace(interface, **kept)


def _page_with_tables(folder: Path, name: str) -> Path:
    """Return NAME_reference.md if there is one, else NAME.md."""
    page = folder / f'{name}_reference.md'
    return page if page.is_file() else folder / f'{name}.md'


def updated_page(page: str, interface: NodeInterface) -> str:
    """Return the Markdown page of a node with the tables between its marks replaced.

    :raises ValueError: if the page lacks a mark
    """
    tables = {'topics': topic_table, 'parameters': parameter_table}
    if interface.services:
        tables['services'] = service_table
    if interface.actions:
        tables['actions'] = action_table
    for what, table in tables.items():
        mark = MARK.format(what)
        before, found, rest = page.partition(mark)
        _, ended, after = rest.partition(END)
        if not found or not ended:
            raise ValueError(f'the page of the node {interface.name} lacks {mark} ... {END}')
        page = f'{before}{mark}\n{table(interface)}\n{END}{after}'
    return page
