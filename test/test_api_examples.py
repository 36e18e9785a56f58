# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every public name has an example, and the examples have the shown output.

Those of docs/python_api.md run in sequence, as a reader types them; those of docs/api/*.md, from
docstrings, each from the setup of its page.
"""

from importlib import import_module
import inspect
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from support import (
    api_contents,
    api_pages,
    doctests,
    example_robots,
    outside,
    recorded_motions,
)
from support.api_pages import ENTRY, ROOT

from rbd_ros import Robot

#: What is compiled is used for a moment: see conftest.py.
OPTIMIZED = False

PAGES = {page.name: page for page in api_pages.pages()}
EXAMPLES = {
    (page.name, entry.path): entry
    for page in PAGES.values()
    for entry in page.entries
    if entry.example
}


def run_examples(page):
    """Run the examples of a page in their order, and return the names that they leave."""
    text = page.read_text(encoding='utf-8')
    examples = re.findall(r'^```python\n(.*?)^```', text, re.DOTALL | re.MULTILINE)
    assert len(examples) >= 3
    names = {}
    for number, example in enumerate(examples):
        exec(compile(example, f'example {number} of {page.name}', 'exec'), names)
    return names


def test_a_robot_is_changed_as_its_page_says():
    names = run_examples(ROOT / 'docs' / 'changed_robots.md')
    assert names['planar'].nv == 4 and names['both'].joint_names[-1] == 'hand/rocker_joint'
    assert names['shorter'].nv == names['arm'].nv + 1


def test_poses_are_converted_as_their_page_says():
    names = run_examples(ROOT / 'docs' / 'poses.md')
    T = names['T']
    message = SimpleNamespace(position=SimpleNamespace(), orientation=SimpleNamespace())
    names['fill'](message, T)
    np.testing.assert_allclose(names['pose_of'](message), T, atol=1e-15)
    if names['RigidTransform']:
        found = names['tool'].inverse_kinematics(names['middle'], start=names['q'])
        assert found.reached
        expected = names['middle'].as_matrix()
        np.testing.assert_allclose(names['tool'].pose(found.q), expected, atol=1e-8)


def test_environments_are_made_as_their_page_says():
    outside.load('gymnasium')
    names = run_examples(ROOT / 'docs' / 'learning.md')
    assert names['observations'].shape == (4, 19 + 18 + 1) and names['D'].dv_dtau.shape[0] == 50
    assert names['observation'][-1] > 0.0  # the feet carry the robot


def test_inverse_kinematics_is_used_as_its_page_says():
    assert np.all(run_examples(ROOT / 'docs' / 'inverse_kinematics.md')['found'].reached)


PORTS = re.compile(r'^```python\n# (\w+)\n(.*?)^```', re.DOTALL | re.MULTILINE)
MASS, CENTER = 1.5, np.array([0.01, 0.02, 0.08])  # of a payload in `run.csv` [kg, m]


def run_ports(library, folder):
    """Run the programs of docs/coming_from.md for one library, and return their names."""
    programs = PORTS.findall((ROOT / 'docs' / 'coming_from.md').read_text(encoding='utf-8'))
    own = [program for name, program in programs if name == library]
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for number, program in enumerate(own):
            exec(compile(program, f'{library} {number}', 'exec'), names)
    return names


@pytest.fixture(scope='module')
def ports(tmp_path_factory):
    """Return the folder with the files of the programs, and the names of ours."""
    folder = tmp_path_factory.mktemp('ports')
    (folder / 'urdf').symlink_to(ROOT / 'urdf')
    robot = Robot.from_urdf(ROOT / 'urdf' / 'six_axis_arm.urdf')
    payload = np.r_[MASS, MASS * CENTER, 0.02, 0.0, 0.0, 0.02, 0.0, 0.004]
    recording = recorded_motions.recorded(robot, payload=payload, noise=0.005)
    rows = np.column_stack([recording.times, recording.positions, recording.efforts])
    kinds = ('position', 'effort')
    head = ['time', *(f'{name}.{kind}' for kind in kinds for name in robot.joint_names)]
    options = {'delimiter': ',', 'header': ','.join(head), 'comments': ''}
    np.savetxt(folder / 'run.csv', rows, **options)
    return folder, run_ports('rbd_ros', folder)


def test_the_ports_of_programs_solve_their_tasks(ports):
    _, names = ports
    robot, tool, q, v = (names[name] for name in ('robot', 'tool', 'q', 'v'))
    moved = tool.acceleration(q, v, robot.forward_dynamics(q, v, names['torque']))
    np.testing.assert_allclose(moved, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0], atol=1e-9)
    assert names['found'].reached
    # Friction 0.5 decelerates by 0.5 g; the tolerance is half a timestep at 2 m/s.
    expected = np.linspace(0.5, 2.0, 64) ** 2 / (2.0 * 0.5 * 9.81)
    np.testing.assert_allclose(names['distances'], expected, atol=1.1e-3)
    assert abs(names['mass'] - MASS) < names['payload'].estimate.intervals(0.99)[0]


@pytest.mark.parametrize(
    ('library', 'module', 'tolerances'),
    [
        (
            'Pinocchio',
            'pinocchio',
            {'tau': 1e-12, 'torque': 1e-9, 'solution': 1e-7, 'mass': 5e-3, 'center': 2e-3},
        ),
        ('MuJoCo', 'mujoco', {'distances': 1e-3}),  # whose contact is soft
        ('roboticstoolbox', 'roboticstoolbox', {'tau': 1e-9, 'solution': 1e-4}),
    ],
)
def test_a_port_agrees_with_the_program_of_another_library(ports, library, module, tolerances):
    outside.load(module)
    folder, ours = ports
    names = run_ports(library, folder)
    for name, tolerance in tolerances.items():
        np.testing.assert_allclose(ours[name], names[name], rtol=0.0, atol=tolerance)


def test_a_notebook_shows_the_examples_of_its_page():
    outside.load('pandas')
    names = run_examples(ROOT / 'docs' / 'notebook.md')
    assert '</iframe>' in names['recording']._repr_html_()
    np.testing.assert_array_equal(names['again'].positions, names['measured'].positions)
    assert names['other'].tolist() == names['robot'].gravity_torque(names['q']).tolist()


def test_examples_run_in_their_order(tmp_path, monkeypatch):
    shutil.copy(example_robots.path('panda'), tmp_path / 'panda.urdf')
    monkeypatch.chdir(tmp_path)
    names = run_examples(ENTRY)
    robot, base = names['robot'], names['base']
    np.testing.assert_allclose(names['beta'], base.of(robot.regressors.parameters), atol=1e-9)
    np.testing.assert_allclose(names['tau_again'], names['tau'], atol=1e-9)


@pytest.fixture(scope='module')
def starts():
    """Return what the examples of a page start from, by its text: one robot for many."""
    made = {}

    def start(setup):
        if setup not in made:
            names = {}
            exec(compile(setup, 'start', 'exec'), names)
            made[setup] = names
        return made[setup]

    return start


@pytest.mark.parametrize(('page', 'path'), EXAMPLES)
def test_an_example_gives_the_documented_output(page, path, starts, monkeypatch, tmp_path):
    if 'pandas' in EXAMPLES[page, path].example:
        outside.load('pandas')
    # As in the root, but what an example writes goes elsewhere.
    for folder in ('config', 'docs', 'launch', 'urdf'):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    with np.printoptions():
        wrong = doctests.run(EXAMPLES[page, path].example, starts(PAGES[page].setup), path)
    if wrong:
        pytest.fail(wrong, pytrace=False)


@pytest.mark.parametrize('name', PAGES)
def test_every_public_name_has_an_example(name):
    page = PAGES[name]
    if page.missing:
        pytest.fail('\n'.join(map(page.help, page.missing)), pytrace=False)


@pytest.mark.parametrize('name', PAGES)
def test_a_page_is_that_of_the_docstrings(name):
    path = api_pages.FOLDER / f'{name}.md'
    assert path.is_file(), 'run scripts/update_python_api'
    assert path.read_text(encoding='utf-8') == PAGES[name].text, 'run scripts/update_python_api'


def test_the_entry_leads_to_all_pages():
    text = ENTRY.read_text(encoding='utf-8')
    assert api_pages.updated_entry(text) == text, 'run scripts/update_python_api'
    with pytest.raises(ValueError, match='marks'):
        api_pages.updated_entry('# Python API\n')


def test_there_are_no_other_pages():
    assert {path.stem for path in api_pages.FOLDER.glob('*.md')} == set(PAGES)


def test_exemptions_from_examples_exist():
    others = [path for paths in api_contents.MORE.values() for path in paths]
    for path in (*api_contents.NOT_FOR_USERS, *others):
        assert api_pages.found(path) is not None, f'stale: {path}'
    places = {place.replace('.', '/') for place in api_contents.PARTS_OF_ALGORITHMS}
    for place in places:
        assert (ROOT / 'rbd_ros' / f'{place}.py').is_file(), f'stale: {place}'


# -- what looks for examples, itself


class Described:
    """A class with a method and a result."""

    def shown(self):
        """Count, as the class shows."""

    def silent(self):
        """Count."""

    def own(self):
        """Count.

        >>> 1 + 1
        2
        """


def entries(kind):
    return {entry.call.partition('(')[0]: entry for entry in api_pages.of_class(kind, '')}


def test_a_method_without_an_example_is_found_and_reported(monkeypatch):
    found = entries(Described)
    assert found['Described.own'].example == '>>> 1 + 1\n2'
    assert not found['Described.silent'].example and not found['Described.shown'].example
    page = PAGES['loops']
    monkeypatch.setattr(page, 'entries', [*found.values()])
    assert [entry.path.rpartition('.')[2] for entry in page.missing if entry.owner] == [
        'shown',
        'silent',
    ]
    text = page.help(found['Described.silent'])
    assert 'Described.silent has no example' in text and 'scripts/update_python_api' in text
    assert 'pivot, hinge, robot, up, q, v, tau' in text


def test_an_example_of_the_class_counts_for_the_methods_it_uses(monkeypatch):
    monkeypatch.setattr(Described, '__doc__', 'It.\n\n>>> x.shown()\n3\n>>> x.silently\n')
    found = entries(Described)
    assert found['Described.shown'].is_shown and not found['Described.silent'].is_shown


@pytest.mark.parametrize(
    ('example', 'right'),
    [
        ('>>> 1 + 1\n2', True),
        ('>>> 1 + 1\n3', False),
        ('>>> 0.12349\n0.1235', True),
        ('>>> 0.1245\n0.1235', False),
        ('>>> np.array([-0.0, 1.0])\narray([0., 1.])', True),
        ('>>> np.array([-0.2, 1.0])\narray([0.2, 1. ])', False),
        ('>>> np.array([1.0, 2.0])\narray([1.])', False),
        ('>>> np.float64(0.5), np.bool_(True)\n(0.5, True)', True),
        ('>>> np.bool_(False)\nTrue', False),
        ('>>> 1e-3\n0.001', True),
        (">>> 'a'\n'b'", False),
        (">>> int('x')\nTraceback (most recent call last):\n    ...\nValueError: ...", True),
        ('>>> 1 / 0', False),
        ('>>> x = 1', False),
    ],
)
def test_answers_are_compared_as_numbers(example, right):
    wrong = doctests.run(example, {'np': np})
    assert (not wrong) == right, wrong


@pytest.mark.parametrize(
    'room',
    [
        *('spatial', 'model', 'constraints', 'contact', 'simulation', 'control'),
        *('textbook.complementarity', 'textbook.models', 'textbook.simulation'),
    ],
)
def test_exports_of_a_package_are_on_a_page(room):
    """Names of its `__all__` except for errors and results, which functions show."""
    offered = import_module(f'rbd_ros.{room}')
    shown = {id(entry.value) for page in PAGES.values() for entry in page.entries}
    for name in offered.__all__:
        value = getattr(offered, name)
        is_result = inspect.isclass(value) and issubclass(value, (tuple, Exception))
        path = f'{getattr(value, "__module__", "")}:{name}'
        if callable(value) and not is_result and path not in api_contents.NOT_FOR_USERS:
            assert id(value) in shown, f'{path}: enter its module in MODULES of api_contents.py'
