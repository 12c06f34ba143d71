"""Scripted oracle and person finish training scenarios together, whatever the wording; controls do not."""

import re
import statistics
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from housewise.agent.basis.controls import FREQUENT_ADVICE, FixedSpeech, RandomSpeech
from housewise.agent.basis.oracle_phrases import load_oracle_phrases
from housewise.agent.basis.scripted_oracle import OracleSettings, ScriptedOracle
from housewise.agent.basis.views import AssistantTurn, OracleView, build_oracle_view
from housewise.people.lab.scripted_user import ScriptedUser
from housewise.people.lab.user_traits import ALICE, BOB, UserTraits
from housewise.people.lab.views import build_user_view
from housewise.worlds.lab.history import LabTurn, record_turn, resolve_user_action
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.rules import step
from housewise.worlds.lab.scenarios import draw_scenario
from housewise.worlds.lab.surroundings import OpenSpace
from housewise.worlds.lab.variants import VARIANTS

pytestmark = pytest.mark.slow

PEOPLE = Path(__file__).parents[2] / "people" / "lab"
VARIED = yaml.safe_load((PEOPLE / "varied_wordings.yaml").read_text()) | {
    "third": yaml.safe_load((PEOPLE / "third_wording.yaml").read_text())
}
CAREFUL = replace(BOB, mistakes=0.0, talkativeness=0.0)
MAX_ACTIONS = 50


def is_solved(scenario: Any, user: ScriptedUser, assistant: Any) -> bool:
    """Whether the person reaches the goal in time."""
    state, space = scenario.state, OpenSpace()
    turns: list[LabTurn] = []
    events: set[str] = set()
    for _ in range(MAX_ACTIONS):
        action = resolve_user_action(state, user.act(build_user_view(state, space, scenario.mission, turns)).action)
        after, outcome = step(state, action, space)
        turns.append(record_turn(state, space, action, outcome))
        state, events = after, {*events, *outcome.events}
        if scenario.goal.holds(state, frozenset(events)):
            return True
        turns[-1] = turns[-1].with_speech(assistant.turn(build_oracle_view(state, space, turns)).speech)
    return False


def success_rate(assistant: Callable[[int], Any], traits: UserTraits = CAREFUL, seeds: int = 1) -> float:
    """Share of solved training scenarios, over all variants."""
    return statistics.mean(
        is_solved(draw_scenario(variant, seed, "training"), ScriptedUser(traits, seed), assistant(seed))
        for variant in VARIANTS
        for seed in range(seeds)
    )


@pytest.mark.parametrize("traits", [CAREFUL, ALICE, BOB], ids=["careful", "Alice", "Bob"])
def test_the_pair_finishes_most_scenarios(traits: UserTraits) -> None:
    assert success_rate(lambda seed: ScriptedOracle(seed=seed), traits) >= (1.0 if traits == CAREFUL else 0.75)


@pytest.mark.parametrize("name", VARIED)
def test_other_wordings_are_understood_as_well(name: str, tmp_path: Path) -> None:
    wording = tmp_path / "wording.yaml"
    wording.write_text(yaml.safe_dump(load_oracle_phrases("training").model_dump(mode="json") | VARIED[name]))
    assert success_rate(lambda seed: ScriptedOracle(OracleSettings(str(wording)), seed)) >= 0.95


def test_controls_fail() -> None:
    oracle = success_rate(lambda seed: ScriptedOracle(seed=seed))
    assert success_rate(lambda seed: ScriptedOracle(OracleSettings(is_shuffled=True), seed)) <= oracle - 0.2
    assert 0 < success_rate(lambda _: FixedSpeech(), replace(CAREFUL, hears=False)) <= 0.35
    assert success_rate(lambda seed: RandomSpeech(seed=seed)) <= 0.35
    assert success_rate(lambda _: FixedSpeech(FREQUENT_ADVICE)) <= 0.35


def test_the_frequent_advice_is_the_oracles_most_frequent_one() -> None:
    given: Counter[str] = Counter()

    class CountedOracle(ScriptedOracle):
        def turn(self, view: OracleView) -> AssistantTurn:
            turn = super().turn(view)
            step = re.search(r"Next: (\w+ [^.]+)\.", turn.thought)
            given[step[1] if step and turn.speech else ""] += 1
            return turn

    success_rate(lambda seed: CountedOracle(seed=seed), BOB)
    del given[""]
    assert given.most_common(1)[0][0] == "Open fuse box"
    assert f"Open the fuse box. It is the box: {KINDS['fuse_box'].look}." == FREQUENT_ADVICE
