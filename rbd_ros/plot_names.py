# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Names of joints and robots as texts of a plot, where they would be markup."""

from __future__ import annotations

#: Maximum number of letters of a name.
MAX_LENGTH = 60


def plot_name(name: str) -> str:
    r"""Return a name as matplotlib shows it: $ begins a formula, _ a line without a legend.

    :param name: any text

    >>> from rbd_ros.plot_names import plot_name
    >>> plot_name('_hidden'), plot_name('a$b$c')
    (' _hidden', 'a\\$b\\$c')
    """
    if len(name) > MAX_LENGTH:
        name = f'{name[: MAX_LENGTH - 3]}...'
    text = ''.join(letter if letter.isprintable() else '?' for letter in name)
    return (' ' if text.startswith('_') else '') + text.replace('$', r'\$')
