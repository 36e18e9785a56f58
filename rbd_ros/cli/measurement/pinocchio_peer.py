"""Pinocchio's Python binding as the peer of a measurement: the same functions of the same URDF.

Everything that can be made before the call is: model, data, and states of Pinocchio's own layout.
Pinocchio leaves mimic joints independent, so that it may have more degrees of freedom than ours.
"""

from __future__ import annotations

from typing import List, Optional, Tuple

import numpy as np

from rbd_ros.cli.measurement.timing import Call

_NAMES = {
    'inverse_dynamics': 'rnea',
    'mass_matrix': 'crba',
    'forward_dynamics': 'aba',
    'gravity_torque': 'computeGeneralizedGravity',
    'bias_force': 'nonLinearEffects',
    'coriolis_matrix': 'computeCoriolisMatrix',
    'forward_kinematics': 'framesForwardKinematics',
    'jacobian': 'computeFrameJacobian',
}
_INPUTS = {
    'inverse_dynamics': 3,
    'forward_dynamics': 3,
    'bias_force': 2,
    'coriolis_matrix': 2,
}


class PinocchioPeer:
    """Pinocchio's model of a URDF.

    :param text: the URDF
    :param floating_base: whether the root link moves freely
    :raises ImportError: if Pinocchio is not installed
    :raises ValueError: if it does not take this URDF
    """

    def __init__(self, text: str, floating_base: bool = False):
        import pinocchio

        self.pin = pinocchio
        root = (pinocchio.JointModelFreeFlyer(),) if floating_base else ()
        try:
            self.model = pinocchio.buildModelFromXML(text, *root)
        except Exception as error:  # whatever its parser raises
            raise ValueError(f'pin does not load this URDF: {error}') from None
        self.data = self.model.createData()

    @property
    def nv(self) -> int:
        """Number of degrees of freedom of Pinocchio's model."""
        return self.model.nv

    def states(self, count: int, rng: np.random.Generator) -> List[Tuple[np.ndarray, ...]]:
        """Random states q, v, a (or tau), each an array of its own."""
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
        """Call for one state; None if there is no such function or frame."""
        prepared = self._prepared(function, frame)
        if prepared is None:
            return None
        call, more = prepared
        return Call(call, (self.model, self.data, *state[: _INPUTS.get(function, 1)], *more))

    def loop(
        self, function: str, states: List[Tuple[np.ndarray, ...]], frame: str
    ) -> Optional[Call]:
        """Call for one state after another; None if there is no such function or frame."""
        prepared = self._prepared(function, frame)
        if prepared is None:
            return None
        call, more = prepared
        rows = [(*state[: _INPUTS.get(function, 1)], *more) for state in states]
        return Call(call, (self.model, self.data), rows, len(rows))

    def _prepared(self, function: str, frame: str) -> Optional[tuple]:
        call = getattr(self.pin, _NAMES.get(function, ''), None)
        if call is None:
            return None
        if function != 'jacobian':
            return call, ()
        if not self.model.existFrame(frame):
            return None
        return call, (self.model.getFrameId(frame), self.pin.ReferenceFrame.LOCAL)
