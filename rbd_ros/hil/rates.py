# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Comparison of a controller at different rates, with the same physics, in one report."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from html import escape
import json
import math
from pathlib import Path
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.hil.bench import Run
from rbd_ros.hil.report.report_page import Curve, document, Line, plot
from rbd_ros.hil.report.run_report import (
    decimated_maxima,
    latency_numbers,
    MAX_POINTS,
    plain,
    write_report,
)
from rbd_ros.hil.report.verdict import judge, position_error, row
from rbd_ros.hil.scenario.scenario import max_steps, Scenario

PAGE, NUMBERS = 'rates.html', 'rates.json'
FOLDER = 'rate_'  # prefix of the folder of each rate
MAX_RATE_COUNT, MAX_RATE = 12, 100
MIN_STEP = 1000  # minimum time step of the simulation [ns]


class AtRate(NamedTuple):
    """The controller at one rate.

    :param rate: relative to the rate of the scenario
    :param scenario: the scenario with this rate
    :param run: a run of it
    """

    rate: Fraction
    scenario: Scenario
    run: Run

    @property
    def passed(self) -> bool:
        """True if all limits were kept."""
        return judge(self.scenario, self.run).passed


def read_rates(text: str) -> Tuple[Fraction, ...]:
    """Return the rates of a command line, in order.

    :param text: such as '0.5,1,2' or '1/3,1'
    :raises ValueError: if it is invalid

    >>> from rbd_ros.hil.rates import read_rates
    >>> [str(each) for each in read_rates('2,0.5,1')]
    ['1/2', '1', '2']
    """
    found = set()
    for word in text.split(','):
        try:
            rate = Fraction(word.strip())
        except (ValueError, ZeroDivisionError):
            raise ValueError(f'--rates: {word[:80]!r} is not a rate; write 0.5,1,2') from None
        if not Fraction(1, MAX_RATE) <= rate <= MAX_RATE:
            bounds = f'{1 / MAX_RATE:g} to {MAX_RATE}'
            raise ValueError(f'--rates: {word[:80]}: give rates from {bounds}')
        found.add(rate)
    if len(found) > MAX_RATE_COUNT:
        raise ValueError(f'--rates has {len(found)} values; give at most {MAX_RATE_COUNT}')
    return tuple(sorted(found))


def at_rates(scenario: Scenario, rates: Sequence[Fraction]) -> List[Tuple[Fraction, Scenario]]:
    """Return scenarios with the controller at other rates, all with one time step.

    :raises ValueError: if no time step in whole nanoseconds fits all of them

    >>> from fractions import Fraction
    >>> from rbd_ros.hil import read_scenario
    >>> from rbd_ros.hil.rates import at_rates
    >>> scenario = read_scenario('config/hil/sticking_joint.yaml')
    >>> for _, each in at_rates(scenario, [Fraction(1, 2), Fraction(2)]):
    ...     print(each.timestep, each.substeps, each.step)
    0.002 4 0.0005
    0.0005 1 0.0005
    """
    if 'update_rate' in scenario.controller.options:
        raise ValueError(
            '--rates does not apply to this controller, since update_rate sets its rate; change '
            'it in the scenario and in the controller_manager'
        )
    period = round(1e9 * scenario.timestep)
    parts = math.lcm(*(each.numerator for each in rates))
    step = period // parts
    too_many = scenario.duration / (1e-9 * step) > max_steps(scenario.robot.nv)
    if period % parts or step < MIN_STEP or too_many:
        listed = ','.join(str(each) for each in rates)
        raise ValueError(
            f'--rates {listed}: no timestep of whole microseconds divides all periods of a '
            f'controller with a period of {scenario.timestep:g} s; give rates such as 0.5,1,2'
        )
    result = []
    for rate in rates:
        substeps = parts * rate.denominator // rate.numerator
        result.append((rate, replace(scenario, timestep=step * substeps / 1e9, substeps=substeps)))
    return result


def run_at_rates(
    scenario: Scenario,
    rates: Sequence[Fraction],
    run: Callable[[Scenario, Path], Run],
    folder: Path,
) -> List[AtRate]:
    """Run a scenario at several rates; write a report of each, and a comparison.

    :param run: runs a scenario; files go into the given folder
    :param folder: for `rates.html`, `rates.json` and a folder for each rate
    :raises ValueError: if rates do not fit, or a file cannot be written
    """
    results = []
    for rate, changed in at_rates(scenario, rates):
        own = folder / name_of(rate)
        results.append(AtRate(rate, changed, run(changed, own)))
        write_report(changed, results[-1].run, own)
    numbers = [
        {
            'rate': float(each.rate),
            'period': each.scenario.timestep,
            **plain(row(each.scenario, each.run)),
            'timing': latency_numbers(each.run),
        }
        for each in results
    ]
    try:
        (folder / NUMBERS).write_text(json.dumps(numbers, indent=2) + '\n', encoding='utf-8')
        (folder / PAGE).write_text(page(scenario, results), encoding='utf-8')
    except OSError as error:
        raise ValueError(f'the report cannot be written: {error}') from None
    return results


