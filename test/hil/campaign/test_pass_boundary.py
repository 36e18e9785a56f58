# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Boundary between passed and failed runs: known ones, few runs, and the page of a campaign."""

from dataclasses import replace

import numpy as np
import pytest
from support.hil_pages import plots_of

from rbd_ros.hil.campaign.campaign import Campaign
from rbd_ros.hil.campaign.campaign_command import campaign_page
from rbd_ros.hil.campaign.pass_boundary import pass_boundary
from rbd_ros.hil.campaign.variation import read_variations


@pytest.mark.parametrize('unit', [1.0, 1e-3])
def test_the_boundary_of_a_linear_excess_is_its_line(unit):
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0.0, 3.0, 200), unit * rng.uniform(0.0, 1.0, 200)
    found = np.array(pass_boundary(x, y, x + y / unit - 2.0)).reshape(-1, 2)
    assert len(found) > 20
    np.testing.assert_allclose(found[:, 0] + found[:, 1] / unit, 2.0, atol=1e-12)
    # It reaches from side to side.
    assert found[:, 0].min() < 1.1 and found[:, 0].max() > 1.9


def test_runs_at_few_levels_are_compared_with_their_neighbors_only():
    x = np.repeat([0.0, 1.0, 2.0], 10)
    y = np.concatenate([np.linspace(0.0, 1.0, 10) + shift for shift in (0.0, -0.005, 0.0)])
    excess = np.where(x > 1.5, 0.5, -0.5)
    found = np.array(pass_boundary(x, y, excess)).reshape(-1, 2)
    # No triangle at the border leads from the first level past the second one to the third.
    np.testing.assert_allclose(found[:, 0], 1.5)


@pytest.mark.parametrize(
    ('x', 'y', 'excess'),
    [
        ([], [], []),
        ([0.0, 1.0], [0.0, 1.0], [-1.0, 1.0]),
        ([0.0, 0.0, 0.0], [0.0, 1.0, 2.0], [-1.0, 1.0, 1.0]),
        ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0], [-1.0, 1.0, 1.0, 1.0]),
        ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -1.0, -1.0]),
        ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]),
    ],
)
def test_runs_without_a_boundary_have_none(x, y, excess):
    assert pass_boundary(np.array(x), np.array(y), excess) == []


def row_of(number, latency, drop, error, limit, failure=''):
    passed = error <= limit and not failure
    return {
        'run': str(number),
        'seed': str(number),
        'latency': repr(latency),
        'drop': repr(drop),
        'passed': str(passed),
        'failure': failure,
        'exceeded': '' if error <= limit else 'tracking error',
        'largest_error': repr(error),
        'tracking_error': repr(error),
    }


def test_a_campaign_of_two_variations_shows_its_boundary_and_why_runs_failed(path, tmp_path):
    campaign = Campaign(str(path), tmp_path / 'r', read_variations('latency=0:10ms,drop=0:0.5'))
    limits = replace(campaign.scenario.limits, tracking_error=0.5, torque=None, recovery_time=None)
    campaign.scenario = replace(campaign.scenario, limits=limits)
    places = [(a, b) for a in np.linspace(0.0, 0.01, 5) for b in np.linspace(0.0, 0.5, 4)]
    rows = [
        row_of(k, float(a), float(b), float(100.0 * a + 1e-9), 0.5)
        for k, (a, b) in enumerate(places)
    ]
    rows[-1] = row_of(99, 0.01, 0.5, 0.1, 0.5, 'the controller <ended>')
    page = campaign_page(campaign, rows)
    plane = next(each for each in plots_of(page) if each['segments'])
    assert (plane['x_label'], plane['y_label']) == ('latency [s]', 'drop')
    # The error is 0.5 at a latency of 5 ms.
    np.testing.assert_allclose(np.array(plane['segments'])[:, ::2], 0.005, atol=1e-6)
    assert 'run 99: the controller <ended>' in plane['notes']
    assert 'run 18: exceeds the limit of tracking error' in plane['notes']
    assert plane['notes'][0] == 'run 0'
    assert '<th>exceeded</th>' in page and '<td>tracking error</td>' in page
    assert 'the controller &lt;ended&gt;' in page and '<ended>' not in page
    one = Campaign(str(path), tmp_path / 'r', read_variations('latency=0:10ms'))
    assert not any(each['segments'] for each in plots_of(campaign_page(one, rows)))
