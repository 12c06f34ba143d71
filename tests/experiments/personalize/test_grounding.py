"""The grounding experiment, with a model of random weights."""

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("llguidance")

from housewise.agent.personalize.prompt import PromptTemplate
from housewise.experiments.personalize.grounding import configs, figures, play, writing
from housewise.language import open_model
from tests.language.tiny import save_tiny_model


def test_grounded_replies_are_understood_and_recorded(tmp_path: Path) -> None:
    model = f"local:{save_tiny_model(tmp_path / 'model')}"
    planned = configs(False, ["sampling.max_tokens=200"], True, model=model, houses=1, repeats=4, max_plans=2)
    assert list(planned) == ["free", "grounded", "free and checked", "grounded and checked"]
    records = {arm: play(config, tmp_path / arm) for arm, config in planned.items()}
    shares = {arm: figures(part) for arm, part in records.items()}
    assert shares["grounded"]["understood"] == 1.0 > shares["free"]["understood"]
    assert shares["grounded"]["episodes"] == shares["free"]["episodes"] == 4
    # What cannot be understood is refused, and asked for again.
    again = {
        arm: sum(len(plan.prior_calls) for record in found for plan in record.plans) for arm, found in records.items()
    }
    assert again["free and checked"] > again["free"] == again["grounded"] == 0
    assert records["grounded"][0].header.settings["agent"]["grounded"] is True
    assert json.loads((tmp_path / "grounded" / "config.json").read_text())["agent"]["grounded"] is True
    speeds = writing(open_model(model), records["free"], PromptTemplate.load(planned["free"].agent.prompt), rounds=1)
    assert set(speeds) == {"free", "grounded"} and min(speeds.values()) > 0
