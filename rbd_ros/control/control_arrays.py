# SPDX-License-Identifier: Apache-2.0
"""Types of the arrays that the functions of this folder take and return."""

from typing import Tuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Position, velocity and acceleration at one time, each (n,).
MotionSample = Tuple[FloatArray, FloatArray, FloatArray]
