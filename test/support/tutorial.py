# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pages of docs/tutorials/ as a reader follows them: files to save, commands and their output."""

from __future__ import annotations

from dataclasses import dataclass
import re

from support.page_commands import Command, is_open
from support.source_imports import ROOT

FILE = re.compile(r'\b[Ss]ave\b[^`]*? as `([\w.]+)`.*:$')
NUMBER = re.compile(r'-?\d+(?:\.\d+)?')
CTRL_C = 'Press Ctrl-C in all terminals'


@dataclass(frozen=True)
class Save:
    """A file that the reader saves."""

    name: str
    text: str


@dataclass(frozen=True)
class Run:
    """A command, and its output on the page, which may be empty."""

    command: Command
    shows: str = ''


@dataclass(frozen=True)
class Stop:
    """Ctrl-C in all terminals."""


def steps(name: str) -> list[Save | Run | Stop]:
    """Return the steps of docs/tutorials/<name>.md, in order."""
    page = f'docs/tutorials/{name}.md'
    lines = (ROOT / page).read_text(encoding='utf-8').splitlines()
    found, file, k = [], None, 0
    while k < len(lines):
        line = lines[k]
        paragraph = ' '.join(lines[max(k - 1, 0) : k + 1])
        match = FILE.search(paragraph) if line.endswith(':') else None
        if match:
            file = match[1]
        if line.startswith('```'):
            end = lines.index('```', k + 1)
            text = '\n'.join(lines[k + 1 : end]) + '\n'
            if file:
                found.append(Save(file, text))
            elif line == '```text':
                found[-1] = Run(found[-1].command, text)
            file, k = None, end
        elif line.startswith('    ') and line.strip():
            begin, text = k, line.strip()
            while is_open(text):
                k += 1
                text += '\n' + lines[k].strip()
            found.append(Run(Command(page, begin + 1, begin, text)))
        elif line.startswith(CTRL_C):
            found.append(Stop())
        k += 1
    return found


def agree(shown: str, printed: str) -> str | None:
    """Return the first line of `shown` that was not printed, None without one.

    A line of dots stands for any lines, dots at the end of a line for its rest. A number may
    differ from the page's by 2 % or by 1 in the last digit.
    """
    rest = [line.rstrip() for line in printed.splitlines()]
    anywhere = False
    for line in (each.rstrip() for each in shown.splitlines()):
        if line == '...':
            anywhere = True
            continue
        places = range(len(rest)) if anywhere else range(min(1, len(rest)))
        at = next((k for k in places if _alike(line, rest[k])), None)
        if at is None:
            return line
        rest, anywhere = rest[at + 1 :], False
    return None if anywhere or not any(rest) else f'(nothing more, but there is {rest[0]!r})'


def _alike(shown: str, printed: str) -> bool:
    if shown.endswith('...'):
        shown, printed = shown[:-3], printed[: len(shown) - 3]
    if NUMBER.sub('0', shown).split() != NUMBER.sub('0', printed).split():
        return False
    return all(
        abs(float(a) - float(b)) <= max(0.02 * abs(float(a)), _last_digit(a))
        for a, b in zip(NUMBER.findall(shown), NUMBER.findall(printed))
    )


def _last_digit(text: str) -> float:
    """Return one unit of the last digit; whole numbers are exact."""
    return 10.0 ** -len(text.partition('.')[2]) if '.' in text else 0.0
