"""``housewise selftrain``."""

from __future__ import annotations

from typing import Annotated

import typer

from housewise.commands.choices import completing
from housewise.commands.folders import dated, run_folder
from housewise.commands.options import (
    EXECUTION,
    MODEL,
    TASK,
    ConfigOption,
    DataOption,
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
from housewise.commands.settings import check, data_folder, given
from housewise.core.console import Console


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
            autocompletion=completing("adapters"),
            rich_help_panel=MODEL,
        ),
    ] = None,
    base_url: TrainingUrlOption = None,
    iterations: Annotated[
        int | None,
        typer.Option(metavar="N", help="How often the model tries and learns from it.", rich_help_panel=MODEL),
    ] = None,
    simulator: SimulatorOption = None,
    runs: Annotated[
        int | None,
        typer.Option(metavar="N", help="How often it tries each task in an iteration.", rich_help_panel=EXECUTION),
    ] = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
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
    """
    from housewise.selftrain.personalize.settings import generated_tasks, load_selftraining
    from housewise.selftraining import run_selftraining

    options = {
        "run": {
            "data": data_folder(data, houses),
            "scenes": scene or None,
            "person": person,
            "model": model,
            "adapter": adapter,
            "base_url": base_url,
            "simulator": simulator,
            "workers": workers,
            "ray": ray,
        },
        "iterations": iterations,
        "grow": {"runs": runs},
        **({} if houses is None else generated_tasks(houses)),
    }
    settings = load_selftraining(config, given(options), overrides or [])
    check(settings.run)
    with run_folder(out, dated("selftrain")) as folder:
        run_selftraining(settings, folder, Console(), log_to or [])
