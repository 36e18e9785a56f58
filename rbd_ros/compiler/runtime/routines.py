# SPDX-License-Identifier: Apache-2.0
"""Machine code that is the same for all kernels: loaded once, from disk or newly made."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from rbd_ros.compiler import cache
from rbd_ros.compiler.targets.llvm import native


def load_routine(name: str, text: Callable[[], str], key: Mapping[str, Any]) -> native.MachineCode:
    """Return the machine code of a module's text.

    :param name: name of it on disk
    :param text: what writes the LLVM text, with opaque pointers; called if there is none on disk
    :param key: what decides the text, beside the versions of the tools
    """
    # No function of a robot has these names, and one that had would differ in the digest.
    entry_name = cache.entry_name(name, 'any', cache.digest({**key, **native.versions()}))
    entry = cache.load(entry_name)
    if entry is not None:
        try:
            return native.MachineCode(entry[1])
        except RuntimeError:  # what cannot be read is as good as none
            pass
    object_file = native.assemble([(text(), [])])
    cache.store(entry_name, {}, object_file)
    return native.MachineCode(object_file)
