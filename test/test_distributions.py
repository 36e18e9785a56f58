# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Source distribution, wheel and colcon's installation are complete, and built silently."""

import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from support.source_imports import PACKAGE, ROOT

from rbd_ros import __version__

setuptools = pytest.importorskip('setuptools')

# Folders that building, testing and running leave in a source tree.
LEFT_BEHIND = re.compile(
    r'(build|dist|install|log|demo|output|(.*/)?(__pycache__|\..*_cache|\.hypothesis|\.venv[^/]*'
    r'|\.git|[^/]*\.egg-info))/'
)


def repository_files():
    """Return the name the files under version control.

    Without one (in a source distribution) all files.
    """
    if (ROOT / '.git').exists() and shutil.which('git'):
        listed = subprocess.run(
            ['git', 'ls-files', '-z'], cwd=ROOT, capture_output=True, text=True
        )
        names = listed.stdout.split('\0')
        if listed.returncode == 0:
            return {name for name in names if name and (ROOT / name).exists()}
    return {name for name in files_below(ROOT) if not LEFT_BEHIND.match(name)}


def files_below(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob('*') if path.is_file()}


def run_setup(folder, *arguments):
    run = subprocess.run(
        [sys.executable, 'setup.py', '-q', *arguments], cwd=folder, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.fixture(scope='module')
def tree(tmp_path_factory):
    """Return a copy of the repository in a path with a blank.

    Free of what building leaves behind.
    """
    copy = tmp_path_factory.mktemp('source tree') / PACKAGE
    for name in repository_files():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope='module')
def unpacked_source_distribution(tree, tmp_path_factory):
    target = tmp_path_factory.mktemp('unpacked')
    shipped = files_below(tree)
    run_setup(tree, 'sdist', '--dist-dir', str(target))
    (archive,) = target.glob('*.tar.gz')
    with tarfile.open(archive) as stream:
        if hasattr(tarfile, 'data_filter'):  # later than Debian 12's Python, required by new ones
            stream.extraction_filter = tarfile.data_filter
        stream.extractall(target)
    (folder,) = (path for path in target.iterdir() if path.is_dir())
    return folder, shipped


def test_source_distribution_is_complete(unpacked_source_distribution):
    folder, shipped = unpacked_source_distribution
    assert shipped <= files_below(folder), sorted(shipped - files_below(folder))


def test_wheel_holds_the_package_and_its_data(unpacked_source_distribution, tmp_path):
    pytest.importorskip('setuptools.command.bdist_wheel')
    folder, shipped = unpacked_source_distribution
    run_setup(folder, 'bdist_wheel', '--dist-dir', str(tmp_path))
    (archive,) = tmp_path.glob('*-none-any.whl')
    with zipfile.ZipFile(archive) as stream:
        names = set(stream.namelist())
        (metadata_folder,) = {name.split('/')[0] for name in names if '.dist-info/' in name}
        scripts = stream.read(f'{metadata_folder}/entry_points.txt').decode()
    modules = {name for name in shipped if name.startswith(f'{PACKAGE}/')}
    assert modules == {name for name in names if name.startswith(f'{PACKAGE}/')}
    share = f'{metadata_folder.removesuffix(".dist-info")}.data/data/share'
    assert f'{share}/ament_index/resource_index/packages/{PACKAGE}' in names
    for name in shipped:
        if name.startswith(('launch/', 'config/', 'urdf/', 'rviz/', 'foxglove/')):
            assert f'{share}/{PACKAGE}/{name}' in names
    assert 'rbd_ros = rbd_ros.programs:rbd_ros' in scripts
    # The installer makes the commands; a file of that name would come in its way.
    assert not [name for name in names if '/bin/' in name or '/lib/' in name]


def quiet_environment(**variables):
    """Environment without the settings of Python that make setuptools talk or fall silent."""
    unwanted = ('PYTHONDONTWRITEBYTECODE', 'PYTHONWARNINGS', 'PYTHONPATH', 'PYTHONUNBUFFERED')
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, **variables}


