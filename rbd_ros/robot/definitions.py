"""What each of a robot's functions computes.

Its inputs, its shape, and the algorithm behind it, gears applied.

This is the one place where the independent coordinates of the interface meet the tree coordinates
of the algorithms (book 3.2 and 9.6: q_tree = gamma(q), v_tree = G v, tau = G^T tau_tree).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
import hashlib
import inspect
import marshal
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from rbd_ros import algorithms
from rbd_ros.compiler import Definition
from rbd_ros.model import Frame, Model
from rbd_ros.model.equivalent import equivalent_model
from rbd_ros.spatial import ForceVector, RigidBodyInertia

Scalars = Sequence[Any]
PARAMETER_COUNT = 10


@dataclass(frozen=True)
class Options:
    """Variant of a function.

    :param forces: links with an external force; adds an input of 6 numbers for each
    :param runtime: what else is an input instead of a constant: 'gravity', 'inertia:<link>',
        'payload:<link>'
    :param frame: link or joint that a Jacobian is for
    :param reference: what a Jacobian is expressed in
    :param diagonal: constants added to the diagonal of the mass matrix, (nv,)
    """

    forces: Tuple[str, ...] = ()
    runtime: Tuple[str, ...] = ()
    frame: Optional[str] = None
    reference: str = 'body'
    diagonal: Optional[Tuple[float, ...]] = None


class Call:
    """One run of an algorithm: the model, the options, and the inputs in tree coordinates.

    :param model: the model, run-time inputs put in
    :param options: variant of the function
    :param forces: external force on each body in base coordinates, by body number
    :param given: the input arrays by name, as lists of scalars
    """

    def __init__(
        self,
        model: Model,
        options: Options,
        forces: Optional[Dict[int, ForceVector]],
        given: Mapping[str, Scalars],
    ):
        self.model, self.options, self.forces, self.given = model, options, forces, given

    @property
    def q(self) -> List[Any]:
        """Positions of all joints of the tree."""
        return self.model.tree_position(self.given['q'])

    @property
    def v(self) -> List[Any]:
        """Velocities of all joints of the tree."""
        return self.model.tree_velocity(self.given['v'])

    @property
    def a(self) -> List[Any]:
        """Accelerations of all joints of the tree, from those of the independent ones."""
        return self.model.tree_velocity(self.given['a'])

    @property
    def frame(self) -> Frame:
        """Frame that a Jacobian is for."""
        return self.model.frame(self.options.frame)

    def columns(self, J: Sequence[Scalars]) -> List[Any]:
        """Flat J G."""
        return _flat(self.model.independent_columns(J))

    def matrix(self, H: Sequence[Scalars]) -> List[Any]:
        """Flat G^T H G."""
        return _flat(self.model.independent_matrix(H))


@dataclass(frozen=True)
class Function:
    """Inputs, shape and algorithm of a function.

    :param inputs: names of the input arrays
    :param shape: shape of the result for a model
    :param evaluate: the algorithm, returning the flat list of results
    :param takes_forces: whether external forces make sense
    """

    inputs: Tuple[str, ...]
    shape: Callable[[Model], Tuple[int, ...]]
    evaluate: Callable[[Call], Scalars]
    takes_forces: bool = False


def _flat(rows: Sequence[Scalars]) -> List[Any]:
    return [x for row in rows for x in row]


def _inverse_dynamics(call: Call) -> Scalars:
    tau = algorithms.newton_euler(call.model, call.q, call.v, call.a, call.forces)
    return call.model.independent_force(tau)


def _forward_dynamics(call: Call) -> Scalars:
    model, diagonal, given = call.model, call.options.diagonal, call.given
    if model.couplings:
        return algorithms.forward_dynamics_by_inertia_matrix(
            model, given['q'], given['v'], given['tau'], call.forces, diagonal
        )
    if diagonal is not None:
        model = _with_diagonal(model, diagonal)
    return algorithms.aba(model, call.q, call.v, given['tau'], call.forces)


def _with_diagonal(model: Model, diagonal: Sequence[float]) -> Model:
    bodies = []
    for body in model.bodies:
        values = set(diagonal[body.v])
        if len(values) != 1:
            raise ValueError(
                f'joint {body.joint_name!r}: the diagonal must be the same for all its '
                'degrees of freedom'
            )
        bodies.append(replace(body, armature=body.armature + values.pop()))
    return replace(model, bodies=tuple(bodies))


def _bias_force(call: Call) -> Scalars:
    zero = [0.0] * call.model.tree_nv
    C = algorithms.newton_euler(call.model, call.q, call.v, zero, call.forces)
    return call.model.independent_force(C)


def _gravity_torque(call: Call) -> Scalars:
    zero = [0.0] * call.model.tree_nv
    return call.model.independent_force(algorithms.newton_euler(call.model, call.q, zero, zero))


def _mass_matrix(call: Call) -> Scalars:
    """One triangle, and its mirror image: symmetric to the bit also where gears sum elements."""
    H = call.model.independent_matrix(algorithms.crba(call.model, call.q))
    return [H[max(i, j)][min(i, j)] for i in range(len(H)) for j in range(len(H))]


def _coriolis_matrix(call: Call) -> Scalars:
    return call.matrix(algorithms.coriolis_matrix(call.model, call.q, call.v))


def _forward_kinematics(call: Call) -> Scalars:
    X0 = algorithms.body_transforms(call.model, call.q)
    poses: List[Any] = []
    for link in call.model.links.values():
        X = link.placement * X0[link.body]
        for k in range(3):
            poses.extend((X.E[0][k], X.E[1][k], X.E[2][k], X.r[k]))
        poses.extend((0.0, 0.0, 0.0, 1.0))
    return poses


def _jacobian(call: Call) -> Scalars:
    return call.columns(
        algorithms.jacobian(call.model, call.q, call.frame, call.options.reference)
    )


def _jacobian_derivative(call: Call) -> Scalars:
    return call.columns(
        algorithms.jacobian_derivative(
            call.model, call.q, call.v, call.frame, call.options.reference
        )
    )


def _point_jacobian(call: Call) -> Scalars:
    point = tuple(call.given['point'])
    return call.columns(algorithms.point_jacobian(call.model, call.q, call.frame, point))


def _point_jacobian_derivative(call: Call) -> Scalars:
    point = tuple(call.given['point'])
    return call.columns(
        algorithms.point_jacobian_derivative(call.model, call.q, call.v, call.frame, point)
    )


def _centre_of_mass(call: Call) -> Scalars:
    return algorithms.centre_of_mass(call.model, call.q)


def _centre_of_mass_jacobian(call: Call) -> Scalars:
    return call.columns(algorithms.centre_of_mass_jacobian(call.model, call.q))


def _energy(call: Call) -> Scalars:
    return algorithms.energy(call.model, call.q, call.v)


def _momentum(call: Call) -> Scalars:
    return tuple(algorithms.momentum(call.model, call.q, call.v))


def _integrate(call: Call) -> Scalars:
    q, step, result = call.given['q'], call.given['step'], []
    for i, (at_q, at_v) in call.model.independent_slices.items():
        result.extend(call.model.body(i).joint.integrate(q[at_q], step[at_v]))
    return result


def _contact_kinematics(call: Call) -> Scalars:
    """Pose of every body, base first: R by rows and p.

    Then the base coordinates of each column of S.
    """
    X0 = algorithms.body_transforms(call.model, call.q)
    values: List[Any] = []
    for i in range(len(call.model.bodies) + 1):
        values.extend(_flat(zip(*X0[i].E)))
        values.extend(X0[i].r)
    for columns in algorithms.motion_columns(call.model, call.q, X0).values():
        values.extend(_flat(columns))
    return values


def _vector(model: Model) -> Tuple[int, ...]:
    return (model.nv,)


def _square(model: Model) -> Tuple[int, ...]:
    return model.nv, model.nv


def _rows(count: int) -> Callable[[Model], Tuple[int, ...]]:
    return lambda model: (count, model.nv)


def _contact_kinematics_shape(model: Model) -> Tuple[int, ...]:
    return (12 * (len(model.bodies) + 1) + 6 * model.tree_nv,)


FUNCTIONS: Dict[str, Function] = {
    'inverse_dynamics': Function(('q', 'v', 'a'), _vector, _inverse_dynamics, takes_forces=True),
    'forward_dynamics': Function(('q', 'v', 'tau'), _vector, _forward_dynamics, takes_forces=True),
    'bias_force': Function(('q', 'v'), _vector, _bias_force, takes_forces=True),
    'gravity_torque': Function(('q',), _vector, _gravity_torque),
    'mass_matrix': Function(('q',), _square, _mass_matrix),
    'coriolis_matrix': Function(('q', 'v'), _square, _coriolis_matrix),
    'forward_kinematics': Function(
        ('q',), lambda model: (len(model.links), 4, 4), _forward_kinematics
    ),
    'jacobian': Function(('q',), _rows(6), _jacobian),
    'jacobian_derivative': Function(('q', 'v'), _rows(6), _jacobian_derivative),
    'point_jacobian': Function(('q', 'point'), _rows(3), _point_jacobian),
    'point_jacobian_derivative': Function(
        ('q', 'v', 'point'), _rows(3), _point_jacobian_derivative
    ),
    'centre_of_mass': Function(('q',), lambda model: (3,), _centre_of_mass),
    'centre_of_mass_jacobian': Function(('q',), _rows(3), _centre_of_mass_jacobian),
    'energy': Function(('q', 'v'), lambda model: (2,), _energy),
    'momentum': Function(('q', 'v'), lambda model: (6,), _momentum),
    'integrate': Function(('q', 'step'), lambda model: (model.nq,), _integrate),
    'contact_kinematics': Function(('q',), _contact_kinematics_shape, _contact_kinematics),
}


# Functions that an equivalent model serves as well (book 9.7)
_JOINT_SPACE = (
    'inverse_dynamics',
    'forward_dynamics',
    'bias_force',
    'gravity_torque',
    'mass_matrix',
    'coriolis_matrix',
)


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

    def run(*arrays: Scalars) -> Sequence[Any]:
        return evaluate(model, name, options, *arrays)

    key = {'model': model_key(model), 'options': repr(options), 'source': source_digest()}
    return Definition(name, tuple(inputs), function.shape(model), run, key, doc)


def evaluate(model: Model, name: str, options: Options, *arrays: Scalars) -> Sequence[Any]:
    """Run a function on scalars of any kind; returns its results as a flat list.

    :param arrays: its own inputs, then external forces, then run-time inputs
    """
    function = FUNCTIONS[name]
    own, others = arrays[: len(function.inputs)], list(arrays[len(function.inputs) :])
    forces = _forces(model, options.forces, others.pop(0)) if options.forces else None
    variant = _with_runtime(_cheapest(model, name, options), options.runtime, others)
    return function.evaluate(Call(variant, options, forces, dict(zip(function.inputs, own))))


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
            raise ValueError(
                f'unknown reference {options.reference!r}; there are '
                f'{", ".join(algorithms.REFERENCES)}'
            )
    for key in options.runtime:
        kind, _, link = key.partition(':')
        if kind in ('inertia', 'payload') and link:
            model.link(link)
        elif key != 'gravity':
            raise ValueError(
                f"unknown run-time input {key!r}; there are 'gravity', 'inertia:<link>' and "
                "'payload:<link>'"
            )
    if len(set(options.runtime)) != len(options.runtime):
        raise ValueError(f'a run-time input is named twice in {options.runtime}')
    if options.diagonal is not None and len(options.diagonal) != model.nv:
        raise ValueError(f'diagonal must have {model.nv} elements, got {len(options.diagonal)}')


def _cheapest(model: Model, name: str, options: Options) -> Model:
    """Model with the least arithmetic that gives the function's results."""
    constant_inertia = all(key == 'gravity' for key in options.runtime)
    return equivalent_model(model) if name in _JOINT_SPACE and constant_inertia else model


