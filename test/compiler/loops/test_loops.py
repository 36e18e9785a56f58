# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Entry points: compilation, arguments, and caching.

Their language is tested in test_loop_language.py and test_loop_compile_errors.py.
"""

import math
from pathlib import Path
import re
from typing import Callable, NamedTuple

import numpy as np
import pytest
from support import fresh_python

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import (
    allocate,
    call_loop,
    compiled,
    entry_point,
    entry_point_of,
    floats,
    integers,
    interpreted_reason,
    load_f64,
    load_i64,
    NamedFunction,
    Record,
    simd_range,
    stack_array,
    stack_matrix,
    view,
)
from rbd_ros.compiler.loops.sources import digest


class Numbers(NamedTuple):
    scale: float
    count: int
    values: np.ndarray
    table: np.ndarray


class Nested(NamedTuple):
    inner: Numbers
    places: np.ndarray


@entry_point
def gather(nested: Nested, data: bytes, size: int, factor: float) -> int:
    """Put numbers of all kinds together; every kind of access that loops use."""
    inner = nested.inner
    a, b = stack_array(3), stack_matrix(2, 2)
    for k in range(3):
        a[k] = load_f64(data, nested.places[k])
    for r in range(2):
        for c in range(2):
            b[r, c] = inner.table[r, c] * a[r + c if r + c < 3 else 2]
    for k in range(len(inner.values)):
        inner.values[k] = factor * inner.scale * a[k % 3] + b[k % 2, 1]
    return load_i64(data, size - 8) + inner.count


DATA = b'\1\2\3' + np.array([1.5, -2.0, 1e300]).tobytes() + np.array([12], np.int64).tobytes()


def arguments():
    inner = Numbers(0.5, 7, np.zeros(5), np.array([[1.0, 2.0], [3.0, 4.0]]))
    return inner, Record(Nested(inner, np.array([3, 11, 19])))


def expected():
    """Return what the text says, by the interpreter."""
    inner, record = arguments()
    result = gather.function(record.fields, DATA, len(DATA), 2.0)
    return result, inner.values


class Scale(NamedTuple):
    factor: float


@entry_point
def count_and_add(scale: Scale, first: FloatArray, count: int, second: FloatArray) -> int:
    """Return the lengths of two arrays, and their weighted sum where there is one."""
    total = 0.0
    for k in range(len(first)):
        total += scale.factor * first[k]
    for k in range(len(second)):
        total += second[k]
    return 1_000_000 * len(first) + 1000 * len(second) + count * int(total)


@pytest.mark.parametrize('release_gil', [True, False])
def test_arrays_are_passed_by_address_and_length(release_gil):
    assert interpreted_reason() is None
    bound = count_and_add.bind(Record(Scale(2.0)), release_gil=release_gil)
    first, second = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0])
    assert bound(first, 3, second) == 3_002_000 + 3 * 42
    assert bound(np.empty(0), 1, second) == 2_030
    # Rejected by their length, before anything of them is read.
    column_of_both = np.arange(6.0).reshape(3, 2)[:, 0]
    strange = ([1.0, 2.0], 3.5, None, first.astype(np.float32), first[:, None], column_of_both)
    for odd in (*strange, np.float64(3.0), first.astype('>f8')):
        if not release_gil or isinstance(odd, np.ndarray):
            assert bound(odd, 1, second) == -1_000_000 + 2_030
            assert bound(first, 1, odd) == 3_000_000 - 1000 + 12


@pytest.mark.parametrize('release_gil', [True, False])
def test_machine_code_agrees_with_the_interpreter(release_gil, caplog):
    assert interpreted_reason() is None
    inner, record = arguments()
    result = gather.bind(record, release_gil=release_gil)(DATA, len(DATA), 2.0)
    printed, values = expected()
    assert result == printed == 19
    np.testing.assert_array_equal(inner.values, values)
    assert not caplog.records  # which would tell that it is interpreted


def test_a_bound_call_keeps_its_record_alive():
    inner, record = arguments()
    bound = gather.bind(record, release_gil=False)
    del record
    for _ in range(100):
        np.ones(64)
        arguments()
    assert bound(DATA, len(DATA), 2.0) == 19 and inner.values[0] == expected()[1][0]


@pytest.mark.parametrize('wrong', [(), (DATA,), ('text', 3, 2.0), (DATA, 'three', 2.0)])
def test_wrong_arguments_raise(wrong):
    with pytest.raises((SystemError, TypeError)):
        gather.bind(arguments()[1], release_gil=False)(*wrong)


@entry_point
def scaled_sum(numbers: Numbers, places: Nested, factor: float, more: int) -> int:
    """Return an entry point of two records, a float and an integer."""
    for k in range(len(numbers.values)):
        numbers.values[k] = factor * numbers.scale + places.inner.values[k] + more
    return len(places.places) + numbers.count


class Caller(NamedTuple):
    address: int
    numbers: Numbers
    places: Nested


@entry_point
def call_by_address(caller: Caller, factor: float) -> int:
    return call_loop(caller.address, caller.numbers, caller.places, factor, caller.numbers.count)


@pytest.mark.parametrize('by_machine_code', [False, True])
def test_an_entry_point_is_called_by_its_address_with_records_and_numbers(by_machine_code):
    inner, record = arguments()
    mine = inner._replace(values=np.zeros(5))
    inner.values[:] = range(5)
    address = scaled_sum.address(Record(mine), record)
    caller = Caller(address, mine, record.fields)
    run = call_by_address if by_machine_code else call_by_address.function
    assert run(Record(caller) if by_machine_code else caller, 3.0) == 3 + 7
    assert mine.values.tolist() == [8.5, 9.5, 10.5, 11.5, 12.5]


def test_no_loop_is_written_out_for_rounds_that_are_not_known():
    # Here, so that importers of this file have no compiler.
    from rbd_ros.compiler.targets.llvm_loops.translation import module_text

    text = module_text(gather.function, [arguments()[1].kind], gather.numbers)
    # Each back edge has a metadata node for it.
    loops = re.findall(r'br label %\w+, !llvm.loop (!\d+)', text)
    assert len(loops) == len(set(loops)) == 4
    for node in loops:
        assert f'{node} = distinct !{{{node}, !1, !2}}' in text
    assert '!1 = !{!"llvm.loop.unroll.runtime.disable"}' in text


@entry_point
def add_rows(inner: Numbers, count: int) -> int:
    """Return the loops side by side, in a loop that is not."""
    for _ in range(count):
        for k in simd_range(count):
            inner.values[k] += 0.5
        for k in range(count):
            inner.values[k] *= 2.0
    return 0


def test_loops_run_in_vectors_where_they_say_so_alone():
    from rbd_ros.compiler.runtime import native
    from rbd_ros.compiler.targets.llvm_loops import translation

    inner, _ = arguments()
    kinds = [Record(inner).kind]
    text = translation.module_text(add_rows.function, kinds, add_rows.numbers)
    loops = re.findall(r'br label %\w+, !llvm.loop (!\d+)', text)
    assert len(loops) == len(set(loops)) == 3
    barred = [node for node in loops if f'{node} = distinct !{{{node}, !1, !2}}' in text]
    assert len(barred) == 2
    assert '!2 = !{!"llvm.loop.vectorize.enable", i1 false}' in text
    with native.compile_lock:
        module, target = translation.llvm.parse_assembly(text), native.new_target(3)
        module.triple, module.data_layout = target.triple, str(target.target_data)
        translation._optimize(module, target, 1)
    # Sums of some at once, products one by one.
    assert re.search(r'fadd <\d+ x double>', str(module))
    assert 'fmul double' in str(module) and not re.search(r'fmul <\d+ x double>', str(module))


@entry_point
def sines(inner: Numbers) -> int:
    for k in simd_range(len(inner.values)):
        inner.values[k] = math.sin(inner.values[k])
    return 0


@pytest.mark.parametrize('optimization', ['0', '1'])
def test_llvm_says_nothing_of_a_loop_that_cannot_run_in_vectors(optimization):
    code = """
