# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""License of source files and of CONTRIBUTING.md in short, for ament_copyright.

It knows the long texts alone, and finds licenses by the entry points `ament_copyright.license` of
setup.py.
"""

from types import SimpleNamespace

APACHE = SimpleNamespace(
    name='Apache License, Version 2.0, by its SPDX identifier',
    spdx='Apache-2.0',
    file_headers=['{copyright}\nSPDX-License-Identifier: Apache-2.0'],
    license_files=[],
    contributing_files=['your work is licensed under the [Apache License 2.0](LICENSE)'],
)
