# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Run the simulator: `python -m rbd_ros.nodes.simulator`."""

import sys

from rbd_ros.nodes.simulator import main

if __name__ == '__main__':
    sys.exit(main())