import numpy as np
import test_loops
inner = test_loops.arguments()[0]
inner.values[:] = 0.5
test_loops.sines(test_loops.Record(inner))
print(np.array_equal(inner.values, [0.479425538604203] * 5))
"""
    done = fresh_python.run(
        f'import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}){code}',
        RBD_ROS_CACHE_DIR='off',
        RBD_ROS_OPTIMIZATION=optimization,
    )
    assert (done.stdout, done.stderr) == ('True\n', '')


COMPILER = 'rbd_ros.compiler.targets.llvm_loops.translation'
GATHER = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_loops
inner, record = test_loops.arguments()
bound = test_loops.gather.bind(record, release_gil=False)
print(bound(test_loops.DATA, len(test_loops.DATA), 2.0), inner.values.tolist())
print(type(bound).__name__, sorted({{{COMPILER!r}, 'numba', 'scipy'}} & set(sys.modules)))
"""


def test_a_loop_on_disk_needs_no_compiler_unless_it_is_damaged(tmp_path):
    result, values = expected()
    for damage, compilers in ((False, [COMPILER]), (False, []), (True, [COMPILER])):
        for entry in tmp_path.glob('gather-loop-*') if damage else ():
            entry.write_bytes(entry.read_bytes()[:-1000])
        done = fresh_python.run(GATHER, RBD_ROS_CACHE_DIR=tmp_path)
        printed = f'{result} {values.tolist()}\nbuiltin_function_or_method {compilers}\n'
        assert done.stdout == printed
        assert not done.stderr
        assert len(list(tmp_path.glob('gather-loop-*'))) == 1


