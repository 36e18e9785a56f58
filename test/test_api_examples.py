"""The examples of docs/python_api.md run, one after the other, as a reader would type them."""

from pathlib import Path
import re
import shutil

import numpy as np
from support import example_robots

PAGE = Path(__file__).resolve().parents[1] / 'docs' / 'python_api.md'


def test_examples_run_in_their_order(tmp_path, monkeypatch):
    text = PAGE.read_text(encoding='utf-8')
    examples = re.findall(r'^```python\n(.*?)^```', text, re.DOTALL | re.MULTILINE)
    assert len(examples) >= 3
    shutil.copy(example_robots.path('panda'), tmp_path / 'panda.urdf')
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, example in enumerate(examples):
        exec(compile(example, f'example {number} of {PAGE.name}', 'exec'), names)
    robot, base = names['robot'], names['base']
    np.testing.assert_allclose(names['beta'], base.of(robot.regressors.parameters), atol=1e-9)
    np.testing.assert_allclose(names['tau_again'], names['tau'], atol=1e-9)
