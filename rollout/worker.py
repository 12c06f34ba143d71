"""Where episodes are played one after the other, in a thread, a process or an actor: none of them ends the others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from housewise.language import ChatModel
from housewise.rollout.failures import failure_of
from housewise.rollout.record import Outcome, RecordWriter
from housewise.rollout.rollout import Progress
from housewise.systems.personalize.config import RunConfig
from housewise.systems.personalize.player import Player, new_simulator, recorded_model
from housewise.systems.personalize.tasks import Job, check_person, load_task
from housewise.worlds.house.simulator.base import Simulator


class Stage:
    """A simulator, and what plays in it.

    Args:
        player: of the run.
        config: of the run.
        loading: held while a house is loaded.
        ends_run: whether an error concerns the run although it looks as if it concerned the episode alone.
    """

    def __init__(
        self,
        player: Player,
        config: RunConfig,
        loading: AbstractContextManager[object] | None = None,
        ends_run: Callable[[Exception], bool] | None = None,
    ) -> None:
        self._player, self._config = player, config
        self._loading = loading or nullcontext()
        self._ends_run = ends_run or (lambda error: False)
        self._simulator: Simulator | None = None

    def play(self, job: Job, model: ChatModel | None, folder: Path, progress: Progress) -> Outcome:
        """Play an episode; its record ends with what is returned.

        Args:
            job: the episode.
            model: answers; None where the planner asks none, or a recorded one.
            folder: of the record.
            progress: told of every low-level step.

        Raises:
            UserError: when something outside the program is wrong that concerns more than this episode.
        """
        check_person(self._config)
        answers = model or recorded_model(self._config, job)
        if self._simulator is None:
            self._simulator = new_simulator(self._config)
        writer = RecordWriter(folder, job.name)
        try:
            with self._loading:
                task = load_task(job.task, self._config)
            return self._player.play(job, task, answers, self._simulator, writer, progress)
        except Exception as error:
            if self._ends_run(error):
                raise
            failure = failure_of(error)
            writer.write(failure)
            if failure.traceback:
                # Nobody knows what state a defect leaves it in.
                self.close()
            return failure
        finally:
            writer.close()

    def close(self) -> None:
        """Release the simulator."""
        simulator, self._simulator = self._simulator, None
        if simulator is not None:
            simulator.close()
