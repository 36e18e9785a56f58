"""What goes into an algorithm and what comes out, by kind.

A kind says what a user sees (a name, a shape in independent coordinates, a unit) and what the text
of an algorithm sees of it. Texts on tree coordinates count every joint; gears lie between the two:
q_tree = gamma(q), v_tree = G v, tau = G^T tau_tree (book 3.2, 9.6). This is the one place where
that is applied.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from types import MappingProxyType
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from rbd_ros.model import Frame, Model
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]

#: Dimensions of arrays that depend on the model.
DIMENSIONS: Mapping[str, Callable[[Model], int]] = {
    'nq': lambda model: model.nq,
    'nv': lambda model: model.nv,
    'nv - 6': lambda model: max(model.nv - 6, 0),
    'tree_nv': lambda model: model.tree_nv,
    'uniforms': lambda model: sum(model.body(i).joint.uniforms for i in model.independent),
    'links': lambda model: len(model.links),
    'bodies': lambda model: len(model.bodies),
    'bodies + 1': lambda model: len(model.bodies) + 1,
    'constraints': lambda model: model.loop_constraints,
    'parameters': lambda model: 10 * len(model.bodies),
    'loops': lambda model: len(model.loops),
    'loop freedoms': lambda model: sum(loop.joint.nv for loop in model.loops),
}

#: Dimensions of arrays that depend on what is chosen when an algorithm is compiled, by symbol.
CHOSEN_DIMENSIONS: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    '6 frames': lambda chosen: 6 * len(chosen['frames']),
}


@dataclass(frozen=True)
class Array:
    """An array, as input or as output.

    :param symbol: name that a user knows it by
    :param meaning: what it is, in words
    :param unit: unit of its elements
    :param dimensions: its shape in independent coordinates: numbers, and names of `DIMENSIONS`
        or `CHOSEN_DIMENSIONS`
    :param to_tree: what a text on tree coordinates is given, from the model and the flat array;
        None if such a text cannot have it
    :param from_tree: the flat array, from the model and what a text on tree coordinates returns;
        None if such a text cannot give it
    :param flat: the flat array, from what a text on independent coordinates returns
    :param tangents: rates of the elements along each freedom, (freedoms, size), from the model and
        the array; None if each element is a freedom of its own
    :param default: an input that is a constant unless asked for; its value where none is chosen
    :param usual: of a number, what it is in calls that do not give it
    :param symmetric: a matrix that equals its transpose, so that one triangle says it all
    """

    symbol: str
    meaning: str
    unit: str
    dimensions: Tuple[Union[int, str], ...]
    to_tree: Optional[Callable[[Model, Scalars], Any]] = None
    from_tree: Optional[Callable[[Model, Any], Scalars]] = None
    flat: Callable[[Any], Scalars] = list
    tangents: Optional[Callable[[Model, Scalars], Sequence[Scalars]]] = None
    default: Optional[Callable[[Model], Tuple[float, ...]]] = None
    usual: Optional[float] = None
    symmetric: bool = False

    def shape(
        self, model: Model, chosen: Mapping[str, Any] = MappingProxyType({})
    ) -> Tuple[int, ...]:
        """Shape of the array for a model.

        :param chosen: what is chosen when the algorithm is compiled, by symbol
        """
        return tuple(
            d
            if isinstance(d, int)
            else CHOSEN_DIMENSIONS[d](chosen)
            if d in CHOSEN_DIMENSIONS
            else DIMENSIONS[d](model)
            for d in self.dimensions
        )

    def packed_shape(self, model: Model) -> Tuple[int, ...]:
        """Shape of what `packed` returns."""
        shape = self.shape(model)
        return (shape[0] * (shape[0] + 1) // 2,) if self.symmetric else shape

    def packed(self, model: Model, values: Scalars) -> Scalars:
        """Lower triangle of a symmetric matrix, row by row; any other array as it is.

        :param values: the flat array
        """
        if not self.symmetric:
            return values
        n = self.shape(model)[0]
        return [values[n * i + j] for i in range(n) for j in range(i + 1)]

    def freedoms(self, model: Model) -> int:
        """In how many independent ways the array can change."""
        return math.prod(self.shape(model)) if self.tangents is None else model.nv

    def named(self, symbol: str) -> Array:
        """Return this kind under another name: two configurations are q0 and q1.

        :param symbol: the name
        """
        return replace(self, symbol=symbol)


@dataclass(frozen=True)
class Choice:
    """What is chosen when an algorithm is compiled, such as the frame of a Jacobian.

    :param symbol: name of the option
    :param meaning: what it is, in words
    :param resolve: what the text is given, from the model and the value chosen
    :param default: value where none is chosen; None if there must be one
    """

    symbol: str
    meaning: str
    resolve: Callable[[Model, Any], Any]
    default: Optional[Any] = None


@dataclass(frozen=True)
class Wrenches:
    """Spatial forces on links that are named when an algorithm is compiled, in base coordinates.

    A user gives an array (6,) for each link; the text gets the total on each body.
    """

    symbol: str = 'external_forces'
    meaning: str = 'spatial force [n; f] on each link named, in base coordinates'
    unit: str = '[N m, N]'

    def on_bodies(
        self, model: Model, links: Sequence[str], arrays: Sequence[Scalars]
    ) -> Dict[int, ForceVector]:
        """Total force on each body in base coordinates, by body number.

        :param links: names of links, which may be fixed to one body
        :param arrays: force on each of them, (6,) [N m, N]
        """
        total: Dict[int, ForceVector] = {}
        for name, values in zip(links, arrays):
            force = ForceVector.from_array(values)
            body = model.link(name).body
            total[body] = total[body] + force if body in total else force
        return total


# -- layouts


def _as_it_is(model: Model, value: Any) -> Any:
    return value


def _listed(model: Model, value: Any) -> Scalars:
    return list(value)


def _row_by_row(rows: Sequence[Scalars]) -> Scalars:
    return [x for row in rows for x in row]


def _square(model: Model, H: Sequence[Scalars]) -> Scalars:
    return _row_by_row(model.independent_matrix(H))


def _symmetric(H: Sequence[Scalars]) -> Scalars:
    """One triangle, and its mirror image: symmetric to the bit also where gears sum elements."""
    return [H[max(i, j)][min(i, j)] for i in range(len(H)) for j in range(len(H))]


def _columns(model: Model, J: Sequence[Scalars]) -> Scalars:
    return _row_by_row(model.independent_columns(J))


def _cube(model: Model, C: Sequence[Sequence[Scalars]]) -> Scalars:
    """Tensor C_ijk G_ia G_jb G_kc of the independent coordinates, row by row."""
    slices = [model.independent_matrix(matrix) for matrix in C]
    columns = [model.independent_force(column) for column in zip(*map(_row_by_row, slices))]
    return _row_by_row(list(zip(*columns)))


def pose(X: PluckerTransform) -> List[Scalar]:
    """Homogeneous matrix T with p_base = T p_frame, row by row, (16,).

    :param X: transform from base to frame coordinates
    """
    values: List[Scalar] = []
    for k in range(3):
        values.extend((X.E[0][k], X.E[1][k], X.E[2][k], X.r[k]))
    return [*values, 0.0, 0.0, 0.0, 1.0]


def _poses(model: Model, X: Mapping[Any, PluckerTransform]) -> Scalars:
    return [x for transform in X.values() for x in pose(transform)]


def _body_frames(model: Model, X0: Mapping[int, PluckerTransform]) -> Scalars:
    values: List[Scalar] = []
    for i in range(len(model.bodies) + 1):
        values.extend(_row_by_row(list(zip(*X0[i].E))))
        values.extend(X0[i].r)
    return values


def _by_body(model: Model, vectors: Mapping[int, Any]) -> Scalars:
    return [x for i, _ in model.outward() for x in vectors[i]]


def _motion_columns(model: Model, S: Mapping[int, Sequence[MotionVector]]) -> Scalars:
    return [x for i, _ in model.outward() for column in S[i] for x in column]


def position_rates(model: Model, q: Scalars) -> Sequence[Scalars]:
    """Rate of the configuration at unit velocity of each freedom (book 4.4, eq 3.7)."""
    rows: List[List[Scalar]] = []
    for i, (at_q, _) in model.independent_slices.items():
        joint = model.body(i).joint
        for k in range(joint.nv):
            row: List[Scalar] = [0.0] * model.nq
            unit = [1.0 if j == k else 0.0 for j in range(joint.nv)]
            row[at_q] = joint.position_rate(q[at_q], unit)
            rows.append(row)
    return rows


# -- kinds of arrays in joint space

CONFIGURATION = Array(
    'q',
    'configuration',
    '[rad, m]',
    ('nq',),
    to_tree=Model.tree_position,
    tangents=position_rates,
)
VELOCITY = Array(
    'v',
    'velocity',
    '[rad/s, m/s]',
    ('nv',),
    to_tree=Model.tree_velocity,
    from_tree=Model.independent_velocity,
)
ACCELERATION = replace(VELOCITY, symbol='a', meaning='acceleration', unit='[rad/s^2, m/s^2]')
FORCE = Array('tau', 'generalized force', '[N m, N]', ('nv',), from_tree=Model.independent_force)
INERTIA_MATRIX = Array(
    'H',
    'joint-space inertia matrix',
    '[kg m^2, kg m, kg]',
    ('nv', 'nv'),
    from_tree=lambda model, H: _symmetric(model.independent_matrix(H)),
    flat=_symmetric,
    symmetric=True,
)
INVERSE_INERTIA_MATRIX = replace(
    INERTIA_MATRIX,
    symbol='H_inverse',
    meaning='inverse of the joint-space inertia matrix',
    unit='[1/(kg m^2), 1/(kg m), 1/kg]',
)
MATRIX = Array(
    'C', 'matrix over joint space', '', ('nv', 'nv'), from_tree=_square, flat=_row_by_row
)
DIAGONAL = Array(
    'diagonal',
    'constants added to the diagonal of the inertia matrix',
    '[kg m^2, kg]',
    ('nv',),
    default=lambda model: (0.0,) * model.nv,
)
KNOWN = Array(
    'known',
    'generalized force or acceleration, whichever is given',
    '[N m, N or rad/s^2, m/s^2]',
    ('nv',),
)
PARTITION = Array(
    'forward',
    'which freedoms have their force given and their acceleration found: 1, the others 0',
    '',
    ('nv',),
)

# -- kinds of arrays of points and frames

POINT = Array('point', 'point in the coordinates of the frame', '[m]', (3,), _as_it_is)
POSITION = Array('p', 'point in base coordinates', '[m]', (3,), _as_it_is, _listed)
JACOBIAN = Array(
    'J',
    'Jacobian of a spatial velocity, angular rows first',
    '',
    (6, 'nv'),
    from_tree=_columns,
    flat=_row_by_row,
)
BASE_FORCES = replace(
    JACOBIAN,
    symbol='F',
    meaning='spatial force [n; f] on the base per unit of acceleration, in base coordinates',
    unit='[kg m^2, kg m, kg]',
)
POINT_JACOBIAN = replace(
    JACOBIAN, meaning='Jacobian of the velocity of a point', dimensions=(3, 'nv')
)
TIME = Array('dt', 'time', '[s]', (), usual=1.0)
UNIFORM = Array('u', 'uniform random numbers', '', ('uniforms',))
SCALAR = Array('x', 'number', '', (), None, lambda model, x: [x], lambda x: [x])
MOMENTUM = Array('h', 'spatial momentum in base coordinates', '[N m s, N s]', (6,), None, _listed)
SPATIAL_MATRIX = Array(
    'M',
    'matrix over spatial vectors',
    '',
    (6, 6),
    None,
    lambda model, rows: _row_by_row(rows),
    _row_by_row,
)
POSE = Array(
    'T',
    'pose in the base frame',
    '[1, m]',
    (4, 4),
    from_tree=lambda model, X: pose(X),
)
TWIST = Array('velocity', 'spatial velocity, angular first', '[rad/s, m/s]', (6,), None, _listed)
FRAMES_MATRIX = replace(
    SPATIAL_MATRIX,
    meaning='matrix over the spatial vectors of some frames',
    dimensions=('6 frames', '6 frames'),
)
TWIST_RATE = replace(
    TWIST, symbol='acceleration', meaning='rate of a spatial velocity', unit='[rad/s^2, m/s^2]'
)
FRAMES_TWIST_RATE = replace(
    TWIST_RATE, meaning='rates of the spatial velocities of some frames', dimensions=('6 frames',)
)
WRENCH = Array('force', 'spatial force [n; f] on a frame', '[N m, N]', (6,), None, _listed)
LOOP_RESIDUAL = Array(
    'residual',
    'how far each loop joint is from being closed, along its constraint forces',
    '[rad, m]',
    ('constraints',),
    from_tree=_listed,
)
LOOP_JACOBIAN = replace(
    JACOBIAN,
    symbol='K',
    meaning='velocity of the loop joints along their constraint forces per velocity',
    dimensions=('constraints', 'nv'),
)
LOOP_VELOCITY = replace(
    LOOP_RESIDUAL,
    symbol='velocity',
    meaning='velocity of the loop joints along their constraint forces',
    unit='[rad/s, m/s]',
)
LOOP_BIAS = replace(
    LOOP_RESIDUAL,
    symbol='k',
    meaning='right-hand side of K a = k, without stabilization',
    unit='[rad/s^2, m/s^2]',
)
LOOP_MULTIPLIERS = replace(
    LOOP_RESIDUAL,
    symbol='multipliers',
    meaning='constraint force variables lambda of the loop joints',
    unit='[N m, N]',
    to_tree=_as_it_is,
)
LOOP_POSITION = Array(
    'position',
    'displacement of each loop joint along its freedoms',
    '[rad, m]',
    ('loop freedoms',),
    from_tree=_listed,
)
LOOP_RATE = replace(
    LOOP_POSITION,
    symbol='rate',
    meaning='velocity of each loop joint along its freedoms',
    unit='[rad/s, m/s]',
)
LOOP_FORCES = replace(
    LOOP_POSITION,
    symbol='loop_forces',
    meaning='active generalized forces of the loop joints',
    unit='[N m, N]',
    to_tree=_as_it_is,
)
LOOP_WRENCHES = Array(
    'wrenches',
    'spatial force [n; f] of each loop joint on its successor, in base coordinates',
    '[N m, N]',
    ('loops', 6),
    from_tree=lambda model, forces: [x for force in forces for x in force],
)
LINK_POSES = Array(
    'poses',
    'pose of each link in the base frame',
    '[1, m]',
    ('links', 4, 4),
    from_tree=_poses,
)
BODY_FRAMES = Array(
    'frames',
    'rotation by rows, and position, of each body in base coordinates, base first',
    '[1, m]',
    ('bodies + 1', 12),
    from_tree=_body_frames,
)
MOTION_COLUMNS = Array(
    'columns',
    'columns of the motion subspaces of all joints of the tree in base coordinates',
    '',
    ('tree_nv', 6),
    from_tree=_motion_columns,
)
BODY_WRENCHES = Array(
    'wrenches',
    'spatial force [n; f] for each body, in its coordinates',
    '[N m, N]',
    ('bodies', 6),
    from_tree=_by_body,
)

# -- kinds of arrays over the inertial parameters, ten of each body

TORQUE_REGRESSOR = Array(
    'Y',
    'generalized forces per inertial parameter',
    '',
    ('nv', 'parameters'),
    from_tree=lambda model, Y: _row_by_row(
        list(zip(*(model.independent_force(column) for column in zip(*Y))))
    ),
    flat=_row_by_row,
)
MOMENTUM_REGRESSOR = Array(
    'Y',
    'spatial momentum per inertial parameter',
    '',
    (6, 'parameters'),
    from_tree=lambda model, Y: _row_by_row(Y),
    flat=_row_by_row,
)
PARAMETER_ROW = Array(
    'y', 'a number per inertial parameter', '', ('parameters',), from_tree=_listed
)

# -- kinds of arrays of a robot whose base floats: that of the base apart from those of the joints

BASE_ACCELERATION = Array(
    'a0',
    'spatial acceleration of the base in its coordinates',
    '[rad/s^2, m/s^2]',
    (6,),
)
BASE_FORCE = Array('f0', 'spatial force on the base in its coordinates', '[N m, N]', (6,))
BASE_MOMENTUM = replace(
    BASE_FORCE, symbol='h', meaning='spatial momentum in base coordinates', unit='[N m s, N s]'
)
JOINT_ACCELERATION = Array('qdd', 'acceleration of the joints', '[rad/s^2, m/s^2]', ('nv - 6',))
JOINT_FORCE = Array('tau', 'generalized force of the joints', '[N m, N]', ('nv - 6',))
JOINT_INERTIA = Array(
    'H',
    'inertia matrix of the joints',
    '[kg m^2, kg m, kg]',
    ('nv - 6', 'nv - 6'),
    flat=_symmetric,
    symmetric=True,
)
JOINT_MOMENTUM = Array(
    'F',
    'momentum in base coordinates per velocity of the joints',
    '[kg m^2, kg m, kg]',
    (6, 'nv - 6'),
    flat=_row_by_row,
)
JOINT_JACOBIAN = Array(
    'J',
    'Jacobian of a spatial velocity by those of the joints, angular rows first',
    '',
    (6, 'nv - 6'),
    flat=_row_by_row,
)
SPATIAL_INERTIA = Array(
    'I',
    'spatial inertia',
    '[kg m^2, kg m, kg]',
    (6, 6),
    from_tree=lambda model, rows: _symmetric(rows),
    flat=_symmetric,
    symmetric=True,
)
CENTROIDAL_MATRIX = replace(
    JACOBIAN,
    symbol='A',
    meaning='momentum about the centre of mass per velocity',
    unit='[kg m^2, kg m, kg]',
)
CENTROIDAL_MOMENTUM = replace(
    MOMENTUM, meaning='momentum about the centre of mass along the axes of the base'
)
CENTROIDAL_FORCE = replace(
    CENTROIDAL_MOMENTUM,
    symbol='hdot',
    meaning='rate of the momentum about the centre of mass',
    unit='[N m, N]',
)
BODY_VELOCITIES = replace(
    BODY_WRENCHES,
    symbol='velocities',
    meaning='spatial velocity of each body in base coordinates',
    unit='[rad/s, m/s]',
)
BODY_ACCELERATIONS = replace(
    BODY_WRENCHES,
    symbol='accelerations',
    meaning='spatial acceleration of each body in base coordinates',
    unit='[rad/s^2, m/s^2]',
)
JOINT_FORCES = replace(
    BODY_WRENCHES,
    symbol='forces',
    meaning='spatial force [n; f] on each body from its parent, in base coordinates',
)
CORIOLIS_TENSOR = Array(
    'C',
    'Coriolis and centrifugal force per product of two velocities',
    '[kg m^2, kg m, kg]',
    ('nv', 'nv', 'nv'),
    from_tree=_cube,
    flat=lambda C: [x for matrix in C for row in matrix for x in row],
)
TENSOR = replace(
    CORIOLIS_TENSOR, symbol='D', meaning='second derivatives over joint space', unit=''
)

# -- what is chosen

REFERENCES = ('body', 'base', 'aligned')


def _reference(model: Model, name: str) -> str:
    if name not in REFERENCES:
        raise ValueError(f'unknown reference {name!r}; there are {", ".join(REFERENCES)}')
    return name


def _frame(model: Model, name: str) -> Frame:
    if name is None:
        raise ValueError('a frame is needed: the name of a link or of a joint')
    return model.frame(name)


def _frames(model: Model, names: Sequence[str]) -> Tuple[Frame, ...]:
    if isinstance(names, str) or not names:
        raise ValueError('frames are needed: the names of links or joints, one at least')
    return tuple(_frame(model, name) for name in names)


def _bodies_of_joints(model: Model, names: Iterable[str]) -> FrozenSet[int]:
    if names is None or isinstance(names, str):
        raise ValueError('names of joints are needed, as a tuple')
    numbers = {model.body(i).joint_name: i for i in model.independent}
    unknown = [name for name in names if name not in numbers]
    if unknown:
        raise ValueError(
            f'unknown joint {", ".join(map(repr, unknown))}; there are {", ".join(numbers)}'
        )
    return frozenset(numbers[name] for name in names)


FRAME = Choice('frame', 'link or joint by name', _frame)
FRAMES = Choice('frames', 'links or joints by name', _frames)
REFERENCE = Choice('reference', 'what a velocity is expressed in', _reference, 'body')
FORWARD_JOINTS = Choice(
    'forward_joints', 'joints whose forces are given, by name', _bodies_of_joints
)
EXTERNAL_FORCES = Wrenches()
