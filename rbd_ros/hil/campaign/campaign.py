# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Campaigns: many runs of a scenario on all cores, one row each; can be resumed and replayed."""

from __future__ import annotations

from dataclasses import asdict, replace
import hashlib
import json
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from rbd_ros import __version__
from rbd_ros.bounded_files import MAX_TEXT, read_bytes, read_text
from rbd_ros.hil.bench import Bench, Run
from rbd_ros.hil.campaign.campaign_files import (
    campaign_lock,
    cell,
    line,
    MAX_TABLE,
    read_rows,
    replace_file,
    Row,
)
from rbd_ros.hil.campaign.dask_workers import in_dask
from rbd_ros.hil.campaign.variation import Variation, varied
from rbd_ros.hil.campaign.workers import in_processes, WorkerDied
from rbd_ros.hil.controllers import make_controller
from rbd_ros.hil.plants.plant import PLANTS
from rbd_ros.hil.report.verdict import row
from rbd_ros.hil.scenario.controller_entry import Controller, CONTROLLERS, IsolatedRun
from rbd_ros.hil.scenario.scenario import read_scenario, Scenario

FORMAT = 'rbd_ros campaign 3'

#: Maximum size of a file that defines a controller [bytes].
MAX_SOURCE = 1 << 30


def fingerprints(path: str, scenario: Scenario) -> Dict[str, str]:
    """Return the fingerprints of all inputs of the rows, by name.

    :param path: path of the scenario file
    :param scenario: the scenario in it
    """
    content = read_bytes(path, MAX_TEXT) + scenario.description.encode()
    result = {
        'version': __version__,
        'scenario': hashlib.sha256(content).hexdigest(),
        'controller': _of_files(files_of(scenario.controller)),
    }
    if scenario.plant is not None:
        files = PLANTS[scenario.plant.kind].files(scenario.plant)
        result['plant'] = _of_files([Path(each) for each in files])
    return result


def files_of(controller: Controller) -> List[Path]:
    """Return the existing files that a controller names: Python, libraries, FMUs, programs.

    Files that they load, and packages of `ros2 run`, are not included.
    """
    names = CONTROLLERS[controller.kind].files(controller)
    return [Path(each) for each in names if Path(each).is_file()]


def _of_files(paths: List[Path]) -> str:
    total = hashlib.sha256()
    for path in paths:
        # Hash of hashes, so that boundaries between files count.
        total.update(hashlib.sha256(read_bytes(path, MAX_SOURCE)).digest())
    return total.hexdigest()


def difference(one: Mapping[str, Any], other: Mapping[str, Any], scenario: Scenario) -> str:
    """Return the first name with different fingerprints in two sets; '' if all are equal.

    :param scenario: scenario whose controller and plant are named
    """
    named = {
        'version': 'the version of rbd_ros',
        'scenario': 'the scenario',
        'controller': f'the controller {" ".join(scenario.controller.words)}',
        'plant': 'the plant' if scenario.plant is None else f'the plant {scenario.plant.name}',
    }
    return next((named[key] for key in named if one.get(key) != other.get(key)), '')


TABLE, SETTINGS = 'runs.csv', 'campaign.json'

Progress = Callable[[int, int], None]


