# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Declaration of an algorithm, beside its function; everything else follows from it.

    @algorithm(
        'inverse_dynamics',
        inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'qdd': ACCELERATION,
                'external_forces': EXTERNAL_FORCES},
        outputs={'tau': FORCE},
        model=EQUIVALENT,
        source='RBDA table 5.1',
    )
    def rnea(model, q, qd, qdd, external_forces=None): ...

The function itself is unchanged; `declaration_of` finds the declaration. From it follow (in
rbd_ros.robot and elsewhere) the gears between the robot's coordinates and the tree's, checks of
arguments, kernels for single states and batches, run-time inputs, named outputs, the key of the
cache, the benchmark case with its Pinocchio equivalent, and the entry in docs/api.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
import inspect
from typing import (
    Any,
    Callable,
    Dict,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
)

from rbd_ros.algorithms.array import Array, Choice, Wrenches
from rbd_ros.model import Model

Kind = Union[Array, Choice, Wrenches]
Check = Callable[[Model, Sequence[int], Mapping[str, Any]], None]
Function = TypeVar('Function', bound=Callable[..., Any])

#: Coordinates of a function: those of all joints, or those of the public interface.
TREE, INDEPENDENT = 'tree', 'independent'

#: Models of a function: any with the same equations of motion (book 9.7), or the robot's; some
#: functions take the robot's and reduce its parameters themselves.
EQUIVALENT, AS_IT_IS, REDUCED = 'equivalent', 'as it is', 'reduced'


class Specialization(NamedTuple):
    """Another algorithm for the same outputs, with fewer operations for some models.

    :param algorithm: its declaration, under the name of the general algorithm
    :param prefer_when: whether it replaces the other for a model, without counting operations
    :param applicable_when: whether it computes the same for a model; the kernel is then made of
        the one with fewer operations
    """

    algorithm: Declaration
    prefer_when: Callable[[Model], bool]
    applicable_when: Callable[[Model], bool]


