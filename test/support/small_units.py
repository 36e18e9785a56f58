# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Small FMUs of FMI 2.0 and 3.0, written and compiled for a test.

A variable is a number in an array `x`; a step is C code that changes it, with `t` and `h` for time
and length of the step, and `FAIL("...")` to reject it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import re
import shutil
import subprocess
import zipfile

from rbd_ros.fmi import interface

COMPILER = shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')


@dataclass(frozen=True)
class Number:
    """A variable of an FMU."""

    name: str
    causality: str = 'output'
    start: float = 0.0
    kind: str = 'Real'  # or Integer
    maximum: float | None = None


def numbers(pattern, joints, causality, **options):
    """Return one variable per joint."""
    return [Number(pattern.format(joint=joint), causality, **options) for joint in joints]


def write_unit(path, version, variables, step, kind='CoSimulation', binary=True):
    """Write an FMU."""
    folder = Path(path).with_suffix('.parts')
    shutil.rmtree(folder, ignore_errors=True)
    binaries = folder / 'binaries' / ('linux64' if version[0] == '2' else 'x86_64-linux')
    binaries.mkdir(parents=True)
    (folder / 'modelDescription.xml').write_text(_description(version, variables, kind))
    if binary:
        source = folder / 'unit.c'
        source.write_text(_source(version, variables, step))
        (folder / 'fmi3Interface.h').write_text(interface.header())
        command = [COMPILER, '-O1', '-fPIC', '-shared', '-o', str(binaries / 'unit.so')]
        subprocess.run([*command, str(source), '-lm'], check=True)
    with zipfile.ZipFile(path, 'w') as archive:
        for file in sorted(folder.rglob('*')):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    return path


def _description(version, variables, kind):
    lines = []
    for k, each in enumerate(variables):
        tag = (
            {'Real': 'Float64', 'Integer': 'Int32'}[each.kind] if version[0] == '3' else each.kind
        )
        own = 'variability="tunable"' if each.causality == 'parameter' else ''
        initial = 'initial="exact"' if each.causality == 'output' else ''
        start = '' if each.causality == 'local' else f'start="{each.start:g}"'
        most = '' if each.maximum is None else f'max="{each.maximum:g}"'
        head = (
            f'name="{each.name}" valueReference="{k}" causality="{each.causality}" {own} {initial}'
        )
        if version[0] == '3':
            lines.append(f'<{tag} {head} {start} {most}/>')
        else:
            lines.append(f'<ScalarVariable {head}><{tag} {start} {most}/></ScalarVariable>')
    token = 'instantiationToken' if version[0] == '3' else 'guid'
    return (
        f'<fmiModelDescription fmiVersion="{version}" modelName="unit" {token}="token">'
        f'<{kind} modelIdentifier="unit"/><ModelVariables>{"".join(lines)}</ModelVariables>'
        '<ModelStructure/></fmiModelDescription>'
    )


def _source(version, variables, step):
    starts = ', '.join(f'{each.start!r}' for each in variables)
    text = (_FMI3 if version[0] == '3' else _FMI2).replace('@STEP@', step)
    text = text.replace('@STARTS@', starts).replace('@COUNT@', str(len(variables)))
    if version[0] == '2':
        named = set(re.findall(r'\b(fmi2\w+)\(', text))
        return text + '\n'.join(f'int {x}(void) {{ return 3; }}' for x in _ALL2 - named)
    return text + interface.unsupported_functions()


_MEMORY = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct unit { double x[@COUNT@]; double time; };
static const double starts[] = {@STARTS@};
static const char *problem;
#define FAIL(text) do { problem = text; return 1; } while (0)
static int take(double *x, double t, double h) { (void)x; (void)t; (void)h; @STEP@ return 0; }
"""

_FMI3 = (
    """
#include "fmi3Interface.h"
#include <math.h>
static fmi3LogMessageCallback log_message;
static fmi3Status unsupported_function(fmi3Instance i, const char *n, size_t count)
{ (void)i; (void)n; (void)count; return fmi3Error; }
"""
    + _MEMORY
    + """
const char *fmi3GetVersion(void) { return "3.0"; }
fmi3Status fmi3SetDebugLogging(fmi3Instance i, fmi3Boolean on, size_t n, const fmi3String c[])
{ return fmi3OK; }
fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
    const fmi3ValueReference intermediate[], size_t intermediate_count,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3IntermediateUpdateCallback update)
{
    if (strcmp(token, "token") != 0) return NULL;
    struct unit *it = calloc(1, sizeof *it);
    memcpy(it->x, starts, sizeof starts);
    log_message = log;
    return it;
}
void fmi3FreeInstance(fmi3Instance i) { free(i); }
fmi3Status fmi3EnterInitializationMode(fmi3Instance i, fmi3Boolean wt, fmi3Float64 tolerance,
    fmi3Float64 start, fmi3Boolean ws, fmi3Float64 stop) { return fmi3OK; }
