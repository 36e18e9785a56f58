# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Examples in docstrings, run unchanged."""

from __future__ import annotations

import doctest
import re
from typing import Any, Dict, List


class Checker(doctest.OutputChecker):
    """Comparison of numbers to their last digit, without signs of zeros and NumPy's types."""

    _NUMBER = re.compile(r'[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?')

    def _words(self, text: str) -> str:
        return re.sub(r'\s', '', self._NUMBER.sub('#', text))

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Return whether an output is that of the docstring."""
        want, got = _plain(want), _plain(got)
        if self._words(want) != self._words(got):
            return super().check_output(want, got, optionflags)
        pairs = zip(self._NUMBER.findall(want), self._NUMBER.findall(got))
        return all(abs(float(x) - float(y)) <= _last_digit(x) for x, y in pairs)


def _plain(text: str) -> str:
    text = re.sub(r'np\.(?:float64|int64|bool|str)_?\(([^()]*)\)', r'\1', text)
    return re.sub(r'\bnp\.(True|False)_?', r'\1', text)


def _last_digit(number: str) -> float:
    mantissa, _, exponent = number.partition('e')
    digits = len(mantissa.partition('.')[2])
    whole = '.' not in number and not exponent
    return 0.0 if whole else 0.6 * 10.0 ** (int(exponent or 0) - digits) if digits else 0.6


def run(example: str, names: Dict[str, Any], name: str = 'example') -> str:
    """Return the failures of an example, '' without any.

    :param example: text with prompts and output
    :param names: its variables
    :param name: its name in the report
    """
    test = doctest.DocTestParser().get_doctest(example, dict(names), name, None, 0)
    report: List[str] = []
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    doctest.DocTestRunner(Checker(), optionflags=flags).run(test, out=report.append)
    asked = test.examples
    if not any(example.want for example in asked):
        report.append(f'{name}: the example does not say what it gives')
    return ''.join(report)
