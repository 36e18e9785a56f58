"""What benchmark/hil.py measures, a part of it in each module."""
