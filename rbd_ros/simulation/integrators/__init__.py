# SPDX-License-Identifier: Apache-2.0
"""Integrators: how a step without contact moves configuration and velocity."""