@dataclass(frozen=True, eq=False)
class Declaration:
    """Declaration of an algorithm: the arguments of `algorithm`, and derived properties.

    :param function: the declared function
    :param along: symbols of the inputs to differentiate by, usually none; see `derivatives_of`
    :param specialization: its replacement for some models, usually None
    :param differentiates: whether the function requests derivatives of its scalars
    :param slow_compile: whether a fast kernel is worth a long compilation
    :param arrays: the inputs that are arrays, by symbol
    :param choices: the inputs that are chosen when it is compiled, by symbol
    :param takes_forces: whether external forces are among the inputs
    :raises TypeError: if function and declaration contradict each other
    """

    name: str
    function: Callable[..., Any]
    inputs: Mapping[str, Kind]
    outputs: Mapping[str, Array]
    coordinates: str
    model: str
    source: str
    result: Optional[type] = None
    check: Optional[Check] = None
    pinocchio_equivalent: Optional[str] = None
    along: Tuple[str, ...] = ()
    specialization: Optional[Specialization] = None
    differentiates: bool = False
    slow_compile: bool = False
    arrays: Dict[str, Array] = field(init=False, repr=False)
    choices: Dict[str, Choice] = field(init=False, repr=False)
    takes_forces: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        kinds = self.inputs.values()
        object.__setattr__(self, 'arrays', {k.symbol: k for k in kinds if isinstance(k, Array)})
        object.__setattr__(self, 'choices', {k.symbol: k for k in kinds if isinstance(k, Choice)})
        object.__setattr__(self, 'takes_forces', any(isinstance(k, Wrenches) for k in kinds))
        self._check()

    def _check(self) -> None:
        parameters = list(inspect.signature(self.function).parameters)
        if parameters != ['model', *self.inputs]:
            raise TypeError(
                f'{self.name}: the function takes {parameters}, the inputs declared are '
                f'{list(self.inputs)}'
            )
        symbols = [kind.symbol for kind in self.inputs.values()]
        if len(set(symbols)) != len(symbols):
            raise TypeError(f'{self.name}: two inputs of the same name among {symbols}')
        if self.coordinates == TREE:
            for name, kind in self.inputs.items():
                if isinstance(kind, Array) and kind.to_tree is None:
                    raise TypeError(f'{self.name}: {name} has no value in tree coordinates')
            for name, kind in self.outputs.items():
                if kind.from_tree is None:
                    raise TypeError(
                        f'{self.name}: {name} cannot be computed from tree coordinates'
                    )
        unknown = [symbol for symbol in self.along if symbol not in self.arrays]
        if unknown:
            raise TypeError(
                f'{self.name}: cannot differentiate by {unknown}, which are not inputs'
            )
        names = [*self.outputs, *(name for name, _, _ in self.derivatives)]
        if len(names) > 1 and self.result is None:
            raise TypeError(f'{self.name}: several outputs need a named tuple as result')
        if self.result is not None and list(getattr(self.result, '_fields', ())) != names:
            raise TypeError(f'{self.name}: the fields of {self.result.__name__} are not {names}')

    @property
    def derivatives(self) -> Tuple[Tuple[str, Array, Array], ...]:
        """Name of each derivative, with the output and the input of the differentiation."""
        return tuple(
            (f'd{name}_d{symbol}', kind, self.arrays[symbol])
            for name, kind in self.outputs.items()
            for symbol in self.along
        )

    def specialized_for(self, model: Model) -> Declaration:
        """Return the declaration for a model's kernel: this one, or its specialization."""
        if self.specialization is not None and self.specialization.prefer_when(model):
            return self.specialization.algorithm.specialized_for(model)
        return self

    def for_exact_model(self) -> Declaration:
        """Return the variant for this very model, even if an equivalent variant exists."""
        specialization = self.specialization
        if specialization is not None and specialization.algorithm.model == REDUCED:
            specialization = None
        if specialization is not None:
            specialization = specialization._replace(
                algorithm=specialization.algorithm.for_exact_model()
            )
        return replace(self, model=AS_IT_IS, specialization=specialization)

    def __call__(self, model: Model, arguments: Mapping[str, Any]) -> Tuple[Any, ...]:
        """Run the text; flat lists of the outputs in independent coordinates, no derivatives.

        :param arguments: flat arrays by symbol, values chosen, and external forces by body number
        :return: one list for each output, its elements row by row
        """
        given = {}
        for parameter, kind in self.inputs.items():
            value = arguments[kind.symbol]
            if isinstance(kind, Array) and kind.to_tree and self.coordinates == TREE:
                value = kind.to_tree(model, value)
            given[parameter] = value
        returned = self.function(model, **given)
        values = returned if len(self.outputs) > 1 else (returned,)
        return tuple(
            kind.from_tree(model, value)
            if kind.from_tree and self.coordinates == TREE
            else kind.flat(value)
            for kind, value in zip(self.outputs.values(), values)
        )


def _never(model: Model) -> bool:
    return False