def _forces(model: Model, links: Sequence[str], values: Scalars) -> Dict[int, ForceVector]:
    """Total force on each body, in base coordinates."""
    total: Dict[int, ForceVector] = {}
    for k, name in enumerate(links):
        force = ForceVector.from_array(values[6 * k : 6 * k + 6])
        body = model.link(name).body
        total[body] = total[body] + force if body in total else force
    return total


def _with_runtime(model: Model, runtime: Sequence[str], values: Sequence[Scalars]) -> Model:
    for key, array in sorted(
        zip(runtime, values), key=lambda pair: pair[0]
    ):  # inertias before payloads
        kind, _, link = key.partition(':')
        if kind == 'gravity':
            model = model.with_gravity(array)
        else:
            model = model.with_link_inertia(
                link, RigidBodyInertia.from_parameters(array), add=kind == 'payload'
            )
    return model


def model_key(model: Model) -> List[Any]:
    """Everything of a model that its functions depend on, as JSON values.

    Floats exact to the bit.
    """

    def exact(values) -> List[str]:
        return [float(x).hex() for x in values]

    def placement(X) -> List[str]:
        return exact([*_flat(X.E), *X.r])

    bodies = [
        [
            body.parent,
            body.joint_name,
            [repr(body.joint), _source_of(type(body.joint))],
            placement(body.tree_transform),
            exact([body.armature]),
            body.name,
        ]
        for body in model.bodies
    ]
    links = [
        [link.name, link.body, placement(link.placement), exact(link.inertia.parameters())]
        for link in model.links.values()
    ]
    frames = [
        [name, frame.body, placement(frame.placement)]
        for name, frame in model.joint_frames.items()
    ]
    couplings = [[c.body, c.master, *exact([c.ratio, c.offset])] for c in model.couplings]
    return [bodies, links, frames, couplings, exact(model.gravity)]


