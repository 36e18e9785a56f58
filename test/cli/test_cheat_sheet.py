# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/cheat_sheet.md exist, with the options shown there."""

import re
import shlex

import pytest
from support.source_imports import ROOT

from rbd_ros.cli.command_line import COMMANDS, GROUPS, make_parser

PAGE = (ROOT / 'docs' / 'cheat_sheet.md').read_text(encoding='utf-8')
ROWS = re.findall(r'^\| (.+?) \| `(.+?)` \|$', PAGE, re.MULTILINE)


@pytest.mark.parametrize(('task', 'text'), ROWS)
def test_a_command_of_the_page_is_accepted(task, text):
    program, *words = shlex.split(text)
    if program == 'rbd_ros':
        arguments = make_parser(words[0]).parse_args(words)
        assert arguments.subcommand == words[0]
    else:
        assert [program, *words[:2]] == ['ros2', 'launch', 'rbd_ros']
        assert (ROOT / 'launch' / words[2]).is_file()


def test_the_page_has_every_command_below_its_group():
    sections = dict(re.findall(r'^## (.+?)\n(.*?)(?=^## |\Z)', PAGE, re.MULTILINE | re.DOTALL))
    for title, commands in GROUPS.items():
        found = re.findall(r'`rbd_ros ([\w-]+)', sections[title])
        assert set(found) == set(commands)
    assert len({text for _, text in ROWS}) == len(ROWS) >= len(COMMANDS)
