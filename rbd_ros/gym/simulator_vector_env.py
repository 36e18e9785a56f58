# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Many environments whose simulations are stepped in threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

import gymnasium
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import iterate

from rbd_ros.array_types import AnyArray, FloatArray
from rbd_ros.robot import threads as usual_threads


class SimulatorVectorEnv(SyncVectorEnv):
    """Gymnasium's `SyncVectorEnv`, with the steps of its environments taken in threads.

    Autoreset, seeds, observations and infos are those of that class, to the last digit, however
    many threads there are. Time steps run without Python's lock, observations and rewards with it.

    :param env_fns: functions that make an environment each, wrappers included
    :param threads: number of threads; None for that of `rbd_ros.robot.set_threads`
    :param options: further arguments of `SyncVectorEnv`, as `autoreset_mode`
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gymnasium.Env[Any, Any]]],
        threads: Optional[int] = None,
        **options: Any,
    ):
        super().__init__([_made(make) for make in env_fns], **options)
        self._threads = min(threads or usual_threads(), self.num_envs)
        self._pool = ThreadPoolExecutor(self._threads, 'environments')

    def step(
        self, actions: AnyArray
    ) -> Tuple[Any, FloatArray, AnyArray, AnyArray, Dict[str, Any]]:
        """Take a step of each environment, see `gymnasium.vector.VectorEnv.step`."""
        # Those that this step resets instead take none.
        resets = self.autoreset_mode == AutoresetMode.NEXT_STEP
        due = [
            (env, action)
            for env, action, ended in zip(
                self.envs, iterate(self.action_space, actions), self._autoreset_envs
            )
            if not (resets and ended)
        ]
        parts = [due[k :: self._threads] for k in range(self._threads)]
        list(self._pool.map(_take_steps, parts))
        return super().step(actions)

    def close_extras(self, **options: Any) -> None:
        """End the threads, and close the environments."""
        self._pool.shutdown()
        super().close_extras(**options)


class _Ahead(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment whose step is taken before its result is requested."""

    taken: Any = None

    def take(self, action: Any) -> None:
        self.taken = self.env.step(action)

    def step(self, action: Any) -> Any:
        taken, self.taken = self.taken, None
        return taken


def _made(make: Callable[[], gymnasium.Env[Any, Any]]) -> Callable[[], gymnasium.Env[Any, Any]]:
    return lambda: _Ahead(make())


def _take_steps(due: Sequence[Tuple[_Ahead, Any]]) -> None:
    for env, action in due:
        env.take(action)
