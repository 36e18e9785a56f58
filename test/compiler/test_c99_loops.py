"""Loops as C99: each construct does in C what it does in the interpreter, without a warning."""

import ctypes
import shutil
import subprocess
from typing import NamedTuple

import numpy as np
import pytest
from test_loop_language import arguments, bits, EXAMPLES, make_data

from rbd_ros.compiler.loops import compiled
from rbd_ros.compiler.targets.c99_loops import loop_module

COMPILERS = [name for name in ('gcc', 'clang') if shutil.which(name)]
STRICT = ['-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror']
HEAD = '#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n'

pytestmark = pytest.mark.skipif(not COMPILERS, reason='there is no C compiler: gcc, clang')


def build(folder, function, record, numbers=(), constants=(), kernels=None, compiler=None):
    """Function of C that takes the address of a struct and numbers; its layout of arrays."""
    known = kernels or {}
    module = loop_module([(function, numbers)], record, constants, lambda k: known[k][0])
    names = {int: 'int64_t', float: 'double'}
    given = ''.join(f', {names[kind]} n{k}' for k, kind in enumerate(numbers))
    passed = ''.join(f', n{k}' for k in range(len(numbers)))
    struct = f'struct {module.record}'
    places = [f'case {k}: return w->{place};' for k, place in enumerate(module.places.values())]
    text = '\n'.join(
        [
            HEAD,
            module.structs,
            *(text for _, text in known.values()),
            module.source,
            f'int64_t go({struct} *w{given});\nvoid *place({struct} *w, int k);\nlong size(void);',
            f'int64_t go({struct} *w{given}) {{ return {module.entries[0]}(w{passed}); }}',
            f'long size(void) {{ return (long)sizeof({struct}); }}',
            f'void *place({struct} *w, int k) {{ switch (k) {{ {" ".join(places)} }} return w; }}',
            '',
        ]
    )
    source, target = folder / 'it.c', folder / 'it.so'
    source.write_text(text, encoding='utf-8')
    command = [compiler or COMPILERS[0], *STRICT, '-O2', '-fwrapv', '-ffp-contract=off']
    subprocess.run([*command, '-shared', '-fPIC', '-o', target, source, '-lm'], check=True)
    library = ctypes.CDLL(str(target))
    library.go.restype, library.size.restype = ctypes.c_int64, ctypes.c_long
    library.place.restype = ctypes.c_void_p
    memory = ctypes.create_string_buffer(library.size())
    kinds = {int: ctypes.c_int64, float: ctypes.c_double}
    library.go.argtypes = [ctypes.c_void_p, *(kinds[each] for each in numbers)]

    def call(arrays, *given):
        """Copy arrays, by their names, into the struct, run, and copy them back."""
        at = {name: library.place(memory, k) for k, name in enumerate(module.places)}
        for name, array in arrays.items():
            ctypes.memmove(at[name], array.ctypes.data, array.nbytes)
        result = library.go(ctypes.addressof(memory), *given)
        for name, array in arrays.items():
            ctypes.memmove(array.ctypes.data, at[name], array.nbytes)
        return result

    return call, module, text


@pytest.mark.parametrize('compiler', COMPILERS)
@pytest.mark.parametrize('example', EXAMPLES, ids=lambda each: each.__name__)
@pytest.mark.filterwarnings('ignore::RuntimeWarning')
def test_each_construct_does_what_the_interpreter_does(tmp_path, example, compiler):
    mine, its = make_data(0), make_data(0)
    kinds = (float, float, int, int)
    call, _, _ = build(tmp_path, example.function, its, kinds, compiler=compiler)
    arrays = {name: getattr(its, name) for name in its._fields[:6]}
    arrays['inner.weights'] = its.inner.weights
    for seed, given in enumerate(arguments()):
        for data in (mine, its):
            for array, fresh in zip(data[:6], make_data(seed)[:6]):
                array[:] = fresh
        wanted = example.function(mine, *given)
        assert call(arrays, *given) == wanted, given
        assert bits(its) == bits(mine), given
