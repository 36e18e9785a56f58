# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A small scenario for tests of campaigns."""

import pytest
import yaml

CONTROLLER = """
import numpy as np
import os
import signal

def hold(robot, trajectory, timestep, deadly=-1.0):
    def control(time, q, v):
        if deadly >= 0.0 and abs(q[0] - deadly) < 1e-12:
            os.kill(os.getpid(), signal.SIGKILL)
        desired = trajectory.sample(time)[0]
        return 40.0 * (desired - q) - 2.0 * v + robot.gravity_torque(q)
    return control
"""


@pytest.fixture
def path(tmp_path):
    """Return the path of a scenario that takes a moment, to make campaigns of."""
    (tmp_path / 'controllers.py').write_text(CONTROLLER)
    file = tmp_path / 'scenario.yaml'
    content = {
        'name': 'a small campaign',
        'robot': 'two_link_arm',
        'duration': 0.05,
        'seed': 100,
        'trajectory': {'times': [0.0, 0.04], 'positions': [[0.2, 0.3], [0.25, 0.3]]},
        'controller': {'python': 'controllers.py:hold'},
        'faults': [{'fault': 'position_noise', 'value': 0.001}],
        'limits': {'tracking_error': 0.02},
    }
    file.write_text(yaml.safe_dump(content))
    return file
