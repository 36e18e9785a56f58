# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every declared kind of controllers and plants, and those of other packages."""

import re

import numpy as np
import pytest
from support.contributing import as_a_file
from support.source_imports import ROOT
from support.tiny_distribution import install
import yaml

from rbd_ros.hil import Bench, controllers as folder, read_scenario, ScenarioError
from rbd_ros.hil.campaign.campaign import files_of, fingerprints
from rbd_ros.hil.controllers import find_factory, make_controller
from rbd_ros.hil.plants.plant import PLANTS
from rbd_ros.hil.scenario.controller_entry import CONTROLLERS

SHOWN = 'table'
every_controller = pytest.mark.parametrize('name', [*CONTROLLERS.names(), SHOWN])
every_plant = pytest.mark.parametrize('name', PLANTS.names())
LAW = """
def make(robot, trajectory, timestep, stiffness=40.0):
    def control(time, q, v):
        return stiffness * (trajectory.sample(time)[0] - q) - 2.0 * v + robot.gravity_torque(q)
    return control
"""


@pytest.fixture(autouse=True)
def shown_is_a_file(tmp_path, monkeypatch):
    with as_a_file(
        'A new controller of the bench', folder, 'table_controller', tmp_path, monkeypatch
    ):
        yield


def scenario_of(tmp_path, controller, **changes):
    """Return the path of a scenario with the two-link arm."""
    content = {
        'robot': 'two_link_arm',
        'duration': 0.1,
        'trajectory': {'times': [0.0, 0.1], 'positions': [[0.2, 0.3], [0.3, 0.2]]},
        'controller': controller,
        **changes,
    }
    path = tmp_path / 'scenario.yaml'
    path.write_text(yaml.safe_dump(content))
    return path


# -- kinds ----------------------------------------------------------------------------------------


@every_controller
def test_a_scenario_names_a_kind_of_controllers_by_its_file(tmp_path, name):
    kind = CONTROLLERS[name]
    scenario = read_scenario(scenario_of(tmp_path, {name: kind.example}))
    assert scenario.controller.kind == name
    assert type(kind).__doc__
    assert all(each.is_file() for each in files_of(scenario.controller))


@every_controller
def test_a_controller_here_is_made_or_its_error_names_it(tmp_path, name):
    kind = CONTROLLERS[name]
    scenario = read_scenario(scenario_of(tmp_path, {name: kind.example}))
    if kind.over_ros or kind.runner() is not None:
        with pytest.raises(ValueError, match='runs in its own process'):
            make_controller(scenario)
        return
    try:
        make_controller(scenario)
    except ValueError as error:
        assert scenario.controller.words[0] in str(error)


@every_plant
def test_a_scenario_names_a_kind_of_plants_by_its_file(tmp_path, name):
    entry = read_scenario(
        scenario_of(tmp_path, {'table': 'a'}, plant={name: PLANTS[name].example})
    )
    assert entry.plant.kind == name
    with pytest.raises(ValueError):
        Bench(entry)


@pytest.mark.parametrize('kinds', [CONTROLLERS, PLANTS])
def test_keys_of_other_kinds_are_rejected_by_kind(tmp_path, kinds):
    keys = {key: name for name in kinds.names() for key in kinds[name].keys}
    for key, owner in keys.items():
        for name in kinds.names():
            if key in kinds[name].keys:
                continue
            entry = {name: kinds[name].example, key: 1}
            content = {'controller': entry} if kinds is CONTROLLERS else {'plant': entry}
            content = {'controller': {'table': 'a'}, **content}
            with pytest.raises(ScenarioError, match=f'line .*{key} is for .*{owner}'):
                read_scenario(scenario_of(tmp_path, **content))


@every_controller
def test_the_page_lists_every_kind_of_controllers(name):
    page = (ROOT / 'docs' / 'hil.md').read_text(encoding='utf-8')
    rows = re.findall(r'^\| (`.*?) \|', page, re.MULTILINE)
    assert name == SHOWN or any(f'`{name}`' in row for row in rows)


def test_the_controller_that_contributing_shows_gives_its_torques(tmp_path):
    rows = np.array([[0.1, 0.2], [0.3, 0.4]])
    np.savetxt(tmp_path / 'torques.csv', rows, delimiter=',')
    scenario = read_scenario(scenario_of(tmp_path, {'table': 'torques.csv'}))
    run = Bench(scenario).run(make_controller(scenario))
    assert np.array_equal(run.torque[:3], [rows[0], rows[1], rows[1]])


# -- plants in Python -----------------------------------------------------------------------------


@pytest.fixture
def masses(tmp_path):
    """Write the plant of the page into a file, and return its text."""
    page = (ROOT / 'docs' / 'hil_controllers.md').read_text(encoding='utf-8')
    section = page.split('## A plant in Python')[1].split('\n## ')[0]
    (text,) = re.findall(r'^```python\n(.*?)^```', section, re.DOTALL | re.MULTILINE)
    (tmp_path / 'my_plant.py').write_text(text)
    return text


