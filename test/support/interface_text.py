# SPDX-License-Identifier: Apache-2.0
"""Text generated from a node's interface: its configuration file and the tables of its page."""

from __future__ import annotations

from pathlib import Path
import textwrap
from typing import Any, List

from rbd_ros.nodes.common.node_interface import NodeInterface, Parameter

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
        limits = '' if p.choices else p.range
        rows.append(
            [
                f'`{p.name}`',
                p.kind,
                f'`{literal(p.default)}`',
                limits,
                'yes' if p.live else '',
                p.description + legal(p),
            ]
        )
    return _table(['name', 'type', 'default', 'range', 'live', 'meaning'], rows)


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
    rows = []
    for s in interface.services:
        when = f' Available if the package `{s.optional}` is installed.' if s.optional else ''
        rows.append([f'`{s.name}`', s.kind.replace('/srv/', '/'), s.description + when])
    return _table(['service', 'type', 'effect'], rows)


def action_table(interface: NodeInterface) -> str:
    """Return the Markdown table of the actions."""
    rows = []
    for a in interface.actions:
        when = f' Available if the package `{a.optional}` is installed.' if a.optional else ''
        rows.append([f'`{a.name}`', a.kind.replace('/action/', '/'), a.description + when])
    return _table(['action', 'type', 'effect'], rows)


def _table(titles: List[str], rows: List[List[str]]) -> str:
    lines = ['| ' + ' | '.join(titles) + ' |', '|' + '---|' * len(titles)]
    lines += ['| ' + ' | '.join(cell.replace('|', r'\|') for cell in row) + ' |' for row in rows]
    return '\n'.join(lines)


def page_with_tables(folder: Path, name: str) -> Path:
    """Return the page that has the tables of a node.

    :param folder: docs/nodes
    :return: NAME_reference.md if there is one, else NAME.md
    """
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
