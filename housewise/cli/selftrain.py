"""``housewise selftrain``: train a model by imitation and on its own good plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from housewise.cli.registration import check_options
from housewise.core.console import Console, print_note
from housewise.core.errors import UserError, suggest_names
from housewise.selftrain.training_settings import TRAINING_SYSTEMS, describe_quick, find_training_settings
from housewise.terminal.option_values import (
    check_settings,
    configured_system,
    data_folder,
    drop_unset,
    is_from_environment,
    person_settings,
)
from housewise.terminal.options import (
    ConfigOption,
    ExecutionOptions,
    HouseOptions,
    LogToOption,
    OutOption,
    Overrides,
    TrainedModelOption,
    TrainingUrlOption,
    execution_option,
    model_option,
    task_option,
)
from housewise.terminal.run_folders import dated_name, run_folder

if TYPE_CHECKING:
    from housewise.selftrain.trainers import TrainedModel
    from housewise.selftrain.training_folder import TrainingObserver

_GOAL_OPTIONS = {"--system", "--config", "--model", "--adapter", "--log-to", "--out"}
_OPTIONS = {
    "adapt": _GOAL_OPTIONS | {"--person", "--base-url", "--workers", "--ray", "--rollouts", "--fail-fast", "--quick"},
    "basis": _GOAL_OPTIONS | {"--base-url", "--workers", "--ray", "--fail-fast", "--quick"},
    "stars": _GOAL_OPTIONS,
}
"""Options of trainings of other systems. All others only concern training in houses."""


def selftrain(
    *,
    context: typer.Context,
    overrides: Overrides = None,
    config: ConfigOption = None,
    system: Annotated[
        str | None,
        task_option(
            "NAME",
            "System to train: personalize (the default), adapt (Reflection-DPO), stars (goals) or basis (guidance).",
        ),
    ] = None,
    house: HouseOptions,
    houses: Annotated[
        int | None,
        task_option(
            "N",
            "Number of generated houses to train in. Half as many demonstrate, a quarter as many test. Default: 20.",
        ),
    ] = None,
    model: TrainedModelOption = None,
    adapter: Annotated[
        str | None,
        model_option(
            "NAME|FOLDER", "Adapter of a local model that training starts from. Default: none.", names="adapters"
        ),
    ] = None,
    base_url: TrainingUrlOption = None,
    iterations: Annotated[
        int | None,
        model_option("N", "Number of iterations in which the model acts and learns from the result. Default: 2."),
    ] = None,
    execution: ExecutionOptions,
    rollouts: Annotated[
        str | None,
        execution_option(
            "ENGINE[=URL,URL]",
            "Where a local model answers while it acts: local (the default), vllm (a server that is started and "
            "stopped), or vllm=URL of running servers. See docs/gpu.md.",
        ),
    ] = None,
    repeats: Annotated[
        int | None, execution_option("N", "Number of repeats of each task in an iteration. Default: 3.")
    ] = None,
    quick: Annotated[
        bool,
        execution_option(
            None, "Train on one task of each kind for a few steps, to see in minutes how it works.", "--quick"
        ),
    ] = False,
    log_to: LogToOption = None,
    out: OutOption = None,
) -> None:
    r"""Train a model to do what people want: it imitates demonstrations, then acts and learns from its good plans.

    Examples:

      # generated houses, a laptop
      housewise selftrain --houses 4 --iterations 1 --workers 4

      # from the bundled adapter to the robot of one person
      housewise selftrain --config person --person farid --out runs/farid

      # a scene of the Housekeep data
      housewise selftrain --data ~/housekeep --scene Merom_1_int \
          --workers 16 --out runs/merom filter.name=balanced

      # another model, here or behind a fine-tuning API
      housewise selftrain --model local:Qwen/Qwen2.5-0.5B-Instruct
      housewise selftrain --model gpt-4o-mini-2024-07-18 training.trainer=openai

      # STARS: goals in invented rooms (docs/stars.md)
      housewise selftrain --config goals --out runs/goals-1 run.seed=1

      # ADAPT: Reflection-DPO from the bundled adapter (docs/adapt.md)
      housewise selftrain --system adapt --adapter breakfast warm_up.people=0

      # BASIS: an assistant that guides, from sessions of the scripted oracle (docs/basis.md)
      housewise selftrain --system basis --out runs/guide

    Each phase is a folder with the examples that were learned (pairs.jsonl), why they were chosen (filter.json), the
    training curve, the model and its evaluation (evaluation/). The same command with --out FOLDER resumes a
    self-training that was stopped. housewise settings selftrain prints all settings.
    """
    trained_system = system or configured_system(config, overrides or [])
    if trained_system not in TRAINING_SYSTEMS.values():
        names = suggest_names(trained_system, sorted(TRAINING_SYSTEMS.values()))
        raise UserError(f"--system {trained_system}: has no training; {names}")
    from housewise.selftrain.rollouts.settings import parse_rollouts

    run_options: dict[str, Any] = {"model": model, "adapter": adapter}
    engine = parse_rollouts(rollouts)
    if trained_system in _OPTIONS:
        problem = f"does not concern the training of {trained_system}; leave it out"
        check_options(context, _OPTIONS[trained_system], problem)
        if trained_system != "stars":
            run_options |= {"base_url": base_url, **vars(execution)}
        if trained_system == "adapt":
            run_options |= person_settings(house.person, trained_system)
        options = {"run": run_options, "rollouts": engine}
        _train_other(trained_system, config, options, overrides or [], quick, out, log_to or [])
        return
    from housewise.core.settings import merge_nested
    from housewise.selftrain.personalize.quick_settings import quick_settings
    from housewise.selftrain.personalize.settings import (
        generated_house_tasks,
        load_selftraining,
        selftraining_defaults,
    )
    from housewise.terminal.selftrain_progress import run_selftraining

    run_options |= {**vars(house), **vars(execution), "base_url": base_url}
    run_options["data"] = data_folder(house.data, houses, config, selftraining_defaults())
    tasks = {} if houses is None else generated_house_tasks(houses, config)
    chosen = drop_unset(
        {"run": run_options, "iterations": iterations, "grow": {"repeats": repeats}, "rollouts": engine, **tasks}
    )
    settings = load_selftraining(config, chosen, overrides or [])
    if settings.lessons and is_from_environment(house.data):
        # Lessons are about generated houses.
        chosen.get("run", {}).pop("data", None)
        settings = load_selftraining(config, chosen, overrides or [])
    _print_own_part(config, selftraining_defaults())
    check_settings(settings.run, houses)
    if quick:
        whole = settings
        settings = load_selftraining(config, merge_nested(quick_settings(settings), chosen), overrides or [])
        print_note(describe_quick(whole, settings))
    with run_folder(out, dated_name("selftrain")) as folder:
        run_selftraining(settings, folder, Console(), log_to or [])


_Train = Callable[[Any, Path, "TrainingObserver"], "TrainedModel"]
"""Trains with some settings in a folder."""


def _find_training(system: str) -> tuple[_Train, str]:
    """Return the training of another system than houses, and what the model learns, for the terminal."""
    # Only what is trained is imported.
    if system == "stars":
        from housewise.selftrain.stars.goal_training import GoalTraining

        return lambda *given: GoalTraining(*given).run(), "goals"
    if system == "basis":
        from housewise.selftrain.basis.guidance_training import GuidanceTraining

        return lambda *given: GuidanceTraining(*given).run(), "guidance"
    from housewise.selftrain.adapt.fold_training import REFLECTION_DPO, open_fold

    return lambda *given: open_fold(*given).train(REFLECTION_DPO), REFLECTION_DPO


def _train_other(
    system: str,
    config: Path | None,
    options: dict[str, Any],
    overrides: list[str],
    quick: bool,
    out: Path | None,
    log_to: Sequence[str],
) -> None:
    from housewise.core.settings import merge_nested
    from housewise.terminal.selftrain_progress import run_training

    name = next(name for name, trained in TRAINING_SYSTEMS.items() if trained == system)
    known, (train, what) = find_training_settings(name), _find_training(system)
    chosen = drop_unset(options)
    if "people" in chosen.get("run", {}):
        # Nobody of a file is named: all of its people, and not those of a configuration or a quick training.
        chosen["run"].setdefault("person", [])
    settings = known.load(config, merge_nested(known.quick if quick else {}, chosen), overrides)
    _print_own_part(config, known.defaults())
    if quick:
        print_note(describe_quick(known.load(config, chosen, overrides), settings))
    with run_folder(out, dated_name(name)) as folder:
        run_training(lambda seen: train(settings, folder, seen), what, system, folder, Console(), log_to)


def _print_own_part(config: Path | None, base: Mapping[str, Any]) -> None:
    from housewise.core.settings_loading import describe_own_part

    if note := describe_own_part(config, base):
        print_note(note)
