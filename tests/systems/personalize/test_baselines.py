"""SayPlan and SayCan in whole runs: records contain their prompts and can be replayed."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("llguidance")

from housewise.core.errors import UserError
from housewise.rollout.run import Run
from housewise.systems.personalize.record import HouseRecord, read_house_records
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from tests.language.tiny import save_tiny_model


def play(folder: Path, **settings: Any) -> HouseRecord:
    run = Run(Personalize(house_settings(settings={"houses": 1, "max_plans": 4, **settings})), folder)
    run.play()
    return next(read_house_records(run.episodes))


@pytest.mark.parametrize(("planner", "scores"), [("sayplan", False), ("saycan", False), ("saycan", True)])
def test_a_run_with_a_model_of_random_weights(tmp_path: Path, planner: str, scores: bool) -> None:
    model = f"local:{save_tiny_model(tmp_path / 'model', positions=8192)}"
    settings = {"planner": planner, "model": model, "grounded": True, "workers": 2, "sampling": {"max_tokens": 60}}
    record = play(tmp_path / "run", **settings, score_actions=scores)
    assert (record.header.agent, record.header.models["agent"]) == (planner, model)
    first = record.plans[0]
    if planner == "sayplan":
        assert (
            first.prior_calls[0].prompt[0]["role"] == "system"
            and "command" in first.prior_calls[0].prompt[1]["content"]
        )
        assert first.completion_tokens >= sum(part.completion_tokens for part in first.prior_calls) > 0
    elif scores:
        assert first.reply in first.scores and max(first.scores.values()) < 0
    else:
        assert first.prior_calls[0].reply == first.reply and "mission complete" in first.prompt[1]["content"]
    again = play(tmp_path / "again", planner="replay", records=str(tmp_path / "run" / "episodes"))
    assert again.final.placements == record.final.placements
    assert [action.action for action in again.actions] == [action.action for action in record.actions]


@pytest.mark.parametrize("planner", ["sayplan", "saycan", "llm"])
def test_a_prompt_of_another_planner_is_refused_before_anything_is_played(tmp_path: Path, planner: str) -> None:
    other = "saycan" if planner == "sayplan" else "sayplan"
    with pytest.raises(UserError, match=f"{other}.yaml: field "):
        play(tmp_path, planner=planner, prompt=other)
    assert not list(tmp_path.glob("episodes/*"))
