# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Texts for logs, diagnostics and responses: readable for any input."""

import logging

import pytest
from support import outside

outside.load('rclpy')

from rbd_ros.nodes.common.compile_progress import Progress
from rbd_ros.nodes.messages.text import MAX_TEXT, MAX_WORD, readable, shorten

FOLDERS = '/home/somebody' + '/a_folder' * 40


def test_the_file_name_of_a_long_path_is_kept():
    text = readable(f"robot_description_file '{FOLDERS}/arm.urdf' cannot be read")
    assert "/a_folder/arm.urdf' cannot be read" in text
    assert text.startswith('robot_description_file .../a_folder/')
    assert max(map(len, text.split())) <= MAX_WORD


def test_a_short_path_is_reported_unchanged():
    path = '/' + 'x' * (MAX_WORD - 1)
    assert readable(path) == path


@pytest.mark.parametrize('word', ['x' * 10_000, 'x/' * 5_000, '/' + 'x' * 10_000, '/' * 1000])
def test_an_endless_word_is_shortened(word):
    assert len(readable(word)) <= MAX_WORD
    assert '...' in readable(word)


def test_an_endless_text_is_one_line_that_ends():
    assert len(readable('word\n' * 10_000)) <= MAX_TEXT
    assert '\n' not in readable('word\n' * 10_000)


def test_many_names_are_counted():
    assert shorten('abcdefgh') == 'a, b, c, d, e, f and 2 more'


def test_a_failed_start_is_not_reported_as_ready(caplog):
    """Checks come last, and long tasks are reported before."""
    caplog.set_level(logging.INFO)
    for failure in (ValueError('too few positions'), None):
        progress = Progress(logging.getLogger('node'))
        try:
            with progress:
                progress._shown = True  # as after a second or two
                if failure is not None:
                    raise failure
        except ValueError:
            assert 'ready' not in caplog.text
    assert 'ready after' in caplog.text
