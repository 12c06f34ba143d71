"""Python interface of Housewise: play a task, load and compare runs, read them as data frames, make an environment."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from housewise.controller.robot import RobotInHouse
from housewise.controller.skills import Controller
from housewise.core.errors import UserError
from housewise.core.printable_text import excerpt
from housewise.core.record import Header, Record
from housewise.core.record_files import FINISHED, RecordWriter
from housewise.core.render_devices import ANY, GpuSetting
from housewise.language.base import Sampling
from housewise.rollout import comparison
from housewise.rollout.data_frames import episodes, events, runs
from housewise.rollout.episode_loop import EpisodeLimits, EpisodeLoop
from housewise.rollout.record_reader import read_records
from housewise.rollout.run import load_run
from housewise.rollout.scores import FinishedEpisode
from housewise.systems.personalize.agent import PlannerAgent
from housewise.systems.personalize.custom_planners import CustomPlanner, CustomPlannerFactory, Decide
from housewise.systems.personalize.planner_context import PlannerContext
from housewise.systems.personalize.planners import scripted_planner
from housewise.systems.personalize.record import HouseRecord, read_house_record
from housewise.systems.personalize.system import make_initial_state
from housewise.systems.personalize.world import HouseWorld
from housewise.worlds.argument_checks import is_integer
from housewise.worlds.house.env import MAX_STEPS, RearrangementEnv, RearrangementTask
from housewise.worlds.house.generated_env import make_generated_env as make_env
from housewise.worlds.house.simulator import SimulatorName, open_simulator
from housewise.worlds.house.tasks import generated_task

__all__ = [
    "compare",
    "episodes",
    "events",
    "generated_task",
    "load_run",
    "make_env",
    "play",
    "read_records",
    "runs",
]

Episodes = Path | str | Iterable[Record | HouseRecord]
"""Folder of a run or of its records, or the records themselves."""


def play(
    task: RearrangementTask | int,
    planner: CustomPlanner | Decide | type[CustomPlanner] | None = None,
    *,
    seed: int = 0,
    simulator: SimulatorName = "raycast",
    gpu: GpuSetting = ANY,
    max_steps: int = MAX_STEPS,
    limits: EpisodeLimits | None = None,
    folder: Path | None = None,
) -> HouseRecord:
    """Play an episode in a house.

    Args:
        task: A house with its misplaced objects, or the number of a generated house.
        planner: A planner object, a class of planners, or a function that returns a plan as text (see
            docs/extending.md). None is the scripted planner, which knows the preferences.
        seed: Seed of the scripted planner.
        simulator: Name of the simulator.
        gpu: CUDA devices that ``habitat`` may render on; see housewise.core.render_devices.
        max_steps: Maximum number of low-level steps.
        limits: Further limits of the episode.
        folder: Folder that the record is written to. It must hold no record of this task yet: name another folder for
            each seed. None writes no file.

    Returns:
        The record of the episode.

    Raises:
        UserError: ``task`` is not a task, ``max_steps`` is less than 1, the simulator is not installed, the folder
            cannot be written to or holds a record of this task, or the planner returns no plan.
    """
    own = None if planner is None else CustomPlannerFactory(planner, "planner")
    chosen = task if isinstance(task, RearrangementTask) else generated_task(_house_number(task), "majority")
    with closing(open_simulator(simulator, ("instance",), gpu=gpu)) as opened:
        env = RearrangementEnv(opened, [chosen], max_steps)
        env.reset()
        situation = PlannerContext(chosen, env, seed, None, Sampling())
        decides = scripted_planner(chosen, env, seed) if own is None else own(situation)
        world = HouseWorld(RobotInHouse(env, Controller(env)))
        initial_state = make_initial_state(chosen, simulator)
        header = Header(
            system="personalize",
            task=f"{initial_state.scene}-{initial_state.episode:04d}",
            group=initial_state.scene,
            seed=seed,
            agent=decides.name,
            initial_state=initial_state.model_dump(mode="json"),
        )
        with nullcontext(folder) if folder is not None else TemporaryDirectory() as kept:
            place = Path(kept)
            path = place / f"{header.name}{FINISHED}"
            if path.exists():
                raise UserError(f"{path}: is there already, and would be overwritten; name another folder")
            writer = RecordWriter(place, header.name)
            replan = (limits or EpisodeLimits()).replan_when_blocked
            agent = PlannerAgent(decides, world, replan_when_blocked=replan)
            try:
                EpisodeLoop(world, agent, writer, limits).play(header)
            finally:
                writer.close()
            record = read_house_record(path)
    return record


def _house_number(task: Any) -> int:
    if not is_integer(task):
        message = (
            f"task: {excerpt(repr(task))} is not a RearrangementTask; give one, or the number of a generated house"
        )
        raise UserError(message)
    return int(task)


def compare(a: Episodes, b: Episodes, names: tuple[str, str] = ("A", "B")) -> comparison.Comparison:
    """Compare two runs on the episodes that both played.

    Args:
        a: Folder of a run, or its records.
        b: Folder of another run, or its records.
        names: Names of the runs in the comparison.

    Raises:
        UserError: A folder or record cannot be read, or the runs have no episode in common.
    """
    return comparison.compare(_read_finished(a), _read_finished(b), names)


def _read_finished(episodes: Episodes) -> list[FinishedEpisode]:
    records = read_records(episodes) if isinstance(episodes, Path | str) else episodes
    return [(record.header, record.result) for record in records]
