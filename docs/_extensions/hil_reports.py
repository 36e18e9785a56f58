# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Example reports of the hardware-in-the-loop bench: copied into the site, linked from pictures.

The reports are generated files that git does not hold. scripts/docs writes them to
build/hil_examples; `RBD_ROS_DOCS_REPORTS` names another folder. Where a report is missing, its
picture has no link.
"""

from __future__ import annotations

import os
from pathlib import Path
import shutil

from docutils import nodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
PAGE = 'hil_examples'  # shows a picture hil_NAME.png of each report NAME.html


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect('doctree-resolved', link_pictures)
    app.connect('build-finished', copy_reports)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}


def reports() -> dict[str, Path]:
    """Return the reports that there are, by name."""
    folder = Path(os.environ.get('RBD_ROS_DOCS_REPORTS') or ROOT / 'build' / PAGE)
    return {path.stem: path for path in sorted(folder.glob('*.html'))}


def link_pictures(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Let each picture of a report lead to the report."""
    if page != PAGE or app.builder.format != 'html':
        return
    known = reports()
    for image in list(tree.findall(nodes.image)):
        name = Path(image['uri']).stem.removeprefix('hil_')
        if name in known:
            link = nodes.reference('', '', refuri=f'{PAGE}/{name}.html')
            image.replace_self(link)
            link += image


def copy_reports(app: Sphinx, error: Exception | None) -> None:
    """Copy the reports into the finished site."""
    if error is None and app.builder.format == 'html':
        folder = Path(app.outdir, PAGE)
        folder.mkdir(exist_ok=True)
        for path in reports().values():
            shutil.copy(path, folder)
