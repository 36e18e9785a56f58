"""What a robot's functions compute, before anything is compiled."""

from rbd_ros.robot.kernels import declared
from rbd_ros.robot.variants import definition, variant


def definition_of(model, name, **options):
    """Definition of an algorithm for a model."""
    return definition(model, variant(model, declared(name), **options))