fmi3Status fmi3ExitInitializationMode(fmi3Instance i) { return fmi3OK; }
fmi3Status fmi3Terminate(fmi3Instance i) { return fmi3OK; }
fmi3Status fmi3Reset(fmi3Instance i) { return fmi3OK; }
fmi3Status fmi3GetFloat64(fmi3Instance i, const fmi3ValueReference r[], size_t n,
                          fmi3Float64 v[], size_t nv)
{
    if (nv != n) return fmi3Error;
    for (size_t k = 0; k < n; ++k) v[k] = ((struct unit *)i)->x[r[k]];
    return fmi3OK;
}
fmi3Status fmi3SetFloat64(fmi3Instance i, const fmi3ValueReference r[], size_t n,
                          const fmi3Float64 v[], size_t nv)
{
    if (nv != n) return fmi3Error;
    for (size_t k = 0; k < n; ++k) ((struct unit *)i)->x[r[k]] = v[k];
    return fmi3OK;
}
fmi3Status fmi3GetFMUState(fmi3Instance i, fmi3FMUState *s) { return fmi3Error; }
fmi3Status fmi3SetFMUState(fmi3Instance i, fmi3FMUState s) { return fmi3Error; }
fmi3Status fmi3FreeFMUState(fmi3Instance i, fmi3FMUState *s) { return fmi3Error; }
fmi3Status fmi3SerializedFMUStateSize(fmi3Instance i, fmi3FMUState s, size_t *n)
{ return fmi3Error; }
fmi3Status fmi3SerializeFMUState(fmi3Instance i, fmi3FMUState s, fmi3Byte b[], size_t n)
{ return fmi3Error; }
fmi3Status fmi3DeserializeFMUState(fmi3Instance i, const fmi3Byte b[], size_t n, fmi3FMUState *s)
{ return fmi3Error; }
fmi3Status fmi3DoStep(fmi3Instance i, fmi3Float64 now, fmi3Float64 size, fmi3Boolean no_return,
                      fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early,
                      fmi3Float64 *reached)
{
    struct unit *it = i;
    problem = NULL;
    *event = *terminate = *early = false;
    *reached = now;
    if (fabs(now - it->time) > 1e-9) problem = "a step from another time";
    else if (take(it->x, now, size) == 2) *terminate = true;
    if (problem != NULL) {
        log_message(NULL, fmi3Error, "logStatusError", problem);
        return fmi3Error;
    }
    it->time = *reached = now + size;
    return fmi3OK;
}
"""
)

_FMI2 = (
    """
#include <math.h>
"""
    + _MEMORY
    + """
typedef void (*logger)(void *, const char *, int, const char *, const char *, ...);
struct callbacks { logger log; void *(*take)(size_t, size_t); void (*give)(void *); };
static struct callbacks given;
const char *fmi2GetVersion(void) { return "2.0"; }
const char *fmi2GetTypesPlatform(void) { return "default"; }
int fmi2SetDebugLogging(void *i, int on, size_t n, const char *const c[]) { return 0; }
void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *where,
                      const struct callbacks *callbacks, int visible, int logging)
{
    if (strcmp(guid, "token") != 0 || kind != 1) return NULL;
    given = *callbacks;
    struct unit *it = given.take(1, sizeof *it);
    memcpy(it->x, starts, sizeof starts);
    return it;
}
void fmi2FreeInstance(void *i) { given.give(i); }
int fmi2SetupExperiment(void *i, int wt, double tolerance, double start, int ws, double stop)
{ return 0; }
int fmi2EnterInitializationMode(void *i) { return 0; }
int fmi2ExitInitializationMode(void *i) { return 0; }
int fmi2Terminate(void *i) { return 0; }
int fmi2Reset(void *i) { return 0; }
int fmi2GetReal(void *i, const unsigned r[], size_t n, double v[])
{
    for (size_t k = 0; k < n; ++k) v[k] = ((struct unit *)i)->x[r[k]];
    return 0;
}
int fmi2SetReal(void *i, const unsigned r[], size_t n, const double v[])
{
    for (size_t k = 0; k < n; ++k) ((struct unit *)i)->x[r[k]] = v[k];
    return 0;
}
int fmi2DoStep(void *i, double now, double size, int no_return)
{
    struct unit *it = i;
    problem = NULL;
    if (fabs(now - it->time) > 1e-9) problem = "a step from another time";
    else take(it->x, now, size);
    if (problem != NULL) {
        given.log(NULL, "unit", 3, "logStatusError", "%s", problem);
        return 3;
    }
    it->time = now + size;
    return 0;
}
"""
)

_ALL2 = {
    f'fmi2{name}'
    for name in (
        'GetInteger GetBoolean GetString SetInteger SetBoolean SetString GetFMUstate SetFMUstate '
        'FreeFMUstate SerializedFMUstateSize SerializeFMUstate DeSerializeFMUstate '
        'GetDirectionalDerivative SetRealInputDerivatives GetRealOutputDerivatives CancelStep '
        'GetStatus GetRealStatus GetIntegerStatus GetBooleanStatus GetStringStatus'
    ).split()
}
