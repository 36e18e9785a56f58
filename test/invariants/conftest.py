# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots and states that the identities are tried on."""

from types import SimpleNamespace

import numpy as np
import pytest
from support import layout, random_trees
from support.plain import Plain

from rbd_ros import Robot

STATES = 6
TREES = {
    'tree': {'text': random_trees.mixed_tree(0, plain_planar=False), 'floating_base': False},
    'tree, floating base': {
        'text': random_trees.mixed_tree(1, plain_planar=False),
        'floating_base': True,
    },
    'branches': {
        'text': random_trees.tree(
            2, 7, ('planar', 'revolute', 'floating', 'fixed'), 1, 1.0, False
        ),
        'floating_base': False,
    },
    'chain': {
        'text': random_trees.tree(3, 7, ('revolute', 'prismatic', 'continuous'), 0, 0.0),
        'floating_base': False,
    },
    'mimics': {
        'text': random_trees.tree(4, 5, ('revolute', 'prismatic', 'planar'), 4, 0.6, False),
        'floating_base': True,
    },
}


@pytest.fixture(scope='module', params=TREES)
def subject(request):
    """Return a robot run by the interpreter, and six random states (q, v, a)."""
    text, floating_base = TREES[request.param]['text'], TREES[request.param]['floating_base']
    places = layout.read(text, floating_base)
    robot = Robot.from_urdf(text, floating_base=floating_base)
    q, v, a = places.random_states(np.random.default_rng(1), STATES)
    return SimpleNamespace(
        text=text,
        floating_base=floating_base,
        layout=places,
        robot=robot,
        plain=Plain(robot, places),
        q=q,
        v=v,
        a=a,
        links=[places.links[k] for k in (0, len(places.links) // 2, -1)],
    )
