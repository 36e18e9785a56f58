# SPDX-License-Identifier: Apache-2.0
"""Faults of encoders, of positions and velocities: noise, bias, steps and play; seeded."""

from __future__ import annotations

from typing import Any, Dict, Tuple

import numpy as np

from rbd_ros.contact.contact_arrays import AnyArray, FloatArray


class SensorFaults:
    """Measured positions and velocities of joints.

    The order is that of the real thing: play between joint and encoder, its offset and noise, and
    last its steps.

    :param count: number of joints, n
    :param generator: source of chance
    """

    def __init__(self, count: int, generator: np.random.Generator):
        self._generator = generator
        self.position_noise, self.velocity_noise = np.zeros(count), np.zeros(count)
        self.position_bias, self.velocity_bias = np.zeros(count), np.zeros(count)
        self.quantization, self.backlash = np.zeros(count), np.zeros(count)
        self._held = np.full(count, np.nan)  # position of the encoder within its play
        #: Whether anything is wrong at all.
        self.active = False
        self._by_kind = {
            name: getattr(self, name)
            for name in (
                'position_noise',
                'velocity_noise',
                'position_bias',
                'velocity_bias',
                'quantization',
                'backlash',
            )
        }

    def clear(self) -> None:
        """Remove all faults."""
        for values in self._by_kind.values():
            values[:] = 0.0
        self.active = False

    def set(self, kind: str, joints: AnyArray, value: float) -> None:
        """Set a fault of joints.

        :param kind: 'position_noise', 'velocity_noise', 'position_bias', 'velocity_bias',
            'quantization' or 'backlash'
        :param joints: their places, (k,)
        """
        self._by_kind[kind][joints] = value
        self.active = True

    def snapshot(self) -> Dict[str, Any]:
        """Return what measurements depend on beside the faults.

        State of chance, place in the play.
        """
        return {'random': self._generator.bit_generator.state, 'held': self._held.tolist()}

    def restore(self, snapshot: Dict[str, Any]) -> None:
        """Restore a `snapshot`."""
        self._generator.bit_generator.state = snapshot['random']
        self._held[:] = snapshot['held']

    def measure(self, q: FloatArray, v: FloatArray) -> Tuple[FloatArray, FloatArray]:
        """Return the measured positions and velocities, (n,) each, for those of the joints.

        :param q: positions, (n,) [rad, m]
        :param v: velocities, (n,) [rad/s, m/s]
        """
        if not self.active:
            self._held[:] = np.nan
            return q, v
        q, v = np.array(q), np.array(v)
        play = self.backlash > 0.0
        # Where the play begins now, the encoder stands in the middle of it.
        self._held = np.where(play & np.isfinite(self._held), self._held, q)
        if play.any():
            half = 0.5 * self.backlash
            held = np.clip(self._held, q - half, q + half)
            v[play & (held == self._held)] = 0.0
            self._held = held
            q[play] = held[play]
        q += self.position_bias
        v += self.velocity_bias
        draw = self._generator.standard_normal
        if self.position_noise.any():
            q += self.position_noise * draw(len(q))
        if self.velocity_noise.any():
            v += self.velocity_noise * draw(len(v))
        stepped = self.quantization > 0.0
        if stepped.any():
            steps = self.quantization[stepped]
            q[stepped] = steps * np.round(q[stepped] / steps)
        return q, v