def torque_of(tmp_path, plant, **changes):
    (tmp_path / 'torques.csv').write_text('2,0\n')
    scenario = read_scenario(
        scenario_of(tmp_path, {'table': 'torques.csv'}, plant=plant, **changes)
    )
    return Bench(scenario).run(make_controller(scenario))


def test_the_plant_of_the_page_moves_by_its_law(tmp_path, masses):
    plant = {'python': 'my_plant.py:make', 'options': {'mass': 4.0}}
    run = torque_of(tmp_path, plant)
    assert not run.failure
    assert run.v[-1] == pytest.approx([99 * 0.001 * 2.0 / 4.0, 0.0])
    assert run.q[0].tolist() == [0.2, 0.3]
    cut = torque_of(tmp_path, plant, faults=[{'fault': 'power_cut', 'start_time': 0.05}])
    assert np.array_equal(cut.torque[:, 0], np.where(cut.time < 0.05 - 1e-9, 2.0, 0.0))
    with pytest.raises(ScenarioError, match='friction changes the physics inside the plant'):
        torque_of(tmp_path, plant, faults=[{'fault': 'friction', 'value': 1.0}])


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        (
            'self.v +=',
            'raise OSError("no power"); self.v +=',
            'simulation failed: OSError: no power',
        ),
        ('self.v +=', 'self.v[:] = np.nan #', 'state of the plant is not finite'),
    ],
)
def test_a_plant_that_fails_is_reported_and_no_controller_blamed(
    tmp_path, masses, old, new, words
):
    (tmp_path / 'my_plant.py').write_text(masses.replace(old, new))
    assert words in torque_of(tmp_path, {'python': 'my_plant.py:make'}).failure


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('def make(robot, timestep): return 7', 'returned a int, which lacks .*ArrayPlant'),
        ('def make(robot): pass', 'plant .*my_plant.py:make: TypeError'),
        ('make = 7', 'not a function that creates a plant'),
    ],
)
def test_a_plant_that_is_none_is_rejected_by_name(tmp_path, masses, text, words):
    (tmp_path / 'my_plant.py').write_text(text)
    with pytest.raises(ValueError, match=words):
        torque_of(tmp_path, {'python': 'my_plant.py:make'})


def test_a_plant_in_python_needs_a_robot(tmp_path, masses):
    with pytest.raises(ScenarioError, match='plant: .*give robot in addition'):
        path = scenario_of(tmp_path, {'table': 'a'}, plant={'python': 'my_plant.py:make'})
        read_scenario({k: v for k, v in yaml.safe_load(path.read_text()).items() if k != 'robot'})


# -- of other packages ---------------------------------------------------------------------------


def test_other_packages_declare_controllers_and_plants(tmp_path, monkeypatch, masses):
    points = {'rbd_ros.controllers': 'far_law = far_laws:make'}
    install(tmp_path / 'site', monkeypatch, 'far-laws', LAW, points)
    points = {'rbd_ros.plants': 'far_masses = far_plants:make'}
    install(tmp_path / 'site', monkeypatch, 'far-plants', masses, points)
    law = {'python': 'far_law', 'options': {'stiffness': 50.0}}
    path = scenario_of(tmp_path, law, plant={'python': 'far_masses'})
    scenario = read_scenario(path)
    run = Bench(scenario).run(make_controller(scenario))
    assert not run.failure and np.abs(run.v).max() > 0.0
    assert [each.name for each in files_of(scenario.controller)] == ['far_laws.py']
    before = fingerprints(str(path), scenario)
    (tmp_path / 'site' / 'far_plants.py').write_text(masses.replace('1.0', '1.5'))
    changed = fingerprints(str(path), scenario)
    assert {key for key in before if before[key] != changed[key]} == {'plant'}


def test_a_controller_that_no_package_has_is_rejected_with_those_there_are(tmp_path, monkeypatch):
    points = {'rbd_ros.controllers': 'far_law = far_laws:make'}
    install(tmp_path / 'site', monkeypatch, 'far-laws', LAW, points)
    with pytest.raises(ScenarioError, match=r'python: .*rbd_ros.controllers: far_law\)'):
        read_scenario(scenario_of(tmp_path, {'python': 'far_low'}))
    with pytest.raises(ValueError, match='far_low.*far_law'):
        find_factory('far_low')


def test_a_package_that_cannot_be_used_is_named(tmp_path, monkeypatch):
    points = {'rbd_ros.controllers': 'far_law = far_laws:make'}
    install(tmp_path / 'site', monkeypatch, 'far-laws', 'import no_such_module', points)
    scenario = read_scenario(scenario_of(tmp_path, {'python': 'far_law'}))
    with pytest.raises(ValueError, match='package far-laws 1.2 .*no_such_module.*uninstall'):
        make_controller(scenario)
