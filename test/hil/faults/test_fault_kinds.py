# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every declared kind of fault, and that of CONTRIBUTING.md."""

import re

import numpy as np
import pytest
from support.contributing import as_a_file
from support.source_imports import ROOT

from rbd_ros import Robot
from rbd_ros.extension_points import declared_in
from rbd_ros.hil import Disturbance, Fault, FAULT_KINDS, FaultInjector, read_faults
from rbd_ros.hil.campaign.variation import read_variations
from rbd_ros.hil.faults import kinds as folder
from rbd_ros.hil.faults.kinds import FaultKind
from rbd_ros.lookup.resources import resource_path
from rbd_ros.simulation import Physics

SHOWN = 'weak_battery'
every_kind = pytest.mark.parametrize('name', [*FAULT_KINDS, SHOWN])
SCOPES = {'joints': {}, 'messages': {}, 'link': {'link': 'tool0'}, 'robot': {}}
NAMES = [f'j{k}' for k in range(6)]


@pytest.fixture(autouse=True)
def shown_is_a_file(tmp_path, monkeypatch):
    with as_a_file('A new fault of the bench', folder, 'battery', tmp_path, monkeypatch):
        found = {kind.name: kind for kind in declared_in(folder, FaultKind)}
        assert set(found) == {*FAULT_KINDS, SHOWN}
        monkeypatch.setitem(FAULT_KINDS, SHOWN, found[SHOWN])
        yield


@pytest.fixture(scope='module')
def physics():
    return Physics(Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf')))


def state_of(injector, physics):
    """Return all that a fault can change, copied."""
    q = np.full(6, 0.123456)
    measured = injector.sensors.measure(q, q)
    disturbances = [tuple(link.disturbance) for link in injector.links.values()]
    model = physics.model
    parts = (model.effort, model.friction, *measured, *disturbances)
    return np.concatenate([np.ravel(each) for each in parts])


@every_kind
def test_a_fault_acts_from_its_start_to_its_end_and_leaves_nothing(name, physics):
    kind = FAULT_KINDS[name]
    value = 0.5 * kind.maximum if kind.maximum < 100.0 else 0.25
    injector = FaultInjector(NAMES, np.arange(6), seed=1)
    injector.attach(physics)
    before = state_of(injector, physics)
    link = SCOPES[kind.scope].get('link', '')
    injector.plan([Fault(name, value, link=link, start_time=1.0, duration=1.0)])
    injector.update(0.5)
    assert np.array_equal(state_of(injector, physics), before)
    injector.update(1.0)
    changed = not np.array_equal(state_of(injector, physics), before)
    assert changed or injector.payloads or name == 'backlash'
    injector.update(2.0)
    assert np.array_equal(state_of(injector, physics), before)
    assert all(each.disturbance == Disturbance() for each in injector.links.values())


@every_kind
def test_scenarios_and_campaigns_name_it(name):
    kind = FAULT_KINDS[name]
    entry = {'fault': name, **SCOPES[kind.scope], **({'value': 0.5} if kind.quantity else {})}
    (fault,) = read_faults({'faults': [entry]}, NAMES, ['tool0'])
    assert fault.kind == name and str(fault).startswith(name)
    if kind.quantity:
        (varied,) = read_variations(f'{name}=0:{min(1.0, kind.maximum)}')
        assert varied.levels == kind.samples
    assert bool(kind.quantity) == (kind.maximum > 0.0)
    assert kind.meaning.endswith('.')


@every_kind
def test_the_page_lists_it(name):
    page = (ROOT / 'docs' / 'hil_reference.md').read_text(encoding='utf-8')
    section = page.split('## Faults')[1].split('\n## ')[0]
    rows = re.findall(r'^\| (`.*?) \|', section, re.MULTILINE)
    assert name == SHOWN or any(f'`{name}`' in row for row in rows)
