# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files for other programs are consistent: workflows, pre-commit, container, displays.

Their readers (GitHub, pre-commit, Docker, RViz, Foxglove) are not available to tests, so it is
checked that they parse, and that named files exist.
"""

import json
import os
import re
import shlex
import subprocess

import pytest
from support.source_imports import ROOT
import yaml

from rbd_ros.nodes.common.node_interface import NodeInterface
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE as SIMULATOR

pytestmark = pytest.mark.linter

WORKFLOWS = sorted((ROOT / '.github' / 'workflows').glob('*.yml'))
DISTRIBUTIONS = {'humble', 'jazzy', 'kilted', 'lyrical', 'rolling'}
EVENTS = {'push', 'pull_request', 'schedule', 'workflow_dispatch'}
JOB_KEYS = {
    *('runs-on', 'container', 'timeout-minutes', 'steps', 'strategy', 'defaults', 'if', 'needs'),
    *('permissions', 'environment'),
}
STEP_KEYS = {'name', 'id', 'uses', 'run', 'with', 'if', 'env', 'shell'}
OF_BUILDING = {'install/setup.bash'}  # made by a workflow itself


def read(path):
    return yaml.safe_load(path.read_text(encoding='utf-8'))


def jobs(path):
    return read(path)['jobs']


# -- workflows ------------------------------------------------------------------------------------


def test_there_are_workflows_for_tests_distributions_site_container_and_a_scenario():
    assert {path.stem for path in WORKFLOWS} == {'ci', 'container', 'distributions', 'docs', 'hil'}


@pytest.mark.parametrize('path', WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_the_structure_that_github_reads(path):
    workflow = read(path)
    # YAML 1.1, which PyYAML reads, takes the key `on` for true.
    assert set(workflow) <= {'name', True, 'permissions', 'concurrency', 'jobs'}
    assert set(workflow[True]) <= EVENTS and {'push', 'pull_request'} <= set(workflow[True])
    assert workflow['permissions'] == {'contents': 'read'}
    for name, job in workflow['jobs'].items():
        assert set(job) <= JOB_KEYS, name
        assert job['runs-on'] == 'ubuntu-24.04' and job['steps']
        needs = job.get('needs', [])
        assert {needs} if isinstance(needs, str) else set(needs) <= set(workflow['jobs'])
        for step in job['steps']:
            assert set(step) <= STEP_KEYS, step
            assert ('run' in step) != ('uses' in step), step
            if 'uses' in step:
                assert re.fullmatch(r'[\w.-]+/[\w./-]+@v\d+', step['uses'])


@pytest.mark.parametrize('path', WORKFLOWS, ids=lambda path: path.stem)
def test_expressions_of_a_workflow_name_existing_values(path):
    text = path.read_text(encoding='utf-8')
    ids = {step.get('id') for job in jobs(path).values() for step in job['steps']}
    matrix = {
        key for job in jobs(path).values() for key in job.get('strategy', {}).get('matrix', {})
    }
    assert text.count('${{') == text.count('}}')
    for expression in re.findall(r'\$\{\{ ([^}]*) \}\}', text):
        context, _, rest = expression.partition('.')
        assert context in {'github', 'matrix', 'steps'}, expression
        if context == 'matrix':
            assert rest in matrix, expression
        if context == 'steps':
            assert rest.partition('.')[0] in ids, expression


@pytest.mark.parametrize('path', WORKFLOWS, ids=lambda path: path.stem)
def test_commands_of_a_workflow_parse_and_their_scripts_exist(path):
    for job in jobs(path).values():
        for step in job['steps']:
            command = re.sub(r'\$\{\{[^}]*\}\}', 'value', step.get('run', ':'))
            check = subprocess.run(['bash', '-n'], input=command, text=True, capture_output=True)
            assert check.returncode == 0, check.stderr
            for word in shlex.split(command.replace('\n', ' ; ')):
                if re.match(r'(scripts|\.ci|docker|install)/', word) and word not in OF_BUILDING:
                    assert os.access(ROOT / word, os.X_OK), word


@pytest.mark.parametrize('script', ['test', 'test_kilted', 'test_oldest'])
def test_tests_that_a_script_names_exist(script):
    text = (ROOT / 'scripts' / script).read_text(encoding='utf-8')
    named = re.findall(r'\b(test/\w[\w/]*(?:\.py)?)(?:::(\w*)(?:\{([\w,]+)\})?)?', text)
    assert named
    for path, start, ends in named:
        assert (ROOT / path).exists(), path
        for end in ends.split(',') if start else ():
            source = (ROOT / path).read_text(encoding='utf-8')
            assert f'def {start}{end}(' in source, f'{path}::{start}{end}'


def test_all_distributions_are_built_and_tested_by_colcon():
    [job] = jobs(ROOT / '.github' / 'workflows' / 'distributions.yml').values()
    assert set(job['strategy']['matrix']['distribution']) == DISTRIBUTIONS
    assert job['container'] == 'ros:${{ matrix.distribution }}'
    commands = '\n'.join(step.get('run', '') for step in job['steps'])
    order = ['apt-get update', 'rosdep update', 'rosdep install', 'colcon build', 'colcon test ']
    assert sorted(order, key=commands.index) == order
    assert 'colcon test-result' in commands


def test_the_same_is_run_as_on_any_machine_and_the_site_is_published_from_main_only():
    steps = jobs(ROOT / '.github' / 'workflows' / 'ci.yml')['all']['steps']
    assert steps[-1]['run'] == '.ci/run'
    site = jobs(ROOT / '.github' / 'workflows' / 'docs.yml')
    made = [step['run'].split()[1] for step in site['site']['steps'] if 'run' in step]
    assert [step['with']['path'] for step in site['site']['steps'] if 'with' in step] == made
    assert "github.ref == 'refs/heads/main'" in site['publish']['if']
    assert 'scripts/docs' in (ROOT / '.ci' / 'run').read_text(encoding='utf-8')


# -- pre-commit -----------------------------------------------------------------------------------


def pinned():
    """Return the versions of scripts/constraints.txt by name; those for every supported Python."""
    found = {}
    for line in (ROOT / 'scripts' / 'constraints.txt').read_text(encoding='utf-8').splitlines():
        match = re.match(r'([\w.-]+)==([\w.]+)', line)
        if match:
            found.setdefault(match[1], set()).add(match[2])
    return found


def test_hooks_have_the_versions_of_the_constraints():
    repositories = {
        each['repo'].rpartition('/')[2]: each
        for each in read(ROOT / '.pre-commit-config.yaml')['repos']
    }
    versions = pinned()
    assert {repositories['ruff-pre-commit']['rev'].removeprefix('v')} == versions['ruff']
    assert {repositories['mirrors-mypy']['rev'].removeprefix('v')} == versions['mypy']
    [mypy] = repositories['mirrors-mypy']['hooks']
    for requirement in mypy['additional_dependencies']:
        name, _, version = requirement.partition('==')
        assert version in versions[name], requirement
    assert mypy['args'] == [] and mypy['pass_filenames'] is False  # pyproject.toml says the rest


def test_hooks_are_those_of_the_linters_and_of_xml_and_yaml():
    ids = {
        hook['id']
        for each in read(ROOT / '.pre-commit-config.yaml')['repos']
        for hook in each['hooks']
    }
    assert {'ruff-check', 'ruff-format', 'mypy', 'check-xml', 'check-yaml', 'check-json'} <= ids


def test_versions_of_the_site_are_exact():
    lines = (ROOT / 'docs' / 'requirements.txt').read_text(encoding='utf-8').splitlines()
    required = [line for line in lines if line and not line.startswith('#')]
    assert all(re.match(r'[\w.-]+==[\w.]+( ; .+)?$', line) for line in required)
    names = {line.partition('==')[0] for line in required}
    assert {'sphinx', 'myst-parser', 'furo', 'sphinx-copybutton'} <= names


def test_rosdoc2_finds_the_documentation():
    _, settings = yaml.safe_load_all((ROOT / 'rosdoc2.yaml').read_text(encoding='utf-8'))
    [builder] = settings['builders']
    assert (ROOT / builder['sphinx']['sphinx_sourcedir'] / 'conf.py').is_file()
    manifest = (ROOT / 'package.xml').read_text(encoding='utf-8')
    assert '<rosdoc2>rosdoc2.yaml</rosdoc2>' in manifest


# -- container ------------------------------------------------------------------------------------

KEYWORDS = {
    *('ARG', 'FROM', 'SHELL', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'VOLUME', 'ENTRYPOINT', 'CMD'),
}


def instructions():
    """Return the keyword and rest of each instruction of the Dockerfile."""
    lines = (ROOT / 'Dockerfile').read_text(encoding='utf-8').splitlines()
    text = '\n'.join(line for line in lines if not line.startswith('#'))
    whole = text.replace('\\\n', ' ').splitlines()
    return [tuple(line.split(None, 1)) for line in whole if line.strip()]


def test_the_container_is_made_of_known_instructions_from_a_distribution_of_choice():
    found = instructions()
    assert {keyword for keyword, _ in found} <= KEYWORDS
    assert found[:2] == [('ARG', 'ROS_DISTRO=jazzy'), ('FROM', 'ros:${ROS_DISTRO}')]


def test_files_copied_by_the_container_exist_and_are_not_ignored():
    ignored = (ROOT / '.dockerignore').read_text(encoding='utf-8').splitlines()
    for source, _ in (rest.split() for keyword, rest in instructions() if keyword == 'COPY'):
        assert (ROOT / source).exists(), source
        assert source.partition('/')[0] not in ignored
    assert not {'docs', 'test', 'launch', 'config', 'urdf', 'rviz', 'rbd_ros'} & {*ignored}


def test_commands_of_the_container_parse():
    for keyword, rest in instructions():
        if keyword == 'RUN':
            check = subprocess.run(['bash', '-n'], input=rest, text=True, capture_output=True)
            assert check.returncode == 0, check.stderr
        if keyword in ('SHELL', 'CMD', 'ENTRYPOINT'):
            assert all(isinstance(word, str) for word in json.loads(rest))


def test_the_container_builds_by_colcon_and_runs_the_simulator():
    found = dict(instructions())
    assert 'colcon build' in found['RUN']  # the last of them
    *command, file = json.loads(found['CMD'])
    assert command == ['ros2', 'launch', 'rbd_ros'] and (ROOT / 'launch' / file).is_file()
    assert found['ENTRYPOINT'] == '["/entrypoint"]'
    assert os.access(ROOT / 'docker' / 'entrypoint', os.X_OK)
    cache = (ROOT / 'rbd_ros' / 'compiler' / 'cache.py').read_text(encoding='utf-8')
    name, _, folder = found['ENV'].partition('=')
    assert f"'{name}'" in cache and found['VOLUME'] == folder


def test_the_entrypoint_runs_the_command_in_the_workspace_itself(tmp_path):
    text = (ROOT / 'docker' / 'entrypoint').read_text(encoding='utf-8')
    (tmp_path / 'setup.bash').write_text('export SOURCED=yes\n')
    script = tmp_path / 'entrypoint'
    script.write_text(text.replace('/ws/install', str(tmp_path)))
    code = 'echo $SOURCED $PPID "$1"; exit 3'
    run = subprocess.run(
        ['bash', script, 'bash', '-c', code, '-', 'a b'], capture_output=True, text=True
    )
    # The command takes the place of the entry point, so that signals reach it.
    assert (run.stdout.split(None, 1)[0], run.returncode) == ('yes', 3)
    assert run.stdout.split(None, 2)[1:] == [str(os.getpid()), 'a b\n']


# -- displays -------------------------------------------------------------------------------------


def interfaces():
    from rbd_ros.nodes.gravity_compensation import INTERFACE as GRAVITY
    from rbd_ros.nodes.inverse_dynamics import INTERFACE as INVERSE

    return [SIMULATOR, GRAVITY, INVERSE]


@pytest.fixture(scope='module')
def topics():
    """Return the topics that the nodes publish, without a namespace, by type."""
    from support import outside

    outside.load('rclpy')
    found = {'robot_description': ('std_msgs/msg/String', True)}
    for interface in interfaces():
        assert isinstance(interface, NodeInterface)
        for topic in interface.topics:
            if topic.direction == 'out':
                name = topic.name.replace('~', interface.name).lstrip('/')
                found[name] = (topic.kind, topic.transient_local)
    return found


def test_rviz_shows_topics_that_nodes_publish(topics):
    displays = read(ROOT / 'rviz' / 'robot.rviz')['Visualization Manager']['Displays']
    shown = {}
    for display in displays:
        topic = display.get('Topic') or display.get('Description Topic')
        if topic:
            kind, keeps = topics[topic['Value']]
            assert (topic['Durability Policy'] == 'Transient Local') == keeps, display['Name']
            assert topic['Reliability Policy'] == 'Reliable'
            shown[topic['Value']] = kind, display['Class'].rpartition('/')[2]
    markers = {name for name, (kind, _) in topics.items() if kind.endswith('MarkerArray')}
    assert set(shown) == markers | {'robot_description'}
    assert {shown[name][1] for name in markers} == {'MarkerArray'}
    names = [display['Name'] for display in displays]
    assert len(set(names)) == len(names)
    assert {'RobotModel', 'TF'} <= {display['Class'].rpartition('/')[2] for display in displays}


def test_foxglove_shows_topics_that_nodes_publish(topics):
    layout = json.loads((ROOT / 'foxglove' / 'rbd_ros.json').read_text(encoding='utf-8'))
    panels = layout['configById']
    [scene] = [panel for name, panel in panels.items() if name.startswith('3D!')]
    markers = {name for name, (kind, _) in topics.items() if kind.endswith('MarkerArray')}
    assert set(scene['topics']) == {f'/{name}' for name in markers}
    [robot] = [each for each in scene['layers'].values() if each['layerId'] == 'foxglove.Urdf']
    assert robot['topic'] == '/robot_description'
    for name, panel in panels.items():
        if name.startswith('Plot!'):
            for path in panel['paths']:
                topic, _, field = path['value'][1:].partition('.')
                assert topics[topic][0] == 'sensor_msgs/msg/JointState', path
                assert re.fullmatch(r'(position|velocity|effort)\[\d\]', field), path
        if name.startswith('Diagnostic'):
            assert panel['topicToRender'][1:] in topics


def test_every_panel_of_foxglove_is_in_its_layout():
    layout = json.loads((ROOT / 'foxglove' / 'rbd_ros.json').read_text(encoding='utf-8'))

    def leaves(node):
        if isinstance(node, str):
            return [node]
        assert node['direction'] in ('row', 'column')
        return leaves(node['first']) + leaves(node['second'])

    placed = leaves(layout['layout'])
    assert sorted(placed) == sorted(layout['configById'])


def test_no_two_test_files_have_one_name():
    """Modules of tests are imported by their names alone, so the second one is rejected."""
    names = [path.name for path in (ROOT / 'test').rglob('test_*.py')]
    assert sorted(set(names)) == sorted(names)
