# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Text generated from a node's interface: its configuration file and the tables of its page."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
import re
import textwrap
from typing import Any, Iterable, List, NamedTuple, Tuple

from rbd_ros.nodes.common.node_interface import NodeInterface, Offer, Parameter, Topic
from rbd_ros.nodes.torque.torque_interface import TORQUE_TOPICS

WIDTH, PAGE_WIDTH = 99, 100
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
    """Return the legal words of a parameter as a sentence, empty unless it is an enumeration."""
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
        return repr(value).replace('e', '.0e')  # without a point, YAML reads it as a string
    return repr(value)


def parameter_table(parameters: Iterable[Parameter]) -> str:
    """Return the Markdown table of the parameters."""
    rows = []
    for p in parameters:
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


def topic_table(topics: Iterable[Topic]) -> str:
    """Return the Markdown table of the topics."""
    rows = []
    for t in topics:
        kind = t.kind.replace('/msg/', '/')
        when = f' ({t.optional})' if t.optional else ''
        rows.append([f'`{t.name}`', kind, t.direction, t.quality, t.description + when])
    return _table(['topic', 'type', 'direction', 'QoS', 'content'], rows)


def _offer_table(what: str, offers: Iterable[Offer]) -> str:
    """Return the Markdown table of services or actions."""
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


class Page(NamedTuple):
    """A page with tables.

    :param path: its file
    :param title: its title on other pages
    :param interface: content of its tables
    :param others: pages that describe parts of it, to which this page refers
    """

    path: Path
    title: str
    interface: NodeInterface
    others: Tuple[Any, ...] = ()


def pages(folder: Path, interfaces: Iterable[NodeInterface]) -> List[Page]:
    """Return the pages that have tables.

    Common parameters of torque nodes are on torque_nodes.md, and trajectories of udp_bridge on the
    page of inverse_dynamics.

    :param folder: docs/nodes
    """
    interfaces = list(interfaces)
    common = Page(folder / 'torque_nodes.md', 'all torque nodes', _common(interfaces))
    found = {
        each.name: Page(_page_with_tables(folder, each.name), each.name, each, (common,))
        for each in interfaces
    }
    bridge = found['udp_bridge']
    found['udp_bridge'] = bridge._replace(others=(common, found['inverse_dynamics']))
    return [common, *found.values()]


def _common(interfaces: Iterable[NodeInterface]) -> NodeInterface:
    """Return the common interface of torque nodes."""
    first, *others = [each for each in interfaces if set(TORQUE_TOPICS) <= set(each.topics)]
    kept = {
        part: tuple(
            entry
            for entry in getattr(first, part)
            if all(entry in getattr(other, part) for other in others)
        )
        for part in TABLES
    }
    return replace(first, **kept)


def _page_with_tables(folder: Path, name: str) -> Path:
    """Return NAME_reference.md if there is one, else NAME.md."""
    page = folder / f'{name}_reference.md'
    return page if page.is_file() else folder / f'{name}.md'


def updated(page: Page) -> str:
    """Return the text of a page with the tables between its marks replaced.

    :raises ValueError: if the page lacks a mark
    """
    text = page.path.read_text()
    for part, table in TABLES.items():
        entries = getattr(page.interface, part)
        notes = []
        for other in page.others:
            shared = [entry for entry in entries if entry in getattr(other.interface, part)]
            entries = [entry for entry in entries if entry not in shared]
            if shared:
                names = ', '.join(f'`{entry.name}`' for entry in shared)
                note = f'As for [{other.title}]({other.path.name}#{part}): {names}.'
                notes.append(textwrap.fill(note, PAGE_WIDTH, break_on_hyphens=False))
        if entries or notes:
            mark = MARK.format(part)
            before, found, rest = text.partition(mark)
            _, ended, after = rest.partition(END)
            if not found or not ended:
                raise ValueError(f'{page.path} lacks {mark} ... {END}')
            written = '\n\n'.join([*([table(entries)] if entries else ()), *notes])
            text = f'{before}{mark}\n{written}\n{END}{after}'
    return text


TABLES = {
    'topics': topic_table,
    'services': partial(_offer_table, 'service'),
    'actions': partial(_offer_table, 'action'),
    'parameters': parameter_table,
}
