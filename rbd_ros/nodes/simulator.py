"""Simulated robot that stands in for the hardware: torques in, joint states and time out."""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional, Sequence, Tuple

from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger

from rbd_ros.nodes.description import RobotSource
from rbd_ros.nodes.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.nodes.parameters import ParameterTable
from rbd_ros.nodes.runtime import run_node
from rbd_ros.nodes.simulation_interfaces import offer_simulation_interfaces
from rbd_ros.nodes.simulator_cycle import SimulationCycle
from rbd_ros.nodes.simulator_loop import SimulationLoop
from rbd_ros.nodes.simulator_parameters import check_simulator_parameters, SIMULATOR_PARAMETERS
from rbd_ros.robot import Robot

SUBJECT = 'simulation'
SWITCH_INTERVAL = (
    2e-4  # the interpreter's; the simulation must not wait 5 ms for a callback of the executor [s]
)
STEP_TIMEOUT = 600.0  # longest real time of one call of ~/step [s]
SLOW = 0.95  # part of the real-time factor asked for below which a warning is due


class SimulatorNode(Node):
    """See docs/nodes/simulator.md."""

    def __init__(self):
        super().__init__('simulator')
        self._refuse_simulated_time()
        self.parameters = ParameterTable(self, SIMULATOR_PARAMETERS, check_simulator_parameters)
        self.parameters.on_change(self._on_parameters)
        self.diagnostics = Diagnostics(self)
        self.diagnostics.add_values(SUBJECT, self._values)
        self.diagnostics.every_second(self._watch)
        self.cycle: Optional[SimulationCycle] = None
        self.loop: Optional[SimulationLoop] = None
        self._failure = ''
        self._seen: Tuple[int, int, float] = (0, 0, 0.0)
        self._speed = 0.0
        self.create_service(SetBool, '~/pause', self._on_pause)
        self.create_service(Trigger, '~/step', self._on_step)
        self.create_service(Trigger, '~/reset', self._on_reset)
        offer_simulation_interfaces(self)
        self._source = RobotSource(
            self,
            self.parameters,
            self.diagnostics,
            self._use_robot,
            floating_base=self.parameters['floating_base'],
            gravity=self.parameters['gravity'],
        )
        self._source.start()

    def _refuse_simulated_time(self) -> None:
        if self.get_parameter('use_sim_time').value:
            self.get_logger().warning(
                'the simulator makes /clock and cannot follow it: use_sim_time is set to false'
            )
            self.set_parameters([Parameter('use_sim_time', value=False)])

    def _use_robot(self, robot: Robot) -> None:
        self.cycle = SimulationCycle(self, robot, self.parameters, self.diagnostics)
        self.loop = SimulationLoop(
            self.cycle.timestep,
            self.cycle.run,
            self.cycle.idle,
            self._on_failure,
            self.parameters['real_time_factor'],
            self.parameters['start_paused'],
        )
        self._report_state()
        self.loop.start()

    def _on_parameters(self, changed: Dict[str, Any]) -> None:
        if 'real_time_factor' in changed and self.loop is not None:
            self.loop.real_time_factor = changed['real_time_factor']

    def _on_failure(self, error: BaseException) -> None:
        self._failure = str(error) or type(error).__name__
        self._report_state()

    # -- verbs, for both kinds of services: whether it worked, and what to tell -------------------

    def pause(self, paused: bool) -> Tuple[bool, str]:
        """Let simulated time stand still, or go on."""
        if self.loop is None:
            return self._no_robot()
        if not paused and self._failure:
            return False, f'{self._failure}; reset first'
        self.loop.request(lambda: self._set_paused(paused))
        return True, f'{"paused" if paused else "running"} at {self._time()}'

    def _set_paused(self, paused: bool) -> None:
        if self.loop.paused and not paused:
            self.cycle.refresh_commands()
        self.loop.set_paused(paused)
        self.cycle.publish()
        self._report_state()

    def step(self, count: int) -> Tuple[bool, str]:
        """Simulate `count` cycles while paused; their states are published before this returns."""
        if self.loop is None:
            return self._no_robot()
        if not self.loop.paused:
            return False, 'not paused: stepping is for a paused simulation'
        if self._failure:
            return False, f'{self._failure}; reset first'
        try:
            done = self.loop.request(lambda: self._run_cycles(count), STEP_TIMEOUT)
        except Exception as error:
            return False, str(error) or type(error).__name__
        return done == count, f'{done} cycles done, at {self._time()}'

    def _run_cycles(self, count: int) -> int:
        self.cycle.refresh_commands()
        try:
            return self.loop.run_cycles(count)
        except Exception as error:
            self._on_failure(error)
            raise
        finally:
            self.cycle.publish()

    def reset(self) -> Tuple[bool, str]:
        """Put the robot back to its initial position; time goes on."""
        if self.loop is None:
            return self._no_robot()
        self.loop.request(self._reset)
        return True, f'robot at its initial position, at {self._time()}'

    def _reset(self) -> None:
        self._failure = ''
        self.cycle.reset()
        self._report_state()

    @staticmethod
    def _no_robot() -> Tuple[bool, str]:
        return False, 'there is no robot description yet'

    def _time(self) -> str:
        return f'{self.cycle.time_ns / 1e9:.6f} s'

    # -- services ---------------------------------------------------------------------------------

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success, response.message = self._safely(lambda: self.pause(request.data))
        return response

    def _on_step(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._safely(
            lambda: self.step(self.parameters['step_count'])
        )
        return response

    def _on_reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self._safely(self.reset)
        return response

    def _safely(self, work: Any) -> Tuple[bool, str]:
        try:
            return work()
        except Exception as error:  # a service must answer
            self.diagnostics.event(SUBJECT, ERROR, f'{type(error).__name__}: {error}')
            return False, str(error) or type(error).__name__

    # -- diagnostics ------------------------------------------------------------------------------

    def _report_state(self) -> None:
        if self._failure:
            self.diagnostics.condition(
                SUBJECT,
                ERROR,
                f'paused, because the dynamics failed: {self._failure}. Call ~/reset',
                code='failed',
            )
        elif self.loop.paused:
            self.diagnostics.condition(SUBJECT, OK, 'paused', code='paused')
        else:
            self.diagnostics.condition(SUBJECT, OK, 'running', code='running')

    def _watch(self) -> None:
        """Once a second: does the simulation keep up with time, can commands come through?"""
        if self.loop is None:
            return
        loop, now = self.loop, self.get_clock().now().nanoseconds * 1e-9
        cycles, overruns, then = self._seen
        self._seen = (loop.cycles, loop.overruns, now)
        if not then or loop.paused or now <= then:
            self._speed = 0.0
            return
        self._speed = (loop.cycles - cycles) * self.cycle.timestep / (now - then)
        wanted = loop.real_time_factor
        if 0.0 < wanted and self._speed < SLOW * wanted and (loop.cycles - cycles) > 10:
            self.diagnostics.event(
                SUBJECT,
                WARN,
                f'over-run: {self._speed:.3g} of real time instead of {wanted:g}, '
                f'{loop.overruns - overruns} cycles late; '
                'use a larger timestep, a lower real_time_factor or a faster machine',
                code='over-run',
            )
        for topic, count in self.cycle.unreliable_publishers().items():
            self.diagnostics.event(
                SUBJECT,
                WARN,
                f'{count} publisher(s) on {topic} are best effort and cannot be heard: commands '
                'must be sent reliably',
                code=f'best effort on {topic}',
            )

    def _values(self) -> Dict[str, Any]:
        if self.loop is None:
            return {}
        loop, cycle = self.loop, self.cycle
        longest, loop.longest_cycle = loop.longest_cycle, 0.0
        return {
            'time': cycle.time_ns / 1e9,
            'real_time_factor': self._speed,
            'steps': loop.cycles,
            'overruns': loop.overruns,
            'lost_time_s': loop.lost_time,
            'mean_cycle_us': 1e6 * loop.busy_time / max(loop.cycles, 1),
            'longest_cycle_us': 1e6 * longest,
            'saturated_steps': cycle.saturated_cycles,
            'commands_accepted': cycle.commands.accepted,
            'commands_refused': cycle.commands.refused,
        }

    def stop(self) -> None:
        """End the simulation."""
        if self.loop is not None:
            self.loop.stop()
        if self.cycle is not None:
            self.cycle.destroy()


def main(args: Optional[Sequence[str]] = None) -> int:
    """Run the node until it is stopped."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    return run_node(SimulatorNode, args)


if __name__ == '__main__':
    sys.exit(main())
