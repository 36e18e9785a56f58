"""Rigid bodies in contact: point contacts, and their equations of motion (book ch. 11)."""
