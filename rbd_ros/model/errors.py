"""Errors of the model room.

Every message names the element, link or joint at fault and the cure.
"""


class ModelError(ValueError):
    """A robot description that cannot become a model."""


class SingularMassMatrixError(ModelError):
    """Forward dynamics asked of a model whose mass matrix is singular.

    The message names the joints.
    """
