# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""LLVM text with typed pointers: its content, and consistent types in all compiled code."""

import re

import pytest
from support.programs import program

from rbd_ros.compiler import Graph, Output
from rbd_ros.compiler.runtime import call_routine, kernel_builtin, loop_builtin
from rbd_ros.compiler.targets.llvm import kernel_functions, straight_line
from rbd_ros.compiler.targets.llvm.typed_pointers import lower
from rbd_ros.spatial.scalar import cos, sin, sqrt, where_positive

FORMS = {
    '%v = getelementptr double, ptr %in, i64 3': [
        '%typed.1 = bitcast i8* %in to double*',
        '%typed.2 = getelementptr double, double* %typed.1, i64 3',
        '%v = bitcast double* %typed.2 to i8*',
    ],
    '%v = getelementptr inbounds i8, ptr %in, i64 %k': [
        '%v = getelementptr inbounds i8, i8* %in, i64 %k'
    ],
    '%v = getelementptr [4 x <2 x double>], ptr %in, i64 0, i64 %k': [
        '%typed.1 = bitcast i8* %in to [4 x <2 x double>]*',
        '%typed.2 = getelementptr [4 x <2 x double>], [4 x <2 x double>]* %typed.1, i64 0, i64 %k',
        '%v = bitcast <2 x double>* %typed.2 to i8*',
    ],
    '%v = getelementptr {i32, [2 x i64]}, ptr %in, i64 0, i32 1, i64 %k': [
        '%typed.1 = bitcast i8* %in to {i32, [2 x i64]}*',
        '%typed.2 = getelementptr {i32, [2 x i64]}, {i32, [2 x i64]}* %typed.1, i64 0, i32 1, '
        'i64 %k',
        '%v = bitcast i64* %typed.2 to i8*',
    ],
    '%v = load <2 x double>, ptr %in, align 8': [
        '%typed.1 = bitcast i8* %in to <2 x double>*',
        '%v = load <2 x double>, <2 x double>* %typed.1, align 8',
    ],
    '%v = load atomic i64, ptr %in monotonic, align 8': [
        '%typed.1 = bitcast i8* %in to i64*',
        '%v = load atomic i64, i64* %typed.1 monotonic, align 8',
    ],
    '%v = load ptr, ptr @table': [
        '%v = load i8*, i8** bitcast ([2 x i8*]* @table to i8**)',
    ],
    'store ptr %in, ptr %out, align 8, !nontemporal !0': [
        '%typed.1 = bitcast i8* %out to i8**',
        'store i8* %in, i8** %typed.1, align 8, !nontemporal !0',
    ],
    '%r = atomicrmw add ptr %out, i64 8 monotonic': [
        '%typed.1 = bitcast i8* %out to i64*',
        '%r = atomicrmw add i64* %typed.1, i64 8 monotonic',
    ],
    'store <2 x double> <double 0.0, double 1.0>, ptr %out': [
        '%typed.1 = bitcast i8* %out to <2 x double>*',
        'store <2 x double> <double 0.0, double 1.0>, <2 x double>* %typed.1',
    ],
    '%v = alloca <4 x double>, i64 7, align 32': [
        '%typed.1 = alloca <4 x double>, i64 7, align 32',
        '%v = bitcast <4 x double>* %typed.1 to i8*',
    ],
    '%v = call double %f(ptr null, i32 0, <2 x double> %b)': [
        '%typed.1 = bitcast i8* %f to double (i8*, i32, <2 x double>)*',
        '%v = call double %typed.1(i8* null, i32 0, <2 x double> %b)',
    ],
    'tail call void @helper(ptr @table, ptr @helper, i64 1) nounwind': [
        'tail call void @helper(i8* bitcast ([2 x i8*]* @table to i8*), '
        'i8* bitcast (void (i8*, i8*, i64)* @helper to i8*), i64 1) nounwind',
    ],
    'call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %in, i64 8, i1 false)': [
        'call void @llvm.memcpy.p0i8.p0i8.i64(i8* %out, i8* %in, i64 8, i1 false)',
    ],
    '%v = icmp eq ptr %in, @table': ['%v = icmp eq i8* %in, bitcast ([2 x i8*]* @table to i8*)'],
    '%v = phi ptr [ null, %a ], [ %in, %b ]': ['%v = phi i8* [ null, %a ], [ %in, %b ]'],
    '%v = select i1 %c, ptr %in, ptr %out': ['%v = select i1 %c, i8* %in, i8* %out'],
    '%v = ptrtoint ptr %in to i64': ['%v = ptrtoint i8* %in to i64'],
    '%v = inttoptr i64 %c to ptr': ['%v = inttoptr i64 %c to i8*'],
    '%v = insertelement <2 x double> poison, double %ptr, i64 0': [
        '%v = insertelement <2 x double> undef, double %ptr, i64 0'
    ],
    'switch i32 %c, label %done [ i32 0, label %a ]': [
        'switch i32 %c, label %done [ i32 0, label %a ]'
    ],
    '%v = phi ptr [ @table, %a ], [ %in, %b ]': [
        '%v = phi i8* [ bitcast ([2 x i8*]* @table to i8*), %a ], [ %in, %b ]'
    ],
    '%v = load double, ptr %in, align 8, !invariant.load !0': [
        '%typed.1 = bitcast i8* %in to double*',
        '%v = load double, double* %typed.1, align 8, !invariant.load !0',
    ],
    '%v = fadd contract double %a, %b': ['%v = fadd contract double %a, %b'],
    'call void %f()': ['%typed.1 = bitcast i8* %f to void ()*', 'call void %typed.1()'],
}
KIND = r'(?:i\d+|double|<\d+ x \w+>|\[\d+ x \S+\])'
MODULE = """@table = internal global [2 x ptr] zeroinitializer, align 8
declare void @helper(ptr noalias, ptr, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define ptr @function(ptr noalias readonly %in, ptr %out) nounwind {{
  {}
  ret ptr %in
}}
"""