class Campaign:
    """Many runs of a scenario, in a folder.

    :param path: path of the scenario
    :param folder: folder of its table
    :param variations: variations between the runs, in addition to their seeds
    :param over_ros: runs a scenario whose controller is a process
    :raises ValueError: if the controller cannot be created, or needs ROS without `over_ros`
    """

    def __init__(
        self,
        path: str,
        folder: Path,
        variations: Sequence[Variation] = (),
        over_ros: Optional[IsolatedRun] = None,
    ):
        # Workers may have another working directory.
        self.path, self.folder = str(Path(path).resolve()), folder.resolve()
        self.scenario = read_scenario(path)
        self._fingerprints = fingerprints(path, self.scenario)
        kind = CONTROLLERS[self.scenario.controller.kind]
        if kind.over_ros and over_ros is None:
            raise ValueError('a controller that is a process needs ROS: use rbd_ros hil')
        #: Runs a controller process; None: the controller runs in the processes of the campaign.
        self._isolated = over_ros if kind.over_ros else kind.isolated(self.scenario.controller)
        self.variations = tuple(variations)
        varied(self.scenario.faults, {each.kind: each.low for each in variations})
        if self._isolated is None:
            make_controller(self.scenario)  # reports errors now

    # -- the runs ---------------------------------------------------------------------------------

    def values(self, number: int) -> Dict[str, float]:
        """Return the varied values of a run."""
        return {each.kind: each.draw(self.scenario.seed, number) for each in self.variations}

    def seed(self, number: int) -> int:
        """Return the seed of a run."""
        return self.scenario.seed + number

    def replay(self, number: int) -> Tuple[Scenario, Run]:
        """Repeat a run bitwise; return it and its scenario."""
        faults = varied(self.scenario.faults, self.values(number))
        seed = self.seed(number)
        if self._isolated is None:
            return self.scenario, Bench(self.scenario).run(
                make_controller(self.scenario), seed, faults
            )
        folder = self.folder / run_folder(number)
        return self.scenario, self._isolated(replace(self.scenario, faults=faults), folder, seed)

    def execute(
        self, count: int, jobs: int, progress: Progress, scheduler: Optional[str] = None
    ) -> List[Row]:
        """Execute the remaining runs, and return all rows in order.

        :param count: number of runs
        :param jobs: number of processes
        :param progress: called with the numbers of finished runs and of all runs
        :param scheduler: address of a Dask scheduler, or 'local' for one with `jobs` processes;
            None: without Dask
        :raises ValueError: if the folder has another campaign or is in use, or it cannot be
            written
        :raises RuntimeError: if no run can continue; finished runs are kept
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with campaign_lock(self.folder):
                self._keep_settings()
                rows = self._rows()
                missing = [k for k in range(count) if k not in rows]
                progress(count - len(missing), count)
                if missing:
                    self._do(missing, rows, jobs, count, progress, scheduler)
        except OSError as error:
            raise ValueError(f'the campaign cannot be written: {error}') from None
        return [rows[k] for k in range(count)]

    def _do(
        self,
        missing: List[int],
        rows: Dict[int, Row],
        jobs: int,
        count: int,
        progress: Progress,
        scheduler: Optional[str],
    ) -> None:
        columns = self._columns()
        table = self.folder / TABLE
        self._write(table, columns, rows)  # drops the incomplete line of an interrupted campaign
        arguments = (
            self.path,
            self._fingerprints,
            self.variations,
            self._isolated,
            self.folder,
        )
        if scheduler is None:
            results = in_processes(_make_work, arguments, missing, jobs)
        else:
            results = in_dask(_make_work, arguments, missing, jobs, scheduler)
        with table.open('a', newline='', encoding='utf-8') as file:
            for number, facts in results:
                rows[number] = self._row(number, facts, columns)
                file.write(line(columns, rows[number]))
                file.flush()
                progress(len(rows.keys() & set(range(count))), count)
        # In order, so that the same campaign gives the same file.
        self._write(table, columns, rows)

    def _row(self, number: int, facts: Any, columns: Sequence[str]) -> Row:
        if isinstance(facts, WorkerDied):
            code = '' if facts.code is None else f' with code {facts.code}'
            facts = {'passed': False, 'failure': f'its worker died{code}'}
        known = {'run': number, 'seed': self.seed(number), **self.values(number), **facts}
        return {name: cell(known.get(name, '')) for name in columns}

    def _columns(self) -> List[str]:
        names = ['run', 'seed', *(each.kind for each in self.variations), 'passed', 'failure']
        names += ['exceeded', 'steps', 'largest_error', 'rms_error', 'largest_torque']
        limits = self.scenario.limits
        for name in ('tracking_error', 'torque', 'recovery_time'):
            if getattr(limits, name) is not None:
                names.append(name)
        for channel in ('states', 'commands'):
            names += [f'{channel}_{what}' for what in ('sent', 'dropped', 'duplicated')]
        return [*names, 'digest']

    # -- files ------------------------------------------------------------------------------------

    def _settings(self) -> Dict[str, Any]:
        return {
            'format': FORMAT,
            **self._fingerprints,
            'variations': [asdict(each) for each in self.variations],
        }

    def _settings_before(self) -> Dict[str, Any]:
        """Return the settings of the campaign in the folder; none if they cannot be read."""
        try:
            before = json.loads(read_text(self.folder / SETTINGS, MAX_TABLE))
        except ValueError:
            before = None
        return before if isinstance(before, dict) else {}

    def _keep_settings(self) -> None:
        """Write the settings of the campaign, or compare them with those of the folder."""
        path, settings = self.folder / SETTINGS, self._settings()
        if path.is_file():
            before = self._settings_before()
            self._reject_another(before)
            if other := difference(before, settings, self.scenario):
                raise ValueError(
                    f'{other} has changed since the campaign in {self.folder} began, and one '
                    'table must not mix both; give another --report'
                )
            return
        replace_file(path, json.dumps(settings, indent=2) + '\n')

    def _reject_another(self, before: Mapping[str, Any]) -> None:
        settings = self._settings()
        if any(before.get(name) != settings[name] for name in ('scenario', 'variations')):
            raise ValueError(
                f'{self.folder} contains another campaign, with another scenario or values of '
                '--vary; give another --report'
            )

    def rows(self) -> Dict[int, Row]:
        """Return the rows of finished runs by number, also of another controller.

        :raises ValueError: if the folder has another campaign
        """
        if not (self.folder / SETTINGS).is_file():
            raise ValueError(f'{self.folder} has no campaign; run one with --seeds')
        self._reject_another(self._settings_before())
        return self._rows()

    def _rows(self) -> Dict[int, Row]:
        return read_rows(self.folder / TABLE, self._columns())

    def _write(self, path: Path, columns: Sequence[str], rows: Dict[int, Row]) -> None:
        lines = [line(columns, dict(zip(columns, columns)))]
        lines += [line(columns, rows[k]) for k in sorted(rows)]
        replace_file(path, ''.join(lines))


def run_folder(number: int) -> str:
    """Return the name of the folder of a single run."""
    return f'run_{number}'


def _make_work(
    path: str,
    expected: Mapping[str, str],
    variations: Sequence[Variation],
    isolated: Optional[IsolatedRun],
    folder: Path,
) -> Callable[[int], Dict[str, Any]]:
    """Create the function that executes a run in a worker.

    :raises ValueError: if the worker has another scenario or controller
    """
    scenario = read_scenario(path)
    if other := difference(expected, fingerprints(path, scenario), scenario):
        raise ValueError(
            f'the worker has another campaign as {path}: {other} differs; give it the same files'
        )

    def faults_of(number: int) -> Any:
        values = {each.kind: each.draw(scenario.seed, number) for each in variations}
        return varied(scenario.faults, values)

    if isolated is not None:

        def process(number: int) -> Dict[str, Any]:
            changed = replace(scenario, faults=faults_of(number))
            return _process_row(changed, isolated, folder / run_folder(number), number)

        return process
    bench = Bench(scenario)

    def work(number: int) -> Dict[str, Any]:
        run = bench.run(make_controller(scenario), scenario.seed + number, faults_of(number))
        return row(scenario, run)

    return work


def _process_row(
    scenario: Scenario, isolated: IsolatedRun, folder: Path, number: int
) -> Dict[str, Any]:
    """Return the row of a run with a controller process; keep its output only after a failure."""
    facts = row(scenario, isolated(scenario, folder, scenario.seed + number))
    if not facts['failure']:
        (folder / 'controller.log').unlink(missing_ok=True)
        try:
            folder.rmdir()
        except OSError:
            pass  # it contains other files, such as the report of a replay
    return facts


def failed(rows: Sequence[Row]) -> List[Row]:
    """Return the rows of runs that exceeded a limit or failed."""
    return [each for each in rows if each['passed'] != 'True']


def worst(rows: Sequence[Row], count: int = 10) -> List[Row]:
    """Return the rows with the largest errors, failures first."""
    return sorted(rows, key=_severity, reverse=True)[:count]


def _severity(values: Row) -> Tuple[bool, float]:
    return bool(values['failure']), number_of(values, 'largest_error') or 0.0


def number_of(values: Row, name: str) -> Optional[float]:
    """Return a number of a row; None if it is missing."""
    try:
        return float(values[name])
    except (KeyError, ValueError):
        return None