def name_of(rate: Fraction) -> str:
    """Return the name of the folder of a rate."""
    return f'{FOLDER}{float(rate):.6g}'


def summary(scenario: Scenario, results: Sequence[AtRate]) -> str:
    """Return the table as text."""
    lines = [f'{scenario.name}: {_sentence(results)}']
    for each in results:
        verdict = judge(each.scenario, each.run)
        values = [f'{check.name} {check.value:.4g}' for check in verdict.checks]
        lines.append(
            f'  {"pass" if verdict.passed else "FAIL"}  rate {float(each.rate):g} '
            f'({_hertz(each)}): ' + '; '.join(values + [verdict.failure] * bool(verdict.failure))
        )
    return '\n'.join(lines)


def _sentence(results: Sequence[AtRate]) -> str:
    good = sum(each.passed for each in results)
    return f'{good} of {len(results)} rates kept all limits'


def _hertz(each: AtRate) -> str:
    return f'{1.0 / each.scenario.timestep:.5g} Hz'


def page(scenario: Scenario, results: Sequence[AtRate]) -> str:
    """Return the self-contained HTML page, with links to the report of each rate."""
    good = all(each.passed for each in results)
    checks = [check.name for check in judge(scenario, results[0].run).checks]
    names = ['rate', 'calls of the controller', 'limits', *checks, 'root mean square error']
    heads = ''.join(f'<th>{escape(name)}</th>' for name in names)
    lines = []
    for each in results:
        verdict, facts = judge(each.scenario, each.run), row(each.scenario, each.run)
        link = f'<a href="{name_of(each.rate)}/report.html">{float(each.rate):g}</a>'
        word = 'pass' if verdict.passed else 'fail'
        kept = f'{"kept" if verdict.passed else "not kept"} {escape(verdict.failure)}'
        cells = [link, _hertz(each), f'<span class="{word}">{kept}</span>']
        cells += [f'{check.value:.4g}' for check in verdict.checks]
        cells += [''] * (len(checks) - len(verdict.checks)) + [f'{facts["rms_error"]:.4g}']
        lines.append('<tr>' + ''.join(f'<td>{cell}</td>' for cell in cells) + '</tr>')
    parts = [
        f'<h1>{escape(scenario.name)}: <span class="{"pass" if good else "fail"}">'
        f'{_sentence(results)}</span></h1>',
        f'<p>All runs have the timestep {results[0].scenario.step:g} s; the last command holds '
        'between two calls. Rates are multiples of the rate of the scenario.</p>',
        f'<table><tr>{heads}</tr>{"".join(lines)}</table>',
        f'<h2>Maximum position error of all joints [rad, m]</h2>{_errors(scenario, results)}',
        '<h2>Maximum torque of all joints, as a fraction of the '
        f'limit</h2>{_torques(scenario, results)}',
    ]
    return document(f'rates: {scenario.name}', parts)


def _errors(scenario: Scenario, results: Sequence[AtRate]) -> str:
    values = [position_error(each.run) for each in results]
    return _lines(results, 'error [rad, m]', values, scenario.limits.tracking_error)


def _torques(scenario: Scenario, results: Sequence[AtRate]) -> str:
    effort = np.array(scenario.robot.effort_limits)
    bounded = np.isfinite(effort) & (effort > 0.0)
    values = [
        (np.abs(each.run.torque[:, bounded]) / effort[bounded]).max(axis=1, initial=0.0)
        for each in results
    ]
    return _lines(results, 'torque / limit', values, scenario.limits.torque)


def _lines(
    results: Sequence[AtRate], label: str, values: Sequence[np.ndarray], limit: Optional[float]
) -> str:
    steps = max(len(each) for each in values)
    curves = []
    for each, of_run in zip(results, values):
        # A run that ended early has no values, which are not finite, at its end.
        whole = np.full(steps, -np.inf)
        whole[: len(of_run)] = of_run
        name = f'{float(each.rate):g} ({_hertz(each)})'
        curves.append(Curve(name, decimated_maxima(whole, MAX_POINTS)))
    time = np.linspace(0.0, steps * results[0].scenario.step, len(np.asarray(curves[0].values)))
    lines = [] if limit is None else [Line('y', limit, 'limit')]
    return plot('time [s]', time, label, curves, lines=lines)
