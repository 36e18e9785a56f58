# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The tutorial of HIL tests in CI, followed literally, and workflows that run scenarios."""

import os
import re
import shlex
import subprocess

import pytest
from support import outside
from support.page_commands import environment
from support.source_imports import ROOT
from support.tutorial import agree, Run, Save, steps
from support.waiting import CEILING
import yaml

NAME, FIRST = 'hil_in_ci', 'gravity_compensation'  # whose robot it uses
DOMAIN = 68


def saved(folder):
    """Save all files of the tutorial."""
    for name in (FIRST, NAME):
        for step in steps(name):
            if isinstance(step, Save):
                (folder / step.name).write_text(step.text)


def shell(text, folder):
    return subprocess.run(
        ['bash', '-eo', 'pipefail', '-c', text],
        cwd=folder,
        env=environment(folder, DOMAIN),
        capture_output=True,
        text=True,
        timeout=CEILING,
    )


@pytest.mark.ros
@pytest.mark.slow
def test_the_tutorial_works_as_documented(tmp_path):
    outside.load('rclpy')
    saved(tmp_path)
    runs = [step for step in steps(NAME) if isinstance(step, Run)]
    assert len(runs) == 5 and all(step.shows for step in runs)
    for step in runs:
        run = shell(step.command.text, tmp_path)
        assert run.returncode == (': FAIL' in step.shows), f'{step.command}\n{run.stderr}'
        missing = agree(step.shows, run.stdout)
        assert missing is None, f'{step.command}: not printed: {missing}\n{run.stdout}'
        page = re.search(r'^report: (\S+)$', run.stdout, re.MULTILINE)
        assert (tmp_path / page[1]).is_file()


def workflow_of_the_tutorial():
    [text] = [s.text for s in steps(NAME) if isinstance(s, Save) and s.name == 'hil.yml']
    return yaml.safe_load(text)


@pytest.mark.slow
def test_the_workflow_of_the_tutorial_runs_the_scenario_of_the_tutorial(tmp_path):
    workflow = workflow_of_the_tutorial()
    [job] = workflow['jobs'].values()
    assert workflow[True] == ['push', 'pull_request']  # PyYAML takes the key `on` for true
    install, *commands = [step['run'] for step in job['steps'] if 'run' in step]
    assert 'pip install' in install and len(commands) == 1
    saved(tmp_path)
    run = shell(commands[0], tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    [kept] = [step for step in job['steps'] if 'upload-artifact' in step.get('uses', '')]
    assert kept['if'] == 'always()'
    assert (tmp_path / kept['with']['path'] / 'report.html').is_file()


def test_the_workflow_of_the_package_runs_a_scenario_that_is_there_and_keeps_its_report():
    path = ROOT / '.github' / 'workflows' / 'hil.yml'
    [job] = yaml.safe_load(path.read_text(encoding='utf-8'))['jobs'].values()
    [words] = [
        shlex.split(step['run']) for step in job['steps'] if 'rbd_ros hil' in step.get('run', '')
    ]
    assert (ROOT / words[2]).is_file()
    [kept] = [step for step in job['steps'] if 'upload-artifact' in step.get('uses', '')]
    assert kept['with']['path'] == words[words.index('--report') + 1]
    # The how-tos of the bench show the same one.
    [shown] = [
        block
        for block in re.findall(r'```yaml\n(.*?)```', read('hil_how_to.md'), re.DOTALL)
        if 'runs-on' in block
    ]
    assert yaml.safe_load(shown)['jobs']['scenario']['steps'] == job['steps']


def read(page):
    return (ROOT / 'docs' / page).read_text(encoding='utf-8')


def test_steps_of_the_tutorial_are_those_of_a_shell():
    for step in steps(NAME):
        if isinstance(step, Run):
            check = subprocess.run(['bash', '-n', '-c', step.command.text], env=os.environ)
            assert check.returncode == 0
