"""Links between the pages of the documentation lead somewhere."""

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
def test_every_page_is_reached_from_the_index():
    index = (ROOT / 'docs' / 'index.md').read_text(encoding='utf-8')
    linked = {target.partition('#')[0] for target in LINK.findall(index)}
    pages = {page.relative_to(ROOT / 'docs').as_posix() for page in (ROOT / 'docs').rglob('*.md')}
    assert pages - {'index.md'} <= linked, pages - linked
