# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Example reports of the bench: their pages, and their text at the time of the pictures.

Git holds pictures (docs/images) and text (`TEXTS`), not the pages. Real-time measurements differ
from run to run, and the last bits of a motion from processor to processor; the rest must be the
same.
"""

import base64
import json
import re

import numpy as np

from rbd_ros.cli.main import main
from support.source_imports import ROOT

FOLDER = ROOT / 'build' / 'hil_examples'  # from which scripts/docs takes the pages
PICTURES = ROOT / 'docs' / 'images'
TEXTS = ROOT / 'test' / 'hil' / 'example_reports.json'  # lines of the pages that pictures show
WIDTH = 1000  # of pictures [pixels]
SCENARIOS = ROOT / 'config' / 'hil'
CAMPAIGN = ('--seeds', '60', '--vary', 'payload=0:3:4,latency=0:10ms')

# Name of the page -> scenario, further arguments of the command, output file.
PAGES = {
    'payload_drop': ('payload_drop', (), 'report.html'),
    'slow_network': ('slow_network', (), 'report.html'),
    'sticking_joint': ('sticking_joint', (), 'report.html'),
    'dead_time': ('slow_network', ('--dead-time',), 'dead_time.html'),
    'rates': ('slow_network', ('--rates', '0.1,0.5,1,2'), 'rates.html'),
    'campaign': ('payload_drop', CAMPAIGN, 'campaign.html'),
}

_LINK = re.compile(r'<a href="[^#"]*">(.*?)</a>')
_PLOT = re.compile(r'<script type="application/json" class="plot">(.*?)</script>')
_SCRIPT = re.compile(r'<script.*?</script>', re.DOTALL)
_STYLE = re.compile(r'<style>.*?</style>', re.DOTALL)
_MEASURED = re.compile(r'<tr><td>[^<]*\[us\]</td>.*?</tr>')
_DIGEST = re.compile(r'<code>[0-9a-f]{64}</code>')
_NUMBER = re.compile(r'-?\d+(?:\.\d+)?(?:e-?\d+)?')


def make(name, folder):
    """Generate the page of this name."""
    scenario, words, file = PAGES[name]
    path = SCENARIOS / f'{scenario}.yaml'
    main(['hil', str(path), '--report', str(folder), '--jobs', '2', *words])
    # Other reports, to which pages link, are temporary.
    return _LINK.sub(r'\1', (folder / file).read_text(encoding='utf-8'))


def difference(lines, others):
    """Return the first difference between the lines of two pages, '' without one."""
    for line, as_before in zip(lines, others):
        if _NUMBER.sub('#', line) != _NUMBER.sub('#', as_before):
            return f'{line!r} was {as_before!r}'
        for one, before in zip(_NUMBER.findall(line), _NUMBER.findall(as_before)):
            a, b = float(one), float(before)
            if abs(a - b) > 0.01 * max(abs(a), abs(b)) + 2e-3:
                return f'{one} was {before}: {line!r}'
    return '' if len(lines) == len(others) else 'the number of lines'


def lines_of(page):
    """Return the lines of a page: a mark for each plot, no style, no real-time measurement."""
    for pattern, mark in ((_SCRIPT, '<script/>'), (_STYLE, ''), (_MEASURED, ''), (_DIGEST, '')):
        page = pattern.sub(mark, page)
    return [line for line in page.replace('<tr>', '\n<tr>').splitlines() if line.strip()]


def plots_of(page):
    """Return the contents of the plots of a page."""
    return [json.loads(each) for each in _PLOT.findall(page)]


def numbers_of(text, kind='<f8'):
    """Return the numbers of a plot."""
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def known_lines():
    """Return the lines of the pages that the pictures show, by page."""
    return json.loads(TEXTS.read_text(encoding='utf-8'))


def write_known_lines(lines):
    """Write the lines of the pages that the pictures show."""
    text = json.dumps(lines, indent=1, sort_keys=True, ensure_ascii=False)
    TEXTS.write_text(f'{text}\n', encoding='utf-8')
