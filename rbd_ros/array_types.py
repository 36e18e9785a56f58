# SPDX-License-Identifier: Apache-2.0
"""Types of the arrays that functions take and return."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
#: Of any of them.
AnyArray = NDArray[Any]
