"""Engines of the contact benchmark: this package and what pip installs beside it."""
