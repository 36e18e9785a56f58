# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Installed packages of a few lines, with entry points, in a temporary folder."""

import sys


def install(folder, monkeypatch, name, text, entry_points):
    """Install a package with one module, as pip would.

    :param folder: folder for it, which is put on `sys.path`
    :param name: name of the package; the module has `_` for `-`
    :param text: text of the module
    :param entry_points: by group, lines such as 'markers = my_sensors:Markers'
    """
    folder.mkdir(exist_ok=True)
    module = name.replace('-', '_')
    (folder / f'{module}.py').write_text(text, encoding='utf-8')
    about = folder / f'{module}-1.2.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n')
    groups = [f'[{group}]\n{line}\n' for group, line in entry_points.items()]
    (about / 'entry_points.txt').write_text('\n'.join(groups))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, module, raising=False)
