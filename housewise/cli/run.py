"""``housewise run`` and ``housewise replay``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from housewise.cli.option_values import check_settings, data_folder, parse_episodes, drop_unset, configured_system
from housewise.cli.options import (
    EXECUTION,
    AdapterOption,
    BaseUrlOption,
    ConfigOption,
    DataOption,
    EpisodesOption,
    FailFastOption,
    GpuOption,
    HousesOption,
    LogToOption,
    MemoryOption,
    ModelOption,
    OutOption,
    Overrides,
    PersonOption,
    PlannerOption,
    RayOption,
    RecordsOption,
    RunsOption,
    SceneOption,
    SeedOption,
    SimulatorOption,
    SystemOption,
    WorkersOption,
)
from housewise.cli.run_folders import dated_name, newest_run, run_folder
from housewise.core.console import Console


def run(
    overrides: Overrides = None,
    config: ConfigOption = None,
    data: DataOption = None,
    scene: SceneOption = None,
    episodes: EpisodesOption = None,
    houses: HousesOption = None,
    seed: SeedOption = None,
    person: PersonOption = None,
    planner: PlannerOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    adapter: AdapterOption = None,
    records: RecordsOption = None,
    simulator: SimulatorOption = None,
    gpu: GpuOption = None,
    runs: RunsOption = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
    memory: MemoryOption = None,
    system: SystemOption = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="The first episodes alone, some two minutes of them.", rich_help_panel=EXECUTION),
    ] = False,
    fail_fast: FailFastOption = None,
    log_to: LogToOption = None,
    out: OutOption = None,
) -> None:
    """Play episodes and record them.

    The same command with --out FOLDER resumes the run in that folder: finished episodes are not played again. What
    --planner, --person and other options accept by name is told by housewise list, every further setting by
    housekeep_configs/run.yaml.

    Examples:

      # the bundled model with its adapter in three generated houses; --adapter none is the model alone
      housewise run

      # a planner that knows what people want
      housewise run --houses 3 --planner scripted

      # any OpenAI-compatible server, test tasks of the Housekeep data
      housewise run --data ~/housekeep --scene Merom_1_int --episodes test \\
          --model my-model --base-url http://localhost:8000/v1

      # CLIPR: a simulated person answers questions, and choices follow the rules; docs/clipr.md
      housewise run --system clipr --runs 5 --workers 2
    """
    from housewise.cli.run_progress import play_run, quick_episodes
    from housewise.rollout.system import find_system
    from housewise.systems.personalize.settings import PersonalizeSettings

    played = system or configured_system(config, overrides or [])
    options = {
        "data": data_folder(data, houses, played),
        "scenes": scene or None,
        "episodes": parse_episodes(episodes),
        "houses": houses,
        "seed": seed,
        "person": person,
        "planner": planner,
        "model": model,
        "base_url": base_url,
        "adapter": adapter,
        "records": str(records) if records else None,
        "simulator": simulator,
        "gpu": gpu,
        "runs": runs,
        "workers": workers,
        "ray": ray,
        "fail_fast": fail_fast,
        "memory": {"start": memory} if memory else None,
    }
    chosen = find_system(played)
    settings = chosen.load(config, drop_unset(options), overrides or [])
    if isinstance(settings, PersonalizeSettings):
        check_settings(settings)
    plays = chosen(settings)
    if quick and settings.execution.max_episodes is None:
        plays = chosen(settings.changed(max_episodes=quick_episodes(plays)))
    with run_folder(out, dated_name(plays.agent)) as folder:
        play_run(plays, folder, Console(), log_to or [])


def replay(
    folder: Annotated[
        Path | None, typer.Argument(help="Folder of an earlier run; the newest in runs/ by default.")
    ] = None,
    simulator: SimulatorOption = None,
    gpu: GpuOption = None,
    fail_fast: FailFastOption = None,
    out: OutOption = None,
) -> None:
    """Play the replies of an earlier run again, and say whether the same things end up in the same places.

    Examples:

      # the newest run in runs/
      housewise replay

      housewise replay runs/merom --simulator habitat
    """
    from housewise.cli.replay import replay_run, records_by_name

    earlier = folder or newest_run(of_several=False, replays=False)
    records = records_by_name(earlier)
    place = earlier if earlier.name.strip(".") else earlier.resolve()
    with run_folder(out, f"{place.name}-replay", place.parent) as target:
        changes = drop_unset({"simulator": simulator, "gpu": gpu, "fail_fast": fail_fast})
        replay_run(earlier, records, changes, target, Console())
