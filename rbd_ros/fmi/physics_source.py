# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator's step for one robot as C99, from the same source as its machine code."""

from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.compiler.targets import c99
from rbd_ros.compiler.targets.c99_loops import loop_module
from rbd_ros.contact import HalfSpace
from rbd_ros.model import ModelError
from rbd_ros.robot import Robot
from rbd_ros.simulation.loops.closed_start import close_start
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.records.simulation_state import STEPS
from rbd_ros.simulation.start.default_start import default_start
from rbd_ros.simulation.stepping.stepping import advance, close_loops, place_on_ground


class PhysicsSource(NamedTuple):
    """A simulation in C.

    :param files: texts by file name: simulation.h, simulation.c, kernels
    :param integrator: name of the integrator
    :param start: initial configuration, (nq,)
    :param stack: maximum stack size of a kernel [bytes]
    """

    files: Dict[str, str]
    integrator: str
    start: List[float]
    stack: int


class _Recorder(Robot):
    """A robot that records the used kernels."""

    def kernel(self, algorithm: Any, **options: Any) -> Any:
        """Return the kernel of an algorithm."""
        found = super().kernel(algorithm, **options)
        self.used = {**getattr(self, 'used', {}), found.address: found}
        return found


def physics_source(
    robot: Robot,
    timestep: float,
    integrator: Optional[str],
    ground: Optional[HalfSpace] = None,
) -> PhysicsSource:
    """Return the texts of the simulation of a robot.

    :param timestep: h [s]
    :param integrator: one of simulation/integrators; None: as in `Simulator`
    :param ground: the ground; None: none
    :raises ValueError: for an invalid time step or integrator, or a robot without movable joints
    :raises ModelError: for a model that cannot be simulated
    """
    _check(robot)
    recorder = _Recorder(robot.model)
    physics = Physics(recorder, timestep, integrator, ground)
    kernels: Dict[int, Tuple[str, c99.Function, List[int], str]] = {}

    def name_of(address: int) -> str:
        if address not in recorder.used:
            raise ValueError('a loop calls a kernel of another robot')
        if address not in kernels:
            program = recorder.used[address].definition.program()
            name = f'kernel_{len(kernels)}_{re.sub(r"[^a-z0-9_]", "_", program.name.lower())}'
            sizes = [size for _, size in program.inputs]
            outputs = [output.size for output in program.outputs]
            text = _packed(name, sizes, outputs)
            kernels[address] = name, c99.function(program, name), sizes, text
        return f'run_{kernels[address][0]}'

    entries: List[Tuple[Any, Tuple[type, ...]]] = [(advance.function, (int,))]
    has_ground = bool(physics.model.has_ground)
    if has_ground:
        entries.append((place_on_ground.function, ()))
    if robot.model.loops:
        entries.append((close_loops.function, ()))
    module = loop_module(entries, physics.fields, ['model'], name_of, 'step_')
    start = robot.clamp(robot.neutral())
    if ground is not None:  # the ground below a floating base
        start = default_start(Physics(robot, timestep, integrator, ground))
    if robot.model.loops:
        start = close_start(robot, start, np.zeros(robot.nv)).q
    close = f'{module.entries[-1]}(physics)' if robot.model.loops else '((void)physics, -1)'
    place = f'{module.entries[1]}(physics)' if has_ground else '(void)physics'
    source = '\n'.join(
        [
            '#include "simulation.h"',
            '#include <math.h>',
            '',
            *(text for *_, text in kernels.values()),
            module.source,
            'int64_t simulation_advance(struct PhysicsRecord *physics, int64_t count)',
            '{',
            f'    return {module.entries[0]}(physics, count);',
            '}',
            '',
            'void simulation_place_on_ground(struct PhysicsRecord *physics)',
            '{',
            f'    {place};',
            '}',
            '',
            'int64_t simulation_close_loops(struct PhysicsRecord *physics)',
            '{',
            f'    return {close};',
            '}',
            '',
        ]
    ).replace('struct PhysicsRecord ', f'struct {module.record} ')
    files = {
        'simulation.h': _header(robot, module, timestep),
        'simulation.c': source,
    }
    for name, function, _, _ in kernels.values():
        declared = function.declaration.partition('*/')[2].strip()
        files[f'{name}.c'] = f'{declared}\n\n{function.source}'
    stack = max((function.stack for _, function, _, _ in kernels.values()), default=0)
    return PhysicsSource(files, physics.integrator, start.tolist(), stack)


