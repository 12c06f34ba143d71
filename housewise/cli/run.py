"""``housewise run``: play episodes and record them."""

from __future__ import annotations

from typing import Annotated

import typer

from housewise.cli.option_values import check_settings, configured_system, data_folder, drop_unset, parse_episodes
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
from housewise.cli.run_folders import dated_name, run_folder
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
        typer.Option("--quick", help="Play only the first episodes, for about two minutes.", rich_help_panel=EXECUTION),
    ] = False,
    fail_fast: FailFastOption = None,
    log_to: LogToOption = None,
    out: OutOption = None,
) -> None:
    """Play episodes and record them.

    Examples:

      # three generated houses, the bundled model with its adapter
      housewise run

      # a planner that knows the preferences
      housewise run --houses 3 --planner scripted

      # any OpenAI-compatible server, test tasks of the Housekeep data
      housewise run --data ~/housekeep --scene Merom_1_int --episodes test \\
          --model my-model --base-url http://localhost:8000/v1

      # CLIPR: choices follow the rules of a simulated person (docs/clipr.md)
      housewise run --system clipr --runs 5 --workers 2

    The same command with --out FOLDER resumes the run in that folder: finished episodes are not played again. housewise
    list prints the names that --planner, --person and other options accept, and housewise settings personalize prints
    all settings.
    """
    from housewise.cli.run_progress import play_run, quick_episodes
    from housewise.rollout.system import find_system
    from housewise.systems.personalize.settings import PersonalizeSettings

    system_name = system or configured_system(config, overrides or [])
    options = {
        "data": data_folder(data, houses, system_name),
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
    system_class = find_system(system_name)
    settings = system_class.load(config, drop_unset(options), overrides or [])
    if isinstance(settings, PersonalizeSettings):
        check_settings(settings)
    playing = system_class(settings)
    if quick and settings.execution.max_episodes is None:
        playing = system_class(settings.with_changes(max_episodes=quick_episodes(playing)))
    with run_folder(out, dated_name(playing.agent)) as folder:
        play_run(playing, folder, Console(), log_to or [])
