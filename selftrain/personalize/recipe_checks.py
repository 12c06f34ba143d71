"""Checks the settings of a self-training before an episode is played."""

from __future__ import annotations

from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.files import find_paths
from housewise.rollout.system import Job
from housewise.selftrain.personalize.filters import find_filter
from housewise.selftrain.personalize.settings import NamedTasksConfig, SelfTrainingConfig
from housewise.selftrain.trainers.settings import MIN_API_EXAMPLES
from housewise.systems.personalize.tasks import check_person, list_tasks


def check_recipe(config: SelfTrainingConfig, judging: bool) -> None:
    """Check that the settings of a self-training fit together.

    Args:
        config: Settings of the self-training.
        judging: Whether its prompt asks for judgements.

    Raises:
        UserError: They do not.
    """
    run = config.run
    if run.agent.planner != "llm":
        raise UserError(f"run.planner={run.agent.planner}: only the planner llm learns; leave it out")
    if config.lessons and run.tasks.data is not None:
        raise UserError(
            "lessons are about generated houses: give run.data=null (or unset HOUSEKEEP_DATA) to train in those, "
            "or lessons=[] to train in run.data"
        )
    if config.target in ("verified", "relabelled") and config.training.trainer != "local":
        raise UserError(
            f"target={config.target} learns parts of replies, as only trainer=local can; set target=executed"
        )
    memory_lessons = config.memory_lessons or config.imitation_memory_lessons
    if (config.target in ("verified", "relabelled") or memory_lessons) and not judging:
        raise UserError(
            "target=verified, target=relabelled and memory_lessons need judgements, which prompt "
            f"{run.agent.prompt} does not have; set run.prompt=judging, or target=executed, memory_lessons=0 and "
            "imitation_memory_lessons=0"
        )
    config.check_houses()
    find_filter(config.filter.name)
    check_person(run.tasks)
    grown = [config.training_tasks] if config.iterations or memory_lessons else []
    for tasks in (config.demonstrations, *grown, *config.evaluation.tasks):
        list_tasks(config.run_settings(tasks).tasks)


def check_demonstrations(config: SelfTrainingConfig) -> None:
    """Check that the demonstrations can be as many examples as a fine-tuning API accepts.

    Raises:
        UserError: They cannot, however many plans each episode has.
    """
    settings = config.demonstration_settings()
    episodes, max_plans = len(list_tasks(settings.tasks)) * settings.tasks.repeats, settings.agent.max_plans
    if config.imitation_plans is not None:
        max_plans = min(max_plans, config.imitation_plans)
    lessons = sum(kind.houses * kind.each for kind in config.lessons) + config.imitation_memory_lessons
    most = episodes * max_plans + lessons
    if config.training.trainer == "openai" and most < MIN_API_EXAMPLES:
        raise UserError(
            f"demonstrations: at most {most} plans are imitated, and a fine-tuning API asks for {MIN_API_EXAMPLES}; "
            f"raise demonstrations.repeats ({settings.tasks.repeats}) or run.max_plans ({settings.agent.max_plans})"
            + ("" if config.imitation_plans is None else f", or imitation_plans ({config.imitation_plans})")
        )


def check_evaluation(config: SelfTrainingConfig, folder: Path, tasks: NamedTasksConfig) -> None:
    """Check that a folder's evaluations under a name are of these tasks: figures of others would be taken for theirs.

    Raises:
        UserError: They are of other tasks as well.
    """
    episodes = find_paths(folder, f"*/evaluation/{tasks.name}/episodes/*.jsonl")
    if not episodes:
        return
    names = {Job(name).name.rpartition("-")[0] for name in list_tasks(config.run_settings(tasks).tasks)}
    others = sorted({path.stem.rpartition("-")[0] for path in episodes} - names)
    if others:
        raise UserError(
            f"{folder}: evaluations named {tasks.name} are of other tasks as well ({', '.join(others[:3])}); "
            "give the new tasks another name in evaluation.tasks, or choose another folder with --out"
        )
