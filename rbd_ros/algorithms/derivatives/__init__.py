"""Derivatives of the dynamics by their inputs."""
