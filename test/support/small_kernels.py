# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kernels of a few operations, without a robot."""

import uuid

from rbd_ros.compiler import Definition, make_kernel


def kernel(evaluate, inputs=(('x', 1),), shape=(1,), name='small', key=None):
    """Return the kernel of a function of lists of scalars.

    It is never cached on disk unless a key is given.
    """
    key = {'small': uuid.uuid4().hex} if key is None else key
    return make_kernel(Definition.of_one_output(name, inputs, tuple(shape), evaluate, key))
