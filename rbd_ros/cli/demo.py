# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros demo`: the demonstration."""

from rbd_ros.demonstration.demo import add_arguments, run

__all__ = ['add_arguments', 'run']
