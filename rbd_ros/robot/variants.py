# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of a declared algorithm and a model to a definition for the compiler.

A variant is an algorithm with compile-time choices: links with external forces, model constants
that become inputs, the frame of a Jacobian, arrays that become constants, storage of symmetric
results.
"""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass, replace
from functools import partial
import math
from typing import (
    Any,
    Dict,
    get_args,
    Iterator,
    List,
    Literal,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

from rbd_ros.algorithms.array import Array, Choice, Wrenches
from rbd_ros.algorithms.declaration import Declaration, EQUIVALENT
from rbd_ros.algorithms.kinds import UNIFORM
from rbd_ros.compiler import Definition, Output, Tangent
from rbd_ros.compiler.source import source_digest
from rbd_ros.model import Model
from rbd_ros.model.equivalent import equivalent_model
from rbd_ros.model.errors import unknown_name
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia

Scalars = Sequence[Any]

#: Numbers of a rigid body's inertia.
PARAMETER_COUNT = 10

#: Storage of symmetric matrices: full, or the lower triangle row by row.
Storage = Literal['full', 'packed']
FULL, PACKED = get_args(Storage)


@dataclass(frozen=True)
class Variant:
    """An algorithm with compile-time choices.

    :param algorithm: declaration of the algorithm
    :param forces: links with an external force; each adds an input of 6 numbers
    :param runtime: model constants that become inputs: 'gravity', 'inertia:<link>',
        'payload:<link>'
    :param chosen: values of choices, and of arrays that become constants, by symbol
    :param storage: `FULL` or `PACKED`
    """

    algorithm: Declaration
    forces: Tuple[str, ...] = ()
    runtime: Tuple[str, ...] = ()
    chosen: Tuple[Tuple[str, Any], ...] = ()
    storage: str = FULL

    def inputs(self, model: Model) -> List[Tuple[str, int]]:
        """Return the names and sizes of the input arrays."""
        chosen = dict(self.chosen)
        inputs = [
            (symbol, math.prod(kind.shape(model, chosen)))
            for symbol, kind in self.algorithm.arrays.items()
            if symbol not in chosen
        ]
        inputs += [(f'{Wrenches.symbol}:{link}', 6) for link in self.forces]
        return inputs + [(key, 3 if key == 'gravity' else PARAMETER_COUNT) for key in self.runtime]

    @property
    def mapping(self) -> str:
        """Name of the argument for forces on other links, or ''."""
        open_to_forces = self.algorithm.takes_forces and not self.forces and not self.runtime
        return Wrenches.symbol if open_to_forces else ''

    @property
    def numbers(self) -> Dict[str, Optional[float]]:
        """Scalar inputs and their default values."""
        arrays, chosen = self.algorithm.arrays, dict(self.chosen)
        return {
            symbol: kind.call_default
            for symbol, kind in arrays.items()
            if not kind.dimensions and symbol not in chosen
        }

    @property
    def drawn(self) -> Tuple[str, ...]:
        """Names of the inputs that are random numbers."""
        return tuple(s for s, kind in self.algorithm.arrays.items() if kind == UNIFORM)

    def outputs(self, model: Model) -> Tuple[Output, ...]:
        """Return the names and shapes of the output arrays, derivatives last."""
        declared = self.algorithm
        outputs = [Output(name, self._shape(model, x)) for name, x in declared.outputs.items()]
        for name, kind, by in declared.derivatives:
            outputs.append(Output(name, (*self._shape(model, kind), by.dofs(model))))
        return tuple(outputs)

    def _shape(self, model: Model, kind: Array) -> Tuple[int, ...]:
        if self.storage == PACKED:
            return kind.packed_shape(model)
        return kind.shape(model, dict(self.chosen))

    def tangents(self, model: Model) -> Tuple[Tangent, ...]:
        """Return the directions along which the outputs are differentiated."""
        kinds = [self.algorithm.arrays[symbol] for symbol in self.algorithm.along]
        return tuple(
            Tangent(
                kind.symbol,
                kind.dofs(model),
                None if kind.tangents is None else partial(kind.tangents, model),
            )
            for kind in kinds
        )


def variant(model: Model, algorithm: Declaration, **options: Any) -> Variant:
    """Return the variant of an algorithm for a model.

    :param algorithm: declaration of the algorithm
    :param options: `forces`, `runtime` and `storage` (see `Variant`), choices and constants by
        symbol; None counts as not given
    :raises ValueError: for an unknown option, link, frame, run-time input or storage, or a wrong
        size
    """
    algorithm = algorithm.specialized_for(model)
    given = {name: value for name, value in options.items() if value is not None}
    storage = _storage(algorithm, given.pop('storage', FULL))
    forces, runtime = (tuple(given.pop(name, ())) for name in ('forces', 'runtime'))
    if forces and not algorithm.takes_forces:
        raise ValueError(f'{algorithm.name} takes no external forces')
    for link in forces:
        model.link(link)
    _check_runtime(model, runtime)
    chosen: Dict[str, Any] = {}
    for symbol, choice in algorithm.choices.items():
        chosen[symbol] = given.pop(symbol, choice.default)
        if chosen[symbol] is None:
            raise ValueError(f'{algorithm.name} needs a {symbol}: {choice.meaning}')
        choice.resolve(model, chosen[symbol])
    for symbol, kind in algorithm.arrays.items():
        if symbol in given:
            size = math.prod(kind.shape(model, chosen))
            chosen[symbol] = _constants(symbol, size, given.pop(symbol))
        elif kind.default is not None:
            chosen[symbol] = kind.default(model)
    if given:
        known = ['forces'] * algorithm.takes_forces + ['runtime', *algorithm.choices]
        known += [*algorithm.arrays, *['storage'] * _has_symmetric_output(algorithm)]
        raise ValueError(unknown_name(f'option of {algorithm.name}', next(iter(given)), known))
    return Variant(algorithm, forces, runtime, tuple(sorted(chosen.items())), storage)


def definition(model: Model, variant: Variant, doc: str = '') -> Definition:
    """Return the definition of a variant for a model, ready to be compiled.

    :param variant: the algorithm with its choices
    :param doc: documentation of the resulting function
    """
    algorithm, alternative = variant.algorithm, None
    if algorithm.specialization is not None and algorithm.specialization.applicable_when(model):
        other = replace(variant, algorithm=algorithm.specialization.algorithm)
        alternative = definition(model, other, doc)
    return Definition(
        name=variant.algorithm.name,
        inputs=tuple(variant.inputs(model)),
        outputs=variant.outputs(model),
        evaluate=lambda *arrays: evaluate(model, variant, *arrays),
        key={
            'model': model_key(model),
            'variant': [variant.forces, variant.runtime, repr(variant.chosen), variant.storage],
            'source': source_key(model, variant.algorithm),
            'alternative': alternative and alternative.key['source'],
        },
        doc=doc,
        mapping=variant.mapping,
        numbers=variant.numbers,
        drawn=variant.drawn,
        result=variant.algorithm.result,
        tangents=variant.tangents(model),
        differentiates=variant.algorithm.differentiates,
        alternative=alternative,
        slow_compile=variant.algorithm.slow_compile,
    )


def evaluate(model: Model, variant: Variant, *arrays: Scalars) -> Tuple[Scalars, ...]:
    """Run an algorithm on scalars of any type; return flat lists of its outputs.

    :param variant: the algorithm with its choices
    :param arrays: one for each of `Variant.inputs`
    """
    algorithm, links = variant.algorithm, variant.forces
    given: Dict[str, Any] = dict(variant.chosen)
    remaining = iter(arrays)
    for symbol in algorithm.arrays:
        if symbol not in given:
            given[symbol] = next(remaining)
    wrenches = [next(remaining) for _ in links]
    model = _with_runtime(_cheapest(model, variant), variant.runtime, list(remaining))
    for kind in algorithm.inputs.values():
        if isinstance(kind, Choice):
            given[kind.symbol] = kind.resolve(model, given[kind.symbol])
        elif isinstance(kind, Wrenches):
            given[kind.symbol] = kind.on_bodies(model, links, wrenches) if links else None
    results = algorithm(model, given)
    if variant.storage == PACKED:
        kinds = algorithm.outputs.values()
        results = tuple(kind.packed(model, values) for kind, values in zip(kinds, results))
    return results


def check(model: Model, variant: Variant) -> None:
    """Check that a variant is valid for a model, as its declaration requires.

    :raises ModelError: if it is not
    """
    if variant.algorithm.check is None:
        return
    later = [model.link(key.partition(':')[2]).body for key in variant.runtime if ':' in key]
    variant.algorithm.check(model, later, dict(variant.chosen))


def _has_symmetric_output(algorithm: Declaration) -> bool:
    return any(kind.symmetric for kind in algorithm.outputs.values())


def _storage(algorithm: Declaration, storage: str) -> str:
    if storage not in (FULL, PACKED):
        raise ValueError(f'unknown storage {storage!r}; there are {FULL!r} and {PACKED!r}')
    if storage == PACKED and not _has_symmetric_output(algorithm):
        raise ValueError(f'{algorithm.name} has no symmetric matrix to pack')
    return storage


def _constants(symbol: str, size: int, given: Any) -> Tuple[float, ...]:
    values = tuple(float(x) for x in given)
    if len(values) != size:
        raise ValueError(f'{symbol} must have {size} elements, got {len(values)}')
    return values


def _check_runtime(model: Model, runtime: Sequence[str]) -> None:
    for key in runtime:
        kind, _, link = key.partition(':')
        if kind in ('inertia', 'payload') and link:
            model.link(link)
        elif key != 'gravity':
            raise ValueError(
                f"unknown run-time input {key!r}; there are 'gravity', 'inertia:<link>' and "
                "'payload:<link>'"
            )
    if len(set(runtime)) != len(runtime):
        raise ValueError(f'a run-time input is named twice in {tuple(runtime)}')


def _cheapest(model: Model, variant: Variant) -> Model:
    """Return the equivalent model with the fewest operations."""
    constant_inertia = all(key == 'gravity' for key in variant.runtime)
    if variant.algorithm.model == EQUIVALENT and constant_inertia:
        return equivalent_model(model)
    return model


def _with_runtime(model: Model, runtime: Sequence[str], values: Sequence[Scalars]) -> Model:
    given: Mapping[str, Scalars] = dict(zip(runtime, values))
    for key in sorted(given):  # inertias before payloads, which add to them
        kind, _, link = key.partition(':')
        if kind == 'gravity':
            model = model.with_gravity(given[key])
        else:
            inertia = RigidBodyInertia.from_parameters(given[key])
            model = model.with_link_inertia(link, inertia, add=kind == 'payload')
    return model


# Modules that convert a declared algorithm to a kernel; their imports count as well.
_MAKERS = ('rbd_ros.robot.variants', 'rbd_ros.compiler.runtime.kernel')


def model_key(model: Model) -> List[Any]:
    """Return the properties of a model for its functions as JSON values, floats bitwise exact."""

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
    """Yield the type of a joint and of its parts, such as the joint that it reverses."""
    yield type(value)
    for part in vars(value).values():
        if is_dataclass(part):
            yield from _types(part)


def source_key(model: Model, *makers: Any) -> str:
    """Return the digest of the source that creates kernels for a model.

    :param makers: declarations of algorithms; further functions and modules whose source counts
    """
    joints = {kind for body in model.bodies for kind in _types(body.joint)}
    joints |= {kind for loop in model.loops for kind in _types(loop.joint)}
    texts = [maker.function if isinstance(maker, Declaration) else maker for maker in makers]
    # A derived function depends on its own source and on the original.
    texts += [text.__wrapped__ for text in texts if hasattr(text, '__wrapped__')]
    return source_digest(*_MAKERS, *sorted(joints, key=repr), *texts)
