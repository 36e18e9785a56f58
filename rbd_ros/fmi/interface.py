# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The FMI 3.0 functions as C declarations, and the unsupported ones of this kind of FMU."""

from __future__ import annotations

from typing import Dict, List, Tuple

_TYPES = """
    Float32 Float64 Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Boolean String
""".split()
_REFERENCES = 'const fmi3ValueReference references[], size_t count'

_HEAD = """\
/* Types and functions of the Functional Mock-up Interface 3.0. A FMU that is linked statically is
 * compiled with FMI3_FUNCTION_PREFIX, which its functions' names then begin with. */
#ifndef FMI3_INTERFACE_H
#define FMI3_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef FMI3_FUNCTION_PREFIX
#define FMI3_PASTE(a, b) a##b
#define FMI3_JOIN(a, b) FMI3_PASTE(a, b)
#define FMI3_NAME(name) FMI3_JOIN(FMI3_FUNCTION_PREFIX, name)
#else
#define FMI3_NAME(name) name
#endif
#if defined(_WIN32)
#define FMI3_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define FMI3_EXPORT __attribute__((visibility("default")))
#else
#define FMI3_EXPORT
#endif

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum {
    fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent
} fmi3DependencyKind;
typedef enum {
    fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged
} fmi3IntervalQualifier;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment environment, fmi3Status status,
                                       fmi3String category, fmi3String message);
typedef void (*fmi3IntermediateUpdateCallback)(
    fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set_requested,
    fmi3Boolean get_allowed, fmi3Boolean step_finished, fmi3Boolean can_return_early,
    fmi3Boolean *return_requested, fmi3Float64 *return_time);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment environment);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);
"""

# Functions with bodies in functions.py; all others return an error.
_OWN: Dict[str, Tuple[str, str]] = {
    'GetVersion': ('const char *', 'void'),
    'SetDebugLogging': (
        'fmi3Status ',
        'fmi3Instance instance, fmi3Boolean logging, size_t count, const fmi3String categories[]',
    ),
    'InstantiateCoSimulation': (
        'fmi3Instance ',
        'fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, '
        'fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return, '
        'const fmi3ValueReference intermediate[], size_t intermediate_count, '
        'fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, '
        'fmi3IntermediateUpdateCallback update',
    ),
    'FreeInstance': ('void ', 'fmi3Instance instance'),
    'EnterInitializationMode': (
        'fmi3Status ',
        'fmi3Instance instance, fmi3Boolean with_tolerance, fmi3Float64 tolerance, '
        'fmi3Float64 start, fmi3Boolean with_stop, fmi3Float64 stop',
    ),
    'ExitInitializationMode': ('fmi3Status ', 'fmi3Instance instance'),
    'Terminate': ('fmi3Status ', 'fmi3Instance instance'),
    'Reset': ('fmi3Status ', 'fmi3Instance instance'),
    'GetFloat64': (
        'fmi3Status ',
        f'fmi3Instance instance, {_REFERENCES}, fmi3Float64 values[], size_t value_count',
    ),
    'SetFloat64': (
        'fmi3Status ',
        f'fmi3Instance instance, {_REFERENCES}, const fmi3Float64 values[], size_t value_count',
    ),
    'GetFMUState': ('fmi3Status ', 'fmi3Instance instance, fmi3FMUState *state'),
    'SetFMUState': ('fmi3Status ', 'fmi3Instance instance, fmi3FMUState state'),
    'FreeFMUState': ('fmi3Status ', 'fmi3Instance instance, fmi3FMUState *state'),
    'SerializedFMUStateSize': (
        'fmi3Status ',
        'fmi3Instance instance, fmi3FMUState state, size_t *size',
    ),
    'SerializeFMUState': (
        'fmi3Status ',
        'fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size',
    ),
    'DeserializeFMUState': (
        'fmi3Status ',
        'fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state',
    ),
    'DoStep': (
        'fmi3Status ',
        'fmi3Instance instance, fmi3Float64 now, fmi3Float64 size, fmi3Boolean no_return, '
        'fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached',
    ),
}


