# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The functions of FMI 3.0 for co-simulation around a simulation, as C99."""

from __future__ import annotations

from rbd_ros.fmi.interface import unsupported_functions


def source(token: str) -> str:
    """Return the text of fmu.c.

    :param token: unique token of this FMU
    """
    return _TEXT.replace('@TOKEN@', token) + '\n' + unsupported_functions()


_TEXT = r"""/* FMI 3.0 co-simulation: torque in, joint state out. Memory is allocated for an
 * instance or a copy of its state only. */
#include "fmi3Interface.h"
#include "simulation.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN "@TOKEN@"
#define FIRST_POSITION (1 + NV)
#define FIRST_VELOCITY (FIRST_POSITION + NQ)
#define FIRST_ACCELERATION (FIRST_VELOCITY + NV)
#define LAST (FIRST_ACCELERATION + NV)

enum { INSTANTIATED, INITIALIZING, STEPPING, TERMINATED };

/* Complete state of an instance: plain data, copied by memcpy */
struct Memory {
    char token[sizeof TOKEN];
    int mode;
    double start_time;
    Physics physics;
};

struct Instance {
    struct Memory memory;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    bool logging;
};

static fmi3Status report(const struct Instance *instance, fmi3Status status, const char *form, ...)
{
    if (instance != NULL && instance->log != NULL && instance->logging) {
        char text[256];
        va_list arguments;
        va_start(arguments, form);
        vsnprintf(text, sizeof text, form, arguments);
        va_end(arguments);
        const char *category = status == fmi3Discard ? "logStatusDiscard" : "logStatusError";
        instance->log(instance->environment, status, category, text);
    }
    return status;
}

static fmi3Status unsupported_function(fmi3Instance instance, const char *name, size_t count)
{
    if (instance != NULL && count == 0) return fmi3OK;
    return report(instance, fmi3Error, "%s is not supported by this FMU", name);
}

/* Return whether an instance is in one of two modes; report an error otherwise. */
static bool is_in(const struct Instance *instance, const char *name, int mode, int other)
{
    if (instance == NULL) return false;
    if (instance->memory.mode == mode || instance->memory.mode == other) return true;
    report(instance, fmi3Error, "%s must not be called now", name);
    return false;
}

static double time_of(const struct Memory *memory)
{
    return memory->start_time + (double)STEPS(&memory->physics) * TIMESTEP;
}

/* Start values: at rest, no effort. */
static void start(struct Memory *memory)
{
    static const double positions[NQ] = START_POSITIONS;
    memset(memory, 0, sizeof *memory);
    memcpy(memory->token, TOKEN, sizeof TOKEN);
    memory->mode = INSTANTIATED;
    memcpy(POSITION(&memory->physics), positions, sizeof positions);
}

/* Begin a simulation at the start values of position, velocity and effort; clear all else. Return
 * NULL or an error message, and in `loop` the name of an open loop. */
static const char *begin(struct Memory *memory, const char **loop)
{
    static const char *const loops[] = LOOP_NAMES;
    static const int places[] = QUATERNION_PLACES;
    double position[NQ], velocity[NV], effort[NV];
    memcpy(position, POSITION(&memory->physics), sizeof position);
    memcpy(velocity, VELOCITY(&memory->physics), sizeof velocity);
    memcpy(effort, EFFORT(&memory->physics), sizeof effort);
    for (int k = 0; k < QUATERNIONS; ++k) {
        double *p = position + places[k], squares = 0.0;
        for (int i = 0; i < 4; ++i) squares += p[i] * p[i];
        if (!(squares > 0.0 && squares < HUGE_VAL)) {
            return "the start values of an orientation must not all be zero%s";
        }
        const double length = sqrt(squares);
        for (int i = 0; i < 4; ++i) p[i] /= length;
    }
    memset(&memory->physics, 0, sizeof memory->physics);
    memcpy(POSITION(&memory->physics), position, sizeof position);
    memcpy(VELOCITY(&memory->physics), velocity, sizeof velocity);
    memcpy(EFFORT(&memory->physics), effort, sizeof effort);
    const int64_t open = simulation_close_loops(&memory->physics);
    if (open >= 0) {
        *loop = loops[open];
        return "the start positions leave this loop open: %s";
    }
    simulation_place_on_ground(&memory->physics);
    return NULL;
}

const char *FMI3_NAME(fmi3GetVersion)(void)
{
    return "3.0";
}

fmi3Status FMI3_NAME(fmi3SetDebugLogging)(fmi3Instance instance, fmi3Boolean logging, size_t count,
                                          const fmi3String categories[])
{
    struct Instance *self = instance;
    (void)count;
    (void)categories;
    if (self == NULL) return fmi3Error;
    self->logging = logging;
    return fmi3OK;
}

fmi3Instance FMI3_NAME(fmi3InstantiateCoSimulation)(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
    const fmi3ValueReference intermediate[], size_t intermediate_count,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3IntermediateUpdateCallback update)
{
    (void)name;
    (void)resources;
    (void)visible;
    (void)early_return;
    (void)intermediate;
    (void)update;
    const struct Instance caller = {.environment = environment, .log = log, .logging = true};
    if (token == NULL || strcmp(token, TOKEN) != 0) {
        report(&caller, fmi3Error, "the instantiation token belongs to another FMU");
        return NULL;
    }
    if (event_mode || intermediate_count > 0) {
        report(&caller, fmi3Error, "this FMU has no event mode and no intermediate update");
        return NULL;
    }
    struct Instance *self = malloc(sizeof *self);
    if (self == NULL) {
        report(&caller, fmi3Error, "out of memory for an instance");
        return NULL;
    }
    *self = caller;
    self->logging = logging;
    start(&self->memory);
    return self;
}

void FMI3_NAME(fmi3FreeInstance)(fmi3Instance instance)
{
    free(instance);
}

fmi3Status FMI3_NAME(fmi3EnterInitializationMode)(
    fmi3Instance instance, fmi3Boolean with_tolerance, fmi3Float64 tolerance, fmi3Float64 start,
    fmi3Boolean with_stop, fmi3Float64 stop)
{
    struct Instance *self = instance;
    (void)with_tolerance;
    (void)tolerance;
    (void)with_stop;
    (void)stop;
    if (!is_in(self, "fmi3EnterInitializationMode", INSTANTIATED, INSTANTIATED)) return fmi3Error;
    if (!isfinite(start)) return report(self, fmi3Error, "the start time must be finite");
    self->memory.start_time = start;
    self->memory.mode = INITIALIZING;
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3ExitInitializationMode)(fmi3Instance instance)
{
    struct Instance *self = instance;
    if (!is_in(self, "fmi3ExitInitializationMode", INITIALIZING, INITIALIZING)) return fmi3Error;
    const char *loop = "", *problem = begin(&self->memory, &loop);
    if (problem != NULL) return report(self, fmi3Error, problem, loop);
    self->memory.mode = STEPPING;
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3Terminate)(fmi3Instance instance)
{
    struct Instance *self = instance;
    if (!is_in(self, "fmi3Terminate", STEPPING, STEPPING)) return fmi3Error;
    self->memory.mode = TERMINATED;
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3Reset)(fmi3Instance instance)
{
    struct Instance *self = instance;
    if (self == NULL) return fmi3Error;
    start(&self->memory);
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3GetFloat64)(fmi3Instance instance, const fmi3ValueReference references[],
                                     size_t count, fmi3Float64 values[], size_t value_count)
{
    struct Instance *self = instance;
    if (self == NULL) return fmi3Error;
    if (value_count != count) {
        return report(self, fmi3Error, "fmi3GetFloat64: %lu variables, but space for %lu values",
                      (unsigned long)count, (unsigned long)value_count);
    }
    Physics *physics = &self->memory.physics;
    for (size_t k = 0; k < count; ++k) {
        const fmi3ValueReference at = references[k];
        if (at >= LAST) {
            return report(self, fmi3Error, "unknown value reference %lu", (unsigned long)at);
        }
        if (at == 0) values[k] = time_of(&self->memory);
        else if (at < FIRST_POSITION) values[k] = EFFORT(physics)[at - 1];
        else if (at < FIRST_VELOCITY) values[k] = POSITION(physics)[at - FIRST_POSITION];
        else if (at < FIRST_ACCELERATION) values[k] = VELOCITY(physics)[at - FIRST_VELOCITY];
        else values[k] = ACCELERATION(physics)[at - FIRST_ACCELERATION];
    }
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3SetFloat64)(fmi3Instance instance, const fmi3ValueReference references[],
                                     size_t count, const fmi3Float64 values[], size_t value_count)
{
    struct Instance *self = instance;
    if (self == NULL) return fmi3Error;
    if (value_count != count) {
        return report(self, fmi3Error, "fmi3SetFloat64: %lu variables, but %lu values",
                      (unsigned long)count, (unsigned long)value_count);
    }
    /* Check all values before setting any. */
    for (size_t k = 0; k < count; ++k) {
        const unsigned long at = references[k];
        if (at >= LAST) return report(self, fmi3Error, "unknown value reference %lu", at);
        if (at == 0 || at >= FIRST_ACCELERATION) {
            return report(self, fmi3Error, "value reference %lu cannot be set", at);
        }
        if (at >= FIRST_POSITION && self->memory.mode > INITIALIZING) {
            return report(self, fmi3Error,
                          "value reference %lu is a start value, and motion has begun", at);
        }
        if (!isfinite(values[k])) {
            return report(self, fmi3Discard, "value reference %lu must be finite, got %g", at,
                          values[k]);
        }
    }
    Physics *physics = &self->memory.physics;
    for (size_t k = 0; k < count; ++k) {
        const fmi3ValueReference at = references[k];
        if (at < FIRST_POSITION) EFFORT(physics)[at - 1] = values[k];
        else if (at < FIRST_VELOCITY) POSITION(physics)[at - FIRST_POSITION] = values[k];
        else VELOCITY(physics)[at - FIRST_VELOCITY] = values[k];
    }
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3DoStep)(fmi3Instance instance, fmi3Float64 now, fmi3Float64 size,
                                 fmi3Boolean no_return, fmi3Boolean *event, fmi3Boolean *terminate,
                                 fmi3Boolean *early, fmi3Float64 *reached)
{
    struct Instance *self = instance;
    (void)no_return;
    if (!is_in(self, "fmi3DoStep", STEPPING, STEPPING)) return fmi3Error;
    struct Memory *memory = &self->memory;
    if (event != NULL) *event = false;
    if (terminate != NULL) *terminate = false;
    if (early != NULL) *early = false;
    if (reached != NULL) *reached = time_of(memory);
    /* Importers accumulate steps, so their time may differ by rounding. */
    if (!(fabs(now - time_of(memory)) <= 1e-3 * TIMESTEP)) {
        return report(self, fmi3Error, "the step starts at %.17g s, but the time is %.17g s", now,
                      time_of(memory));
    }
    const double steps = rint(size / TIMESTEP);
    if (!(steps >= 1.0 && steps < 1e15 && fabs(size / TIMESTEP - steps) <= 1e-6 * steps)) {
        return report(self, fmi3Discard, "the step of %.17g s is not a multiple of %.17g s", size,
                      TIMESTEP);
    }
    const int64_t count = (int64_t)steps;
    const int64_t taken = simulation_advance(&memory->physics, count);
    if (reached != NULL) *reached = time_of(memory);
    if (taken != count) {
        return report(self, fmi3Error, "the dynamics are not finite at time %.17g s: check "
                      "the inertia moved by each joint", time_of(memory));
    }
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3GetFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    struct Instance *self = instance;
    if (self == NULL || state == NULL) return fmi3Error;
    if (*state == NULL) *state = malloc(sizeof(struct Memory));
    if (*state == NULL) return report(self, fmi3Error, "out of memory for a state");
    memcpy(*state, &self->memory, sizeof self->memory);
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3SetFMUState)(fmi3Instance instance, fmi3FMUState state)
{
    struct Instance *self = instance;
    if (self == NULL || state == NULL) return fmi3Error;
    memcpy(&self->memory, state, sizeof self->memory);
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3FreeFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    if (instance == NULL) return fmi3Error;
    if (state != NULL) {
        free(*state);
        *state = NULL;
    }
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState state,
                                                 size_t *size)
{
    if (instance == NULL || state == NULL || size == NULL) return fmi3Error;
    *size = sizeof(struct Memory);
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3SerializeFMUState)(fmi3Instance instance, fmi3FMUState state,
                                            fmi3Byte bytes[], size_t size)
{
    if (instance == NULL || state == NULL) return fmi3Error;
    if (size != sizeof(struct Memory)) {
        return report(instance, fmi3Error, "a state has %lu bytes, not %lu",
                      (unsigned long)sizeof(struct Memory), (unsigned long)size);
    }
    memcpy(bytes, state, size);
    return fmi3OK;
}

fmi3Status FMI3_NAME(fmi3DeserializeFMUState)(fmi3Instance instance, const fmi3Byte bytes[],
                                              size_t size, fmi3FMUState *state)
{
    struct Instance *self = instance;
    if (self == NULL || state == NULL) return fmi3Error;
    /* A state begins with the token of its FMU. */
    if (size != sizeof(struct Memory) || memcmp(bytes, TOKEN, sizeof TOKEN) != 0) {
        return report(self, fmi3Error, "the bytes are not a state of this FMU");
    }
    if (*state == NULL) *state = malloc(sizeof(struct Memory));
    if (*state == NULL) return report(self, fmi3Error, "out of memory for a state");
    memcpy(*state, bytes, size);
    return fmi3OK;
}
"""
