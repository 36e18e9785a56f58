from pathlib import Path

from setuptools import find_packages, setup

PACKAGE_NAME = 'rbd_ros'
VERSION = '0.1.0'
HERE = Path(__file__).resolve().parent


def installed_data() -> list[tuple[str, list[str]]]:
    """Files that ROS looks for below share/: marker, manifest, launch, config, urdf, rviz."""
    share = f'share/{PACKAGE_NAME}'
    data = {
        'share/ament_index/resource_index/packages': [f'resource/{PACKAGE_NAME}'],
        share: ['package.xml'],
    }
    for folder in ('launch', 'config', 'urdf', 'rviz'):
        for path in sorted((HERE / folder).rglob('*')):
            if path.is_file() and '__pycache__' not in path.parts:
                relative = path.relative_to(HERE)
                data.setdefault(f'{share}/{relative.parent}', []).append(str(relative))
    return list(data.items())


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
    package_data={PACKAGE_NAME: ['py.typed']},
    data_files=installed_data(),
    zip_safe=False,
    python_requires='>=3.10',
    install_requires=[
        'llvmlite>=0.44',
        'matplotlib>=3.5',
        'numba>=0.61',
        'numpy>=1.23',
        'pyyaml>=5.4',
        'scipy>=1.8',
        'urdf-parser-py>=0.0.4',
    ],
    extras_require={
        # General convex and mesh collision.
        'collision': ['coal>=3.0'],
        # ROS 2 without a ROS installation; not needed where a ROS 2 is sourced.
        'ros': [
            'ros-jazzy-diagnostic-msgs',
            'ros-jazzy-geometry-msgs',
            'ros-jazzy-rclpy[fastrtps]',  # without the extra it finds no middleware
            'ros-jazzy-sensor-msgs',
            'ros-jazzy-std-msgs',
            'ros-jazzy-std-srvs',
            'ros-jazzy-trajectory-msgs',
            'ros-jazzy-visualization-msgs',
        ],
        'test': [
            "drake; platform_machine == 'x86_64'",  # no wheels elsewhere on Linux
            'example-robot-data',
            'hypothesis',
            'mpmath',
            'mujoco',
            'pin',
            'pytest',
            'pytest-xdist',
            'ruff',
            'setuptools',
        ],
    },
    entry_points={
        'console_scripts': [
            'gravity_compensation = rbd_ros.nodes.gravity_compensation:main',
            'inverse_dynamics = rbd_ros.nodes.inverse_dynamics:main',
            'rbd_ros = rbd_ros.cli.main:main',
            'simulator = rbd_ros.nodes.simulator:main',
        ],
    },
)
