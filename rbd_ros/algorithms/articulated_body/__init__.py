"""Articulated-body inertia: forward dynamics and mobility in O(n) (book ch. 7)."""
