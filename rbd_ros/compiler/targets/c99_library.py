# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Programs as a small C99 library: a header, a source for each function, a CMakeLists.txt."""

from __future__ import annotations

import re
from typing import Dict, Mapping, Sequence

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.targets import c99


def library(
    programs: Mapping[str, Program],
    name: str,
    precision: str = 'double',
    constants: Mapping[str, int] = {},
    notes: Sequence[str] = (),
) -> Dict[str, str]:
    """Return the texts of the files of a library, by file name.

    It needs only math.h, allocates nothing, has no recursion and no state: its functions are
    thread-safe.

    :param programs: programs by name; the functions are called `<name>_<its name>`
    :param name: name of the library, an identifier of C
    :param precision: type of its numbers, 'double' or 'float'
    :param constants: numbers that the header defines, by name in capitals
    :param notes: lines of the comment at the head of the header
    :raises ValueError: for an invalid name in C, or an unknown precision
    """
    functions = {
        each: c99.function(program, f'{name}_{each}', precision)
        for each, program in programs.items()
    }
    header = f'{name}.h'
    files = {header: _header(functions, name, precision, constants, notes)}
    for each, function in functions.items():
        # With the header, the compiler checks the prototype.
        files[f'{name}_{each}.c'] = f'#include "{header}"\n{function.source}'
    files['CMakeLists.txt'] = _cmake(name, [file for file in files if file.endswith('.c')])
    return files


def library_name(text: str) -> str:
    """Return an identifier of C similar to a text: letters, digits and underscores."""
    found = re.sub(r'\W+', '_', text, flags=re.ASCII).strip('_').lower()
    return found if found[:1].isalpha() else f'robot_{found}'.rstrip('_')


def _header(
    functions: Mapping[str, c99.Function],
    name: str,
    precision: str,
    constants: Mapping[str, int],
    notes: Sequence[str],
) -> str:
    guard, capitals = f'{name}_H'.upper(), name.upper()
    # Names of joints may contain anything.
    comment = '\n'.join(f' * {note}'.rstrip() for note in notes).replace('*/', '* /')
    lines = ['/*', *comment.splitlines(), ' */', f'#ifndef {guard}', f'#define {guard}', '']
    lines += [f'#define {capitals}_{key} {value}' for key, value in constants.items()]
    lines += ['', '#ifdef __cplusplus', 'extern "C" {', '#endif', '']
    for function in functions.values():
        note = f' * Stack: at most {function.stack} bytes.\n */'
        # The comment ends before the prototype.
        lines.append(function.declaration.replace(' */', note, 1))
    lines += ['#ifdef __cplusplus', '}', '#endif', '', f'#endif /* {guard} */', '']
    return '\n'.join(lines)


def _cmake(name: str, sources: Sequence[str]) -> str:
    return f"""\
cmake_minimum_required(VERSION 3.5)
project({name} C)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library({name} STATIC
  {(chr(10) + '  ').join(sources)}
)
set_target_properties({name} PROPERTIES C_STANDARD 99 POSITION_INDEPENDENT_CODE ON)
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(UNIX)
  target_link_libraries({name} PUBLIC m)
endif()
"""
