"""``housewise run`` and ``housewise replay``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands.options import (
    AdapterOption,
    BaseUrlOption,
    ConfigOption,
    DataOption,
    EpisodesOption,
    HousesOption,
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
    WorkersOption,
)
from experiments.commands.settings import check_houses, data_folder, episode_numbers, given
from experiments.console import Console


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
    runs: RunsOption = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
    out: OutOption = None,
) -> None:
    """Play episodes and record them.

    Examples:

      housewise run --houses 3 --planner scripted --out runs/scripted

      housewise run --houses 3 --model local --workers 3 --out runs/local

      housewise run --data ~/housekeep --scene Merom_1_int --episodes test --model gpt-4o --base-url http://localhost:8000/v1
    """
    from experiments.terminal import play
    from selftrain.config import load_config

    options = {
        "data": data_folder(data, houses),
        "scenes": scene or None,
        "episodes": episode_numbers(episodes),
        "houses": houses,
        "seed": seed,
        "person": person,
        "planner": planner,
        "model": model,
        "base_url": base_url,
        "adapter": adapter,
        "records": str(records) if records else None,
        "simulator": simulator,
        "runs": runs,
        "workers": workers,
        "ray": ray,
    }
    settings = load_config(config, given(options), overrides or [])
    check_houses(settings)
    play(settings, out or Path("runs/latest"), Console())


def replay(
    folder: Annotated[Path, typer.Argument(help="Folder of an earlier run.")],
    simulator: SimulatorOption = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the new run; <folder>-replay by default.")] = None,
) -> None:
    """Play the replies of an earlier run again, and say whether the same things end up in the same places.

    Examples:

      housewise replay runs/latest

      housewise replay runs/latest --simulator habitat
    """
    from experiments.terminal import play_again

    play_again(folder, simulator, out or folder.with_name(folder.name + "-replay"), Console())
