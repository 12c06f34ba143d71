"""Which planner a configuration makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from housewise.agent.personalize.llm_planner import LLMPlanner
from housewise.agent.personalize.wrappers.sort_by_distance import SortByDistance
from housewise.core.errors import UserError
from housewise.language.base import Sampling
from housewise.language.replay import ReplayChatModel
from housewise.rollout.saved_settings import find_changed_settings, parse_saved_settings
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.systems.personalize.planner_context import PlannerContext
from housewise.systems.personalize.planners import open_planner
from housewise.systems.personalize.settings import AgentSettings, JudgingSettings, house_settings
from housewise.systems.personalize.system import Personalize
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.simulator import open_simulator


@pytest.fixture
def context(toy: RearrangementTask) -> PlannerContext:
    env = RearrangementEnv(open_simulator("raycast", ("instance",)), [toy])
    env.reset()
    return PlannerContext(toy, env, 0, ReplayChatModel([]), Sampling())


def test_the_papers_configuration_asks_with_the_papers_planner(context: PlannerContext) -> None:
    assert type(open_planner(Personalize.load(Path("paper")).agent)(context)) is LLMPlanner


@pytest.mark.parametrize("planner", ["llm", "replay"])
@pytest.mark.parametrize("wrappers", [(), ("sort_by_distance",)])
def test_prompts_are_sorted_only_if_the_settings_say_so(
    planner: str, wrappers: tuple[str, ...], context: PlannerContext
) -> None:
    made = open_planner(AgentSettings(planner=planner, wrappers=wrappers))(context)
    assert isinstance(made, SortByDistance) == bool(wrappers)


def test_notes_are_weighed_against_scores_only_if_there_are_scores() -> None:
    with pytest.raises(UserError, match="set score_placements=true too"):
        open_planner(AgentSettings(judging=JudgingSettings(weigh_notes=True)))
    scored = AgentSettings(judging=JudgingSettings(weigh_notes=True, score_placements=True))
    assert open_planner(scored).config.judging.weigh_notes  # type: ignore[attr-defined]
    collecting = scored.model_copy(update={"place_at_random": True})
    assert not open_planner(collecting).config.judging.weigh_notes  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("judging", "confidence"),
    [
        ({}, 0.0),
        ({"score_placements": True}, 0.5),
        ({"score_placements": True, "confidence": None}, 0.5),
        ({"score_placements": True, "confidence": 0.0}, 0.0),
    ],
)
def test_the_default_confidence_depends_on_what_it_is_compared_with(
    judging: dict[str, object], confidence: float
) -> None:
    assert house_settings(settings={"judging": judging}).agent.judging.confidence == confidence
    assert load_selftraining(settings={"run": {"judging": judging}}).run.agent.judging.confidence == confidence


@pytest.mark.parametrize("scores", [False, True])
def test_a_run_that_was_saved_with_a_confidence_of_0_is_resumed_with_it(scores: bool) -> None:
    saved = house_settings(settings={"judging": {"score_placements": scores, "confidence": 0.0}})
    content = saved.model_dump(mode="json")
    earlier = parse_saved_settings("personalize", content, "config.json")
    assert content["agent"]["judging"]["confidence"] == earlier.agent.judging.confidence == 0.0  # type: ignore[attr-defined]
    again = {} if not scores else {"score_placements": True, "confidence": 0.0}
    assert not find_changed_settings(earlier.identity, house_settings(settings={"judging": again}).identity)
    del content["agent"]["judging"]["confidence"]
    assert parse_saved_settings("personalize", content, "config.json") == earlier


def test_notes_are_weighed_only_with_sentence_embeddings() -> None:
    with pytest.raises(UserError, match=r"weigh_notes needs sentence embeddings; leave memory\.meaning out"):
        house_settings(settings={"weigh_notes": True, "score_placements": True, "memory": {"meaning": False}})
