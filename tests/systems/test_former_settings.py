"""Settings of runs and trainings under their former names."""

from collections.abc import Callable
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.rollout.system import find_system
from housewise.selftrain.adapt.settings import load_adapt_training
from housewise.selftrain.stars.settings import load_goal_training

LOADERS: dict[str, Callable[..., Any]] = {
    **{name: find_system(name).load for name in ("clipr", "stars", "adapt")},
    "goals": load_goal_training,
    "breakfasts": load_adapt_training,
}

# Former and current name of a setting, and a value that differs from the default.
RENAMED = [
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
    if loader in ("clipr", "stars", "adapt"):
        assert load(overrides=[f"{key}={value}"]) == expected
    with pytest.raises(UserError, match=r"^the command line: setting .+ is now called .+; give one of them$"):
        load(overrides=[f"{former}={value}", f"{current}={value}"])


def test_the_former_value_of_components_means_the_current_one() -> None:
    load = LOADERS["clipr"]
    assert load(overrides=["components=learned"]) == load(overrides=["components=finetuned"]) != load()