def _unsupported() -> Dict[str, str]:
    """Return the parameters after the instance of the unsupported functions, by name."""
    found: Dict[str, str] = {}
    for kind in _TYPES:
        for verb, constant in (('Get', ''), ('Set', 'const ')):
            if kind != 'Float64':
                values = f'{constant}fmi3{kind} values[], size_t value_count'
                found[f'{verb}{kind}'] = f'{_REFERENCES}, {values}'
    sizes = 'size_t sizes[], {}fmi3Binary values[], size_t value_count'
    found['GetBinary'] = f'{_REFERENCES}, {sizes.format("")}'
    found['SetBinary'] = f'{_REFERENCES}, const {sizes.format("const ")}'
    found['GetClock'] = f'{_REFERENCES}, fmi3Clock values[]'
    found['SetClock'] = f'{_REFERENCES}, const fmi3Clock values[]'
    found['GetNumberOfVariableDependencies'] = 'fmi3ValueReference reference, size_t *count'
    found['GetVariableDependencies'] = (
        'fmi3ValueReference dependent, size_t elements[], fmi3ValueReference independents[], '
        'size_t independent_elements[], fmi3DependencyKind kinds[], size_t count'
    )
    derivative = (
        'const fmi3ValueReference unknowns[], size_t unknown_count, '
        'const fmi3ValueReference knowns[], size_t known_count, '
        'const fmi3Float64 seed[], size_t seed_count, '
        'fmi3Float64 sensitivity[], size_t sensitivity_count'
    )
    found['GetDirectionalDerivative'] = found['GetAdjointDerivative'] = derivative
    qualifiers = 'fmi3IntervalQualifier qualifiers[]'
    fractions = 'fmi3UInt64 counters[], {}fmi3UInt64 resolutions[]'
    found['GetIntervalDecimal'] = f'{_REFERENCES}, fmi3Float64 intervals[], {qualifiers}'
    found['GetIntervalFraction'] = f'{_REFERENCES}, {fractions.format("")}, {qualifiers}'
    found['GetShiftDecimal'] = f'{_REFERENCES}, fmi3Float64 shifts[]'
    found['GetShiftFraction'] = f'{_REFERENCES}, {fractions.format("")}'
    found['SetIntervalDecimal'] = f'{_REFERENCES}, const fmi3Float64 intervals[]'
    found['SetIntervalFraction'] = f'{_REFERENCES}, const {fractions.format("const ")}'
    found['SetShiftDecimal'] = f'{_REFERENCES}, const fmi3Float64 shifts[]'
    found['SetShiftFraction'] = f'{_REFERENCES}, const {fractions.format("const ")}'
    found['GetOutputDerivatives'] = (
        f'{_REFERENCES}, const fmi3Int32 orders[], fmi3Float64 values[], size_t value_count'
    )
    for name in ('EvaluateDiscreteStates', 'EnterConfigurationMode', 'ExitConfigurationMode'):
        found[name] = ''
    for name in ('EnterEventMode', 'EnterStepMode', 'EnterContinuousTimeMode'):
        found[name] = ''
    found['UpdateDiscreteStates'] = (
        'fmi3Boolean *discrete, fmi3Boolean *terminate, fmi3Boolean *nominals, '
        'fmi3Boolean *continuous, fmi3Boolean *next_defined, fmi3Float64 *next'
    )
    # Of model exchange and scheduled execution: importers expect these symbols, too.
    found['CompletedIntegratorStep'] = (
        'fmi3Boolean no_return, fmi3Boolean *event, fmi3Boolean *terminate'
    )
    found['SetTime'] = 'fmi3Float64 time'
    found['SetContinuousStates'] = 'const fmi3Float64 states[], size_t count'
    for name in ('ContinuousStateDerivatives', 'EventIndicators', 'ContinuousStates'):
        found[f'Get{name}'] = 'fmi3Float64 values[], size_t count'
    found['GetNominalsOfContinuousStates'] = 'fmi3Float64 nominals[], size_t count'
    found['GetNumberOfEventIndicators'] = 'size_t *count'
    found['GetNumberOfContinuousStates'] = 'size_t *count'
    found['ActivateModelPartition'] = 'fmi3ValueReference clock, fmi3Float64 time'
    return found


_OTHER_KINDS: Dict[str, str] = {
    'InstantiateModelExchange': (
        'fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, '
        'fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log'
    ),
    'InstantiateScheduledExecution': (
        'fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, '
        'fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, '
        'fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock, '
        'fmi3UnlockPreemptionCallback unlock'
    ),
}


def header() -> str:
    """Return the text of fmi3Interface.h."""
    lines = [_HEAD]
    for name, (result, parameters) in _OWN.items():
        lines.append(f'FMI3_EXPORT {result}FMI3_NAME(fmi3{name})({parameters});')
    for name, rest in _unsupported().items():
        given = f'fmi3Instance instance{", " * bool(rest)}{rest}'
        lines.append(f'FMI3_EXPORT fmi3Status FMI3_NAME(fmi3{name})({given});')
    for name, parameters in _OTHER_KINDS.items():
        lines.append(f'FMI3_EXPORT fmi3Instance FMI3_NAME(fmi3{name})({parameters});')
    return '\n'.join([*lines, '', '#endif', ''])


def unsupported_functions() -> str:
    """Return the text of the unsupported functions, which return an error."""
    texts: List[str] = []
    for name, rest in _unsupported().items():
        given = f'fmi3Instance instance{", " * bool(rest)}{rest}'
        texts.append(
            f'fmi3Status FMI3_NAME(fmi3{name})({given})\n{{\n'
            f'{_unused(rest)}    return unsupported_function(instance, "fmi3{name}"'
            f'{", count" if _has_values(name) else ", 1"});\n}}\n'
        )
    for name, parameters in _OTHER_KINDS.items():
        texts.append(
            f'fmi3Instance FMI3_NAME(fmi3{name})({parameters})\n{{\n{_unused(parameters)}'
            '    return NULL;\n}\n'
        )
    return '\n'.join(texts)


def _has_values(name: str) -> bool:
    """Return whether a function has value references, possibly none."""
    return name[3:] in (*_TYPES, 'Binary', 'Clock')


def _unused(parameters: str) -> str:
    names = [
        each.split()[-1].lstrip('*').partition('[')[0] for each in parameters.split(', ') if each
    ]
    return ''.join(f'    (void){name};\n' for name in names)
