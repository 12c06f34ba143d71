"""What the systems share that play in a simulator of houses."""

from __future__ import annotations

from housewise.rollout.capabilities import S
from housewise.rollout.system import System
from housewise.worlds.house.simulator import open_simulator
from housewise.worlds.house.simulator.base import Simulator


class SharedSimulatorSystem(System[S]):
    """A system whose episodes use one simulator, one after the other."""

    _simulator: Simulator | None = None

    def open_simulator(self, name: str) -> Simulator:
        """Return the simulator with the sensors of episodes. The first call opens it."""
        if self._simulator is None:
            self._simulator = open_simulator(name, ("instance",), gpu=self.settings.execution.gpu)
        return self._simulator

    def close(self) -> None:
        """Release the simulator."""
        simulator, self._simulator = self._simulator, None
        if simulator is not None:
            simulator.close()
