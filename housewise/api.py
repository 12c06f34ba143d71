"""What a program wants of Housewise without a command line: play a task, compare runs, an environment of its own."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from housewise.controller.robot import RobotInHouse
from housewise.controller.skills import Controller
from housewise.core.errors import UserError, excerpt
from housewise.core.record import Header, Record, RecordWriter
from housewise.core.render_devices import ANY, GpuSetting
from housewise.language.base import Sampling
from housewise.rollout import comparison as comparing
from housewise.rollout.episode_loop import EpisodeLimits, EpisodeLoop
from housewise.rollout.record_reader import read_records
from housewise.rollout.scores import FinishedEpisode
from housewise.systems.personalize.agent import PlannerAgent
from housewise.systems.personalize.custom_planners import CustomPlanner, CustomPlannerFactory, Decide
from housewise.systems.personalize.planners import PlannerContext, scripted_planner
from housewise.systems.personalize.record import HouseRecord, read_house_record
from housewise.systems.personalize.system import make_initial_state
from housewise.systems.personalize.world import HouseWorld
from housewise.worlds.house.env import MAX_STEPS, RearrangementEnv, Task
from housewise.worlds.house.registered import generated_env as make_env
from housewise.worlds.house.simulator import SimulatorName, open_simulator
from housewise.worlds.house.tasks import generated_task

__all__ = ["compare", "generated_task", "make_env", "play"]

Episodes = Path | str | Iterable[Record | HouseRecord]
"""The folder of a run or of its records, or the records."""


def play(
    task: Task | int,
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
        task: a house with what is to be done in it, or the number of a generated one.
        planner: An object that plans, a class of such objects or a function that returns its plan as text (see
            docs/extending.md); None for the scripted planner, which knows what is wanted.
        seed: of what the scripted planner draws.
        simulator: by name.
        gpu: CUDA devices that ``habitat`` may render on; see housewise.core.render_devices.
        max_steps: low-level steps until the episode is cut.
        limits: when it ends otherwise.
        folder: keeps the record; None keeps it in memory alone.

    Returns:
        The episode's record.

    Raises:
        UserError: The task is none, the simulator is not there, the folder cannot be written to, or the planner
            returns no plan.
    """
    own = None if planner is None else CustomPlannerFactory(planner, "planner")
    chosen = generated_task(task, "majority") if isinstance(task, int) else task
    if not isinstance(chosen, Task):
        raise UserError(f"task: {excerpt(repr(chosen))} is no Task; give one, or the number of a generated house")
    with closing(open_simulator(simulator, ("instance",), gpu=gpu)) as opened:
        env = RearrangementEnv(opened, [chosen], max_steps)
        env.reset()
        situation = PlannerContext(chosen, env, seed, None, Sampling())
        decides = scripted_planner(chosen, env, seed) if own is None else own(situation)
        world = HouseWorld(RobotInHouse(env, Controller(env)))
        setting = make_initial_state(chosen, simulator)
        header = Header(
            system="personalize",
            task=f"{setting.scene}-{setting.episode:04d}",
            group=setting.scene,
            seed=seed,
            agent=decides.name,
            setting=setting.model_dump(mode="json"),
        )
        with nullcontext(folder) if folder is not None else TemporaryDirectory() as kept:
            place = Path(kept)
            writer = RecordWriter(place, header.name)
            EpisodeLoop(world, PlannerAgent(decides, world), writer, limits).play(header)
            record = read_house_record(place / f"{header.name}.jsonl")
    return record


def compare(a: Episodes, b: Episodes, names: tuple[str, str] = ("A", "B")) -> comparing.Comparison:
    """Compare two runs on the episodes that both played.

    Args:
        a, b: what each of them played.
        names: what they are called.

    Raises:
        UserError: when a folder or a record cannot be read, or there is no episode that both played.
    """
    return comparing.compare(_finished(a), _finished(b), names)


def _finished(episodes: Episodes) -> list[FinishedEpisode]:
    records = read_records(episodes) if isinstance(episodes, Path | str) else episodes
    return [(record.header, record.result) for record in records]
