"""Rigid bodies in contact: point contacts, their equations of motion, and impacts (book ch. 11)."""
