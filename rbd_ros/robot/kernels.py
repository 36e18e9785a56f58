# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kernels of a robot, compiled on first use, and the methods that call them.

`Robot` and its families consist of such methods. A method declares its algorithm and passes its
arguments on. After its first call, the builtin function of the kernel replaces it on the object.
The builtin falls back on the method in special cases: the first batch, the first forces on other
links, invalid arguments.
"""

from __future__ import annotations

from functools import partial
import inspect
import logging
import re
from types import BuiltinFunctionType
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.algorithms import catalog, find
from rbd_ros.algorithms.declaration import Declaration, declaration_of
from rbd_ros.compiler import compile_lock, make_kernel, unavailable_reason
from rbd_ros.compiler.runtime.builtin import Fallback
from rbd_ros.compiler.runtime.kernel import InterpretedKernel, Kernel
from rbd_ros.compiler.symbol_graph import OperationCount
from rbd_ros.model import Model, ModelError
from rbd_ros.model.errors import unknown_name
from rbd_ros.robot.other_names import SYNONYMS
from rbd_ros.robot.variants import check, definition, Variant, variant

Algorithm = Union[str, Declaration, Callable[..., Any]]
AnyKernel = Union[Kernel, InterpretedKernel]

_log = logging.getLogger('rbd_ros')
_noticed = False


class Kernels:
    """Kernels of one model, by algorithm and options.

    :param model: system model
    """

    def __init__(self, model: Model):
        self.model = model
        self._by_variant: Dict[Variant, AnyKernel] = {}
        self._by_options: Dict[Tuple[Any, ...], AnyKernel] = {}

    def __reduce__(self) -> Tuple[Any, ...]:
        # Machine code is not pickled: it is compiled again, or found on the disk.
        return type(self), (self.model,)

    def get(self, algorithm: Algorithm, **options: Any) -> AnyKernel:
        """Return the kernel of an algorithm, created on first use.

        :param algorithm: name in the catalog, or a declared function
        :param options: see `rbd_ros.robot.variants.variant`
        :raises ValueError: for an unknown algorithm or option
        """
        key = (algorithm, *options.items())
        try:
            return self._by_options[key]
        except (KeyError, TypeError):  # new, or an unhashable option, such as a list
            pass
        kernel = self._of_variant(variant(self.model, declared(algorithm), **options))
        try:
            self._by_options[key] = kernel
        except TypeError:
            pass
        return kernel

    def operations_as_it_is(self, algorithm: Algorithm, **options: Any) -> OperationCount:
        """Return the operations of a kernel of the model itself, not of an equivalent one.

        :param algorithm: name in the catalog, or a declared function
        :param options: as for `get`
        """
        chosen = variant(self.model, declared(algorithm).for_exact_model(), **options)
        return definition(self.model, chosen).program(inner_products=True).count

    def _of_variant(self, chosen: Variant) -> AnyKernel:
        kernel = self._by_variant.get(chosen)
        if kernel is None:
            with compile_lock:
                kernel = self._by_variant.get(chosen)
                if kernel is None:
                    kernel = self._by_variant[chosen] = self._make(chosen)
        return kernel

    def _make(self, chosen: Variant) -> AnyKernel:
        _notice_missing_compiler()
        try:
            return make_kernel(
                definition(self.model, chosen, self._doc(chosen)),
                partial(check, self.model, chosen),
            )
        except ZeroDivisionError:  # of constants, during symbolic execution
            options = ', '.join(f'{symbol} {value!r}' for symbol, value in chosen.chosen)
            raise ModelError(
                f'{chosen.algorithm.name} of {self.model.name!r} does not exist in any '
                f'configuration: it divides by zero ({options or "no options"})'
            ) from None

    def _doc(self, chosen: Variant) -> str:
        """Return the documentation of a builtin, with its signature in the format of `inspect`."""
        name = chosen.algorithm.name
        defaults = {key: f'={x:g}' for key, x in chosen.numbers.items() if x is not None}
        inputs = [key for key, _ in chosen.inputs(self.model)]
        arguments = [re.sub(r'\W', '_', key) + defaults.get(key, '') for key in inputs]
        if chosen.mapping:
            arguments.append(f'{chosen.mapping}=None')
        text = inspect.getdoc(chosen.algorithm.function) or ''
        return f'{name}({", ".join(arguments)})\n--\n\n{text}'


def declared(algorithm: Algorithm) -> Declaration:
    """Return the declaration of an algorithm.

    :param algorithm: name in the catalog, or a declared function
    :raises ValueError: if it does not exist
    """
    found = declaration_of(algorithm)
    if found is None and isinstance(algorithm, str):
        found = find(SYNONYMS['Robot'].get(algorithm, algorithm))
    if found is None:
        if not isinstance(algorithm, str):
            raise ValueError(
                f'{algorithm!r} is not a declared algorithm; decorate it with @algorithm'
            )
        raise ValueError(unknown_name('function', algorithm, sorted(catalog())))
    return found


def _notice_missing_compiler() -> None:
    global _noticed
    reason: Optional[str] = unavailable_reason()
    if reason is not None and not _noticed:
        _noticed = True
        _log.warning('no compiler: %s; dynamics run interpreted, a thousand times slower', reason)


Array = NDArray[np.float64]
#: External forces by link, and output arrays.
Forces = Optional[Mapping[str, ArrayLike]]
Out = Optional[Array]
Outs = Optional[Sequence[Array]]

Method = TypeVar('Method', bound=Callable[..., Any])
Result = TypeVar('Result')


def computes(algorithm: str) -> Callable[[Method], Method]:
    """Declare the algorithm that a method computes.

    :param algorithm: name in the catalog
    """

    def mark(method: Method) -> Method:
        method.algorithm = algorithm  # type: ignore[attr-defined]
        return method

    return mark


class Compiled:
    """Base class of objects with methods that compute algorithms.

    :param chosen: choices for all methods, such as a frame
    """

    def __init__(self, kernels: Kernels, **chosen: Any):
        self._kernels, self._chosen = kernels, chosen

    def __getstate__(self) -> Dict[str, Any]:
        # Without the builtins that replaced methods: they belong to this object.
        return {
            name: value
            for name, value in self.__dict__.items()
            if not isinstance(value, BuiltinFunctionType)
        }

    # The method determines the type of the result, an array or a named tuple; kernels of both have
    # one type.
    def _call(
        self,
        method: str,
        arrays: Sequence[Any],
        external_forces: Forces = None,
        out: Any = None,
        holder: Optional[type] = None,
        bind: bool = True,
    ) -> Result:  # type: ignore[type-var]
        """Run the algorithm of a method; then replace the method on this object by the builtin.

        :param method: name of the method
        :param arrays: its array arguments
        :param external_forces: spatial force on each link named
        :param out: output array
        :param holder: type with one slot for the result (`Fallback`)
        :param bind: False for a method that rearranges its arguments, unlike the builtin
        """
        unbound = self._declared_method(method)
        options = self._options(unbound.algorithm)
        kernel = self._kernels.get(unbound.algorithm, **options)
        refined = getattr(type(self), method) is not unbound
        # In any case, so that later calls are fast.
        if bind and method not in self.__dict__ and not refined:
            fallback = _BoundMethod(unbound, self)
            if holder is not None:
                fallback.holder = holder
            builtin = kernel.bind(fallback, method, _doc(unbound))
            if builtin is not fallback:
                self.__dict__[method] = builtin
        if external_forces is not None and not _is_empty(external_forces):
            links, forces = _checked(external_forces)
            loaded = self._kernels.get(unbound.algorithm, forces=links, **options)
            if isinstance(kernel, Kernel) and isinstance(loaded, Kernel):
                kernel.call_with_forces(links, loaded)
            return loaded.function(*arrays, *forces, out=out)  # type: ignore[return-value]
        result = kernel(*arrays, out=out)
        return result if holder is None else holder(result)  # type: ignore[return-value]

    def _declared_method(self, name: str) -> Any:
        """Return the method of this name that has a declaration; a subclass may refine it."""
        methods = (vars(base).get(name) for base in type(self).__mro__)
        return next(method for method in methods if hasattr(method, 'algorithm'))

    def _options(self, algorithm: str) -> Dict[str, Any]:
        """Return the choices that an algorithm has."""
        declaration = declared(algorithm)
        known = (*declaration.choices, *declaration.arrays)
        return {symbol: value for symbol, value in self._chosen.items() if symbol in known}


class _BoundMethod(Fallback):
    """Method of an object on which its builtin falls back.

    Its attributes are those of the object, as which the builtin is pickled.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(self.args[0], name)


def _doc(method: Callable[..., Any]) -> str:
    """Return the documentation of a builtin, with its signature in the format of `inspect`."""
    signature = inspect.signature(method)
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in list(signature.parameters.values())[1:]
    ]
    head = signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)
    return f'{method.__name__}{head}\n--\n\n{inspect.getdoc(method) or ""}'


def _is_empty(external_forces: Any) -> bool:
    return isinstance(external_forces, Mapping) and not external_forces


def _checked(external_forces: Any) -> Any:
    """Return the links in the order of the kernels, and the forces on them.

    :raises ValueError: if it is not a mapping of link names to spatial forces
    """
    if not isinstance(external_forces, Mapping):
        raise ValueError(
            'external_forces must map link names to (6,) arrays, got '
            f'{type(external_forces).__name__}'
        )
    links = tuple(sorted(external_forces))
    forces = [np.asarray(external_forces[link]) for link in links]
    for link, force in zip(links, forces):
        if force.ndim not in (1, 2) or force.shape[-1] != 6 or force.dtype.kind not in 'fiu':
            raise ValueError(
                f'external force on {link!r} must be real numbers of shape (6,) or (N, 6), got '
                f'{force.dtype} of shape {force.shape}'
            )
    return links, forces
