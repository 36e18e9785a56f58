"""Energy, momentum and centre of mass."""
