# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of a robot: poses, frames, Jacobians, and its center of mass."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, ClassVar, Dict, Iterator, Mapping, Tuple, Type, TYPE_CHECKING

from numpy.typing import ArrayLike

from rbd_ros.robot.kernels import Array, Compiled, computes, Out

if TYPE_CHECKING:
    from rbd_ros.algorithms.kinds import Reference
    from rbd_ros.robot.frame import RobotFrame


class LinkPoses(Mapping[str, Array]):
    """Pose of each link in the base frame by its name, (4, 4), or (N, 4, 4) for a batch.

    The poses are views of one array, created on access.

    :param array: all poses, (links, 4, 4) or (N, links, 4, 4)
    """

    # Only one slot: machine code creates these objects
    # (compiler/runtime/kernel_builtin.py).
    __slots__ = ('array',)
    _places: ClassVar[Dict[str, int]] = {}

    def __init__(self, array: Array):
        self.array = array

    def __getitem__(self, link: str) -> Array:
        pose: Array = self.array[..., self._places[link], :, :]
        return pose

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f'<LinkPoses of {len(self)} links, {self.array.shape}>'

    def __reduce__(self) -> Any:
        return _made, (tuple(self._places), self.array)


class KinematicsFunctions(Compiled):
    """Kinematics: the part of `Robot` for poses and motion of its links."""

    @cached_property
    def _frames(self) -> Dict[Tuple[str, str], RobotFrame]:
        return {}

    @computes('forward_kinematics')
    def forward_kinematics(self, q: ArrayLike, *, out: Out = None) -> LinkPoses:
        """Return the pose of every link in the base frame by name, (4, 4): p_base = T p_link.

        :param q: configuration, (nq,) [rad, m]
        :param out: array for all poses, (links, 4, 4)
        :return: mapping of views of one array, `LinkPoses.array`

        >>> poses = robot.forward_kinematics(q)
        >>> poses['tool0'][:3, 3]  # position [m]
        array([0.22 , 0.187, 0.838])
        """
        poses: LinkPoses = self._call(
            'forward_kinematics', (q,), None, out, link_poses(tuple(self._kernels.model.links))
        )
        return poses

    def frame(self, name: str, reference: Reference = 'body') -> RobotFrame:
        """Return the functions of a link or joint frame, for repeated calls.

        :param name: name of a link, or of a joint
        :param reference: reference frame of motions, as for `jacobian`
        :raises ValueError: for an unknown frame or reference

        >>> tool = robot.frame('tool0', reference='aligned')
        >>> np.allclose(tool.jacobian(q) @ v, tool.velocity(q, v))
        True
        """
        found = self._frames.get((name, reference))
        if found is None:
            # Imported on demand, like the families: many robots are used without frames.
            from rbd_ros.robot.frame import RobotFrame

            found = self._frames[name, reference] = RobotFrame(self._kernels, name, reference)
        return found

    def jacobian(
        self, q: ArrayLike, frame: str, reference: Reference = 'body', *, out: Out = None
    ) -> Array:
        """Return the Jacobian of a link or joint frame, angular rows first, (6, nv).

        :param q: configuration, (nq,) [rad, m]
        :param frame: name of a link, or of a joint
        :param reference: reference frame of the velocity: 'body', the frame's own coordinates (as
            in the book); 'base', base coordinates, with the linear part of the point at the base
            origin; 'aligned', the velocity of the frame's origin along the axes of the base (the
            geometric Jacobian)
        :param out: array for the result
        :raises ValueError: for an unknown frame or reference, or a wrong shape or dtype

        >>> J = robot.jacobian(q, 'tool0', reference='aligned')
        >>> (J @ v)[3:]  # velocity of the tool's origin along the axes of the base [m/s]
        array([-0.139,  0.076, -0.062])
        """
        found = self._frames.get((frame, reference)) or self.frame(frame, reference)
        return found.jacobian(q) if out is None else found.jacobian(q, out=out)

    def jacobian_derivative(
        self,
        q: ArrayLike,
        v: ArrayLike,
        frame: str,
        reference: Reference = 'body',
        *,
        out: Out = None,
    ) -> Array:
        """Return the elementwise time derivative of `jacobian`, (6, nv).

        Arguments are those of `jacobian`, and the velocity `v`, (nv,) [rad/s, m/s].

        >>> J, J_dot = robot.jacobian(q, 'tool0'), robot.jacobian_derivative(q, v, 'tool0')
        >>> np.allclose(J @ a + J_dot @ v, robot.frame('tool0').acceleration(q, v, a))
        True
        """
        return self.frame(frame, reference).jacobian_derivative(q, v, out=out)

    def point_jacobian(
        self, q: ArrayLike, frame: str, point: ArrayLike, *, out: Out = None
    ) -> Array:
        """Return the Jacobian of the velocity of a point of a frame, along base axes, (3, nv).

        :param q: configuration, (nq,) [rad, m]
        :param frame: name of a link, or of a joint
        :param point: coordinates of the point in the frame, (3,) [m]
        :param out: array for the result
        :raises ValueError: for an unknown frame, or a wrong shape or dtype

        >>> J = robot.point_jacobian(q, 'tool0', [0.0, 0.0, 0.1])  # 0.1 m in front of the tool
        >>> J.shape, J @ v  # [m/s]
        ((3, 6), array([-0.16 ,  0.04 , -0.039]))
        """
        return self.frame(frame).point_jacobian(q, point, out=out)

    def point_jacobian_derivative(
        self, q: ArrayLike, v: ArrayLike, frame: str, point: ArrayLike, *, out: Out = None
    ) -> Array:
        """Return the elementwise time derivative of `point_jacobian`, (3, nv).

        Arguments are those of `point_jacobian`, and the velocity `v`, (nv,) [rad/s, m/s].

        >>> h, point = 1e-6, [0.0, 0.0, 0.1]
        >>> later, now = (robot.point_jacobian(x, 'tool0', point) for x in (q + h * v, q))
        >>> J_dot = robot.point_jacobian_derivative(q, v, 'tool0', point)
        >>> np.allclose(J_dot, (later - now) / h, atol=1e-5)
        True
        """
        return self.frame(frame).point_jacobian_derivative(q, v, point, out=out)

    @computes('center_of_mass')
    def center_of_mass(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the center of mass of all moving links in base coordinates, (3,) [m].

        Links fixed to the world are excluded.

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :raises ModelError: if no moving body has mass
        :raises ValueError: for a wrong shape or dtype

        >>> robot.center_of_mass(q)  # [m]
        array([-0.014,  0.081,  0.427])
        """
        return self._call('center_of_mass', (q,), None, out)

    @computes('center_of_mass_jacobian')
    def center_of_mass_jacobian(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the Jacobian of the velocity of `center_of_mass`, (3, nv).

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :raises ModelError: if no moving body has mass
        :raises ValueError: for a wrong shape or dtype

        >>> mass = sum(body.inertia.mass for body in robot.model.bodies)
        >>> np.allclose(mass * robot.center_of_mass_jacobian(q) @ v, robot.momentum(q, v)[3:])
        True
        """
        return self._call('center_of_mass_jacobian', (q,), None, out)


@lru_cache(maxsize=None)
def link_poses(links: Tuple[str, ...]) -> Type[LinkPoses]:
    """Return the class of the poses of these links."""
    places = {name: k for k, name in enumerate(links)}
    names = {'__slots__': (), '__module__': __name__, '_places': places}
    return type('LinkPoses', (LinkPoses,), names)


def _made(links: Tuple[str, ...], array: Array) -> LinkPoses:
    return link_poses(links)(array)