TIMER = 'rbd_ros.nodes.common.cycle_timer'
NAMED = f"""
import sys
from typing import NamedTuple
import numpy as np
from rbd_ros.compiler.loops import allocate, entry_point_of, floats, Record

class CycleMemory(NamedTuple):  # as the module has it
    execution: np.ndarray = floats(5)
    period: np.ndarray = floats(5)
    taken: np.ndarray = floats(10)
    begin: np.ndarray = floats(1)
    longest: np.ndarray = floats(1)
    overruns: np.ndarray = floats(1)

memory = allocate(CycleMemory)
note = entry_point_of({TIMER!r}, 'note')
bound = note.bind(Record(memory), release_gil=False)
print(bound(1.0, 3.5), note(Record(memory), 4.0, 5.0), memory.execution.tolist())
print(sorted({{{COMPILER!r}, {TIMER!r}}} & set(sys.modules)))
"""
NOTED = '0 0 [2.0, 1.75, 1.125, 1.0, 2.5]'


def test_a_loop_named_by_its_module_imports_it_only_where_it_is_not_on_disk(tmp_path):
    for damaged, imported in (
        ('', [COMPILER, TIMER]),
        ('', []),
        ('note-place-*', [TIMER]),
        ('', []),
        ('note-loop-*', [COMPILER, TIMER]),
    ):
        for entry in tmp_path.glob(damaged) if damaged else ():
            entry.write_bytes(entry.read_bytes()[:-10])
        done = fresh_python.run(NAMED, RBD_ROS_CACHE_DIR=tmp_path)
        assert (done.stdout, done.stderr) == (f'{NOTED}\n{imported}\n', '')


def test_a_loop_named_by_its_module_runs_in_the_interpreter():
    done = fresh_python.run(NAMED, RBD_ROS_COMPILER='off', RBD_ROS_CACHE_DIR='off')
    assert done.stdout == f'{NOTED}\n{[TIMER]}\n'


def test_a_loop_is_named_by_a_module_whose_text_is_known():
    with pytest.raises(ValueError, match="'elsewhere.loops' is not a module of rbd_ros"):
        entry_point_of('elsewhere.loops', 'run')


FAILING = """
from rbd_ros.compiler.targets.llvm_loops import translation

def _optimize(module, target, level):
    raise RuntimeError('LLVM is broken')

translation._optimize = _optimize
"""


def test_where_llvm_fails_loops_run_in_the_interpreter_and_say_so():
    done = fresh_python.run(FAILING + GATHER, RBD_ROS_CACHE_DIR='off')
    result, values = expected()
    assert done.stdout.splitlines()[0] == f'{result} {values.tolist()}'
    assert 'gather cannot be compiled, and is slow' in done.stderr
    assert 'LLVM is broken' in done.stderr


