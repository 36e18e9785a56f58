# SPDX-License-Identifier: Apache-2.0
"""The reports of the bench in docs/hil_examples: made anew, compared with those that lie there.

What is measured in real time differs from run to run, and the last bits of a motion from processor
to processor; all else must be the same.
"""

import hashlib
import json
import re

from rbd_ros.cli.main import main
from support.source_imports import ROOT

FOLDER = ROOT / 'docs' / 'hil_examples'
PICTURES = ROOT / 'docs' / 'images'
MADE_FROM = FOLDER / 'pictures.json'  # fingerprints of the pages that pictures show
WIDTH = 1000  # of pictures [pixels]
SCENARIOS = ROOT / 'config' / 'hil'
CAMPAIGN = ('--seeds', '60', '--vary', 'payload=0:3:4,latency=0:10ms')

# Name of the page -> scenario, further words of the command, file that it writes.
PAGES = {
    'payload_drop': ('payload_drop', (), 'report.html'),
    'slow_network': ('slow_network', (), 'report.html'),
    'sticking_joint': ('sticking_joint', (), 'report.html'),
    'dead_time': ('slow_network', ('--dead-time',), 'dead_time.html'),
    'rates': ('slow_network', ('--rates', '0.1,0.5,1,2'), 'rates.html'),
    'campaign': ('payload_drop', CAMPAIGN, 'campaign.html'),
}

_LINK = re.compile(r'<a href="[^#"]*">(.*?)</a>')
_SVG = re.compile(r'<svg.*?</svg>', re.DOTALL)
_MEASURED = re.compile(r'<tr><td>[^<]*\[us\]</td>.*?</tr>')
_DIGEST = re.compile(r'<code>[0-9a-f]{64}</code>')
_NUMBER = re.compile(r'-?\d+(?:\.\d+)?(?:e-?\d+)?')


def make(name, folder):
    """Page of this name, made anew."""
    scenario, words, file = PAGES[name]
    path = SCENARIOS / f'{scenario}.yaml'
    main(['hil', str(path), '--report', str(folder), '--jobs', '2', *words])
    # Other reports, to which pages link, are not kept.
    return _LINK.sub(r'\1', (folder / file).read_text(encoding='utf-8'))


def difference(page, other):
    """What differs between two pages beside what is measured; '' if nothing does."""
    if len(_SVG.findall(page)) != len(_SVG.findall(other)):
        return 'the number of plots'
    lines, others = (_said(each).splitlines() for each in (page, other))
    for line, as_before in zip(lines, others):
        if _NUMBER.sub('#', line) != _NUMBER.sub('#', as_before):
            return f'{line!r} was {as_before!r}'
        for one, before in zip(_NUMBER.findall(line), _NUMBER.findall(as_before)):
            a, b = float(one), float(before)
            if abs(a - b) > 0.01 * max(abs(a), abs(b)) + 2e-3:
                return f'{one} was {before}: {line!r}'
    return '' if len(lines) == len(others) else 'the number of lines'


def _said(page):
    """Text of a page without plots and what is measured."""
    text = _DIGEST.sub('', _MEASURED.sub('', _SVG.sub('', page)))
    return text.replace('<tr>', '\n<tr>')


def fingerprint(page):
    """Of the text of a page."""
    return hashlib.sha256(page.encode()).hexdigest()


def pictures_of():
    """Fingerprints of the pages that the pictures were made of, by page."""
    return json.loads(MADE_FROM.read_text(encoding='utf-8'))
