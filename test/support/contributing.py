# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The examples of CONTRIBUTING.md, as text and as files in their folders."""

from contextlib import contextmanager
import importlib
import re
import sys

from support.source_imports import ROOT


def shown_in(heading):
    """Return the Python code under a heading."""
    page = (ROOT / 'CONTRIBUTING.md').read_text(encoding='utf-8')
    section = page.split(f'## {heading}')[1].split('\n## ')[0]
    (text,) = re.findall(r'^```python\n(.*?)^```', section, re.DOTALL | re.MULTILINE)
    return text


@contextmanager
def as_a_file(heading, package, name, folder, monkeypatch):
    """Yield the example under a heading, imported as a module of a package.

    :param package: the package in whose folder the file is put
    :param name: name of the module
    :param folder: where the file really is
    """
    (folder / f'{name}.py').write_text(shown_in(heading), encoding='utf-8')
    monkeypatch.setattr(package, '__path__', [*package.__path__, str(folder)])
    full = f'{package.__name__}.{name}'
    yield importlib.import_module(full)
    del sys.modules[full]
    delattr(package, name)