REJECTED = """
import sys
from rbd_ros import Robot, Simulator
from rbd_ros.compiler.loops import entry_points

for kind in (entry_points.EntryPoint, entry_points._NamedEntryPoint):
    def load(self, kinds, load=kind._load):
        return None if self.__name__ == sys.argv[1] else load(self, kinds)
    kind._load = load
ball = {'type': 'sphere', 'radius': 0.1, 'xyz': [2, 0, 0.0995], 'static': False, 'mass': 1.0}
world = {'objects': {'floor': {'type': 'plane'}, 'ball': ball}}
simulator = Simulator(Robot.from_urdf('urdf/two_link_arm.urdf'), world=world)
for _ in range(5):
    simulator.step([5.0, 5.0])
print(entry_points.interpreted_reason())
print(simulator.q.tolist(), simulator.object_pose('ball')[:3, 3].tolist())
"""


@pytest.mark.parametrize('rejected', ['advance', 'scene_contacts_of'])
def test_a_simulation_goes_to_the_interpreter_with_a_loop_that_machine_code_would_call(rejected):
    """A loop that cannot be compiled has no address: machine code that called it would crash."""
    reason, states = fresh_python.run(REJECTED, rejected).stdout.splitlines()
    assert reason == f'{rejected} cannot be compiled'
    assert ['None', states] == fresh_python.run(REJECTED, 'nothing').stdout.splitlines()


def test_no_place_on_disk_is_needed():
    assert not fresh_python.run(GATHER, RBD_ROS_CACHE_DIR='off').stderr


MEMORY = """
import re
from rbd_ros.robot import release_memory
from support.simulated_robots import turntable
from rbd_ros import Simulator

def resident():
    return int(re.search(r'VmRSS:\\s+(\\d+)', open('/proc/self/status').read())[1])

s = Simulator(turntable())
before = resident()
release_memory()
after = resident()
s.step([0.1], 10)
r = turntable(inertia=0.3171)  # compiled after it
assert abs(r.mass_matrix([0.0])[0, 0] - 0.3171) < 1e-12
print(before, after)
"""


def test_memory_of_the_compiler_is_given_back_and_the_compiler_still_works():
    before, after = map(int, fresh_python.run(MEMORY).stdout.split())
    assert after < before - 20_000  # [KiB]; it is some 60 000


class Choice(NamedTuple):
    flag: bool
    values: np.ndarray


@compiled
def of_texts(values: np.ndarray) -> float:
    """Return what only the interpreter can do."""
    return sum(float(str(value)) for value in values)


@entry_point
def choose(choice: Choice, number: int) -> int:
    """Compile only the branch that the record's bool takes."""
    if choice.flag and number >= 0:
        choice.values[0] = min(number, 3, 7) + max(0.5, choice.values[1])
    if not choice.flag:
        return int(of_texts(choice.values))
    total = 0
    for k in range(number, 0, -2):
        if k == 4:
            continue
        total += k
    return total


def test_a_bool_selects_the_compiled_branch(caplog):
    values = np.array([0.0, 0.25])
    bound = choose.bind(Record(Choice(True, values)))
    assert [bound(n) for n in (8, 5, 0)] == [
        choose.function(Choice(True, values), n) for n in (8, 5, 0)
    ]
    assert bound(8) == 8 + 6 + 2 and values[0] == 3.5
    assert not caplog.records  # which would tell that it is interpreted
    assert choose.bind(Record(Choice(False, values)))(1) == 3  # nor can it be compiled
    assert 'choose cannot be compiled, and is slow' in caplog.text


class Sum(NamedTuple):
    term: Callable[[int], int]


@compiled
def square(k: int) -> int:
    """Return the square."""
    return k**2


@compiled
def cube(k: int) -> int:
    """Return the third power."""
    return k**3


@entry_point
def add_up(terms: Sum, count: int) -> int:
    """Return a sum of terms."""
    total = 0
    for k in range(count):
        total += terms.term(k)
    return total


def test_a_function_of_a_record_is_called_and_is_a_part_of_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv('RBD_ROS_CACHE_DIR', str(tmp_path))
    named = NamedFunction(__name__, 'square')
    for term, total, files in ((square, 14, 1), (cube, 36, 2), (square, 14, 2), (named, 14, 2)):
        loop = entry_point(add_up.function)  # which knows none that was loaded
        assert loop.bind(Record(Sum(term)))(4) == loop.function(Sum(term), 4) == total
        assert len(list(tmp_path.rglob('*.o'))) == files