def body(text):
    lines = [line.strip() for line in lower(text).splitlines()]
    return lines[lines.index(next(x for x in lines if x.startswith('define'))) + 1 : -2]


@pytest.mark.parametrize('line', FORMS)
def test_a_form_of_instruction_is_written_with_typed_pointers(line):
    assert body(MODULE.format(line)) == FORMS[line]


def test_heads_and_globals_are_written_with_typed_pointers():
    lines = lower(MODULE.format('%c = fneg double 0.0')).splitlines()
    assert lines[:4] == [
        '@table = internal global [2 x i8*] zeroinitializer, align 8',
        'declare void @helper(i8* noalias, i8*, i64)',
        'declare void @llvm.memcpy.p0i8.p0i8.i64(i8*, i8*, i64, i1)',
        'define i8* @function(i8* noalias readonly %in, i8* %out) nounwind {',
    ]
    assert lines[-2:] == ['  ret i8* %in', '}']


def test_an_instruction_over_several_lines_is_read_as_one():
    text = MODULE.format('%v = call double %f(ptr %in,\n      ptr null)')
    assert body(text)[-1] == '%v = call double %typed.1(i8* %in, i8* null)'


def test_a_pointer_made_with_a_type_is_used_with_it():
    text = MODULE.format('%p = getelementptr double, ptr %in, i64 3\n  store double 0.0, ptr %p')
    assert body(text)[-1] == 'store double 0.0, double* %typed.2'


def test_names_of_one_function_mean_nothing_in_the_next():
    function = 'define void @{}(ptr %p) {{\n{}  store double 0.0, ptr %{}\n  ret void\n}}\n'
    first = function.format('f', '  %q = getelementptr double, ptr %p, i64 1\n', 'q')
    second = function.format('g', '', 'p').replace('%p', '%q')
    check_types(lower(first + second))


@pytest.mark.parametrize(
    'line',
    [
        '%v = cmpxchg ptr %in, i64 0, i64 1 seq_cst seq_cst',
        '%v = load volatile double, ptr %in',
        '%v = load double, ptr getelementptr (double, ptr @table, i64 1)',
        '%v = getelementptr %struct, ptr %in, i64 0, i32 1',
        '%v = getelementptr double, <2 x ptr> %in, i64 1',
        '%v = extractelement <2 x ptr> %in, i64 1',
        '%v = call i64 @llvm.smax.i64(i64 1, i64 2)',
        '%v = call double @undeclared(double 0.0)',
        'store double 0.0, ptr @unknown',
        '%r = atomicrmw add ptr %out, double 1.0 monotonic',
        'musttail call void @helper(ptr %in, ptr %in, i64 1)',
    ],
)
def test_another_form_is_rejected_with_its_line(line):
    text = MODULE.format(line) + 'declare i64 @llvm.smax.i64(i64, i64)\n' * ('smax' in line)
    with pytest.raises(ValueError, match='unknown form of LLVM text') as error:
        lower(text)
    quoted = re.search(r'@llvm.smax.i64|' + re.escape(line.split('ptr')[0]), str(error.value))
    assert quoted


