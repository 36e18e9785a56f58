"""Scenes of the contact benchmark, by name: what is in them and how errors are computed."""

from __future__ import annotations

from typing import Dict

from contact_scenes import balls, boxes
from contact_scenes.scene import by_name, Scene

#: Scenes by name, in the order of the table.
SCENES: Dict[str, Scene] = by_name([*boxes.SCENES, *balls.SCENES])
