# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A xacro file for tests."""


def xacro_of(urdf: str) -> str:
    """Return a xacro of the two-link arm with lower mass `mass`, and the URDF for it.

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
