"""``housewise selftrain``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from housewise.cli.catalogue import complete_from
from housewise.cli.option_values import check_settings, configured_system, data_folder, drop_unset
from housewise.cli.options import (
    EXECUTION,
    MODEL,
    TASK,
    ConfigOption,
    DataOption,
    FailFastOption,
    GpuOption,
    LogToOption,
    OutOption,
    Overrides,
    PersonOption,
    RayOption,
    SceneOption,
    SimulatorOption,
    TrainedModelOption,
    TrainingUrlOption,
    WorkersOption,
)
from housewise.cli.run_folders import dated_name, run_folder
from housewise.core.console import Console, print_note
from housewise.core.errors import UserError


def selftrain(
    overrides: Overrides = None,
    config: ConfigOption = None,
    data: DataOption = None,
    scene: SceneOption = None,
    houses: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Generated houses to train in; half as many show the task, a quarter as many test.",
            rich_help_panel=TASK,
        ),
    ] = None,
    person: PersonOption = None,
    model: TrainedModelOption = None,
    adapter: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FOLDER",
            help="Adapter of a local model to go on from.",
            autocompletion=complete_from("adapters"),
            rich_help_panel=MODEL,
        ),
    ] = None,
    base_url: TrainingUrlOption = None,
    iterations: Annotated[
        int | None,
        typer.Option(metavar="N", help="How often the model tries and learns from it.", rich_help_panel=MODEL),
    ] = None,
    simulator: SimulatorOption = None,
    gpu: GpuOption = None,
    runs: Annotated[
        int | None,
        typer.Option(metavar="N", help="How often it tries each task in an iteration.", rich_help_panel=EXECUTION),
    ] = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
    system: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What it learns for: personalize (the default), or stars, whose goals it learns.",
            rich_help_panel=TASK,
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="One task of each kind for a few steps: shows the way in minutes.",
            rich_help_panel=EXECUTION,
        ),
    ] = False,
    fail_fast: FailFastOption = None,
    log_to: LogToOption = None,
    out: OutOption = None,
) -> None:
    """Teach a model what these people want: it sees the task done, imitates, then tries and learns from what was good.

    Each phase is a folder with what was learned (pairs.jsonl), why (filter.json), the training curve, the model and how
    good it is (evaluation/). A self-training that was stopped goes on where it was when the same command is given with
    --out FOLDER. Every further setting: housekeep_configs/selftrain.yaml.

    Examples:

      # generated houses, a laptop
      housewise selftrain --houses 4 --iterations 1 --workers 4

      # from the adapter that comes along to one person's robot
      housewise selftrain --config person --person farid --out runs/farid

      # a scene of the Housekeep data
      housewise selftrain --data ~/housekeep --scene Merom_1_int \\
          --workers 16 --out runs/merom filter.name=balanced

      # another model, here or behind a fine-tuning API
      housewise selftrain --model local:Qwen/Qwen2.5-0.5B-Instruct
      housewise selftrain --model gpt-4o-mini-2024-07-18 training.trainer=openai

      # STARS: goals that can be understood, seen and done, in rooms that do not exist; docs/stars.md
      housewise selftrain --config goals --out runs/goals-1 run.seed=1
    """
    taught = system or configured_system(config, overrides or [])
    if taught == "stars":
        _refuse_houses(
            {"--data": data_folder(data, houses, taught), "--scene": scene or None, "--houses": houses, "--runs": runs}
            | {"--person": person, "--base-url": base_url, "--iterations": iterations, "--simulator": simulator}
            | {"--gpu": gpu, "--workers": workers, "--ray": ray, "--fail-fast": fail_fast, "--quick": quick or None}
        )
        return _goals(config, model, adapter, overrides or [], log_to or [], out)
    if taught != "personalize":
        raise UserError(f"--system {taught}: nothing is trained for it; choose personalize or stars")
    from housewise.cli.selftrain_progress import run_selftraining
    from housewise.core.settings import merge_nested
    from housewise.selftrain.personalize.quick import LEFT_OUT, QUICK, quick_config
    from housewise.selftrain.personalize.settings import generated_tasks, load_selftraining

    options = {
        "run": {
            "data": data_folder(data, houses),
            "scenes": scene or None,
            "person": person,
            "model": model,
            "adapter": adapter,
            "base_url": base_url,
            "simulator": simulator,
            "gpu": gpu,
            "workers": workers,
            "ray": ray,
            "fail_fast": fail_fast,
        },
        "iterations": iterations,
        "grow": {"runs": runs},
        **({} if houses is None else generated_tasks(houses)),
    }
    chosen = merge_nested(drop_unset(options), QUICK) if quick else drop_unset(options)
    settings = load_selftraining(config, chosen, overrides or [])
    check_settings(settings.run)
    if quick:
        settings = quick_config(settings)
        print_note(LEFT_OUT)
    with run_folder(out, dated_name("selftrain")) as folder:
        run_selftraining(settings, folder, Console(), log_to or [])


def _refuse_houses(options: Mapping[str, object]) -> None:
    """Goals are learned without playing anything."""
    if unused := next((option for option, value in options.items() if value is not None), None):
        raise UserError(f"{unused}: is for learning in houses; leave it out where goals are learned")


def _goals(
    config: Path | None,
    model: str | None,
    adapter: str | None,
    overrides: list[str],
    log_to: list[str],
    out: Path | None,
) -> None:
    """Teach a model to write goals, and to choose among them."""
    from housewise.cli.selftrain_progress import run_goal_training
    from housewise.selftrain.stars.settings import load_goal_training

    settings = load_goal_training(config, drop_unset({"run": {"model": model, "adapter": adapter}}), overrides)
    with run_folder(out, dated_name("selftrain-goals")) as folder:
        run_goal_training(settings, folder, Console(), log_to)
