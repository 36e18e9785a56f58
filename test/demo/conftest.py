# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Demos that end with the test that started them."""

import pytest
from support.demo_process import Demo


@pytest.fixture
def start(tmp_path):
    demos = []

    def begin(*arguments):
        demos.append(Demo(tmp_path, *arguments))
        return demos[-1]

    yield begin
    for demo in demos:
        demo.end()
