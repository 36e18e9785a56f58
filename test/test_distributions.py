"""Source distribution and wheel hold what they must: all of the repository, all of the package."""

from pathlib import Path
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from support.source_imports import PACKAGE, ROOT

setuptools = pytest.importorskip('setuptools')

LEFT_BEHIND = shutil.ignore_patterns(
    '.git', '.venv*', '__pycache__', '*.egg-info', '.pytest_cache', '.ruff_cache', '.hypothesis')


def repository_files():
    """Name the files under version control; without one (in a source distribution) all files."""
    if (ROOT / '.git').exists() and shutil.which('git'):
        listed = subprocess.run(
            ['git', 'ls-files', '-z'], cwd=ROOT, capture_output=True, text=True)
        names = listed.stdout.split('\0')
        if listed.returncode == 0:
            return {name for name in names if name and (ROOT / name).exists()}
    return files_below(ROOT)


def files_below(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob('*') if path.is_file()}


def run_setup(folder, *arguments):
    run = subprocess.run([sys.executable, 'setup.py', '-q', *arguments], cwd=folder,
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.fixture(scope='module')
def tree(tmp_path_factory):
    """A copy of the repository in a path with a blank, free of what building leaves behind."""
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
    archive, = target.glob('*.tar.gz')
    with tarfile.open(archive) as stream:
        stream.extractall(target)
    folder, = (path for path in target.iterdir() if path.is_dir())
    return folder, shipped


def test_source_distribution_is_complete(unpacked_source_distribution):
    folder, shipped = unpacked_source_distribution
    assert shipped <= files_below(folder), sorted(shipped - files_below(folder))


def test_wheel_holds_the_package_and_its_data(unpacked_source_distribution, tmp_path):
    pytest.importorskip('setuptools.command.bdist_wheel')
    folder, shipped = unpacked_source_distribution
    run_setup(folder, 'bdist_wheel', '--dist-dir', str(tmp_path))
    archive, = tmp_path.glob('*-none-any.whl')
    with zipfile.ZipFile(archive) as stream:
        names = set(stream.namelist())
        metadata_folder, = {name.split('/')[0] for name in names if '.dist-info/' in name}
        scripts = stream.read(f'{metadata_folder}/entry_points.txt').decode()
    modules = {name for name in shipped if name.startswith(f'{PACKAGE}/')}
    assert modules == {name for name in names if name.startswith(f'{PACKAGE}/')}
    share = f'{metadata_folder.removesuffix(".dist-info")}.data/data/share'
    assert f'{share}/ament_index/resource_index/packages/{PACKAGE}' in names
    for name in shipped:
        if name.startswith(('launch/', 'config/', 'urdf/', 'rviz/')):
            assert f'{share}/{PACKAGE}/{name}' in names
    assert 'rbd_ros = rbd_ros.cli.main:main' in scripts


def test_shared_files_are_found_beside_an_installed_package(tmp_path):
    site = tmp_path / 'lib' / 'python3' / 'site-packages'
    shutil.copytree(ROOT / PACKAGE, site / PACKAGE, ignore=LEFT_BEHIND)
    share = tmp_path / 'share' / PACKAGE
    share.mkdir(parents=True)
    code = 'from rbd_ros.resources import share_directory; print(share_directory())'

    def ask():
        return subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                              cwd=tmp_path, env={'PYTHONPATH': str(site)})

    assert 'installed without its data files' in ask().stderr
    shutil.copy(ROOT / 'package.xml', share)
    assert Path(ask().stdout.strip()) == share
