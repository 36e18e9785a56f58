"""What each of a robot's functions computes: its inputs, its shape, and the algorithm behind it, gears applied.

This is the one place where the independent coordinates of the interface meet the tree coordinates of the algorithms
(book 3.2 and 9.6: q_tree = gamma(q), v_tree = G v, tau = G^T tau_tree).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from rbd_ros import algorithms
from rbd_ros.compiler import Definition
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, RigidBodyInertia

Scalars = Sequence[Any]
PARAMETER_COUNT = 10


@dataclass(frozen=True)
class Options:
    """Variant of a function.

    :param forces: links with an external force; adds an input of 6 numbers for each
    :param runtime: what else is an input instead of a constant: 'gravity', 'inertia:<link>', 'payload:<link>'
    :param frame: link or joint that a Jacobian is for
    :param reference: what a Jacobian is expressed in
    :param diagonal: constants added to the diagonal of the mass matrix, (nv,)
    """

    forces: Tuple[str, ...] = ()
    runtime: Tuple[str, ...] = ()
    frame: Optional[str] = None
    reference: str = 'body'
    diagonal: Optional[Tuple[float, ...]] = None


@dataclass(frozen=True)
class Function:
    """Inputs, shape and algorithm of a function.

    :param inputs: names of the input arrays: q, position-like w, x, ...
    :param shape: shape of the result, in terms of the model
    :param evaluate: the algorithm: (model, options, external forces, *inputs) -> flat list of results
    """

    inputs: Tuple[str, ...]
    shape: Callable[[Model], Tuple[int, ...]]
    evaluate: Callable[..., Sequence[Any]]
    takes_forces: bool = False


def _vector(model: Model) -> Tuple[int, ...]:
    return (model.nv,)


def _square(model: Model) -> Tuple[int, ...]:
    return model.nv, model.nv


def _flat(rows: Sequence[Sequence[Any]]) -> List[Any]:
    return [x for row in rows for x in row]


def _inverse_dynamics(model, options, forces, q, v, a):
    return model.independent_force(algorithms.rnea(
        model, model.tree_position(q), model.tree_velocity(v), model.tree_velocity(a), forces))


def _forward_dynamics(model, options, forces, q, v, tau):
    if model.couplings:
        return algorithms.forward_dynamics_by_inertia_matrix(model, q, v, tau, forces, options.diagonal)
    if options.diagonal is not None:
        model = _with_diagonal(model, options.diagonal)
    return algorithms.aba(model, q, v, tau, forces)


def _with_diagonal(model: Model, diagonal: Sequence[float]) -> Model:
    bodies = []
    for body in model.bodies:
        values = set(diagonal[body.v])
        if len(values) != 1:
            raise ValueError(f'joint {body.joint_name!r}: the diagonal must be the same for all its degrees of freedom')
        bodies.append(replace(body, armature=body.armature + values.pop()))
    return replace(model, bodies=tuple(bodies))


def _mass_matrix(model, options, forces, q):
    return _flat(model.independent_matrix(algorithms.crba(model, model.tree_position(q))))


def _gravity_torque(model, options, forces, q):
    return model.independent_force(algorithms.gravity_torque(model, model.tree_position(q)))


def _bias_force(model, options, forces, q, v):
    return model.independent_force(
        algorithms.bias_force(model, model.tree_position(q), model.tree_velocity(v), forces))


def _coriolis_matrix(model, options, forces, q, v):
    return _flat(model.independent_matrix(
        algorithms.coriolis_matrix(model, model.tree_position(q), model.tree_velocity(v))))


def _forward_kinematics(model, options, forces, q):
    X0 = algorithms.body_transforms(model, model.tree_position(q))
    poses = []
    for link in model.links.values():
        X = link.placement * X0[link.body]
        for k in range(3):
            poses.extend((X.E[0][k], X.E[1][k], X.E[2][k], X.r[k]))
        poses.extend((0.0, 0.0, 0.0, 1.0))
    return poses


def _jacobian(model, options, forces, q):
    J = algorithms.jacobian(model, model.tree_position(q), model.frame(options.frame), options.reference)
    return _flat(model.independent_columns(J))


def _jacobian_derivative(model, options, forces, q, v):
    J = algorithms.jacobian_derivative(
        model, model.tree_position(q), model.tree_velocity(v), model.frame(options.frame), options.reference)
    return _flat(model.independent_columns(J))


def _point_jacobian(model, options, forces, q, point):
    J = algorithms.point_jacobian(model, model.tree_position(q), model.frame(options.frame), tuple(point))
    return _flat(model.independent_columns(J))


def _point_jacobian_derivative(model, options, forces, q, v, point):
    J = algorithms.point_jacobian_derivative(
        model, model.tree_position(q), model.tree_velocity(v), model.frame(options.frame), tuple(point))
    return _flat(model.independent_columns(J))


def _centre_of_mass(model, options, forces, q):
    return algorithms.centre_of_mass(model, model.tree_position(q))


def _centre_of_mass_jacobian(model, options, forces, q):
    return _flat(model.independent_columns(algorithms.centre_of_mass_jacobian(model, model.tree_position(q))))


def _energy(model, options, forces, q, v):
    return algorithms.energy(model, model.tree_position(q), model.tree_velocity(v))


def _momentum(model, options, forces, q, v):
    return tuple(algorithms.momentum(model, model.tree_position(q), model.tree_velocity(v)))


def _integrate(model, options, forces, q, step):
    result = []
    for i, (at_q, at_v) in model.independent_slices.items():
        result.extend(model.body(i).joint.integrate(q[at_q], step[at_v]))
    return result


def _contact_kinematics(model, options, forces, q):
    X0 = algorithms.body_transforms(model, model.tree_position(q))
    values = []
    for i in range(len(model.bodies) + 1):
        values.extend(x for column in zip(*X0[i].E) for x in column)
        values.extend(X0[i].r)
    for columns in algorithms.motion_columns(model, X0).values():
        for s in columns:
            values.extend(s)
    return values


def _contact_kinematics_shape(model: Model) -> Tuple[int, ...]:
    return (12 * (len(model.bodies) + 1) + 6 * model.tree_nv,)


def _jacobian_shape(model: Model) -> Tuple[int, ...]:
    return 6, model.nv


def _point_shape(model: Model) -> Tuple[int, ...]:
    return 3, model.nv


FUNCTIONS: Dict[str, Function] = {
    'inverse_dynamics': Function(('q', 'v', 'a'), _vector, _inverse_dynamics, takes_forces=True),
    'forward_dynamics': Function(('q', 'v', 'tau'), _vector, _forward_dynamics, takes_forces=True),
    'bias_force': Function(('q', 'v'), _vector, _bias_force, takes_forces=True),
    'gravity_torque': Function(('q',), _vector, _gravity_torque),
    'mass_matrix': Function(('q',), _square, _mass_matrix),
    'coriolis_matrix': Function(('q', 'v'), _square, _coriolis_matrix),
    'forward_kinematics': Function(('q',), lambda model: (len(model.links), 4, 4), _forward_kinematics),
    'jacobian': Function(('q',), _jacobian_shape, _jacobian),
    'jacobian_derivative': Function(('q', 'v'), _jacobian_shape, _jacobian_derivative),
    'point_jacobian': Function(('q', 'point'), _point_shape, _point_jacobian),
    'point_jacobian_derivative': Function(('q', 'v', 'point'), _point_shape, _point_jacobian_derivative),
    'centre_of_mass': Function(('q',), lambda model: (3,), _centre_of_mass),
    'centre_of_mass_jacobian': Function(('q',), _point_shape, _centre_of_mass_jacobian),
    'energy': Function(('q', 'v'), lambda model: (2,), _energy),
    'momentum': Function(('q', 'v'), lambda model: (6,), _momentum),
    'integrate': Function(('q', 'step'), lambda model: (model.nq,), _integrate),
    'contact_kinematics': Function(('q',), _contact_kinematics_shape, _contact_kinematics),
}


def definition(model: Model, name: str, options: Options, doc: str = '') -> Definition:
    """Definition of a variant of a function, ready to be compiled.

    :raises ValueError: for an unknown function, link, frame, reference or run-time input
    """
    if name not in FUNCTIONS:
        raise ValueError(f'unknown function {name!r}; there are {", ".join(FUNCTIONS)}')
    function = FUNCTIONS[name]
    _check(model, name, function, options)
    sizes = {'q': model.nq, 'point': 3}
    inputs = [(key, sizes.get(key, model.nv)) for key in function.inputs]
    if options.forces:
        inputs.append(('external_forces', 6 * len(options.forces)))
    inputs += [(key, 3 if key == 'gravity' else PARAMETER_COUNT) for key in options.runtime]

    def evaluate(*arrays: Scalars) -> Sequence[Any]:
        own, others = arrays[:len(function.inputs)], list(arrays[len(function.inputs):])
        forces = _forces(model, options.forces, others.pop(0)) if options.forces else None
        variant = _with_runtime(model, options.runtime, others)
        return function.evaluate(variant, options, forces, *own)

    key = {'model': model_key(model), 'options': repr(options), 'source': _source_digest()}
    return Definition(name, tuple(inputs), function.shape(model), evaluate, key, doc)


def _check(model: Model, name: str, function: Function, options: Options) -> None:
    if options.forces and not function.takes_forces:
        raise ValueError(f'{name} takes no external forces')
    for link in options.forces:
        model.link(link)
    if 'jacobian' in name and not name.startswith('centre_of_mass'):
        if options.frame is None:
            raise ValueError(f'{name} needs a frame')
        model.frame(options.frame)
        if options.reference not in algorithms.REFERENCES:
            raise ValueError(f'unknown reference {options.reference!r}; there are {", ".join(algorithms.REFERENCES)}')
    for key in options.runtime:
        kind, _, link = key.partition(':')
        if kind in ('inertia', 'payload') and link:
            model.link(link)
        elif key != 'gravity':
            raise ValueError(
                f"unknown run-time input {key!r}; there are 'gravity', 'inertia:<link>' and 'payload:<link>'")
    if len(set(options.runtime)) != len(options.runtime):
        raise ValueError(f'a run-time input is named twice in {options.runtime}')
    if options.diagonal is not None and len(options.diagonal) != model.nv:
        raise ValueError(f'diagonal must have {model.nv} elements, got {len(options.diagonal)}')


def _forces(model: Model, links: Sequence[str], values: Scalars) -> Dict[int, ForceVector]:
    """Total force on each body, in base coordinates."""
    total: Dict[int, ForceVector] = {}
    for k, name in enumerate(links):
        force = ForceVector.from_array(values[6 * k:6 * k + 6])
        body = model.link(name).body
        total[body] = total[body] + force if body in total else force
    return total


def _with_runtime(model: Model, runtime: Sequence[str], values: Sequence[Scalars]) -> Model:
    for key, array in sorted(zip(runtime, values), key=lambda pair: pair[0]):  # inertias before payloads
        kind, _, link = key.partition(':')
        if kind == 'gravity':
            model = model.with_gravity(array)
        else:
            model = model.with_link_inertia(link, RigidBodyInertia.from_parameters(array), add=kind == 'payload')
    return model


def model_key(model: Model) -> List[Any]:
    """Everything of a model that its functions depend on, as JSON values, floats exact to the bit."""
    def exact(values) -> List[str]:
        return [float(x).hex() for x in values]

    def placement(X) -> List[str]:
        return exact([*_flat(X.E), *X.r])

    bodies = [
        [body.parent, body.joint_name, repr(body.joint), placement(body.tree_transform),
         exact([body.armature]), body.name]
        for body in model.bodies]
    links = [
        [link.name, link.body, placement(link.placement), exact(link.inertia.parameters())]
        for link in model.links.values()]
    frames = [[name, frame.body, placement(frame.placement)] for name, frame in model.joint_frames.items()]
    couplings = [[c.body, c.master, *exact([c.ratio, c.offset])] for c in model.couplings]
    return [bodies, links, frames, couplings, exact(model.gravity)]


@lru_cache(maxsize=1)
def _source_digest() -> str:
    """Digest of the source text that kernels are made by, so that an edit or an upgrade makes them anew."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for room in ('spatial', 'model', 'algorithms', 'compiler', 'robot'):
        for path in sorted((package / room).glob('*.py')):
            digest.update(path.name.encode() + b'\0' + path.read_bytes())
    return digest.hexdigest()


def force_links(external_forces: Mapping[str, Any]) -> Tuple[str, ...]:
    """Links with an external force in the order in which a kernel takes them."""
    return tuple(sorted(external_forces))
