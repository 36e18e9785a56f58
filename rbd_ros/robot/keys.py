# SPDX-License-Identifier: Apache-2.0
"""Keys of the disk cache: what the machine code of a robot's functions depends on."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any, Iterator, List, Sequence

from rbd_ros.algorithms.declaration import Declaration
from rbd_ros.compiler.source import source_digest
from rbd_ros.model import Model
from rbd_ros.spatial import PluckerTransform

# What turns a declared algorithm into a kernel; what these import counts as well.
_MAKERS = ('rbd_ros.robot.variants', 'rbd_ros.compiler.runtime.kernel')


def model_key(model: Model) -> List[Any]:
    """Return what functions depend on of a model, as JSON values, floats bitwise exact."""

    def exact(values: Sequence[Any]) -> List[str]:
        return [float(x).hex() for x in values]

    def placement(X: PluckerTransform) -> List[str]:
        return exact([x for row in (*X.E, X.r) for x in row])

    bodies = [
        [
            body.parent,
            body.joint_name,
            repr(body.joint),
            placement(body.tree_transform),
            exact([body.armature]),
            body.name,
            exact([body.limits.lower, body.limits.upper]),
        ]
        for body in model.bodies
    ]
    links = [
        [link.name, link.body, placement(link.placement), exact(link.inertia.parameters())]
        for link in model.links.values()
    ]
    frames = [
        [name, frame.body, placement(frame.placement)]
        for name, frame in model.joint_frames.items()
    ]
    couplings = [[c.body, c.master, *exact([c.ratio, c.offset])] for c in model.couplings]
    loops = [
        [loop.name, repr(loop.joint)]
        + [[end.body, placement(end.placement)] for end in (loop.predecessor, loop.successor)]
        for loop in model.loops
    ]
    return [bodies, links, frames, couplings, loops, exact(model.gravity)]


def _types(value: Any) -> Iterator[type]:
    """Yield the type of a joint and of those that it is made of, such as the one it reverses."""
    yield type(value)
    for part in vars(value).values():
        if is_dataclass(part):
            yield from _types(part)


def source_key(model: Model, *makers: Any) -> str:
    """Return the digest of the source that makes kernels for a model.

    :param makers: declarations of algorithms; functions and modules whose text counts as well
    """
    joints = {kind for body in model.bodies for kind in _types(body.joint)}
    joints |= {kind for loop in model.loops for kind in _types(loop.joint)}
    texts = [maker.function if isinstance(maker, Declaration) else maker for maker in makers]
    # A text made from another one depends on both.
    texts += [text.__wrapped__ for text in texts if hasattr(text, '__wrapped__')]
    return source_digest(*_MAKERS, *sorted(joints, key=repr), *texts)
