"""What assistants are told by the settings of a run."""

from pathlib import Path

import pytest

from housewise.agent.basis.descriptions import usual_look
from housewise.agent.basis.oracle_phrases import load_oracle_phrases
from housewise.core.errors import UserError
from housewise.core.setting_effects import compared_settings
from housewise.language.settings import ModelSettings
from housewise.systems.basis.assistants import check_assistant, usual_description
from housewise.systems.basis.settings import BasisAgentSettings, BasisModelsSettings, BasisSettings, Planner
from housewise.worlds.lab.kinds import KINDS

HELD_OUT = load_oracle_phrases("held_out").looks
LEARNERS: tuple[Planner, ...] = ("llm", "nearest")


@pytest.mark.parametrize("planner", LEARNERS)
def test_a_learner_reads_the_descriptions_of_the_wording(planner: Planner) -> None:
    held_out = usual_description(BasisAgentSettings(planner=planner, wording="held_out"))
    assert HELD_OUT and {kind: held_out(kind) for kind in HELD_OUT} == HELD_OUT
    training = usual_description(BasisAgentSettings(planner=planner))
    assert {kind: training(kind) for kind in KINDS} == {kind: usual_look(kind) for kind in KINDS}


@pytest.mark.parametrize("planner", LEARNERS)
def test_shuffled_descriptions_are_of_the_wording_too(planner: Planner) -> None:
    told = {
        wording: usual_description(BasisAgentSettings(planner=planner, wording=wording, shuffled_descriptions=True))
        for wording in ("training", "held_out")
    }
    for kind in HELD_OUT:
        (shown,) = [each for each in KINDS if usual_look(each) == told["training"](kind)]
        assert shown != kind and told["held_out"](kind) == HELD_OUT.get(shown, usual_look(shown))


@pytest.mark.parametrize("planner", LEARNERS)
def test_rows_with_another_wording_are_told_apart(planner: Planner) -> None:
    agent = BasisAgentSettings(planner=planner, wording="held_out")
    assert compared_settings(BasisSettings(agent=agent), True)["agent.wording"] == "held_out"


@pytest.mark.parametrize("key", ["task_knowledge", "reasoning"])
def test_the_scripted_control_reads_no_task_knowledge_and_has_no_thoughts_to_leave_out(key: str) -> None:
    def told_apart(planner: Planner) -> bool:
        agent = BasisAgentSettings.model_validate({"planner": planner, key: False})
        return f"agent.{key}" in compared_settings(BasisSettings(agent=agent), True)

    assert not told_apart("limited") and all(told_apart(planner) for planner in LEARNERS)


def test_the_nearest_turn_is_looked_up_by_short_prompts_only(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").touch()
    models = BasisModelsSettings(agent=ModelSettings(adapter=str(tmp_path / "adapter")))

    def settings(compact: bool) -> BasisSettings:
        return BasisSettings(agent=BasisAgentSettings(planner="nearest", compact=compact), models=models)

    check_assistant(settings(compact=True))
    with pytest.raises(UserError, match=r"compact=false: planner=nearest compares short prompts only; .*run\.compact="):
        check_assistant(settings(compact=False))
