# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""package.xml, setup.py and constraints agree, and all shipped files are installed."""

import configparser
from importlib import import_module
import os
from pathlib import Path
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from support import outside
from support.fresh_python import python_path
from support.source_imports import imports, module_name, PACKAGE, package_sources, ROOT

from rbd_ros.programs import COMMANDS, NODES

setuptools = pytest.importorskip('setuptools')

# Import name -> (name for pip, key for rosdep). What the package imports must be listed here,
# and so be declared in setup.py and package.xml. '' where the other side brings it along.
LIBRARIES = {
    'argcomplete': ('argcomplete', 'python3-argcomplete'),
    'llvmlite': ('llvmlite', 'python3-numba'),  # which brings it along
    'matplotlib': ('matplotlib', 'python3-matplotlib'),
    'numpy': ('numpy', 'python3-numpy'),
    'scipy': ('scipy', 'python3-scipy'),
    'urdf_parser_py': ('urdf-parser-py', 'urdfdom_py'),
    'yaml': ('pyyaml', 'python3-yaml'),
}
ROS_LIBRARIES = {
    'builtin_interfaces': ('', 'builtin_interfaces'),  # with every message package
    'diagnostic_msgs': ('ros-DISTRO-diagnostic-msgs', 'diagnostic_msgs'),
    'geometry_msgs': ('ros-DISTRO-geometry-msgs', 'geometry_msgs'),
    'lifecycle_msgs': ('', 'lifecycle_msgs'),  # with rclpy
    'nav_msgs': ('ros-DISTRO-nav-msgs', 'nav_msgs'),
    'rcl_interfaces': ('', 'rcl_interfaces'),  # with rclpy
    'rclpy': ('ros-DISTRO-rclpy', 'rclpy'),
    'rosgraph_msgs': ('', 'rosgraph_msgs'),  # with rclpy
    'sensor_msgs': ('ros-DISTRO-sensor-msgs', 'sensor_msgs'),
    'std_msgs': ('ros-DISTRO-std-msgs', 'std_msgs'),
    'std_srvs': ('ros-DISTRO-std-srvs', 'std_srvs'),
    'trajectory_msgs': ('ros-DISTRO-trajectory-msgs', 'trajectory_msgs'),
    'visualization_msgs': ('ros-DISTRO-visualization-msgs', 'visualization_msgs'),
    'xacro': ('xacro', 'xacro'),  # used without ROS as well, when present
}
# Extra of setup.py -> the distribution of which it takes the wheels.
WHEELS = {'ros': 'jazzy', 'ros-kilted': 'kilted'}
# Used when present; the package works without.
OPTIONAL = {
    'coacd',
    'control_msgs',
    'distributed',
    'fmpy',
    'gymnasium',
    'imageio_ffmpeg',
    'lz4',  # with mcap
    'mcap',
    'numba',
    'pandas',
    'pinocchio',
    'pyarrow',
    'simulation_interfaces',
    'trimesh',
    'zstandard',  # with mcap
}
LAUNCH_LIBRARIES = {'ament_index_python', 'launch', 'launch_ros'}


@pytest.fixture(scope='module')
def setup_script():
    """Return the names that setup.py defines, with `arguments` of setuptools."""
    taken = {}
    original, setuptools.setup = setuptools.setup, lambda **arguments: taken.update(arguments)
    here = os.getcwd()
    os.chdir(ROOT)
    try:
        source = (ROOT / 'setup.py').read_text(encoding='utf-8')
        names = {'__file__': str(ROOT / 'setup.py'), 'arguments': taken}
        exec(compile(source, str(ROOT / 'setup.py'), 'exec'), names)
    finally:
        os.chdir(here)
        setuptools.setup = original
    return names


@pytest.fixture(scope='module')
def setup_arguments(setup_script):
    """Return what setup.py hands to setuptools."""
    return setup_script['arguments']


@pytest.fixture(scope='module')
def console_scripts(setup_arguments):
    """Command -> module:function."""
    return dict(
        re.split(r'\s*=\s*', line) for line in setup_arguments['entry_points']['console_scripts']
    )


@pytest.fixture(scope='module')
def manifest():
    """Return the root element of package.xml."""
    return ElementTree.parse(ROOT / 'package.xml').getroot()


def pip_names(requirements):
    return {re.match(r'[\w.-]+', requirement)[0].lower() for requirement in requirements}


def imported_libraries():
    names = set()
    for path in package_sources():
        source = path.read_text(encoding='utf-8')
        for _, name in imports(source, module_name(path), path.stem == '__init__'):
            names.add(name.partition('.')[0])
    return names - set(sys.stdlib_module_names) - {PACKAGE, '?', '__future__'}


