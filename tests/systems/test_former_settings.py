"""Settings of runs and trainings under their former names."""

from collections.abc import Callable
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.rollout.system import find_system
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.stars.settings import GoalTrainingConfig

LOADERS: dict[str, Callable[..., Any]] = {
    **{name: find_system(name).load for name in ("personalize", "clipr", "stars", "adapt")},
    "selftrain": load_selftraining,
    "goals": GoalTrainingConfig.load,
    "breakfasts": AdaptTrainingConfig.load,
}

# Former and current name of a setting, and a value that differs from the default.
RENAMED = [
    ("personalize", "tasks.runs", "tasks.repeats", 4),
    ("personalize", "tasks.series", "tasks.rng_stream", 2),
    ("personalize", "world.controller.most_walk", "world.controller.max_walk", 40),
    ("personalize", "world.controller.most_look", "world.controller.max_look", 30),
    ("personalize", "agent.most_steps_per_plan", "agent.max_steps_per_plan", 4),
    ("personalize", "agent.most_plans", "agent.max_plans", 4),
    ("personalize", "agent.most_idle_plans", "agent.max_idle_plans", 4),
    ("personalize", "agent.demonstrator.verdicts", "agent.demonstrator.note_all_objects", False),
    ("personalize", "agent.consistent", "agent.judging.constrain_to_judgements", False),
    ("personalize", "agent.rated", "agent.judging.score_placements", False),
    ("personalize", "agent.confidence", "agent.judging.confidence", 0.4),
    ("personalize", "agent.confidence_alike", "agent.judging.confidence_similar", 0.4),
    ("personalize", "agent.confidence_unfamiliar", "agent.judging.confidence_unfamiliar", 0.4),
    ("personalize", "agent.familiar", "agent.familiar_kinds", ["mug"]),
    ("personalize", "agent.explore", "agent.place_at_random", True),
    ("selftrain", "run.tasks.runs", "run.tasks.repeats", 4),
    ("selftrain", "run.agent.most_plans", "run.agent.max_plans", 4),
    ("selftrain", "grow.runs", "grow.repeats", 4),
    ("selftrain", "evaluation.runs", "evaluation.repeats", 4),
    ("selftrain", "wording", "target", "relabelled"),
    ("selftrain", "rehearse", "replay_fraction", 0.5),
    ("selftrain", "review", "memory_lessons", 4),
    ("selftrain", "imitation_review", "imitation_memory_lessons", 4),
    ("selftrain", "filter.most_per_object", "filter.max_per_object", 4),
    ("selftrain", "training.most_tokens", "training.max_example_tokens", 400),
    ("selftrain", "training.together", "training.max_packed_examples", 4),
    ("selftrain", "training.pairs_per_pass", "training.micro_batch", 4),
    ("goals", "training.most_tokens", "training.max_example_tokens", 400),
    ("breakfasts", "imitation.together", "imitation.max_packed_examples", 2),
    ("breakfasts", "preference.most_tokens", "preference.max_example_tokens", 400),
    ("breakfasts", "warm_up.training.pairs_per_pass", "warm_up.training.micro_batch", 4),
    ("clipr", "agent.budget", "agent.max_questions", 3),
    ("clipr", "agent.interval", "agent.feedback_interval", 40),
    ("clipr", "agent.most_replayed", "agent.max_replayed", 7),
    ("clipr", "agent.recent", "agent.recent_choices", 4),
    ("stars", "agent.carry.places", "agent.generalisation.other_places", True),
    ("stars", "agent.carry.kinds", "agent.generalisation.max_kind_levels", 2),
    ("stars", "agent.carry.confirmed", "agent.generalisation.confirmed_only", True),
    ("stars", "agent.lead", "agent.goal_prefix", "make it so that the {name} {are}"),
    ("stars", "agent.most_tokens", "agent.max_goal_tokens", 9),
    ("stars", "agent.questions", "agent.max_questions", 2),
    ("stars", "agent.tree.sure", "agent.tree.branch_below", 0.8),
    ("stars", "agent.tree.worth", "agent.tree.min_alternative", 0.1),
    ("stars", "agent.tree.mean", "agent.tree.min_branch_mean", 0.6),
    ("stars", "agent.tree.most_calls", "agent.tree.max_calls", 12),
    ("stars", "world.most_steps", "world.max_steps", 300),
    ("adapt", "agent.turns", "agent.max_turns", 8),
    ("adapt", "agent.most_questions", "agent.max_questions", 6),
    ("adapt", "agent.most_steps", "agent.max_steps", 30),
    ("goals", "lessons.households", "lessons.room_parts", "mine.yaml"),
    ("goals", "lessons.rotations", "lessons.max_orders", 5),
    ("goals", "lessons.shared", "lessons.task_object_repeats", 3),
    ("goals", "run.agent.lead", "run.agent.goal_prefix", "make it so that the {name} {are}"),
    ("breakfasts", "run.agent.turns", "run.agent.max_turns", 8),
    ("breakfasts", "warm_up.told", "warm_up.share_remembered", [0.1, 0.2]),
    ("breakfasts", "warm_up.wishes", "warm_up.preferences_per_person", [3, 5]),
    ("breakfasts", "own_asking.told", "own_asking.share_remembered", [0.1, 0.2]),
    ("breakfasts", "rollouts.runs", "rollouts.repeats", 2),
    ("breakfasts", "reflection.most", "reflection.max_preferences", 100),
    ("breakfasts", "reflection.most_tokens", "reflection.max_tokens", 20),
    ("breakfasts", "best", "best_fraction", 0.5),
]


