# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
import ast
from pathlib import Path
import sys
import warnings

from setuptools import find_packages, setup

PACKAGE_NAME = 'rbd_ros'
VERSION = '0.1.0'
HERE = Path(__file__).resolve().parent

# colcon calls `setup.py install`, and that of Debian 12 shows the warnings as errors.
for command in ('setup.py install is', 'easy_install command is'):
    warnings.filterwarnings('ignore', f'{command} deprecated')


def node_names(folder: Path = HERE / PACKAGE_NAME / 'nodes') -> list[str]:
    """Return the nodes: modules of a folder with a `main`, and its packages with a __main__.py."""
    modules = {path.stem for path in folder.glob('[!_]*.py') if has_main(path)}
    packages = {path.parent.name for path in folder.glob('[!_]*/__main__.py')}
    return sorted(modules | packages)


def has_main(path: Path) -> bool:
    """Return whether a module's text defines or imports `main`; its imports may be missing."""
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(node, ast.FunctionDef) and node.name == 'main':
            return True
        if isinstance(node, ast.ImportFrom) and any(
            (alias.asname or alias.name) == 'main' for alias in node.names
        ):
            return True
    return False


def is_wheel(arguments: list[str]) -> bool:
    """Return whether these arguments of setup.py build a wheel, as pip does."""
    return not {'bdist_wheel', 'editable_wheel'}.isdisjoint(arguments)


def installed_data() -> list[tuple[str, list[str]]]:
    """Return the files below share/: marker, manifest, launch, config, urdf, displays.

    The command for the PATH of a colcon workspace is among them.
    """
    share = f'share/{PACKAGE_NAME}'
    data = {
        'share/ament_index/resource_index/packages': [f'resource/{PACKAGE_NAME}'],
        share: ['package.xml'],
    }
    # setup.cfg puts console scripts where `ros2 run` looks, and the PATH does not lead there.
    # A wheel goes without: pip puts the console script of this very name into bin/.
    if not is_wheel(sys.argv):
        data['bin'] = [f'resource/bin/{PACKAGE_NAME}']
    for folder in ('launch', 'config', 'urdf', 'rviz', 'foxglove'):
        for path in sorted((HERE / folder).rglob('*')):
            if path.is_file() and '__pycache__' not in path.parts:
                relative = path.relative_to(HERE)
                data.setdefault(f'{share}/{relative.parent}', []).append(str(relative))
    return list(data.items())


def packages_of_ros(distribution: str) -> list[str]:
    """Return the wheels of a distribution that the nodes need."""
    names = ['diagnostic', 'geometry', 'nav', 'sensor', 'std', 'trajectory', 'visualization']
    # Without its extra, rclpy finds no middleware.
    packages = ['rclpy[fastrtps]', 'std-srvs', *(f'{name}-msgs' for name in names)]
    return [*(f'ros-{distribution}-{name}' for name in packages), 'xacro>=2.0']


setup(
    name=PACKAGE_NAME,
    version=VERSION,
    description='Robot control and simulation from a URDF: rigid-body dynamics for ROS 2',
    long_description=(HERE / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    license='Apache-2.0',
    maintainer='rbd_ros maintainers',
    maintainer_email='maintainers@rbd-ros.invalid',
    keywords=['ROS', 'robotics', 'rigid body dynamics', 'simulation', 'torque control'],
    packages=find_packages(include=[PACKAGE_NAME, f'{PACKAGE_NAME}.*']),
    package_data={
        PACKAGE_NAME: ['py.typed'],
        f'{PACKAGE_NAME}.hil.report': ['*.css', '*.js'],
        f'{PACKAGE_NAME}.viewer': ['page/*'],
    },
    data_files=installed_data(),
    zip_safe=False,
    python_requires='>=3.10',
    install_requires=[
        'argcomplete>=1.8',
        'llvmlite>=0.37',
        'matplotlib>=3.5',
        'numpy>=1.21',
        'pyyaml>=5.4',
        'scipy>=1.8',
        'urdf-parser-py>=0.0.4',
    ],
    extras_require={
        # Campaigns of the hardware-in-the-loop bench by Dask, and their tables as Parquet.
        'campaigns': ['distributed>=2023.3', 'pyarrow>=10'],
        # Convex decomposition of meshes.
        'decomposition': ['coacd>=1.0'],
        # FMUs as plants and controllers of the bench.
        'fmu': ['fmpy>=0.3'],
        # Simulations as Gymnasium environments.
        'gym': ['gymnasium>=1.1'],
        # Meshes as GLB, glTF and PLY.
        'meshes': ['trimesh>=4.6'],
        # Recordings of joint states as data frames.
        'pandas': ['pandas>=1.3'],
        # Recordings as MCAP files and, where there is no ffmpeg, as videos.
        'recording': ['imageio-ffmpeg>=0.4', 'mcap>=1.0'],
        # Robots that are found by name: panda, ur5, g1, talos and some 60 more.
        'robots': ['example-robot-data'],
        # ROS 2 without a ROS installation; not needed where a ROS 2 is sourced. One of the two.
        'ros': packages_of_ros('jazzy'),
        'ros-kilted': packages_of_ros('kilted'),
        'test': [
            'cma',
            'coacd',
            'coal',
            "drake; platform_machine == 'x86_64'",  # no wheels elsewhere on Linux
            'distributed',
            'example-robot-data',
            'fmpy',
            'gymnasium[mujoco]',
            'hypothesis',
            'imageio-ffmpeg',
            'mcap',
            'mpmath',
            'mujoco',
            'mypy',
            'numba',
            'pandas',
            'pin',
            'pyarrow',
            'pytest',
            'pytest-rerunfailures',
            'pytest-xdist',
            'ruff',
            'setuptools',
            'sympy',
            'trimesh',
            'types-pyyaml',
            'xacro',
        ],
    },
    entry_points={
        'console_scripts': [
            f'{name} = {PACKAGE_NAME}.programs:{name}'
            for name in (PACKAGE_NAME, 'hil_record', 'hil_run', *node_names())
        ],
        'ament_copyright.license': [f'apache2_spdx = {PACKAGE_NAME}.license_header:APACHE'],
    },
)
