# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pages contain the output of the benchmark's commands."""

import re

import pytest
from support.contact_benchmark import energy, goals, marked
from support.source_imports import ROOT

PAGES = sorted([*(ROOT / 'docs').rglob('*.md'), ROOT / 'README.md'])
PARTS = [(page, part) for page in PAGES for part in marked.parts(page.read_text('utf-8'))]


def part(page, name):
    """Return the rows of a table of a page, by first cell."""
    text = (ROOT / 'docs' / page).read_text(encoding='utf-8')
    (body,) = (found['body'] for found in marked.parts(text) if found['name'] == name)
    rows = [line.strip('| ').split(' | ') for line in body.splitlines() if line.startswith('| ')]
    return {cells[0]: cells[1:] for cells in rows[2:]}


def test_all_written_parts_are_found():
    """A marked line that is misspelled would leave its part unchecked."""
    begun = sum(page.read_text('utf-8').count(', do not edit -->') for page in PAGES)
    assert begun == len(PARTS) == 11


@pytest.mark.parametrize('page, part', PARTS, ids=[f'{p.stem}-{x["name"]}' for p, x in PARTS])
def test_a_written_part_is_as_its_command_printed_it(page, part):
    assert (ROOT / part['command']).is_file()
    assert f'    {part["command"]} ' in page.read_text('utf-8')  # how to repeat it
    assert marked.digest(part['body']) == part['digest']


def test_pages_with_the_same_part_have_the_same():
    bodies = {}
    for _, found in PARTS:
        assert bodies.setdefault(found['name'], found['body']) == found['body']


def test_a_part_that_was_edited_is_detected(tmp_path):
    page, table = tmp_path / 'page.md', marked.Part('measured thing', 'benchmark/thing.py')
    page.write_text(f'before\n{table.blank}\nafter\n')
    table.replace(page, ['| a | 1.5 |', '| b | 2.5 |'])
    (found,) = marked.parts(page.read_text())
    assert found['body'] == '| a | 1.5 |\n| b | 2.5 |'
    assert marked.digest(found['body']) == found['digest']
    page.write_text(page.read_text().replace('2.5', '2.4'))
    (found,) = marked.parts(page.read_text())
    assert marked.digest(found['body']) != found['digest']
    with pytest.raises(ValueError, match='lacks the lines'):
        marked.Part('measured other', 'benchmark/thing.py').replace(page, [])


@pytest.mark.slow
@pytest.mark.parametrize('motion', energy.MOTIONS, ids=lambda motion: motion.label.split(',')[0])
def test_energy_errors_are_those_of_the_page(motion):
    """Within a tenth where the method errs, within a factor of 30 where rounding does."""
    cells = part('simulation_accuracy.md', 'measured energy')[motion.label]
    printed = [float(cell) for cell in cells]
    assert len(printed) == len(energy.INTEGRATORS)
    for integrator, expected in zip(energy.INTEGRATORS, printed):
        found = motion.measure(integrator)
        if expected < 1e-8:
            assert found < 30.0 * expected
        elif 'falls about' in motion.label:  # a chaotic motion: other bits, another motion
            assert expected / 10.0 < found < 10.0 * expected
        else:
            assert found == pytest.approx(expected, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize('name', ['planar_3r', 'stanford_arm', 'panda', 'ur5_robot', 'so101'])
def test_errors_of_motions_are_those_of_the_page(name):
    """In a plane, with a sliding joint, with a gripper, with six hinges, small."""
    path = goals.find(name)
    if path is None:
        pytest.skip('example-robot-data is not installed')
    found = goals.measure(name, path, 6)
    assert found.holds
    printed = [float(cell) for cell in part('measurements.md', 'measured goals')[name][:-1]]
    # Two digits are printed.
    expected = [float(cell) for cell in found.cells()[1:-1]]
    assert printed == pytest.approx(expected, rel=0.1)


# -- the README -----------------------------------------------------------------------------------


def measured_rows(page, name):
    """Return the cells of all rows of a measured part."""
    text = (ROOT / 'docs' / page).read_text(encoding='utf-8')
    (body,) = (found['body'] for found in marked.parts(text) if found['name'] == name)
    return [line.strip('| ').split(' | ') for line in body.splitlines() if line.startswith('| ')]


def test_speeds_of_the_readme_are_those_of_the_measured_tables():
    text = (ROOT / 'README.md').read_text(encoding='utf-8')
    rows = {
        (cells[0], cells[1]): cells
        for cells in reversed(measured_rows('measurements.md', 'measured table'))
    }
    for words, key, unit in (
        ('Inverse dynamics of a UR5, called from Python', ('UR5', 'RNEA'), 'ns'),
        ('Simulation of a UR5', ('UR5', 'one thread'), 'ns a step'),
    ):
        (found,) = re.findall(rf'{words}: ([\d.]+) {unit}, ([\d.]+)x faster', text)
        assert float(found[0]) == pytest.approx(float(rows[key][2]), rel=0.05)
        assert float(found[1]) == pytest.approx(float(rows[key][4].split()[0]), rel=0.05)
    (factor,) = re.findall(r'ANYmal standing on four feet: ([\d.]+)x faster than MuJoCo', text)
    steps = [
        cells
        for cells in measured_rows('contact_benchmark.md', 'measured contact')
        if cells[0] == 'ANYmal stands on four feet with PD control' and f'{factor} x' in cells
    ]
    assert len(steps) == 1
