# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Types of the arrays that functions take and return, and conversions to them."""

from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
#: Of any of them.
AnyArray = NDArray[Any]


def real_numbers(name: str, given: ArrayLike) -> FloatArray:
    """Return an array of float64.

    :raises ValueError: for other elements, with the element
    """
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise ValueError(f'{name} is not an array of numbers: {error}') from None
    if array.dtype.kind not in 'fiu':
        raise ValueError(f'{name} must hold real numbers, got dtype {array.dtype}')
    return array.astype(np.float64, copy=False)


def pose_matrices(name: str, given: Any) -> FloatArray:
    """Return homogeneous matrices, as they are given or as those of scipy's RigidTransform.

    :raises ValueError: for an invalid pose, with the pose
    """
    return real_numbers(name, given.as_matrix() if hasattr(given, 'as_matrix') else given)


#: Field of a result: an array, but lists of scalars in the texts of algorithms.
ResultArray = Union[FloatArray, Any]
