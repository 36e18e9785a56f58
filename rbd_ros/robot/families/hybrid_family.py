# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`robot.hybrid`: forces given at some joints, accelerations at the others (book 9.1)."""

from __future__ import annotations

from typing import Dict, Iterable, Tuple

from numpy.typing import ArrayLike

from rbd_ros.algorithms.articulated_body.hybrid_dynamics import HybridDynamics
from rbd_ros.model.errors import unknown_name
from rbd_ros.robot.kernels import Compiled, computes, Forces, Kernels, Outs


class HybridFunctions:
    """Hybrid dynamics: forces given at some joints, accelerations at the others (book 9.1)."""

    def __init__(self, kernels: Kernels):
        self._kernels = kernels
        self._partitions: Dict[Tuple[str, ...], Partition] = {}

    def partition(self, forward_joints: Iterable[str]) -> Partition:
        """Return the functions for a partition of the joints, for repeated calls.

        :param forward_joints: names of the joints whose forces are given
        :raises ValueError: for an unknown joint

        >>> partition = robot.hybrid.partition(('elbow_joint',))
        >>> partition.forward_joints
        ('elbow_joint',)
        """
        joints = tuple(forward_joints)
        found = self._partitions.get(joints)
        if found is None:
            found = self._partitions[joints] = Partition(self._kernels, joints)
        return found

    def dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        known: ArrayLike,
        forward_joints: Iterable[str],
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> HybridDynamics:
        """Return the accelerations and forces of all joints, given one of both for each.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param known: generalized forces of the forward joints, accelerations of the others, (nv,)
        :param forward_joints: names of the joints whose forces are given
        :param external_forces: spatial force [n; f] on each named link, in BASE coordinates, (6,)
            [N m, N]
        :param out: arrays for a and tau
        :return: a, (nv,) [rad/s^2, m/s^2], and tau, (nv,) [N m, N], including the given values
        :raises ValueError: for a wrong shape or dtype, or an unknown joint or link

        >>> known = a.copy()
        >>> known[2] = tau[2]  # the elbow's torque is given, accelerations of the others
        >>> result = robot.hybrid.dynamics(q, v, known, ('elbow_joint',))
        >>> np.allclose(result.a, a), np.allclose(result.tau, tau)
        (True, True)
        """
        partition = self.partition(forward_joints)
        return partition.dynamics(q, v, known, external_forces, out=out)


class Partition(Compiled):
    """Hybrid dynamics with a constant partition of the joints.

    :param forward_joints: names of the joints whose forces are given
    :raises ValueError: for an unknown joint
    """

    def __init__(self, kernels: Kernels, forward_joints: Tuple[str, ...]):
        model = kernels.model
        for name in forward_joints:
            if name not in model.joint_names:
                raise ValueError(unknown_name('joint', name, model.joint_names))
        forward = tuple(
            float(model.body(i).joint_name in forward_joints)
            for i in model.independent
            for _ in range(model.body(i).joint.nv)
        )
        super().__init__(kernels, forward=forward)
        self.forward_joints = forward_joints

    @computes('hybrid_dynamics')
    def dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        known: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> HybridDynamics:
        """Return the accelerations and forces of all joints, as `HybridFunctions.dynamics` does.

        Arguments are those of `HybridFunctions.dynamics` without the names of the joints.

        >>> limp_wrist = robot.hybrid.partition(robot.joint_names[3:])
        >>> known = np.zeros(6)  # shoulder and elbow stand still, the wrist has no torque
        >>> limp_wrist.dynamics(q, np.zeros(6), known).a.round(1)  # [rad/s^2]
        array([  0. ,   0. ,   0. ,  72.7, -12.9, -39.3])
        """
        return self._call('dynamics', (q, v, known), external_forces, out)
