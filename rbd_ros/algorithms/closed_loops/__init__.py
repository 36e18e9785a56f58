"""Joints that close kinematic loops (book ch. 8)."""
