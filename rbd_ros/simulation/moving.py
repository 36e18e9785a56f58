"""Moving a configuration by a displacement, and back between the joint limits."""

from __future__ import annotations

from rbd_ros.compiler.loops import call_kernel, compiled
from rbd_ros.contact.arrays import FloatArray
from rbd_ros.simulation.linear import copy
from rbd_ros.simulation.plant import Plant
from rbd_ros.simulation.workspace import Motion

#: Speed at which a joint that begins outside its limits is moved back: slow enough that nothing is
#: thrown, since its velocity stays zero meanwhile [rad/s or m/s].
RETURN_SPEED = 0.5

#: Distance from a limit, or of two surfaces, that counts as none [rad, m]. It is what rounding and
#: the last digits of the solver leave of one that was closed. To close it as well would be to ask
#: what holds a body at several places for velocities that contradict each other by as little.
CLOSED = 1e-10


@compiled
def move(plant: Plant, motion: Motion, q: FloatArray) -> None:
    """Find `next_q`, reached from q by `displacement`.

    :param q: configuration to move from, (nq,)
    """
    if plant.is_flat:
        for k in range(len(q)):
            motion.next_q[k] = q[k] + motion.displacement[k]
    else:
        copy(q, motion.from_q)
        call_kernel(plant.integrate, motion.packed, motion.next_q)


@compiled
def returned(plant: Plant, i: int, q: float, h: float) -> float:
    """Position of a joint moved towards its limits if it is beyond one.

    Positions are moved, not velocities: a joint that is beyond its limit by rounding returns at
    once, one that was put there slowly, and neither gains energy by it.

    :param i: degree of freedom
    :param q: its position [rad, m]
    :param h: time step [s]
    """
    result: float = q
    if q < plant.lower[i]:
        result = min(plant.lower[i], q + RETURN_SPEED * h)
    elif q > plant.upper[i]:
        result = max(plant.upper[i], q - RETURN_SPEED * h)
    return result
