# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Locks of ROS domains: in the user's folder, through no link, and for the next free domain."""

import os
import stat

import pytest

from rbd_ros.nodes.bench import domains


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Return the folder of temporary files; all domains are free."""
    monkeypatch.setattr(domains.tempfile, 'gettempdir', lambda: str(tmp_path))
    monkeypatch.setattr(domains, 'is_unused', lambda domain: True)
    monkeypatch.delenv('XDG_RUNTIME_DIR', raising=False)
    return tmp_path


def test_the_folder_of_locks_is_of_this_user_alone(temporary):
    folder = domains.lock_folder()
    assert folder == temporary / f'rbd_ros-{os.getuid()}'
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert domains.lock_folder() == folder


@pytest.mark.parametrize('what', ['open to others', 'of another user', 'link', 'file'])
def test_a_folder_that_is_not_this_user_s_alone_is_not_used(temporary, monkeypatch, what):
    place = temporary / f'rbd_ros-{os.getuid()}'
    elsewhere = temporary / 'elsewhere'
    elsewhere.mkdir(mode=0o700)
    if what == 'link':
        place.symlink_to(elsewhere)
    elif what == 'file':
        place.write_text('')
    else:
        place.mkdir(mode=0o700)
        if what == 'open to others':
            place.chmod(0o770)
        else:
            user = os.getuid() + 1
            place.rename(temporary / f'rbd_ros-{user}')
            place = temporary / f'rbd_ros-{user}'
            monkeypatch.setattr(domains.os, 'getuid', lambda: user)
    with pytest.raises(ValueError, match=f'{place} is not a private folder.*TMPDIR'):
        domains.lock_folder()
    if what != 'of another user':
        monkeypatch.setenv('XDG_RUNTIME_DIR', str(elsewhere))
        assert domains.lock_folder() == elsewhere / 'rbd_ros'


@pytest.mark.parametrize('what', ['link', 'pipe', 'locked', 'folder'])
def test_the_next_domain_is_tried_and_nothing_else_is_touched(temporary, what):
    lock = domains.lock_folder() / 'hil_domain_1.lock'
    precious = temporary / 'precious'
    precious.write_text('not to be lost')
    held = None
    if what == 'link':
        lock.symlink_to(precious)
    elif what == 'pipe':
        os.mkfifo(lock)
    elif what == 'folder':
        lock.mkdir()
    else:
        domain, held = domains.free_domain(0)
        assert domain == 1
    domain, file = domains.free_domain(0)
    assert domain == 2 and precious.read_text() == 'not to be lost'
    file.close()
    if held is not None:
        held.close()
        domain, file = domains.free_domain(0)
        assert domain == 1
        file.close()