def check_types(text):
    """Assert that each pointer is used with the type that it was made with; count the uses."""
    types, uses = {}, 0
    assert not re.search(r'(?<![%\w])(?:ptr|poison)\b', text)
    for line in text.splitlines():
        if line.startswith('define'):
            types = {name: kind for kind, name in re.findall(r'(i8\*)[ \w]* (%\w+)', line)}
            continue
        for kind, name in re.findall(rf'({KIND}\*+) (%[\w.]+)(?![\w.(])', line):
            assert types[name] == kind, line
            uses += 1
        called = re.search(rf'call ({KIND}\**) (%[\w.]+)\((.*)\)', line)
        if called:
            arguments = ', '.join(re.findall(rf'(?:^|, )({KIND}\**) ', called[3]))
            assert types[called[2]] == f'{called[1]} ({arguments})*', line
        made = re.match(rf'  (%[\w.]+) = (?:tail )?(\w+) ({KIND}\**)?', line)
        if made:
            name, operation, kind = made.groups()
            if operation == 'bitcast':
                kind = line.rsplit(' to ', 1)[1]
            elif operation == 'select':
                kind = line.split(', ')[1].split()[0]
            types[name] = f'{kind}*' if operation in ('getelementptr', 'alloca') else kind
    return uses


def everything(size):
    """Return a graph with every operation, and as many values of it."""
    graph = Graph()
    x, y = graph.inputs('x', 2), graph.inputs('y', 3)
    total = sqrt(x[0] * x[0] + 1) / y[1] + where_positive(y[0], sin(x[1]), cos(y[2] - x[0]))
    outputs = []
    for k in range(size):
        total = total * y[k % 3] + sin(total) * x[k % 2]
        outputs.append(total)
    return graph, outputs


SPLITS = {  # into arrays and numbers, and how the result of one state is declared
    'a number': lambda x: ([x[:1]], [Output('first', ())]),
    'an array': lambda x: ([x], [Output('all', (len(x),))]),
    'several': lambda x: (
        [x[:1], x[1:]],
        [Output('first', ()), Output('others', (1, len(x) - 1))],
    ),
}


def check_kernel(size, lanes, split):
    graph, results = everything(size)
    arrays, outputs = SPLITS[split](results)
    what = program(graph, *arrays)
    if lanes == 1:
        text, declarations = kernel_functions.core_function(what)
        text += kernel_builtin.builtin_function(what.inputs, outputs)
    else:
        text, declarations = kernel_functions.batch_function(what, lanes)
    assert check_types(lower('\n'.join([text, *declarations]))) > 10
    return text


@pytest.mark.parametrize('split', SPLITS)
@pytest.mark.parametrize('size', [2, 3, 300])  # the last in several parts, and moved in loops
@pytest.mark.parametrize('lanes', [1, 2, 4, 8])
def test_types_agree_in_the_code_of_kernels(size, lanes, split):
    check_kernel(size, lanes, split)


@pytest.mark.parametrize('split', SPLITS)
@pytest.mark.parametrize('lanes', [1, 2, 8])
def test_types_agree_in_loops_over_tables(lanes, split, monkeypatch):
    monkeypatch.setattr(straight_line, '_MANY_MORE_NODES', -1)
    text = check_kernel(30, lanes, split)
    assert 'switch' in text and 'phi ptr [ @' in text


def test_types_agree_in_parts_that_are_not_optimized(monkeypatch):
    monkeypatch.setattr(straight_line, '_HURRIED_NODES', -1)
    assert 'optnone' in check_kernel(300, 2, 'an array')


def test_types_agree_in_the_code_that_does_calls():
    assert check_types(lower(call_routine.text())) > 100


@pytest.mark.parametrize('numbers', [(), ('int',), ('bytes', 'float', 'int')])
def test_types_agree_in_the_code_that_calls_loops(numbers):
    parameters = ', '.join(['i64', 'i64', *('double' if n == 'float' else 'i64' for n in numbers)])
    text = loop_builtin.loop_function(2, numbers) + f'declare i64 @entry({parameters})\n'
    assert check_types(lower(text)) > 5
