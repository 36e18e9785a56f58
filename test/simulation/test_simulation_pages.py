# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pages on simulation, contact and worlds: their code runs from top to bottom."""

import re
import shutil

import pytest
from support.source_imports import ROOT

PAGES = ('simulation.md', 'simulation_how_to.md', 'contact.md', 'world.md')


@pytest.mark.parametrize('name', PAGES)
def test_the_code_of_a_page_runs(name, tmp_path, monkeypatch):
    for folder in ('config', 'urdf'):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / 'docs' / name).read_text('utf-8')
    blocks = re.findall(r'^```python\n(.*?)^```', page, re.DOTALL | re.MULTILINE)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, name, 'exec'), names)
