# SPDX-License-Identifier: Apache-2.0
"""Kinds of inputs and outputs of algorithms, by what they are of; kinds.py has all of them."""
