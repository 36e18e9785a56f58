# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Links between pages of the documentation exist."""

import re

import pytest
from support.source_imports import ROOT

PAGES = sorted([*ROOT.glob('*.md'), *(ROOT / 'docs').rglob('*.md')])
LINK = re.compile(r'\[[^\]]*\]\(([^)\s]+)\)')


@pytest.mark.linter
@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_to_files(page):
    text = re.sub(r'```.*?```', '', page.read_text(encoding='utf-8'), flags=re.DOTALL)
    targets = {target.partition('#')[0] for target in LINK.findall(text) if ':' not in target}
    missing = sorted(target for target in targets if not (page.parent / target).exists())
    assert not missing, missing


@pytest.mark.linter
@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_to_headings_lead_to_them(page):
    """Those of docs/; pages of the site for other files have no anchors for theirs."""
    for target in LINK.findall(page.read_text(encoding='utf-8')):
        file, _, anchor = target.partition('#')
        aim = (page.parent / file).resolve() if file else page
        if anchor and ':' not in target and aim.suffix == '.md':
            assert aim.parent != ROOT or page.parent == ROOT, f'{target}: leave out the anchor'
            assert anchor in anchors_of(aim), target


def anchors_of(page):
    """Return the anchors of a page's headings, as repository browsers make them."""
    text = re.sub(r'^```.*?^```', '', page.read_text(encoding='utf-8'), flags=re.DOTALL | re.M)
    headings = re.findall(r'^#+ +(.*?) *$', text, flags=re.M)
    plain = [re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', each).lower() for each in headings]
    return {re.sub(r'[^\w\- ]', '', each).replace(' ', '-') for each in plain}


@pytest.mark.linter
def test_every_page_is_reached_from_the_index():
    """By a link in it, or for the pages of a folder by one in the page that it leads to."""
    docs = ROOT / 'docs'
    linked = linked_from(docs / 'index.md')
    for page in sorted(linked & set(docs.glob('*.md'))):
        linked |= {found for found in linked_from(page) if found.parent != docs}
    pages = set(docs.rglob('*.md')) - {docs / 'index.md'}
    assert pages <= linked, pages - linked


def linked_from(page):
    targets = {target.partition('#')[0] for target in LINK.findall(page.read_text('utf-8'))}
    return {(page.parent / target).resolve() for target in targets if ':' not in target}


@pytest.mark.linter
@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_in_commands_are_those_of_the_repository_or_the_reader_s(page):
    """Such as urdf/four_bar.urdf, or the arm that the reader has: robot.urdf."""
    own = {
        'robot.urdf',
        'arm.urdf',
        'arm.urdf.xacro',
        'my_arm.urdf',
        'my_controlled_arm.urdf',
        'panda.urdf',
    }
    for line in page.read_text(encoding='utf-8').splitlines():
        for name in re.findall(r'(?:description|extension)_file:=(\S+)', line):
            assert name in own or (ROOT / name).is_file() or '$' in name, line
