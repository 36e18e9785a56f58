# SPDX-License-Identifier: Apache-2.0
"""The kernels of a robot: compiled when they are first asked for, kept for the next time."""

from __future__ import annotations

from functools import partial
import inspect
import logging
import re
from typing import Any, Callable, Dict, Optional, Tuple, Union

from rbd_ros.algorithms import catalog, find
from rbd_ros.algorithms.declaration import Declaration, declaration_of
from rbd_ros.compiler import compile_lock, make_kernel, unavailable_reason
from rbd_ros.compiler.runtime.kernel import InterpretedKernel, Kernel
from rbd_ros.compiler.symbol_graph import OperationCount
from rbd_ros.model import Model, ModelError
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
        # Machine code stays here: it is made again, or found on the disk.
        return type(self), (self.model,)

    def get(self, algorithm: Algorithm, **options: Any) -> AnyKernel:
        """Return the kernel of an algorithm, made if there is none yet.

        :param algorithm: name in the catalog, or a declared function
        :param options: see `rbd_ros.robot.variants.variant`
        :raises ValueError: for an unknown algorithm or option
        """
        key = (algorithm, *options.items())
        try:
            return self._by_options[key]
        except (KeyError, TypeError):  # unknown so far, or an option that is no key, as a list
            pass
        kernel = self._of_variant(variant(self.model, declared(algorithm), **options))
        try:
            self._by_options[key] = kernel
        except TypeError:
            pass
        return kernel

    def operations_as_it_is(self, algorithm: Algorithm, **options: Any) -> OperationCount:
        """Return the operations of a kernel made of the model itself, not of an equivalent one.

        :param algorithm: name in the catalog, or a declared function
        :param options: as of `get`
        """
        chosen = variant(self.model, declared(algorithm).as_it_is(), **options)
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
        except ZeroDivisionError:  # of constants, while the text ran on symbols
            options = ', '.join(f'{symbol} {value!r}' for symbol, value in chosen.chosen)
            raise ModelError(
                f'{chosen.algorithm.name} of {self.model.name!r} does not exist in any '
                f'configuration: it divides by zero ({options or "no options"})'
            ) from None

    def _doc(self, chosen: Variant) -> str:
        """Return the documentation of a builtin, headed by its signature as `inspect` wants it."""
        name = chosen.algorithm.name
        usual = {key: f'={x:g}' for key, x in chosen.numbers.items() if x is not None}
        inputs = [key for key, _ in chosen.inputs(self.model)]
        arguments = [re.sub(r'\W', '_', key) + usual.get(key, '') for key in inputs]
        if chosen.mapping:
            arguments.append(f'{chosen.mapping}=None')
        text = inspect.getdoc(chosen.algorithm.function) or ''
        return f'{name}({", ".join(arguments)})\n--\n\n{text}'


def declared(algorithm: Algorithm) -> Declaration:
    """Return the declaration of an algorithm.

    :param algorithm: name in the catalog, or a declared function
    :raises ValueError: if there is none
    """
    found = declaration_of(algorithm)
    if found is None and isinstance(algorithm, str):
        found = find(SYNONYMS['Robot'].get(algorithm, algorithm))
    if found is None:
        if not isinstance(algorithm, str):
            raise ValueError(
                f'{algorithm!r} is not a declared algorithm; decorate it with @algorithm'
            )
        raise ValueError(
            f'unknown function {algorithm!r}; there are {", ".join(sorted(catalog()))}'
        )
    return found


def _notice_missing_compiler() -> None:
    global _noticed
    reason: Optional[str] = unavailable_reason()
    if reason is not None and not _noticed:
        _noticed = True
        _log.warning('no compiler: %s; dynamics run interpreted, a thousand times slower', reason)