def with_text(text, **names):
    """Return the entry point and helper of a source text, as if from a separate file."""
    made = {'__name__': 'somewhere', 'compiled': compiled, **names}
    exec(compile(text, 'somewhere.py', 'exec'), made)
    return made['top']


TOP = """
LIMIT = 3
def helper(x):
    '''Says.'''
    return x + LIMIT
def top(x):
    return helper(x)
"""


@pytest.mark.parametrize(
    ('old', 'new', 'matters'),
    [
        ('Says.', 'Says it in other words.', False),
        ('def top', '# a comment\n\n\ndef top', False),
        ('def top', 'def other(x):\n    return 7\ndef top', False),
        ('x + LIMIT', 'x - LIMIT', True),
        ('LIMIT = 3', 'LIMIT = 4', True),
        ('return helper(x)', 'return helper(x) + 1', True),
    ],
)
def test_machine_code_depends_on_the_computation_alone(old, new, matters):
    changed = TOP.replace(old, new)
    assert changed != TOP
    same = digest(with_text(TOP)) == digest(with_text(changed))
    assert same == (not matters)


@pytest.mark.parametrize(('new', 'matters'), [('x + 1', True), ('x  +  0', False)])
def test_machine_code_depends_on_the_content_of_comprehensions_not_on_their_place(new, matters):
    text = 'def top(x):\n    return [x + 0 for _ in range(3)]\n'
    assert (digest(with_text(text)) != digest(with_text(text.replace('x + 0', new)))) == matters


@pytest.mark.parametrize(('new', 'matters'), [('x + 1', True), ('x  +  0', False)])
def test_machine_code_depends_on_compiled_functions_of_other_packages(new, matters):
    text = 'def helper(x):\n    return x + 0\n'
    helpers = []
    for each in (text, text.replace('x + 0', new)):
        made = {'__name__': 'elsewhere'}
        exec(compile(each, 'elsewhere.py', 'exec'), made)
        helpers.append(compiled(made['helper']))
    top = 'def top(x):\n    return helper(x)\n'
    first, second = (digest(with_text(top, helper=each)) for each in helpers)
    assert (first != second) == matters


class Parts(NamedTuple):
    packed: np.ndarray = view()
    first: np.ndarray = floats('n', within='packed')
    second: np.ndarray = floats(2, 'n', within='packed')
    apart: np.ndarray = integers('n', 3)


class Whole(NamedTuple):
    parts: Parts = Parts


def test_arrays_have_the_shapes_that_are_declared_beside_them():
    parts = allocate(Whole, n=4).parts
    assert parts.packed.shape == (12,) and parts.apart.shape == (4, 3)
    assert parts.apart.dtype == np.int64
    parts.first[:], parts.second[:] = 1.0, [[2.0], [3.0]]
    np.testing.assert_array_equal(parts.packed, np.repeat([1.0, 2.0, 3.0], 4))
    Record(parts)  # contiguous, all of them


def test_a_file_may_declare_its_functions_seldom_run(monkeypatch):
    from rbd_ros.compiler.targets.llvm_loops.translation import module_text

    _, record = arguments()
    kinds, numbers = (record.kind,), ('bytes', 'int', 'float')
    often, known = module_text(gather.function, kinds, numbers), digest(gather.function)
    monkeypatch.setitem(gather.function.__globals__, 'SELDOM', True)
    seldom = module_text(gather.function, kinds, numbers)
    assert 'optsize' not in often and 'optsize' in seldom
    assert seldom.replace(' optsize', '').split() == often.split()
    assert digest(gather.function) != known


def test_the_first_loop_of_the_page_runs(tmp_path):
    page = Path(__file__).parents[3] / 'docs' / 'loop_language.md'
    (tmp_path / 'first_loop.py').write_text(
        re.search(r'```python\n(.*?)```', page.read_text(), re.S)[1]
    )
    done = fresh_python.run(
        f'import sys; sys.path.insert(0, {str(tmp_path)!r}); import first_loop'
    )
    assert (done.stdout, done.stderr) == ('1 [20.  0.]\n', '')
