"""Campaigns: many runs of a scenario on all cores, a row each; resumed and replayed."""

from __future__ import annotations

import csv
from dataclasses import asdict
import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from rbd_ros.hil.bench import Bench, Run
from rbd_ros.hil.controller_entry import IN_PROCESS
from rbd_ros.hil.controllers import make_controller
from rbd_ros.hil.scenario import read_scenario, Scenario
from rbd_ros.hil.variation import Variation, varied
from rbd_ros.hil.verdict import row
from rbd_ros.hil.workers import in_processes, WorkerDied

TABLE, SETTINGS = 'runs.csv', 'campaign.json'
FORMAT = 'rbd_ros campaign 1'

Row = Dict[str, str]
Progress = Callable[[int, int], None]


class Campaign:
    """Many runs of a scenario, in a folder.

    :param path: the scenario
    :param folder: where its table is, or will be
    :param variations: what differs between the runs, beside their seeds
    :raises ValueError: if the controller is a process, or the folder has another campaign
    """

    def __init__(self, path: str, folder: Path, variations: Sequence[Variation] = ()):
        self.path, self.folder = path, folder
        self.scenario = read_scenario(path)
        if self.scenario.controller.kind not in IN_PROCESS:
            raise ValueError(
                f'a campaign is for a controller of the kind {", ".join(IN_PROCESS)}; processes '
                'are run one by one'
            )
        self.variations = tuple(variations)
        varied(self.scenario.faults, {each.kind: each.low for each in variations})
        make_controller(self.scenario)  # what cannot be made is told now

    # -- the runs ---------------------------------------------------------------------------------

    def values(self, number: int) -> Dict[str, float]:
        """Return the values that vary, in one run."""
        return {each.kind: each.draw(self.scenario.seed, number) for each in self.variations}

    def seed(self, number: int) -> int:
        """Seed of a run."""
        return self.scenario.seed + number

    def replay(self, number: int) -> Tuple[Scenario, Run]:
        """Do one run again, to the bit; the scenario is the one with the values of this run."""
        bench = Bench(self.scenario)
        faults = varied(self.scenario.faults, self.values(number))
        run = bench.run(make_controller(self.scenario), self.seed(number), faults)
        return self.scenario, run

    def execute(self, count: int, jobs: int, progress: Progress) -> List[Row]:
        """Do all runs that have not been done, and return all rows in order.

        :param count: number of runs
        :param jobs: number of processes
        :param progress: told how many runs are done, of how many
        :raises ValueError: if the folder has another campaign, or cannot be written
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._keep_settings()
            rows = self._rows()
            missing = [k for k in range(count) if k not in rows]
            progress(count - len(missing), count)
            if missing:
                self._do(missing, rows, jobs, count, progress)
        except OSError as error:
            raise ValueError(f'the campaign cannot be written: {error}') from None
        return [rows[k] for k in range(count)]

    def _do(
        self, missing: List[int], rows: Dict[int, Row], jobs: int, count: int, progress: Progress
    ) -> None:
        columns = self._columns()
        table = self.folder / TABLE
        self._write(table, columns, rows)  # without half a line of an interrupted one
        arguments = (self.path, self.variations)
        with table.open('a', newline='', encoding='utf-8') as file:
            for number, facts in in_processes(_make_work, arguments, missing, jobs):
                rows[number] = self._row(number, facts, columns)
                file.write(_line(columns, rows[number]))
                file.flush()
                progress(len(rows.keys() & set(range(count))), count)
        # In order, whoever was first: the same campaign gives the same file.
        self._write(table, columns, rows)

    def _row(self, number: int, facts: Any, columns: Sequence[str]) -> Row:
        if isinstance(facts, WorkerDied):
            facts = {'passed': False, 'failure': f'its worker died with code {facts.code}'}
        known = {'run': number, 'seed': self.seed(number), **self.values(number), **facts}
        return {name: _text(known.get(name, '')) for name in columns}

    def _columns(self) -> List[str]:
        names = ['run', 'seed', *(each.kind for each in self.variations), 'passed', 'failure']
        names += ['steps', 'largest_error', 'rms_error', 'largest_torque']
        limits = self.scenario.limits
        for name in ('tracking_error', 'torque', 'recovery_time'):
            if getattr(limits, name) is not None:
                names.append(name)
        for way in ('states', 'commands'):
            names += [f'{way}_{what}' for what in ('sent', 'dropped', 'duplicated')]
        return [*names, 'digest']

    # -- files ------------------------------------------------------------------------------------

    def _settings(self) -> Dict[str, Any]:
        content = Path(self.path).read_bytes() + self.scenario.description.encode()
        return {
            'format': FORMAT,
            'scenario': hashlib.sha256(content).hexdigest(),
            'variations': [asdict(each) for each in self.variations],
        }

    def _keep_settings(self) -> None:
        """Write what the campaign is, or see that it is the one that was begun here."""
        path, settings = self.folder / SETTINGS, self._settings()
        if path.is_file():
            try:
                before = json.loads(path.read_text(encoding='utf-8'))
            except ValueError:
                before = None
            if before != settings:
                raise ValueError(
                    f'{self.folder} has another campaign, of another scenario or with other '
                    'values of --vary; give another --report'
                )
            return
        _replace(path, json.dumps(settings, indent=2) + '\n')

    def rows(self) -> Dict[int, Row]:
        """Rows of the runs that have been done, by number.

        :raises ValueError: if the folder has another campaign
        """
        if not (self.folder / SETTINGS).is_file():
            raise ValueError(f'{self.folder} has no campaign; run one with --seeds')
        self._keep_settings()
        return self._rows()

    def _rows(self) -> Dict[int, Row]:
        table, columns = self.folder / TABLE, self._columns()
        if not table.is_file():
            return {}
        text = table.read_text(encoding='utf-8')
        whole = text[: text.rfind('\n') + 1]  # the last line may have been cut by an interruption
        found: Dict[int, Row] = {}
        for each in csv.DictReader(io.StringIO(whole)):
            if list(each) == columns and None not in each.values() and each['run'].isdigit():
                found[int(each['run'])] = each
        return found

    def _write(self, path: Path, columns: Sequence[str], rows: Dict[int, Row]) -> None:
        lines = [_line(columns, dict(zip(columns, columns)))]
        lines += [_line(columns, rows[k]) for k in sorted(rows)]
        _replace(path, ''.join(lines))


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(path.name + '.new')
    beside.write_text(text, encoding='utf-8', newline='')
    os.replace(beside, path)


def _line(columns: Sequence[str], values: Row) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator='\n').writerow([values[name] for name in columns])
    return buffer.getvalue()


def _text(value: Any) -> str:
    """Cell of a table; in one line, and a number to the bit."""
    text = repr(value) if isinstance(value, float) else str(value)
    return ' '.join(text.split())


def _make_work(path: str, variations: Sequence[Variation]) -> Callable[[int], Dict[str, Any]]:
    """Make, in a worker, what does one run."""
    scenario = read_scenario(path)
    bench = Bench(scenario)

    def work(number: int) -> Dict[str, Any]:
        values = {each.kind: each.draw(scenario.seed, number) for each in variations}
        faults = varied(scenario.faults, values)
        run = bench.run(make_controller(scenario), scenario.seed + number, faults)
        return row(scenario, run)

    return work


def failed(rows: Sequence[Row]) -> List[Row]:
    """Rows of runs that kept not all limits, or failed."""
    return [each for each in rows if each['passed'] != 'True']


def worst(rows: Sequence[Row], count: int = 10) -> List[Row]:
    """Rows with the largest errors, failures first."""
    return sorted(rows, key=_badness, reverse=True)[:count]


def _badness(values: Row) -> Tuple[bool, float]:
    return bool(values['failure']), number_of(values, 'largest_error') or 0.0


def number_of(values: Row, name: str) -> Optional[float]:
    """Number in a row; None if there is none."""
    try:
        return float(values[name])
    except (KeyError, ValueError):
        return None
