"""A xacro file for tests, and a module in place of xacro where that is not installed.

The module knows what the file uses: arguments with defaults, and $(arg name).
"""

import importlib.util
import os
from pathlib import Path

STAND_IN = r"""
import re

class Expanded:
    def __init__(self, text):
        self.text = text

    def toprettyxml(self, indent):
        return self.text

def process_file(path, mappings):
    with open(path) as file:
        text = file.read()
    if '<xacro:nothing' in text:
        raise ValueError('unknown macro name: xacro:nothing')
    default = r'<xacro:arg name="(\w+)" default="([^"]*)"/>'
    values = {**dict(re.findall(default, text)), **mappings}

    def value(match):
        if match[1] not in values:
            raise ValueError('Undefined substitution argument ' + match[1])
        return values[match[1]]

    return Expanded(re.sub(r'\$\(arg (\w+)\)', value, re.sub(default, '', text)))
"""


def xacro_of(urdf: str) -> str:
    """Xacro of the two-link arm whose lower link has the mass `mass`, and with it the URDF.

    The mass of the upper link is the argument `upper_mass`, which has no default.
    """
    text = urdf.replace(
        '<robot name="two_link">',
        '<robot name="two_link" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:arg name="mass" default="1"/>',
    )
    text = text.replace('<mass value="1"/>', '<mass value="$(arg mass)"/>')
    text = text.replace('<mass value="2"/>', '<mass value="$(arg upper_mass)"/>')
    assert text.count('$(arg') == 2
    return text


def importable(folder: Path, monkeypatch) -> None:
    """Let xacro be found, by this process and those that it starts."""
    if importlib.util.find_spec('xacro') is None:
        (folder / 'xacro.py').write_text(STAND_IN)
        monkeypatch.syspath_prepend(str(folder))
        paths = [str(folder), os.environ.get('PYTHONPATH', '')]
        monkeypatch.setenv('PYTHONPATH', os.pathsep.join(paths).strip(os.pathsep))
