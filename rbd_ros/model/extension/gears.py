# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Gears and rotors of an extension (book 9.6, example 9.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Dict, List, Set, Tuple

from rbd_ros.model.errors import unknown_name
from rbd_ros.model.extension.fields import Field
from rbd_ros.model.model import Body, Coupling, Frame, Link, Model
from rbd_ros.model.urdf.schema import MAX_MAGNITUDE
from rbd_ros.spatial import linear3, PluckerTransform, RigidBodyInertia


def with_gears(model: Model, section: Field) -> Model:
    """Return the model with joints coupled by gears, q = ratio q_master + offset.

    Gears on gears, including <mimic>, are composed.

    :param section: entries by the names of the following joints
    """
    numbers = {body.joint_name: i for i, body in model.outward()}
    gears: Dict[int, Tuple[int, float, float]] = {
        c.body: (c.master, c.ratio, c.offset) for c in model.couplings
    }
    fields: Dict[int, Field] = {}
    for name, field in section.mapping((), None).items():
        follower = _single(model, numbers, name, field)
        if follower in gears:
            raise field.error('the joint mimics another one in the URDF; remove the <mimic>')
        entries = field.mapping(('joint',), ('ratio', 'offset'))
        if isinstance(entries['joint'].item.value, (list, dict)):
            raise entries['joint'].error(
                'a joint can follow one other joint only; for differential gears see '
                'Robot.loops.explicit'
            )
        master = _single(model, numbers, entries['joint'].name(), entries['joint'])
        ratio = entries['ratio'].number() if 'ratio' in entries else 1.0
        offset = entries['offset'].number() if 'offset' in entries else 0.0
        gears[follower] = (master, ratio, offset)
        fields[follower] = field
    for follower, field in fields.items():
        _check_circle(follower, gears, field)
    couplings = [_composed(follower, gears, fields) for follower in sorted(gears)]
    return replace(model, couplings=tuple(couplings))


def _single(model: Model, numbers: Dict[str, int], name: str, field: Field) -> int:
    """Return the number of the body of a joint with one degree of freedom."""
    if name not in numbers:
        raise field.error(unknown_name('moving joint', name[:80], numbers))
    joint = model.body(numbers[name]).joint
    if not (joint.nq == joint.nv == 1):
        raise field.error(
            f'joint {name!r} has {joint.nv} degrees of freedom; couple joints that have one'
        )
    return numbers[name]


def _check_circle(start: int, gears: Dict[int, Tuple[int, float, float]], field: Field) -> None:
    seen: Set[int] = set()
    number = start
    while number in gears:
        if number in seen:
            raise field.error(
                'the joints follow each other in a cycle; one of them must be independent'
            )
        seen.add(number)
        number = gears[number][0]


def _composed(
    follower: int, gears: Dict[int, Tuple[int, float, float]], fields: Dict[int, Field]
) -> Coupling:
    master, ratio, offset = gears[follower]
    while master in gears:
        master, r, o = gears[master]
        ratio, offset = ratio * r, ratio * o + offset
        if not max(abs(ratio), abs(offset)) <= MAX_MAGNITUDE:
            culprit = fields.get(follower) or next(iter(fields.values()))
            raise culprit.error('the product of the ratios is too large; correct them')
    return Coupling(follower, master, ratio, offset)


def with_rotors(model: Model, section: Field) -> Model:
    """Return the model with rotors behind gears, as separate bodies or as armature.

    A rotor body is mounted on the parent of its joint and spins `ratio` times as fast; its inertia
    is added to that of the URDF.

    :param section: entries by the names of the driven joints
    """
    numbers = {body.joint_name: i for i, body in model.outward()}
    drives = {c.body: c for c in model.couplings}
    bodies, links = list(model.bodies), list(model.links.values())
    couplings, frames = list(model.couplings), dict(model.joint_frames)
    for name, field in section.mapping((), None).items():
        i = _single(model, numbers, name, field)
        entries = field.mapping(('ratio', 'inertia'), ('as', 'mass', 'transverse_inertia'))
        ratio, inertia = entries['ratio'].number(), entries['inertia'].number(0.0)
        body, form = bodies[i - 1], 'armature'
        if 'as' in entries:
            form = entries['as'].choice(('armature', 'body'))
        if form == 'armature':
            for key in ('mass', 'transverse_inertia'):
                if key in entries:
                    raise entries[key].error(
                        'it does not apply to armature; leave it out or write "as: body"'
                    )
            bodies[i - 1] = replace(body, armature=body.armature + ratio * ratio * inertia)
            continue
        axis = getattr(body.joint, 'axis', None)
        if axis is None or any(any(c.linear) for c in body.joint.motion_subspace((0.0,)).columns):
            raise field.error(
                f'joint {name!r} does not turn about an axis along which a rotor could lie; '
                'write "as: armature"'
            )
        rotor = f'{name}_rotor'
        if rotor in model.links or rotor in frames:
            raise field.error(f'a link or joint is already named {rotor!r}; rename it in the URDF')
        mass = entries['mass'].number(0.0) if 'mass' in entries else 0.0
        across = inertia
        if 'transverse_inertia' in entries:
            across = entries['transverse_inertia'].number(0.0)
        spread: Any = tuple(
            tuple(across * (r == c) + (inertia - across) * axis[r] * axis[c] for c in range(3))
            for r in range(3)
        )
        solid = RigidBodyInertia.from_mass_center(mass, linear3.ZERO3, spread)
        bodies.append(Body(rotor, body.parent, rotor, body.joint, body.tree_transform, solid))
        links.append(Link(rotor, len(bodies), PluckerTransform.identity(), solid))
        frames[rotor] = Frame(len(bodies), PluckerTransform.identity())
        gear = drives.get(i)
        couplings.append(
            Coupling(len(bodies), i, ratio, 0.0)
            if gear is None
            else Coupling(len(bodies), gear.master, ratio * gear.ratio, ratio * gear.offset)
        )
    return Model.create(
        model.name,
        bodies,
        links,
        joint_frames=frames,
        couplings=tuple(couplings),
        geometries=model.geometries,
        gravity=model.gravity,
        warnings=model.warnings,
    )


def with_armature(model: Model, section: Field) -> Model:
    """Return the model with the armature of the section `armature`."""
    known = [body.joint_name for body in model.bodies]
    values = {}
    for name, field in section.mapping((), None).items():
        if name not in known:
            raise field.error(unknown_name('moving joint', name[:80], known))
        values[name] = field.number(0.0)
    return model.with_armature(values)


__all__: List[str] = ['with_armature', 'with_gears', 'with_rotors']
