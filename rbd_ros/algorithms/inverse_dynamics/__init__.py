"""Forces from motion: the recursive Newton-Euler algorithm and what comes of it (book ch. 5)."""
