"""Contact and impact (book ch. 11)."""