@lru_cache(maxsize=None)
def _source_of(joint_type: type) -> str:
    """Digest of the source, else of the code, of a joint type that is not the package's."""
    if joint_type.__module__.startswith('rbd_ros.'):
        return ''  # see `source_digest`
    try:
        content = Path(inspect.getfile(joint_type)).read_bytes()
    except (OSError, TypeError):
        functions = sorted(vars(joint_type).items())
        codes = [marshal.dumps(f.__code__) for _, f in functions if hasattr(f, '__code__')]
        content = b''.join(codes)
    return hashlib.sha256(content).hexdigest()


@lru_cache(maxsize=None)
def source_digest(*more: str) -> str:
    """Digest of the source text that kernels are made by.

    With it in the key an edit or an upgrade makes them anew.

    :param more: folders of the package beside those of the robot's own functions
    """
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for room in ('spatial', 'model', 'algorithms', 'compiler', 'robot', *more):
        for path in sorted((package / room).rglob('*.py')):
            digest.update(str(path.relative_to(package)).encode() + b'\0' + path.read_bytes())
    return digest.hexdigest()


def force_links(external_forces: Mapping[str, Any]) -> Tuple[str, ...]:
    """Links with an external force in the order in which a kernel takes them."""
    return tuple(sorted(external_forces))
