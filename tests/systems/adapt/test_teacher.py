"""The scripted teacher: what it says can be said by a robot that has seen as much, from any state."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("llguidance")

from housewise.agent.adapt.action_grammar import NameableThings, action_grammar
from housewise.agent.adapt.planner_prompt import CookingTurn
from housewise.agent.adapt.scripted_cook.exploring_cook import ExploringCook
from housewise.agent.adapt.scripted_cook.oracle_cook import OracleCook
from housewise.language.grammar_matching import matches_grammar
from housewise.people.kitchen.preference_judge import PreferenceJudge, satisfaction_rate
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.selftrain.adapt.breakfast_replay import play_breakfast
from housewise.systems.adapt.world import BreakfastObservation, BreakfastWorld
from housewise.worlds.kitchen.world import TextKitchen
from tests.people.kitchen.sixteen import ADAPT_PEOPLE
from tests.systems.command_runs import adapt, record_of, scores

SLIPS = (
    "Search fridge_0",
    "Open oven_0",
    "Look for bread",
    "Move nothing_7 to stove_0",
    'Ask "Why?"',
    "Look for plate",
)


def nobody() -> None:
    raise AssertionError("nobody is to be asked")


def taught(person: KitchenProfile, task: int, seed: int, slips: float) -> tuple[list[CookingTurn], float | None]:
    """A breakfast by the teacher, in which a share of the actions is somebody else's."""
    kitchen = TextKitchen(task, seed, max_steps=200)
    earlier = {"Why?": "I am flexible about that."}
    world = BreakfastWorld(kitchen, person, PreferenceJudge(task), nobody, person.name, earlier)  # type: ignore[arg-type]
    teacher, rng = ExploringCook(OracleCook(person, task), kitchen.kitchen.verbs), random.Random(seed)

    def decide(seen: BreakfastObservation, turns: Sequence[CookingTurn]) -> str:
        action = teacher.act(seen.cooking, seen.named)
        named = NameableThings.from_state(kitchen.state, seen.named)
        assert matches_grammar(f" {action}", action_grammar(named, kitchen.kitchen.verbs.open, asks=False)), action
        return rng.choice(SLIPS) if rng.random() < slips else action

    turns = play_breakfast(world, decide)
    return turns, satisfaction_rate(PreferenceJudge(task).verdicts(person, kitchen.trace))


@pytest.mark.parametrize(("name", "task"), [("miranda", 6), ("carlos", 2), ("lisa", 4), ("ron", 5)])
def test_it_looks_for_what_it_has_not_seen_and_names_nothing_else(name: str, task: int) -> None:
    turns, rate = taught(ADAPT_PEOPLE[name], task, seed=3, slips=0)
    assert not any(turn.failed for turn in turns) and turns[-1].action == "Declare Done"
    looks = [turn.action for turn in turns if turn.action.startswith("Look for")]
    assert len(looks) == len(set(looks)) > 2
    assert rate is not None and rate > 0.8


def test_it_goes_on_from_where_somebody_else_has_led() -> None:
    turns, rate = taught(ADAPT_PEOPLE["miranda"], 8, seed=5, slips=0.5)
    assert {turn.action for turn in turns} & set(SLIPS) and turns[-1].action == "Declare Done"
    assert rate == taught(ADAPT_PEOPLE["miranda"], 8, seed=5, slips=0)[1]


def test_it_can_be_played(tmp_path: Path) -> None:
    adapt("--planner", "teacher", "person=nalini", "task=[1]", "--out", tmp_path)
    assert scores(tmp_path, "nalini-1")["satisfaction"] == 1
    assert record_of(tmp_path, "nalini-1-run0").header.agent == "teacher"