@pytest.mark.parametrize(("loader", "former", "current", "value"), RENAMED)
def test_a_former_name_means_the_current_setting(loader: str, former: str, current: str, value: Any) -> None:
    load = LOADERS[loader]
    expected = load(overrides=[f"{current}={value}"])
    assert load(overrides=[f"{former}={value}"]) == expected != load()
    # A setting whose name is unique may be written without its section.
    key = former.rpartition(".")[2]
    if loader in ("personalize", "clipr", "stars", "adapt"):
        assert load(overrides=[f"{key}={value}"]) == expected
    if key == current.rpartition(".")[2]:  # The setting has moved into a section.
        return
    with pytest.raises(UserError, match=r"^the command line: setting .+ is now called .+; give one of them$"):
        load(overrides=[f"{former}={value}", f"{current}={value}"])


@pytest.mark.parametrize(
    ("loader", "former", "current"),
    [
        ("clipr", "components=learned", "components=finetuned"),
        ("personalize", "planner=store", "planner=memory_lookup"),
        ("personalize", "planner=nearest", "planner=memory_nearest"),
        ("selftrain", "target=done", "target=executed"),
        ("selftrain", "wording=proven", "target=verified"),
        ("selftrain", "target=corrected", "target=relabelled"),
        (
            "selftrain",
            "lessons=[{houses: 1, each: 2, held: 0.5, elsewhere: false, remembered: [0.1, 0.2]}]",
            "lessons=[{houses: 1, each: 2, holding_fraction: 0.5, allow_unplaceable: false, "
            "noted_fraction: [0.1, 0.2]}]",
        ),
        ("selftrain", "evaluation.tasks=[{name: a, runs: 3}]", "evaluation.tasks=[{name: a, repeats: 3}]"),
    ],
)
def test_a_former_value_means_the_current_one(loader: str, former: str, current: str) -> None:
    load = LOADERS[loader]
    assert load(overrides=[former]) == load(overrides=[current]) != load()


def test_both_names_of_an_item_are_refused() -> None:
    with pytest.raises(
        UserError, match=r"setting 'held' of lessons is now called 'holding_fraction'; give one of them"
    ):
        load_selftraining(overrides=["lessons=[{houses: 1, each: 2, held: 0.5, holding_fraction: 0.5}]"])