def test_setup_and_manifest_describe_the_same_package(setup_arguments, manifest):
    assert manifest.get('format') == '3'
    for field in ('name', 'version', 'description', 'license', 'maintainer'):
        assert setup_arguments[field] == manifest.findtext(field), field
    assert setup_arguments['maintainer_email'] == manifest.find('maintainer').get('email')
    assert manifest.findtext('export/build_type') == 'ament_python'


def test_version_of_the_module_is_that_of_the_package(setup_arguments):
    assert import_module(PACKAGE).__version__ == setup_arguments['version']
    changelog = (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8')
    newest = re.search(r'^(Forthcoming|\d+\.\d+\.\d+.*)$', changelog, re.MULTILINE)
    assert newest[0].startswith(('Forthcoming', setup_arguments['version']))


def test_license_is_apache(manifest):
    assert manifest.findtext('license') == 'Apache-2.0'
    text = (ROOT / manifest.find('license').get('file')).read_text(encoding='utf-8')
    assert 'Apache License' in text and 'Version 2.0' in text


def test_every_imported_library_is_known():
    known = set(LIBRARIES) | set(ROS_LIBRARIES) | OPTIONAL | LAUNCH_LIBRARIES
    assert imported_libraries() <= known


def test_every_library_is_declared_on_both_sides(setup_arguments, manifest):
    keys = {element.text for element in manifest.findall('exec_depend')}
    extras = setup_arguments['extras_require']
    assert pip_names(setup_arguments['install_requires']) == {
        pip for pip, _ in LIBRARIES.values() if pip
    }
    for extra, distribution in WHEELS.items():
        assert pip_names(extras[extra]) == {
            pip.replace('DISTRO', distribution) for pip, _ in ROS_LIBRARIES.values() if pip
        }
    rosdep = {key for _, key in [*LIBRARIES.values(), *ROS_LIBRARIES.values()] if key}
    assert keys - LAUNCH_LIBRARIES == rosdep


def test_launch_files_use_declared_libraries(manifest):
    keys = {element.text for element in manifest.findall('exec_depend')}
    used = set()
    for path in sorted((ROOT / 'launch').glob('*.py')):
        for _, name in imports(path.read_text(encoding='utf-8'), path.stem):
            used.add(name.partition('.')[0])
    used -= set(sys.stdlib_module_names) | {PACKAGE, '__future__'} | set(LIBRARIES)
    assert used <= keys, used - keys


def test_constraints_name_every_requirement_within_its_range(setup_arguments):
    requirements = pytest.importorskip('packaging.requirements')
    extras = setup_arguments['extras_require']
    common = [*setup_arguments['install_requires'], *extras['test']]
    for extra, distribution in WHEELS.items():
        pinned = {}
        for name in ('constraints.txt', f'constraints_{distribution}.txt'):
            for line in (ROOT / 'scripts' / name).read_text(encoding='utf-8').splitlines():
                if line and not line.startswith('#'):
                    pin = requirements.Requirement(line)
                    pinned.setdefault(pin.name.lower(), []).append(next(iter(pin.specifier)))
        for text in [*common, *extras[extra]]:
            required = requirements.Requirement(text)
            assert required.name in pinned, f'{required.name}: run scripts/update_constraints'
            assert all(required.specifier.contains(x.version) for x in pinned[required.name]), text
        others = {name for name in pinned if re.match('ros-(jazzy|kilted)-', name)}
        assert {name.split('-')[1] for name in others} == {distribution}


@pytest.mark.parametrize(
    'variables, found',
    [
        ({}, 'jazzy wheels ros .venv'),
        ({'RBD_ROS_DISTRO': 'kilted'}, 'kilted wheels ros-kilted .venv-wheels-kilted'),
        ({'RBD_ROS_DISTRO': 'kilted', 'RBD_ROS_VENV': '/x/y'}, 'kilted wheels ros-kilted y'),
        ({'RBD_ROS_DISTRO': 'jazzy', 'ROS_DISTRO': 'kilted'}, 'jazzy wheels ros .venv'),
        ({'RBD_ROS_DISTRO': 'lyrical'}, ''),
    ],
)
def test_one_variable_names_the_distribution_of_the_wheels(variables, found):
    script = (
        '. scripts/setup_environment.sh; '
        '_is_up_to_date() { return 0; }; uname() { echo x86_64; }; '
        '_enter_environment() { echo $_distribution $_ros $_ros_extra ${_venv##*/}; }; '
        'prepare_environment run'
    )
    kept = {name: value for name, value in os.environ.items() if 'ROS' not in name}
    run = subprocess.run(
        ['bash', '-euc', script], env=kept | variables, cwd=ROOT, capture_output=True, text=True
    )
    assert run.stdout.strip() == found
    assert ("'jazzy' or 'kilted'" in run.stderr) == (not found)


def test_every_shipped_file_is_installed(setup_arguments):
    installed = {file for _, files in setup_arguments['data_files'] for file in files}
    for folder in ('launch', 'config', 'urdf', 'rviz', 'foxglove'):
        for path in (ROOT / folder).rglob('*'):
            if path.is_file() and path.suffix != '.pyc':
                assert str(path.relative_to(ROOT)) in installed
    assert {'package.xml', f'resource/{PACKAGE}'} <= installed
    for target, files in setup_arguments['data_files']:
        assert not Path(target).is_absolute()
        assert all((ROOT / file).is_file() for file in files)


def test_every_folder_with_sources_is_a_package(setup_arguments):
    folders = {path.parent for path in package_sources()}
    assert {module_name(folder / '__init__.py') for folder in folders} == set(
        setup_arguments['packages']
    )
    assert 'py.typed' in setup_arguments['package_data'][PACKAGE]
    assert (ROOT / PACKAGE / 'py.typed').is_file()
    assert setup_arguments['package_data'][f'{PACKAGE}.viewer'] == ['page/*']
    assert setup_arguments['package_data'][f'{PACKAGE}.hil.report'] == ['*.css', '*.js']


def test_entry_points_are_the_command_and_every_node(console_scripts):
    assert {'rbd_ros', 'simulator', 'gravity_compensation', 'inverse_dynamics'} <= set(
        console_scripts
    )
    for command, target in console_scripts.items():
        assert target == f'rbd_ros.programs:{command}'


def test_entry_points_lead_to_functions(setup_script, console_scripts):
    for command in console_scripts:
        place = ROOT.joinpath(*COMMANDS.get(command, f'{NODES}{command}').split('.'))
        path = place / '__init__.py' if place.is_dir() else place.with_suffix('.py')
        assert setup_script['has_main'](path), command


def test_nodes_are_modules_with_a_main_and_packages_that_can_be_run(setup_script, tmp_path):
    for name, text in {
        'defines.py': 'def main():\n    pass\n',
        'imports.py': 'from .defines import main\n',
        'renames.py': 'from .defines import run as main\n',
        'helper.py': 'class Helper:\n    def main(self):\n        pass\n',
        'renames_away.py': 'from .defines import main as run\n',
        '_private.py': 'def main():\n    pass\n',
        '__init__.py': 'def main():\n    pass\n',
        'runs/__init__.py': 'from .node import main\n',
        'runs/__main__.py': 'from . import main\nmain()\n',
        'shared/__init__.py': 'from ..defines import main\n',
        '_hidden/__main__.py': '',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert setup_script['node_names'](tmp_path) == ['defines', 'imports', 'renames', 'runs']


@pytest.mark.ros
def test_nodes_are_importable(console_scripts):
    outside.load('rclpy')
    for target in console_scripts.values():
        module, _, function = target.partition(':')
        assert callable(getattr(import_module(module), function))


def test_commands_land_where_ros2_run_looks():
    settings = configparser.ConfigParser()
    settings.read(ROOT / 'setup.cfg', encoding='utf-8')
    # Just these keys: spelled with dashes, or in sections of old, setuptools warns of them.
    assert {section: dict(settings[section]) for section in settings.sections()} == {
        'develop': {'script_dir': f'$base/lib/{PACKAGE}'},
        'install': {'install_scripts': f'$base/lib/{PACKAGE}'},
    }


def test_import_loads_nothing_heavy():
    code = (
        "import sys, rbd_ros; print(sorted({'numpy', 'scipy', 'numba', 'llvmlite', 'rclpy', "
        "'matplotlib'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, '-c', code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, 'PYTHONPATH': python_path()},
    )
    assert run.stdout.strip() == '[]'


def test_public_names_are_loaded_on_first_use():
    package = import_module(PACKAGE)
    assert set(package.__all__) == {'ModelError', 'Robot', 'Simulator', '__version__'}
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert name in dir(package)
    with pytest.raises(AttributeError, match='no_such_name'):
        package.no_such_name


def test_scripts_can_be_run():
    for script in ('demo', 'docs', 'test', 'test_kilted', 'test_oldest'):
        assert os.access(ROOT / 'scripts' / script, os.X_OK), script
    assert os.access(ROOT / '.ci' / 'run', os.X_OK)


def test_plugins_of_a_sourced_ros_leave_the_suite_alone(tmp_path):
    """Those of launch_testing 3.4 (Jazzy) have hooks that this pytest rejects."""
    (tmp_path / 'old_hooks.py').write_text(
        'import pytest\n\n@pytest.hookimpl\n'
        'def pytest_pycollect_makemodule(path, parent):\n    pass\n'
    )
    for name in ('launch_testing', 'launch_ros'):
        about = tmp_path / f'{name}-1.0.dist-info'
        about.mkdir()
        (about / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n')
        (about / 'entry_points.txt').write_text(f'[pytest11]\n{name} = old_hooks\n')
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '--collect-only', 'test/test_plot_names.py'],
        cwd=ROOT,
        env={**os.environ, 'PYTHONPATH': python_path(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
