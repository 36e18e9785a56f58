"""Errors about a robot's description.

Every message names the element, link or joint at fault and what to do about it.
"""


class ModelError(ValueError):
    """A robot description that cannot become a model."""


class SingularMassMatrixError(ModelError):
    """Forward dynamics was asked of a model whose mass matrix is singular in any configuration.

    The message names the joints that move no mass.
    """
