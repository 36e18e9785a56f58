# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Requests of the fuzz test: parameters that must be rejected, and verbs of the simulator."""

import math
import random

from fuzz_messages import FRAMES, is_legal
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from std_srvs.srv import SetBool, Trigger

BAD_NUMBERS = (math.nan, math.inf, -math.inf, 1e300, -1e300, 1.7e308)
NO_TYPES = (10, 99, 255)
PAUSES = 4
KINDS = {
    'bool': ParameterType.PARAMETER_BOOL,
    'int': ParameterType.PARAMETER_INTEGER,
    'double': ParameterType.PARAMETER_DOUBLE,
    'string': ParameterType.PARAMETER_STRING,
    'int[]': ParameterType.PARAMETER_INTEGER_ARRAY,
    'double[]': ParameterType.PARAMETER_DOUBLE_ARRAY,
    'string[]': ParameterType.PARAMETER_STRING_ARRAY,
}


class ParameterRequests:
    """Requests without effect: legal ones set present values, all others must be rejected.

    :param interface: of the node
    :param seed: of the whole test
    :param started_with: parameters that the node was given
    """

    def __init__(self, interface, seed, started_with):
        self._seed = seed
        self._started_with = started_with
        self._declared = interface.parameters
        self._same = next(p for p in self._declared if p.live and p.kind == 'double')
        self.problems = []

    def __call__(self, number):
        rng = random.Random(f'{self._seed} parameters {number}')
        if is_legal(number):
            name = self._same.name
            value = _number(float(self._started_with.get(name, self._same.default)))
            return SetParameters.Request(parameters=[Parameter(name=name, value=value)])
        parameters = [self._bad(rng) for _ in range(rng.choice((1, 1, 1, 2, 5)))]
        return SetParameters.Request(parameters=parameters)

    def check(self, number, request, response):
        """Record a response that is wrong for request `number`."""
        if len(response.results) != len(request.parameters):
            self._note(number, f'{len(response.results)} results')
            return
        for parameter, result in zip(request.parameters, response.results):
            if result.successful != is_legal(number):
                self._note(number, f'{parameter} was {"taken" if result.successful else "not"}')
            elif not result.successful and not 0 < len(result.reason) < 30_000:
                self._note(number, f'the reason has {len(result.reason)} characters')

    def _note(self, number, text):
        if len(self.problems) < 5:
            self.problems.append(f'seed {self._seed}, request {number}: {text[:500]}')

    def _bad(self, rng):
        declared = rng.choice(self._declared)
        what = rng.randrange(6)
        if what == 0:  # no such parameter
            return Parameter(name=rng.choice(FRAMES), value=_number(rng.choice(BAD_NUMBERS)))
        if what == 1:  # no such type
            return Parameter(name=declared.name, value=ParameterValue(type=rng.choice(NO_TYPES)))
        if what == 2:  # none at all: a deletion
            return Parameter(name=declared.name, value=ParameterValue())
        if what == 3:  # another type
            kinds = [
                k
                for name, k in KINDS.items()
                if k != KINDS[declared.kind]
                and not (declared.scalar is float and name.startswith('int'))
            ]
            value = ParameterValue(type=rng.choice(kinds), string_value='x' * rng.randrange(3000))
            value.double_value = 0.5
            value.double_array_value = [0.5] * rng.randint(1, 3)
            value.integer_array_value = [1] * rng.randint(1, 3)
            value.string_array_value = ['x'] * rng.randint(1, 3)
            return Parameter(name=declared.name, value=value)
        return Parameter(name=declared.name, value=self._illegal(rng, declared))

    @staticmethod
    def _illegal(rng, declared):
        """Return the value of the right type that is not legal."""
        value = ParameterValue(type=KINDS[declared.kind])
        if declared.kind == 'bool':  # both are legal: another type
            return ParameterValue(type=ParameterType.PARAMETER_STRING, string_value='yes')
        value.integer_value = rng.choice((-(2**63), 2**63 - 1, -1))
        value.double_value = rng.choice(BAD_NUMBERS)
        value.string_value = rng.choice(FRAMES[1:]) + '?'
        value.integer_array_value = [rng.choice((-(2**63), 2**63 - 1, -1))] * rng.choice(
            (1, 2, 100)
        )
        value.double_array_value = [rng.choice(BAD_NUMBERS)] * rng.choice((1, 2, 3, 1000))
        value.string_array_value = [rng.choice(FRAMES[1:]) + '?'] * rng.choice((1, 2, 100))
        return value


def _number(value):
    return ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)


def verbs(number):
    """Pause, step or reset; time continues after every `PAUSES` requests to pause."""
    return {
        'pause': SetBool.Request(data=(number + 1) % PAUSES != 0),
        'step': Trigger.Request(),
        'reset': Trigger.Request(),
    }
