# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Names of joints are escaped in plots, and reports with hostile names are written."""

import json
from xml.etree import ElementTree

from matplotlib.figure import Figure
import pytest
from support.hil_pages import plots_of

from rbd_ros.hil import read_scenario
from rbd_ros.hil.bench import Bench
from rbd_ros.hil.controllers import make_controller
from rbd_ros.hil.report import run_report as report
from rbd_ros.lookup.resources import resource_path
from rbd_ros.plot_names import plot_name

NAMES = (
    r'$\frac{$',
    'a$b$c',
    'cost$',
    r'\$',
    '_hidden',
    '__',
    '$',
    '$$',
    r'$\alpha$',
    'a\nb',
    'a\u2028b\u202e',
    'j' * 5000,
    '{x}%s',
    ' ',
)


@pytest.mark.parametrize('name', NAMES, ids=ascii)
def test_a_name_is_shown_unchanged(name):
    figure = Figure()
    axes = figure.add_subplot()
    axes.plot([0, 1], label=plot_name(name))
    axes.set_title(plot_name(name))
    axes.legend()
    figure.canvas.draw()
    handles, labels = axes.get_legend_handles_labels()
    assert len(handles) == 1
    # What matplotlib draws of a text that is no formula.
    shown, is_formula = axes.title._preprocess_math(plot_name(name))
    assert not is_formula
    expected = ''.join(c if c.isprintable() else '?' for c in name)
    if len(name) > 60:
        expected = name[:57] + '...'
    assert shown.strip() == expected.strip()


@pytest.fixture
def run(tmp_path):
    """Return the scenario and run of an arm whose joints have hostile names."""
    text = resource_path('urdf', 'two_link_arm.urdf').read_text()
    for joint, name in (('shoulder', r'$\frac{$'), ('elbow', '&lt;/script>_elbow')):
        assert f'name="{joint}"' in text
        text = text.replace(f'name="{joint}"', f'name="{name}"')
    (tmp_path / 'arm.urdf').write_text(text)
    motion = {'times': [0.0, 0.05], 'positions': [[0.1, 0.1], [0.11, 0.1]]}
    content = {
        'robot': str(tmp_path / 'arm.urdf'),
        'duration': 0.05,
        'trajectory': motion,
        'controller': {'python': 'rbd_ros.hil.controllers:computed_torque'},
    }
    scenario = read_scenario(content)
    return scenario, Bench(scenario).run(make_controller(scenario))


def test_a_report_of_hostile_names_is_written(run, tmp_path):
    report.write_report(*run, tmp_path / 'report')
    page = (tmp_path / 'report' / report.PAGE).read_text()
    names = [each['name'] for each in plots_of(page)[0]['curves']]
    assert names == ['$\\frac{$ [rad]', '</script>_elbow [rad]'] and '</script>_' not in page


def test_numbers_and_junit_are_written_before_the_page(run, tmp_path, monkeypatch):
    def fail(*args):
        raise RuntimeError('no page')

    monkeypatch.setattr(report, 'page', fail)
    with pytest.raises(RuntimeError):
        report.write_report(*run, tmp_path / 'report')
    assert json.loads((tmp_path / 'report' / report.NUMBERS).read_text())['passed'] is True
    assert ElementTree.parse(tmp_path / 'report' / report.JUNIT).getroot().tag == 'testsuite'