def _check(robot: Robot) -> None:
    """Reject unsupported elements, with their names."""
    for body in robot.model.bodies:
        if body.joint.is_rheonomic:
            raise ModelError(f'joint {body.joint_name!r} moves as a function of time')
        if body.joint.nq > body.joint.nv and body.joint.pose_variables() is None:
            raise ModelError(
                f'joint {body.joint_name!r} has more position variables than degrees of freedom '
                'and is not a floating joint, so it cannot be part of an FMU'
            )
    if not robot.nv:
        raise ValueError(f'{robot.name!r} has no movable joint, so there is nothing to simulate')


def _packed(name: str, inputs: List[int], outputs: List[int]) -> str:
    """Return the prototype of a kernel, and a function of packed arrays that calls it."""
    parameters = [f'const double in_{k}[]' for k in range(len(inputs))]
    parameters += [f'double out_{k}[]' for k in range(len(outputs))]
    texts, at = [], 0
    for size in inputs:
        texts.append(f'in + {at}')
        at += size
    at = 0
    for size in outputs:
        texts.append(f'out + {at}')
        at += size
    return (
        f'void {name}({", ".join(parameters)});\n'
        f'static void run_{name}(const double *in, double *out)\n'
        f'{{\n    {name}({", ".join(texts)});\n}}\n'
    )


def _text(name: str) -> str:
    """Return the name as a C string; special characters become underscores."""
    plain = (x if x.isascii() and x.isprintable() and x not in '"\\?' else '_' for x in name)
    return f'"{"".join(plain)}"'


def _header(robot: Robot, module: Any, timestep: float) -> str:
    """Return the text of simulation.h."""
    model = robot.model
    quaternions = []
    for i, (at_q, _) in model.independent_slices.items():
        pose = model.body(i).joint.pose_variables()
        if pose is not None:
            quaternions.append(at_q.start + pose[0])

    def at(place: str) -> str:
        return f'(&(physics)->{module.places[place]})'.replace('(&(physics)', '((physics)')

    lines = [
        '#ifndef SIMULATION_H',
        '#define SIMULATION_H',
        '',
        '#include <stdbool.h>',
        '#include <stdint.h>',
        '',
        f'#define NQ {robot.nq}',
        f'#define NV {robot.nv}',
        f'#define TIMESTEP {timestep!r}',
        f'#define QUATERNIONS {len(quaternions)}',
        f'#define QUATERNION_PLACES {{{", ".join(map(str, quaternions or [0]))}}}',
        '/* Members of the record of a simulation */',
        f'#define POSITION(physics) {at("state.q")}',
        f'#define VELOCITY(physics) {at("state.v")}',
        f'#define ACCELERATION(physics) {at("state.acceleration")}',
        f'#define EFFORT(physics) {at("commands.torque")}',
        f'#define STEPS(physics) {at("state.counters")}[{STEPS}]',
        '',
        module.structs,
        '/* Take steps; return their number, lower if the dynamics are not finite; -1, without a',
        ' * step, if the efforts are not. */',
        f'int64_t simulation_advance(struct {module.record} *physics, int64_t count);',
        '',
        '/* Start contact with the ground, if there is one, at the present configuration. */',
        f'void simulation_place_on_ground(struct {module.record} *physics);',
        '',
        '/* Close loops up to rounding; return the index of one that is further open, or -1 */',
        f'int64_t simulation_close_loops(struct {module.record} *physics);',
        f'#define LOOP_NAMES {{{", ".join([_text(loop.name) for loop in model.loops] or ["0"])}}}',
        '',
        f'typedef struct {module.record} Physics;',
        '',
        '#endif',
        '',
    ]
    return '\n'.join(lines)
