# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The documentation site by Sphinx: scripts/docs builds it, and rosdoc2 for docs.ros.org.

Pages are the Markdown files of this folder, without directives, so that repository browsers
display them. _extensions/ adds the tree of the pages, from the lists of index.md, pages of linked
source files, and the reports that scripts/docs generates.
"""

from importlib.util import find_spec
from pathlib import Path
import sys
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / '_extensions'))

project = 'rbd_ros'
author = copyright = 'rbd_ros maintainers'
# rosdoc2 works on a copy of docs/ only, and passes the version itself.
_manifest = HERE.parent / 'package.xml'
version = ElementTree.parse(_manifest).getroot().findtext('version') if _manifest.is_file() else ''
release = version

extensions = ['hil_reports', 'myst_parser', 'page_tree', 'repository_links']
extensions += filter(find_spec, ['sphinx_copybutton'])
source_suffix = {'.md': 'markdown', '.rst': 'restructuredtext'}
exclude_patterns = ['_extensions', 'requirements.txt']
root_doc = 'index'
nitpicky = True
myst_heading_anchors = 4  # links to headings, as repository browsers make them
myst_url_schemes = ['http', 'https', 'mailto', 'repository']
highlight_language = 'text'  # indented blocks are mostly commands, without a language
pygments_style = 'friendly'
pygments_dark_style = 'monokai'

# rosdoc2 installs the theme of Read the Docs, but neither furo nor sphinx-copybutton.
html_theme = 'furo' if find_spec('furo') else 'sphinx_rtd_theme'
html_title = f'{project} {version}'.strip()
html_static_path = ['_static']
html_css_files = ['site.css']
if html_theme == 'furo':
    html_theme_options = {'navigation_with_keys': True, 'top_of_page_buttons': []}
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
