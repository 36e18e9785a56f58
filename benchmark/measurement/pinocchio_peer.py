# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio's Python binding as the peer of a measurement: the same functions of the same URDF.

Model, data and states in Pinocchio's layout are made before the call. Mimic joints are independent
in Pinocchio, so it may have more degrees of freedom.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from measurement.functions import inputs
from measurement.timing import Call
from rbd_ros.robot.kernels import declared


class PinocchioPeer:
    """Pinocchio's model of a URDF.

    :param text: the URDF
    :param floating_base: whether the root link moves freely
    :raises ImportError: if Pinocchio is not installed
    :raises ValueError: if it rejects this URDF
    """

    def __init__(self, text: str, floating_base: bool = False):
        import pinocchio

        self.pin = pinocchio
        root = (pinocchio.JointModelFreeFlyer(),) if floating_base else ()
        try:
            self.model = pinocchio.buildModelFromXML(text, *root)
        except Exception as error:  # any exception of its parser
            raise ValueError(f'Pinocchio cannot load this URDF: {error}') from None
        self.data = self.model.createData()

    @property
    def nv(self) -> int:
        """Number of degrees of freedom of Pinocchio's model."""
        return self.model.nv

    def states(self, count: int, rng: np.random.Generator) -> List[Tuple[np.ndarray, ...]]:
        """Return random states q, v, a (or tau), each as an array."""
        pin, model = self.pin, self.model
        neutral = pin.neutral(model)
        return [
            (
                pin.integrate(model, neutral, rng.uniform(-1.0, 1.0, model.nv)),
                rng.normal(size=model.nv),
                rng.normal(size=model.nv),
            )
            for _ in range(count)
        ]

    def single(self, function: str, state: Tuple[np.ndarray, ...], frame: str) -> Optional[Call]:
        """Return the call for one state; None for an unknown function or frame."""
        call = self._call(function)
        arguments = self._arguments(function, state, frame)
        if call is None or arguments is None:
            return None
        return Call(call, (self.model, self.data, *arguments))

    def loop(
        self, function: str, states: List[Tuple[np.ndarray, ...]], frame: str
    ) -> Optional[Call]:
        """Return the call for a loop over states; None for an unknown function or frame."""
        call = self._call(function)
        rows = [self._arguments(function, state, frame) for state in states]
        if call is None or None in rows:
            return None
        return Call(call, (self.model, self.data), rows, len(rows))

    def _call(self, function: str) -> Optional[Callable[..., Any]]:
        """Return Pinocchio's function for an algorithm, by its declaration."""
        return getattr(self.pin, declared(function).pinocchio_equivalent or '', None)

    def _arguments(
        self, function: str, state: Tuple[np.ndarray, ...], frame: str
    ) -> Optional[Tuple[Any, ...]]:
        """Return the arguments after model and data; None for an unknown frame."""
        arrays = tuple(state[k] for k in inputs(function))
        if 'frame' not in declared(function).choices:
            return arrays
        if not self.model.existFrame(frame):
            return None
        return (*arrays, self.model.getFrameId(frame), self.pin.ReferenceFrame.LOCAL)
