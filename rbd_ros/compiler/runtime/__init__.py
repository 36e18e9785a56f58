"""Kernels in use: arguments checked and broadcast, builtin functions, calls of every kind."""
