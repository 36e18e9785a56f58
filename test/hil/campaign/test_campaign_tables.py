# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tables of campaigns for other programs: Parquet with types, and CSV."""

import math
import os

import pytest
from support import outside
from test_campaigns import rows_of

from rbd_ros.cli.main import main
from rbd_ros.hil.campaign.campaign_files import (
    cell,
    check_table,
    line,
    read_rows,
    replace_file,
    write_table,
)

ROWS = [
    {
        'run': '0', 'seed': '7', 'drop': '0.1', 'passed': 'True', 'failure': '', 'exceeded': '',
        'steps': '50', 'largest_error': '0.30000000000000004', 'recovery_time': 'inf',
        'states_sent': '12', 'digest': 'ab',
    },
    {
        'run': '1', 'seed': str(2**62), 'drop': '0.2', 'passed': 'False', 'failure': 'a "b", c',
        'exceeded': 'torque', 'steps': '', 'largest_error': '', 'recovery_time': '',
        'states_sent': '', 'digest': '',
    },
]  # fmt: skip


def test_parquet_has_the_numbers_with_their_types(tmp_path):
    parquet = outside.load('pyarrow.parquet')
    write_table(tmp_path / 'runs.parquet', ROWS)
    table = parquet.read_table(tmp_path / 'runs.parquet')
    types = {field.name: str(field.type) for field in table.schema}
    assert types == {
        **dict.fromkeys(('run', 'seed', 'steps', 'states_sent'), 'int64'),
        **dict.fromkeys(('drop', 'largest_error', 'recovery_time'), 'double'),
        **dict.fromkeys(('failure', 'exceeded', 'digest'), 'string'),
        'passed': 'bool',
    }
    first, second = table.to_pylist()
    assert first['largest_error'] == 0.30000000000000004 and first['recovery_time'] == math.inf
    assert (first['passed'], second['passed']) == (True, False)
    assert first['failure'] == '' and second['failure'] == 'a "b", c'
    assert second['seed'] == 2**62 and first['states_sent'] == 12
    missing = ('steps', 'largest_error', 'recovery_time', 'states_sent')
    assert all(second[name] is None for name in missing)


def test_the_command_writes_the_rows_as_parquet(path, tmp_path, capsys):
    parquet = outside.load('pyarrow.parquet')
    words = ['hil', str(path), '--report', str(tmp_path / 'r'), '--seeds', '3', '--jobs', '1']
    main([*words, '--vary', 'drop=0:0.1', '--table', str(tmp_path / 'runs.parquet')])
    rows = parquet.read_table(tmp_path / 'runs.parquet').to_pylist()
    expected = rows_of(tmp_path / 'r')
    assert [each['run'] for each in rows] == [0, 1, 2]
    for found, text in zip(rows, expected):
        assert found['digest'] == text['digest'] and found['drop'] == float(text['drop'])
        assert str(found['passed']) == text['passed']
    assert not list(tmp_path.glob('*.new'))


def test_csv_is_the_table_of_the_campaign(path, tmp_path, capsys):
    words = ['hil', str(path), '--report', str(tmp_path / 'r'), '--seeds', '2', '--jobs', '1']
    main([*words, '--table', str(tmp_path / 'runs.csv')])
    assert (tmp_path / 'runs.csv').read_bytes() == (tmp_path / 'r' / 'runs.csv').read_bytes()
    assert set(read_rows(tmp_path / 'runs.csv', list(rows_of(tmp_path / 'r')[0]))) == {0, 1}


def test_rows_of_other_columns_and_cut_ones_are_omitted(tmp_path):
    columns = ['run', 'failure']
    table = tmp_path / 'runs.csv'
    assert read_rows(table, columns) == {}
    good = {'run': '3', 'failure': 'a, "b"'}
    text = line(columns, dict(zip(columns, columns))) + line(columns, good)
    table.write_text(text + 'four,x\n5\n6,x,y\n7,cu')
    assert read_rows(table, columns) == {3: good}
    table.write_text(text)
    assert read_rows(table, ['run', 'other']) == {}
    assert cell('two\nlines') == 'two lines' and float(cell(0.1 + 0.2)) == 0.1 + 0.2


@pytest.mark.parametrize(
    ('name', 'words'), [('runs.xlsx', 'parquet or .csv'), ('none/runs.csv', 'no such folder')]
)
def test_tables_that_cannot_be_are_reported_before_the_runs(path, tmp_path, capsys, name, words):
    command = ['hil', str(path), '--report', str(tmp_path / 'r'), '--seeds', '1']
    assert main([*command, '--table', str(tmp_path / name)]) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / 'r').exists()


def test_parquet_without_pyarrow_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr('importlib.util.find_spec', lambda name: None)
    with pytest.raises(ValueError, match='pip install pyarrow'):
        check_table(tmp_path / 'runs.parquet')
    check_table(tmp_path / 'runs.csv')


def test_a_table_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / 'runs.csv').mkdir()
    with pytest.raises(ValueError, match='cannot be written'):
        write_table(tmp_path / 'runs.csv', ROWS)


def test_tables_are_of_campaigns_alone(path, tmp_path, capsys):
    for words in (['--table', 'x.csv'], ['--scheduler', 'local']):
        assert main(['hil', str(path), '--report', str(tmp_path / 'r'), *words]) == 1
        assert f'{words[0]} applies to a campaign only' in capsys.readouterr().err


def test_a_file_is_on_the_disk_before_it_takes_the_place_of_the_old_one(tmp_path, monkeypatch):
    path, done = tmp_path / 'runs.csv', []
    path.write_text('old')
    monkeypatch.setattr(os, 'fsync', lambda number: done.append(os.fstat(number).st_size))
    replace = os.replace

    def look(source, target):
        done.append(path.read_text())
        replace(source, target)

    monkeypatch.setattr(os, 'replace', look)
    replace_file(path, 'new content')
    assert done == [len('new content'), 'old'] and path.read_text() == 'new content'
