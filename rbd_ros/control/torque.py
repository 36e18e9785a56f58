"""Torque laws: sums of model, feedback and friction terms, cut at the limits.

Which term contains what is in `TERM_DESCRIPTIONS`. Model terms are rigid-body dynamics with
reflected rotor inertia; friction is in the friction term alone.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from rbd_ros.control.friction import friction_torque
from rbd_ros.control.limits import TorqueLimiter
from rbd_ros.robot import Robot

MODELS = ('none', 'gravity', 'inverse_dynamics', 'computed_torque')
FEEDBACKS = ('none', 'pd', 'damping')
FRICTIONS = ('none', 'desired', 'measured')
WORDS = {'model': MODELS, 'feedback': FEEDBACKS, 'friction': FRICTIONS}

TERM_DESCRIPTIONS = {
    'none': 'nothing',
    'gravity': 'g(q): holds the arm against gravity at the measured configuration; '
    'no inertia, Coriolis, friction',
    'inverse_dynamics': 'H(qd) ad + C(qd, vd) + g(qd): inertia, Coriolis, centrifugal and gravity '
    'of the desired motion; contains no measurement and no friction',
    'computed_torque': 'H(q) (ad + kp e + kd de) + C(q, v) + g(q) at the measured state; kp in '
    '1/s^2, kd in 1/s; no friction',
    'pd': 'kp e + kd de with the errors of position and velocity',
    'damping': '-kd v with the measured velocity',
    'desired': 'viscous and Coulomb friction of the desired velocity, tanh around rest',
    'measured': 'viscous and Coulomb friction of the measured velocity, tanh around rest',
}

Kernel = Callable[..., np.ndarray]


class TorqueLaw:
    """Torque for a robot from its measured and desired state.

    tau = limits(model + feedback + friction); see `TERM_DESCRIPTIONS`. All terms are summed before
    the sum is cut.

    :param robot: the robot
    :param model: one of MODELS
    :param feedback: one of FEEDBACKS; with computed_torque, 'none' or 'pd' is the same, since the
        feedback is within
    :param friction: one of FRICTIONS
    :param kp: gain of the position error, one number or (nv,) [N m/rad or N/m; 1/s^2 with
        computed_torque]
    :param kd: gain of the velocity error, likewise [N m s/rad or N s/m; 1/s]
    :param payload_link: link with a payload that `set_payload` gives; None: no payload
    :param runtime_gravity: whether `set_gravity` will change the gravity vector
    :param effort_limits: greatest torques, (nv,); None: those of the robot
    :param torque_rate: greatest change of torque, one number or (nv,) [N m/s or N/s]; None: any
    :param viscous: damping for the friction term, (nv,); None: that of the robot
    :param coulomb: Coulomb friction for the friction term, (nv,); None: that of the robot
    :param transition_velocity: velocity over which Coulomb friction sets in [rad/s or m/s]
    :raises ValueError: for an unknown word, an unknown link or illegal numbers
    """

    def __init__(
        self,
        robot: Robot,
        *,
        model: str = 'inverse_dynamics',
        feedback: str = 'pd',
        friction: str = 'none',
        kp: Any = 0.0,
        kd: Any = 0.0,
        payload_link: Optional[str] = None,
        runtime_gravity: bool = False,
        effort_limits: Any = None,
        torque_rate: Any = None,
        viscous: Any = None,
        coulomb: Any = None,
        transition_velocity: float = 0.02,
    ):
        if not transition_velocity > 0.0:
            raise ValueError(f'transition_velocity must be positive, got {transition_velocity}')
        self.robot = robot
        self._rest = np.zeros(robot.nv)
        self._rest.flags.writeable = False
        self._one_dof_joints = len(robot.joint_names) == robot.nv == robot.nq
        self._viscous = self._gain('viscous', robot.damping if viscous is None else viscous)
        self._coulomb = self._gain('coulomb', robot.friction if coulomb is None else coulomb)
        self._transition_velocity = transition_velocity
        self._runtime: Tuple[str, ...] = ('gravity',) if runtime_gravity else ()
        if payload_link is not None:
            robot.model.link(payload_link)
            self._runtime += (f'payload:{payload_link}',)
        self._inputs: Dict[str, np.ndarray] = {}
        if runtime_gravity:
            self._inputs['gravity'] = np.array(robot.gravity, dtype=float)
        if payload_link is not None:
            self._inputs['payload'] = np.zeros(10)
        self._extra = tuple(self._inputs.values())
        self._functions: Dict[str, Kernel] = {}
        self._limiter: Optional[TorqueLimiter] = None
        self._last_terms = (self._rest,) * 3
        self.configure(
            model=model,
            feedback=feedback,
            friction=friction,
            kp=kp,
            kd=kd,
            effort_limits=robot.effort_limits if effort_limits is None else effort_limits,
            torque_rate=torque_rate,
        )

    # -- settings ---------------------------------------------------------------------------------

    def configure(self, **changes: Any) -> None:
        """Change settings: model, feedback, friction, kp, kd, effort_limits, torque_rate.

        All are checked before any is changed. Names and values as those of the class.

        :raises ValueError: for an unknown name, an unknown word or illegal numbers
        """
        legal = (*WORDS, 'kp', 'kd', 'effort_limits', 'torque_rate')
        for name in changes:
            if name not in legal:
                raise ValueError(f'unknown setting {name!r}; there are {", ".join(legal)}')
        new = {}
        for name, words in WORDS.items():
            if name in changes and changes[name] not in words:
                given = changes[name]
                raise ValueError(f'{name} must be one of {", ".join(words)}, got {given!r}')
        for name in ('kp', 'kd'):
            if name in changes:
                new[f'_{name}'] = self._gain(name, changes[name])
        if 'effort_limits' in changes or 'torque_rate' in changes:
            new['_limiter'] = self._changed_limiter(changes)
        for name in WORDS:
            if name in changes:
                new[f'_{name}'] = changes[name]
        self._require_functions(changes.get('model', 'none'))
        self.__dict__.update(new)

    def _gain(self, name: str, values: Any) -> np.ndarray:
        try:
            result = np.broadcast_to(np.asarray(values, dtype=float), (self.robot.nv,)).copy()
        except (TypeError, ValueError):
            raise ValueError(
                f'{name} must be one number or {self.robot.nv}, got shape {np.shape(values)}'
            ) from None
        if not (np.isfinite(result).all() and (result >= 0.0).all()):
            raise ValueError(f'{name} must be finite and not negative, got {values}')
        return result

    def _changed_limiter(self, changes: Dict[str, Any]) -> TorqueLimiter:
        old = self._limiter
        limits = changes.get('effort_limits', None if old is None else old.effort_limits)
        rate = changes.get('torque_rate', None if old is None else old.rate)
        if np.shape(limits) != (self.robot.nv,):
            raise ValueError(
                f'effort_limits must have shape ({self.robot.nv},), got {np.shape(limits)}'
            )
        new = TorqueLimiter(limits, rate)
        if old is not None:
            new.continue_from(old)
        return new

    def _require_functions(self, model: str) -> None:
        """Get the kernel that a model needs, so that the first torque does not wait for it."""
        name = {
            'gravity': 'gravity_torque',
            'inverse_dynamics': 'inverse_dynamics',
            'computed_torque': 'inverse_dynamics',
        }.get(model)
        if name is not None and name not in self._functions:
            self._functions[name] = self.robot.function(name, runtime=self._runtime)

    def set_payload(self, parameters: Any) -> None:
        """Change the payload.

        :param parameters: m, m c (3), Ixx, Ixy, Ixz, Iyy, Iyz, Izz, (10,), see payload_parameters
        :raises ValueError: if there is no payload_link, or for illegal numbers
        """
        self._set_input('payload', parameters, 'TorqueLaw was made without payload_link')

    def set_gravity(self, vector: Any) -> None:
        """Change the acceleration of gravity in base coordinates, (3,) [m/s^2].

        :raises ValueError: if runtime_gravity is off, or for illegal numbers
        """
        self._set_input('gravity', vector, 'TorqueLaw was made without runtime_gravity')

    def _set_input(self, name: str, values: Any, absent: str) -> None:
        if name not in self._inputs:
            raise ValueError(absent)
        shape = self._inputs[name].shape
        new = np.array(values, dtype=float)
        if new.shape != shape or not np.isfinite(new).all():
            raise ValueError(f'{name} must be {shape[0]} finite numbers, got {values}')
        # A new array instead of new contents: another thread may be computing with the old.
        self._inputs[name] = new
        self._extra = tuple(self._inputs.values())

    # -- torque -----------------------------------------------------------------------------------

    def __call__(
        self,
        q: np.ndarray,
        v: np.ndarray,
        q_desired: Optional[np.ndarray] = None,
        v_desired: Optional[np.ndarray] = None,
        a_desired: Optional[np.ndarray] = None,
        dt: Optional[float] = None,
    ) -> np.ndarray:
        """Torque, (nv,) [N m or N].

        :param q: measured configuration, (nq,)
        :param v: measured velocity, (nv,)
        :param q_desired: desired configuration, (nq,); None: where the robot is
        :param v_desired: desired velocity, (nv,); None: at rest
        :param a_desired: desired acceleration, (nv,); None: none
        :param dt: time since the last call [s], for the rate limit; None: no rate limit this time
        :raises FloatingPointError: if it is not finite, naming the joints
        """
        q_desired = q if q_desired is None else q_desired
        v_desired = self._rest if v_desired is None else v_desired
        a_desired = self._rest if a_desired is None else a_desired
        model = self._model_term(q, v, q_desired, v_desired, a_desired)
        feedback = self._feedback_term(q, v, q_desired, v_desired)
        friction = self._friction_term(v, v_desired)
        self._last_terms = (model, feedback, friction)
        total = model + feedback + friction
        if not np.isfinite(total).all():
            self._refuse(total)
        return self._limiter(total, dt)

    def _model_term(self, q, v, q_desired, v_desired, a_desired) -> np.ndarray:
        if self._model == 'inverse_dynamics':
            function = self._functions['inverse_dynamics']
            return function(q_desired, v_desired, a_desired, *self._extra)
        if self._model == 'gravity':
            return self._functions['gravity_torque'](q, *self._extra)
        if self._model == 'computed_torque':
            error = self._position_error(q, q_desired)
            a = a_desired + self._kp * error + self._kd * (v_desired - v)
            return self._functions['inverse_dynamics'](q, v, a, *self._extra)
        return self._rest

    def _feedback_term(self, q, v, q_desired, v_desired) -> np.ndarray:
        if self._feedback == 'none' or self._model == 'computed_torque':
            return self._rest
        if self._feedback == 'damping':
            return -self._kd * v
        return self._kp * self._position_error(q, q_desired) + self._kd * (v_desired - v)

    def _friction_term(self, v, v_desired) -> np.ndarray:
        if self._friction == 'none':
            return self._rest
        velocity = v_desired if self._friction == 'desired' else v
        return friction_torque(velocity, self._viscous, self._coulomb, self._transition_velocity)

    def _position_error(self, q, q_desired) -> np.ndarray:
        if self._one_dof_joints:
            return q_desired - q
        return self.robot.difference(q, q_desired)

    def _refuse(self, total: np.ndarray) -> None:
        bad = np.flatnonzero(~np.isfinite(total))
        names = self.robot.joint_names
        which = [names[i] for i in bad] if self._one_dof_joints else [f'dof {i}' for i in bad]
        raise FloatingPointError(f'torque of joint {", ".join(which)} is not finite')

    # -- what came out ----------------------------------------------------------------------------

    @property
    def terms(self) -> Dict[str, np.ndarray]:
        """Contributions to the last torque before it was cut: 'model', 'feedback', 'friction'."""
        return dict(zip(WORDS, (term.copy() for term in self._last_terms)))

    @property
    def saturated(self) -> np.ndarray:
        """Which joints' torques were cut at the effort limit in the last call, (nv,) bool."""
        return self._limiter.saturated

    def reset(self) -> None:
        """Forget the last torque: the next one may be any, whatever the rate limit."""
        self._limiter.reset()
