"""Kinds of inputs and outputs of algorithms, by what they are of; kinds.py has all of them."""
