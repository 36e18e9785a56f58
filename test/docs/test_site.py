# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The documentation site is built without warnings; its links and pictures exist."""

from html.parser import HTMLParser
import os
from pathlib import Path
import subprocess
from urllib.parse import unquote

import pytest
from support import outside
from support.source_imports import ROOT

import rbd_ros

pytestmark = pytest.mark.linter


class Page(HTMLParser):
    """Links, pictures and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.pictures, self.anchors = [], [], set()
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get('id'):
            self.anchors.add(values['id'])
        if tag == 'a' and values.get('href'):
            self.links.append(values['href'])
        if tag == 'img':
            self.pictures.append(values['src'])


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    """Return the folder of the site and the log of its build."""
    if outside.docs_problem():
        pytest.skip(outside.docs_problem())
    folder = tmp_path_factory.mktemp('site')
    reports = folder / 'reports'
    reports.mkdir()
    (reports / 'rates.html').write_text('<p>a report</p>')
    run = subprocess.run(
        [ROOT / 'scripts' / 'docs', folder / 'html', '--doctree-dir', folder / 'doctrees'],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            'RBD_ROS_DOCS_VENV': str(outside.docs_python().parents[1]),
            'RBD_ROS_DOCS_REPORTS': str(reports),
        },
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / 'html', run.stdout + run.stderr


@pytest.fixture(scope='module')
def pages(made):
    site, _ = made
    return {path: Page(path) for path in sorted(site.rglob('*.html'))}


def is_local(address):
    return not address.startswith(('http://', 'https://', 'mailto:', 'data:', 'javascript:'))


def test_site_is_made_without_a_word_of_warning(made):
    site, output = made
    assert output.splitlines() == [f'[set-up] The site is in {site}/index.html']


def test_every_page_of_the_documentation_is_a_page_of_the_site(made):
    site, _ = made
    for source in (ROOT / 'docs').rglob('*.md'):
        name = source.relative_to(ROOT / 'docs').with_suffix('.html')
        assert (site / name).is_file(), name


def test_links_lead_to_pages_and_headings(pages):
    lost = []
    for path, page in pages.items():
        for link in filter(is_local, page.links):
            target, _, anchor = unquote(link).partition('#')
            there = Path(os.path.normpath(path.parent / target)) if target else path
            if not there.is_file():
                lost.append(f'{path.name}: {link}')
            elif anchor and there in pages and anchor not in pages[there].anchors:
                lost.append(f'{path.name}: {link}')
    assert not lost, '\n'.join(lost)


def test_pictures_exist(pages):
    shown = {
        Path(os.path.normpath(path.parent / source))
        for path, page in pages.items()
        for source in filter(is_local, page.pictures)
    }
    assert {path.name for path in (ROOT / 'docs' / 'images').iterdir()} <= {p.name for p in shown}
    assert all(path.stat().st_size > 1000 for path in shown)


def test_every_page_is_in_the_navigation_of_the_entry(made, pages):
    site, _ = made
    seen, left = set(), [site / 'index.html']
    while left:
        path = left.pop()
        if path not in seen and path in pages:
            seen.add(path)
            for link in filter(is_local, pages[path].links):
                left.append(Path(os.path.normpath(path.parent / link.partition('#')[0])))
    indices = {site / 'genindex.html', site / 'search.html'}
    assert set(pages) - indices <= seen, set(pages) - indices - seen


def test_files_of_the_repository_are_pages_with_their_text(made):
    site, _ = made
    page = (site / 'repository' / 'config' / 'ros2_control.yaml.html').read_text(encoding='utf-8')
    assert 'effort_trajectory_controller' in page
    assert 'href="../repository/config/ros2_control.yaml.html"' in (
        site / 'nodes' / 'simulator_ros2_control.html'
    ).read_text(encoding='utf-8')


def test_pages_that_stand_for_files_of_the_root_have_their_text_and_links(made):
    site, _ = made
    page = (site / 'contributing.html').read_text(encoding='utf-8')
    assert 'A new joint type' in page
    assert 'href="architecture.html"' in page
    assert 'repository/rbd_ros/model/joints/joint_type.py.html' in page
    assert 'first release' in (site / 'changelog.html').read_text(encoding='utf-8')


def test_pictures_of_reports_lead_to_the_reports_that_were_made(made, pages):
    site, _ = made
    assert (site / 'hil_examples' / 'rates.html').read_text() == '<p>a report</p>'
    found = {link for link in pages[site / 'hil_examples.html'].links if 'hil_examples/' in link}
    assert found == {'hil_examples/rates.html'}


def test_commands_can_be_copied_and_pages_have_the_version(made):
    site, _ = made
    text = (site / 'installation.html').read_text(encoding='utf-8')
    assert 'copybutton.js' in text and f'rbd_ros {rbd_ros.__version__}' in text
