# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Random trees with their `Textbook`, for the tests of single algorithms.

Half of them have no gears, because some functions take another path with gears. All have rotors,
gravity in a general direction, and forces on links, including the base and fixed ones. Some have a
joint whose motion subspace depends on its position.
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest

from rbd_ros.algorithms.declaration import declaration_of
from rbd_ros.model import load_urdf, Model
from rbd_ros.model.joints import RackAndPinion
from rbd_ros.spatial import ForceVector
from support import layout, random_trees
from support.errors import record, relative_error
from support.textbook import rolling_joint, Textbook, with_rolling_joint, without_mimics

GRAVITY = (1.0, -2.0, -9.0)
RADIUS = 0.3
CHAIN = {'seed': 67, 'bodies': 6, 'types': random_trees.SIMPLE_TYPES, 'branching': 0.3}
BRANCHES = {'seed': 58, 'bodies': 7, 'branching': 0.6}
KINDS = {  # arguments of random_trees.tree, whether the base floats, whether a hinge rolls
    'chain': (CHAIN, False, False),
    'rolling chain': (CHAIN, False, True),
    'branches': (BRANCHES, False, False),
    'floating base': (BRANCHES, True, False),
    'rolling floating base': (BRANCHES, True, True),
}
FREE = tuple(KINDS)
GEARED = tuple(f'{kind}, gears' for kind in KINDS)
STATES = 2

every_tree = pytest.mark.parametrize('name', FREE + GEARED)
every_free_tree = pytest.mark.parametrize('name', FREE)
# where the velocity is the rate of the position
every_chain = pytest.mark.parametrize('name', [x for x in FREE + GEARED if 'chain' in x])
every_reference = pytest.mark.parametrize('reference', ['body', 'base', 'aligned'])


class State(NamedTuple):
    """Position, velocity, and acceleration or force of as many numbers."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


class Tree(NamedTuple):
    """A model and its textbook dynamics.

    :param model: the model
    :param book: its textbook
    :param ungeared: textbook of the tree without gears, whose coordinates are those of all joints
    :param forces: forces [n; f] in base coordinates by link
    """

    model: Model
    book: Textbook
    ungeared: Textbook
    forces: dict

    @property
    def forces_on_bodies(self):
        """Forces as arguments of algorithms, by body number, possibly including the base."""
        found = {}
        for link, force in self.forces.items():
            body, force = self.model.link(link).body, ForceVector.from_array(force)
            found[body] = found[body] + force if body in found else force
        return found

    @property
    def states(self):
        """Random states in independent coordinates."""
        return _states(self.book)

    @property
    def ungeared_states(self):
        """Random states of all joints, with or without gears."""
        return _states(self.ungeared)


def _states(book):
    rng = np.random.default_rng(7)
    return [State(*book.layout.random_states(rng)) for _ in range(STATES)]


@lru_cache(maxsize=None)
def named_tree(name):
    """Return the tree of `FREE` or `GEARED`."""
    kind, _, gears = name.partition(', ')
    arguments, floating, rolling = KINDS[kind]
    text = random_trees.tree(**arguments, mimics=2 if gears else 0)
    rng = np.random.default_rng(8)
    joints = sorted(layout.read(text, floating).types)
    armature = {joint: rng.uniform(0.1, 0.9) for joint in joints}
    texts = [text, without_mimics(text)]
    model = load_urdf(text, floating, GRAVITY, armature=armature)
    if rolling:
        joint = rolling_joint(text)
        texts = [with_rolling_joint(each, joint, RADIUS) for each in texts]
        model = with_pinion(model, joint)
    assert bool(model.couplings) == bool(gears)
    book, ungeared = (Textbook(each, floating, GRAVITY, armature) for each in texts)
    assert [body.joint_name for body in model.bodies] == [x.name for x in ungeared.layout.joints]
    links = [link for link in book.layout.links if link in model.links]
    welded = [link for link in links if link not in {body.name for body in model.bodies}]
    forces = {link: rng.uniform(-9.0, 9.0, 6) for link in (links[0], links[2], links[-1], *welded)}
    return Tree(model, book, ungeared, forces)


def with_pinion(model, joint):
    """Return the model with one hinge replaced by a pinion that rolls along x."""
    bodies = [
        replace(body, joint=RackAndPinion(RADIUS)) if body.joint_name == joint else body
        for body in model.bodies
    ]
    return replace(model, bodies=tuple(bodies))


def run(text, model, **arguments):
    """Return the output of a declared algorithm on floats, in independent coordinates.

    It is an array, or several.

    :param arguments: by symbol; external forces by body number
    """
    flat = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    declared = declaration_of(text)
    outputs = [
        np.array(values, dtype=float).reshape(kind.shape(model, flat))
        for kind, values in zip(declared.outputs.values(), declared(model, flat))
    ]
    return outputs[0] if len(outputs) == 1 else outputs


def unrelated(model):
    """Return the zero elements of a matrix over the joints of a tree.

    These are pairs of joints of which neither carries the other's body.
    """
    mask = np.ones((model.tree_nv, model.tree_nv), dtype=bool)
    for i, body in model.outward():
        for j in model.support(i):
            mask[body.v, model.body(j).v] = mask[model.body(j).v, body.v] = False
    return mask


def check(what, name, ours, theirs, tolerance=1e-13):
    """Check a result against the textbook's to some hundred roundings, measured below 1e-14."""
    error = relative_error(np.asarray(ours, dtype=float), theirs)
    record('textbook', what, name, error)
    assert error < tolerance, f'{what}: relative error {error:.1e}'