def install_as_colcon_does(tree, prefix, build):
    """Run `setup.py install` with colcon's arguments (colcon_core.task.python.build)."""
    library = prefix / 'lib' / 'python' / 'site-packages'
    build.mkdir()
    library.mkdir(parents=True)
    run = subprocess.run(
        [
            sys.executable,
            'setup.py',
            'egg_info',
            '--egg-base',
            os.path.relpath(build, tree),
            'build',
            '--build-base',
            str(build / 'build'),
            'install',
            '--record',
            str(build / 'install.log'),
            '--prefix',
            str(prefix),
            '--install-lib',
            str(library),
            '--install-data',
            str(prefix),
            '--install-scripts',
            str(prefix / 'lib' / PACKAGE),
            '--single-version-externally-managed',
            'install_data',
        ],
        cwd=tree,
        capture_output=True,
        text=True,
        env=quiet_environment(PYTHONPATH=str(library)),
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return library, run.stderr


def test_installing_as_colcon_does_is_silent_and_gives_the_command(tree, tmp_path):
    prefix = tmp_path / 'a prefix'
    library, said = install_as_colcon_does(tree, prefix, tmp_path / 'build')
    assert said == ''
    nodes = {path.name for path in (prefix / 'lib' / PACKAGE).iterdir()}
    assert {PACKAGE, 'simulator', 'gravity_compensation', 'inverse_dynamics'} <= nodes
    assert [path.name for path in (prefix / 'bin').iterdir()] == [PACKAGE]
    # What the package needs may be on the PYTHONPATH, as in a workspace.
    path = f'{library}:{os.environ.get("PYTHONPATH", "")}'
    run = subprocess.run(
        [PACKAGE, 'info', str(prefix / 'share' / PACKAGE / 'urdf' / 'six_axis_arm.urdf')],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=quiet_environment(PYTHONPATH=path, PATH=f'{prefix}/bin:{os.environ["PATH"]}'),
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith('six_axis_arm: 6 moving bodies')


@pytest.mark.slow
@pytest.mark.parametrize('options', [[], ['--symlink-install'], ['--merge-install']])
def test_colcon_build_is_silent_and_gives_the_command(tree, tmp_path, options):
    colcon = shutil.which('colcon')
    if colcon is None:
        pytest.skip('colcon is not installed')
    environment = quiet_environment(COLCON_HOME=str(tmp_path))
    run = subprocess.run(
        [colcon, '--log-base', 'log', 'build', '--base-paths', str(tree), *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ''
    code = '. install/setup.bash && cd / && command -v rbd_ros && rbd_ros --version'
    run = subprocess.run(
        ['bash', '-c', code], cwd=tmp_path, capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    command, version = run.stdout.splitlines()
    assert Path(command).is_relative_to(tmp_path / 'install')
    assert version == f'{PACKAGE} {__version__}'
    prefix = Path(command).parents[1]
    assert (prefix / 'lib' / PACKAGE / 'simulator').is_file()
    assert (prefix / 'share' / PACKAGE / 'package.xml').is_file()


def test_shared_files_are_found_next_to_an_installed_package(tmp_path):
    site = tmp_path / 'lib' / 'python3' / 'site-packages'
    shutil.copytree(ROOT / PACKAGE, site / PACKAGE, ignore=shutil.ignore_patterns('__pycache__'))
    share = tmp_path / 'share' / PACKAGE
    share.mkdir(parents=True)
    code = 'from rbd_ros.lookup.resources import share_directory; print(share_directory())'

    def ask():
        return subprocess.run(
            [sys.executable, '-c', code],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={'PYTHONPATH': str(site)},
        )

    assert 'installed without its data files' in ask().stderr
    shutil.copy(ROOT / 'package.xml', share)
    assert Path(ask().stdout.strip()) == share


@pytest.mark.parametrize('spared', [False, True])
def test_an_environment_is_made_from_a_checkout_that_cannot_be_written(tree, tmp_path, spared):
    """The first request of pip to setuptools writes beside the sources unless it is configured."""
    shutil.copytree(tree, tmp_path / 'tree', ignore=shutil.ignore_patterns('*.egg-info'))
    ask = 'from setuptools import build_meta; build_meta.get_requires_for_build_editable()'
    script = (
        '. scripts/setup_environment.sh && _venv="$1" && if [ -n "$2" ]; then _spare_sources; fi'
    )
    command = ['bash', '-euc', f'{script}; "$3" -c "$4"', 'set-up', str(tmp_path / 'venv')]
    run = subprocess.run(
        [*command, 'spared' * spared, sys.executable, ask],
        cwd=tmp_path / 'tree', capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    kept = tmp_path / ('venv/.rbd_ros_build' if spared else 'tree')
    assert [path.parent for path in tmp_path.rglob('*.egg-info')] == [kept]
