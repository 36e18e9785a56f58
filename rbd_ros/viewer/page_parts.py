# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files of the page: scripts, styles and the libraries in `page/`."""

from functools import lru_cache
from pathlib import Path

_FOLDER = Path(__file__).parent / 'page'


@lru_cache(maxsize=None)
def page_part(name: str) -> str:
    """Return the text of a file of the page.

    >>> from rbd_ros.viewer.page_parts import page_part
    >>> 'uPlot' in page_part('uplot.js')
    True
    """
    return (_FOLDER / name).read_text(encoding='utf-8')
