# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot's functions in the interpreter, on batches of real or complex numbers.

Complex numbers give derivatives without truncation or cancellation: f'(x) = Im f(x + i h) / h with
h = 1e-30.
"""

from types import SimpleNamespace

from support import lanes
from support.definitions import definition_of
from support.functions import FRAME_FUNCTIONS

H = 1e-30


class Plain:
    """The public functions of a robot without the compiler, for batches (N, n) only."""

    def __init__(self, robot, layout):
        self.robot, self.layout, self._definitions = robot, layout, {}

    def run(self, name, *arrays, **options):
        """Return the result of an algorithm, (N, ...)."""
        key = name, tuple(sorted(options.items()))
        if key not in self._definitions:
            self._definitions[key] = definition_of(self.robot.model, name, **options)
        return lanes.evaluate(self._definitions[key], *arrays)

    def __getattr__(self, name):
        def function(*arrays, external_forces=None, reference='body'):
            if name in FRAME_FUNCTIONS:
                frame = next(x for x in arrays if isinstance(x, str))
                arrays = [x for x in arrays if not isinstance(x, str)]
                if name.startswith('point'):
                    return self.run(name, *arrays, frame=frame)
                return self.run(name, *arrays, frame=frame, reference=reference)
            if external_forces:
                links = tuple(sorted(external_forces))
                forces = [external_forces[link] for link in links]
                return self.run(name, *arrays, *forces, forces=links)
            result = self.run(name, *arrays)
            if name == 'energy':
                return SimpleNamespace(
                    kinetic=result[:, 0], potential=result[:, 1], total=result.sum(axis=1)
                )
            if name == 'forward_kinematics':
                return {link: result[:, k] for k, link in enumerate(self.robot.link_names)}
            return result

        return function

    def rate(self, name, q, v, *others, **options):
        """Return the time derivative of a function of the state while q moves with velocity v.

        :param others: pairs (value, rate) of further arguments, such as (v, a)
        """
        arrays = [q + 1j * H * self.layout.position_rates(q, v)]
        arrays += [value + 1j * H * rate for value, rate in others]
        return self.run(name, *arrays, **options).imag / H
