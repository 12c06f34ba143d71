"""``housewise selftrain``: train a model by imitation and on its own good plans."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

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
    panel_option,
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
        panel_option(
            TASK, "N", "Number of generated houses to train in. Half as many demonstrate, a quarter as many test."
        ),
    ] = None,
    person: PersonOption = None,
    model: TrainedModelOption = None,
    adapter: Annotated[
        str | None,
        panel_option(MODEL, "NAME|FOLDER", "Adapter of a local model that training starts from.", names="adapters"),
    ] = None,
    base_url: TrainingUrlOption = None,
    iterations: Annotated[
        int | None, panel_option(MODEL, "N", "Number of iterations in which the model acts and learns from the result.")
    ] = None,
    simulator: SimulatorOption = None,
    gpu: GpuOption = None,
    runs: Annotated[int | None, panel_option(EXECUTION, "N", "Number of repeats of each task in an iteration.")] = None,
    workers: WorkersOption = None,
    ray: RayOption = None,
    system: Annotated[
        str | None,
        panel_option(TASK, "NAME", "System to train: personalize (the default), or stars, which learns goals."),
    ] = None,
    quick: Annotated[
        bool,
        panel_option(
            EXECUTION,
            None,
            "Train on one task of each kind for a few steps, to see in minutes how it works.",
            "--quick",
        ),
    ] = False,
    fail_fast: FailFastOption = None,
    log_to: LogToOption = None,
    out: OutOption = None,
) -> None:
    """Train a model to do what people want: it imitates demonstrations, then acts and learns from its good plans.

    Examples:

      # generated houses, a laptop
      housewise selftrain --houses 4 --iterations 1 --workers 4

      # from the bundled adapter to the robot of one person
      housewise selftrain --config person --person farid --out runs/farid

      # a scene of the Housekeep data
      housewise selftrain --data ~/housekeep --scene Merom_1_int \\
          --workers 16 --out runs/merom filter.name=balanced

      # another model, here or behind a fine-tuning API
      housewise selftrain --model local:Qwen/Qwen2.5-0.5B-Instruct
      housewise selftrain --model gpt-4o-mini-2024-07-18 training.trainer=openai

      # STARS: goals in invented rooms (docs/stars.md)
      housewise selftrain --config goals --out runs/goals-1 run.seed=1

    Each phase is a folder with the examples that were learned (pairs.jsonl), why they were chosen (filter.json), the
    training curve, the model and its evaluation (evaluation/). The same command with --out FOLDER resumes a
    self-training that was stopped. housewise settings selftrain prints all settings.
    """
    trained_system = system or configured_system(config, overrides or [])
    if trained_system == "stars":
        _refuse_house_options(
            {
                "--data": data_folder(data, houses, trained_system),
                "--scene": scene or None,
                "--houses": houses,
                "--runs": runs,
            }
            | {"--person": person, "--base-url": base_url, "--iterations": iterations, "--simulator": simulator}
            | {"--gpu": gpu, "--workers": workers, "--ray": ray, "--fail-fast": fail_fast, "--quick": quick or None}
        )
        return _train_goals(config, model, adapter, overrides or [], log_to or [], out)
    if trained_system != "personalize":
        raise UserError(f"--system {trained_system}: has no training; choose personalize or stars")
    from housewise.cli.selftrain_progress import run_selftraining
    from housewise.core.settings_loading import merge_nested
    from housewise.selftrain.personalize.quick_settings import LEFT_OUT, QUICK, quick_config
    from housewise.selftrain.personalize.settings import generated_house_tasks, load_selftraining

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
        **({} if houses is None else generated_house_tasks(houses)),
    }
    chosen = merge_nested(drop_unset(options), QUICK) if quick else drop_unset(options)
    settings = load_selftraining(config, chosen, overrides or [])
    check_settings(settings.run)
    if quick:
        settings = quick_config(settings)
        print_note(LEFT_OUT)
    with run_folder(out, dated_name("selftrain")) as folder:
        run_selftraining(settings, folder, Console(), log_to or [])


def _refuse_house_options(options: Mapping[str, object]) -> None:
    """Refuse options that only concern training in houses.

    Args:
        options: Value of each option, None if it was not given.

    Raises:
        UserError: One of them was given.
    """
    if unused := next((option for option, value in options.items() if value is not None), None):
        raise UserError(f"{unused}: only concerns training in houses; leave it out to train goals")


def _train_goals(
    config: Path | None,
    model: str | None,
    adapter: str | None,
    overrides: list[str],
    log_to: list[str],
    out: Path | None,
) -> None:
    """Train a model to write goals and to choose among them."""
    from housewise.cli.selftrain_progress import run_goal_training
    from housewise.selftrain.stars.settings import load_goal_training

    settings = load_goal_training(config, drop_unset({"run": {"model": model, "adapter": adapter}}), overrides)
    with run_folder(out, dated_name("selftrain-goals")) as folder:
        run_goal_training(settings, folder, Console(), log_to)
