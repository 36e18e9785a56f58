# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Header of our source files, for ament_copyright, which itself knows the long one alone.

It finds licenses by the entry points `ament_copyright.license` of setup.py.
"""

from types import SimpleNamespace

APACHE = SimpleNamespace(
    name='Apache License, Version 2.0, by its SPDX identifier',
    spdx='Apache-2.0',
    file_headers=['{copyright}\nSPDX-License-Identifier: Apache-2.0'],
    license_files=[],
    contributing_files=[],
)