def algorithm(
    name: str,
    *,
    inputs: Mapping[str, Kind],
    outputs: Mapping[str, Array],
    source: str,
    coordinates: str = TREE,
    model: str = AS_IT_IS,
    result: Optional[type] = None,
    check: Optional[Check] = None,
    pinocchio_equivalent: Optional[str] = None,
    differentiates: bool = False,
    slow_compile: bool = False,
    specialization: Optional[Callable[..., Any]] = None,
    prefer_when: Callable[[Model], bool] = _never,
    applicable_when: Callable[[Model], bool] = _never,
) -> Callable[[Function], Function]:
    """Declare the decorated function to be an algorithm.

    :param name: name of the algorithm for `Robot.kernel`
    :param inputs: kind of each parameter of the function after the model
    :param outputs: kind of each value that it returns
    :param source: where it is from: book section, table or equation, or paper
    :param coordinates: `TREE` or `INDEPENDENT`
    :param model: `EQUIVALENT` if it may run on a dynamically equivalent model, `AS_IT_IS` if not,
        `REDUCED` if the text itself leaves out parameters that do not show in the results
    :param result: named tuple that it returns, if it has several outputs
    :param check: called before it is compiled with the model, the numbers of the bodies that get
        inertia at run time, and compile-time choices, by symbol; raises if it is invalid
    :param pinocchio_equivalent: function of Pinocchio's binding that computes the same from the
        same inputs
    :param differentiates: whether the text asks its scalars for derivatives
        (`rbd_ros.spatial.scalar.derivatives`), so that it always runs on symbols
    :param slow_compile: whether a kernel that is quick to run is worth a long time to compile,
        some ten seconds for a humanoid
    :param specialization: declared algorithm of the same inputs and results that takes its place
        for some models
    :param prefer_when: whether a model is one of those, without a look at the operations
    :param applicable_when: whether it can take its place: a kernel is made of the one that takes
        fewer operations
    :raises TypeError: if text and declaration contradict each other
    """

    def declare(function: Function) -> Function:
        special = _specialization(name, result, specialization, prefer_when, applicable_when)
        function.declaration = Declaration(  # type: ignore[attr-defined]
            name,
            function,
            inputs,
            outputs,
            coordinates,
            model,
            source if special is None else f'{source}; {special.algorithm.source}',
            result,
            check,
            pinocchio_equivalent,
            specialization=special,
            differentiates=differentiates,
            slow_compile=slow_compile,
        )
        return function

    return declare


def derivatives_of(
    function: Callable[..., Any],
    name: str,
    *,
    by: Sequence[str],
    result: type,
    specialization: Optional[Callable[..., Any]] = None,
    prefer_when: Callable[[Model], bool] = _never,
    applicable_when: Callable[[Model], bool] = _never,
    pinocchio_equivalent: Optional[str] = None,
) -> Declaration:
    """Return the declaration of an algorithm together with the derivatives of all its outputs.

    The derivative of an output x by an input y is called dx_dy and has the DoFs of y as its
    last axis; by a configuration it is along the velocities (book 4.4).

    :param function: declared algorithm
    :param name: name of the new declaration, for `Robot.kernel`
    :param by: symbols of the inputs to differentiate by
    :param result: named tuple of the outputs and their derivatives
    :param specialization: declared algorithm of the same inputs and results, derivatives included,
        which takes the place of differentiation for some models
    :param prefer_when: whether a model is one of those, without a look at the operations
    :param applicable_when: whether it can take its place: a kernel is made of the one that takes
        fewer operations
    :param pinocchio_equivalent: function of Pinocchio's binding that computes the same from the
        same inputs
    :raises TypeError: if a function is not declared, or the names do not agree
    """
    declared = _required(function)
    special = _specialization(name, result, specialization, prefer_when, applicable_when)
    return replace(
        declared,
        name=name,
        along=tuple(by),
        result=result,
        source='; '.join([declared.source, *(special.algorithm.source for _ in [0] if special)]),
        pinocchio_equivalent=pinocchio_equivalent,
        specialization=special,
    )


def _specialization(
    name: str,
    result: Optional[type],
    specialization: Optional[Callable[..., Any]],
    prefer_when: Callable[[Model], bool],
    applicable_when: Callable[[Model], bool],
) -> Optional[Specialization]:
    """Return the specialization of an algorithm for some models, None if there is none."""
    if specialization is None:
        return None
    algorithm = replace(_required(specialization), name=name)
    if algorithm.result is not result:
        raise TypeError(f'{name}: {specialization!r} has other outputs')
    return Specialization(algorithm, prefer_when, applicable_when)


def _required(function: Callable[..., Any]) -> Declaration:
    declared = declaration_of(function)
    if declared is None:
        raise TypeError(f'{function!r} is not a declared algorithm; decorate it with @algorithm')
    return declared


def declaration_of(value: Any) -> Optional[Declaration]:
    """Return the declaration of a function; None if it has none.

    :param value: anything: a function, or a declaration, which is returned itself
    """
    found = value if isinstance(value, Declaration) else getattr(value, 'declaration', None)
    return found if isinstance(found, Declaration) else None
