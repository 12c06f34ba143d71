"""SayCan: the model chooses one of the feasible actions, or scores them."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.agent.base import History
from housewise.agent.personalize.baselines.saycan import SayCanPlanner, SayCanTemplate, sample_index, select_option
from housewise.agent.personalize.planner import Attempt
from housewise.core.errors import UserError
from housewise.language import ChatRequest, Sampling
from housewise.systems.personalize.plan_events import make_plan_event
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation
from tests.agent.personalize.helpers import CutModel, RecordingModel

THERE = [
    Attempt(HighLevelAction(ActionKind.GO_TO, "mug 1"), True),
    Attempt(HighLevelAction(ActionKind.LOOK_AT, "hall 1 table 3"), False, "out of sight"),
    Attempt(HighLevelAction(ActionKind.LOOK_AT, "mug 1"), True),
]


class Judge(RecordingModel):
    """Scores texts with a favourite phrase highest."""

    def __init__(self, favourite: str) -> None:
        super().__init__()
        self.favourite = favourite
        self.scored: list[Sequence[str]] = []

    def score(self, request: ChatRequest, continuations: Sequence[str]) -> list[float]:
        self.requests.append(request)
        self.scored.append(continuations)
        return [-1.0 if self.favourite in text else -900.0 for text in continuations]


def planner(model: RecordingModel, temperature: float = 1.0, **options: bool) -> SayCanPlanner:
    return SayCanPlanner(model, SayCanTemplate.load("saycan"), Sampling(temperature=temperature, seed=3), **options)


def test_the_prompt_lists_what_can_be_done_and_what_was_done(graph: SceneGraph) -> None:
    model = RecordingModel("pick up mug 1")
    plan = planner(model).plan(graph, THERE)
    assert [str(step.action) for step in plan.steps] == ["pick up mug 1"] and plan.text == "pick up mug 1"
    parts = [
        "You hold nothing.",
        "kitchen 0 has these receptacles: kitchen 0 sink 2. mug 1 is on kitchen 0 sink 2.",
        "step 1: go to study 0",
        "step 6: place teapot 1",
        "executed: go to mug 1, look at mug 1.",
        "go to kitchen 0, go to hall 1, go to attic 2, go to hall 1 table 3, pick up mug 1, mission complete.",
    ]
    told = model.requests[0].messages[1].content
    places = [told.index(part) for part in parts]
    assert places == sorted(places) and model.requests[0].prefix == ""
    assert "place mug 1" not in told and "look at hall 1 table 3" not in told
    assert [exchange.reply.text for exchange in plan.prior_calls] == ["pick up mug 1"] and not plan.scores


@pytest.mark.parametrize("attempts", [[], THERE])
def test_the_mission_can_always_be_complete(graph: SceneGraph, attempts: list[Attempt]) -> None:
    graph.update(SymbolicObservation({}, {}, "mug 1"))
    model = RecordingModel("Mission complete!")
    plan = planner(model).plan(graph, attempts)
    assert plan.complete and not plan.steps and plan.text == "mission complete"
    assert ", mission complete.\n" in model.requests[0].messages[1].content


def test_a_model_that_scores_draws_what_it_finds_likely(graph: SceneGraph) -> None:
    model = Judge("pick up")
    plan = planner(model, score=True).plan(graph, THERE)
    assert plan.text == "pick up mug 1" and not plan.prior_calls
    said = model.scored[0]
    assert "mission complete\n" in said and "go to attic 2\n" in said
    assert not [one for one in said for other in said if one != other and other.startswith(one)]
    assert plan.scores["pick up mug 1"] == -1.0 and plan.scores["mission complete"] == -900.0
    assert planner(Judge("mission"), score=True).plan(graph, THERE).complete
    with pytest.raises(UserError, match="score_actions=false"):
        planner(RecordingModel("go"), score=True)


def test_a_choice_of_nothing_is_a_step_that_cannot_be_done(graph: SceneGraph) -> None:
    plan = planner(RecordingModel("I would rather not")).plan(graph, [])
    assert plan.steps[0].action is None and plan.steps[0].problem and not plan.complete


def test_a_reply_is_counted_once_with_the_reason_for_its_end(graph: SceneGraph) -> None:
    plan = planner(CutModel("pick up mug 1\nand then", "the mug")).plan(graph, THERE)
    event = make_plan_event(plan, History(), graph, [], 0.0)
    assert [call.reply.finish_reason for call in plan.all_calls] == ["length"] == [event.finish_reason]
    assert (event.prompt_tokens, event.completion_tokens) == (10, 1)
    assert not planner(Judge("pick up"), score=True).plan(graph, THERE).all_calls


def test_an_action_that_is_not_listed_is_not_carried_out_in_a_replay(graph: SceneGraph) -> None:
    plan = planner(RecordingModel("pick up mug 12")).plan(graph, [])
    assert plan.steps[0].action is None and plan.steps[0].raw == "pick up mug 12"
    assert [call.reply.text for call in plan.prior_calls] == ["pick up mug 12"] and "mug" not in plan.reply.text


def test_a_grounded_choice_is_one_of_the_list(graph: SceneGraph) -> None:
    model = RecordingModel("go to hall 1")
    planner(model, grounded=True).plan(graph, [])
    grammar = model.requests[0].grammar or ""
    assert '"go to hall 1"' in grammar and '"mission complete"' in grammar and "pick up" not in grammar


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("Go to hall 1 table 3, of course", "go to hall 1 table 3"),
        ("go to hall 1", "go to hall 1"),
        ('go_to("hall 1 table 3")', "go to hall 1 table 3"),
        ('{"action": "go to", "target": "hall 1"}', "go to hall 1"),
        ("Navigate[hall_1]", "go to hall 1"),
        ("go to hall 2", None),
        ("go to hall 12", None),
        ("go to hall 1 table 9", None),
        ("Go to hall 1 chest of drawers 4.", None),
        ("My choice is go to hall 1 to find mug 1", "go to hall 1"),
        ("My choice is go to hall 1 because table 3 is there", "go to hall 1"),
        ("step 1: go to hall 1 step 2: pick up mug 1", "go to hall 1"),
        ("2", None),
        ("", None),
    ],
)
def test_choices_are_read_out_of_any_words(reply: str, option: str | None) -> None:
    assert select_option(reply, ["go to hall 1", "go to hall 1 table 3"]) == option


class Point(Random):
    """Random numbers that are all the same."""

    def __init__(self, point: float) -> None:
        super().__init__()
        self._point = point

    def random(self) -> float:
        return self._point


def test_what_is_drawn_follows_the_scores() -> None:
    scores = [-1000.0, -1001.0, -5000.0]
    points = [Point(number / 1000) for number in range(1000)]
    drawn = [sample_index(scores, 1.0, point) for point in points]
    assert drawn.count(0) == pytest.approx(731, abs=2) and drawn.count(2) == 0
    assert {sample_index(scores, 0.0, point) for point in points} == {0}
    assert sample_index([float("-inf")] * 2 + [0.0], 1.0, Point(0.999999)) == 2


@settings(max_examples=60, deadline=None)
@given(reply=st.text() | st.from_regex(r"\W{0,3}\d{1,30}.{0,9}"))
def test_any_reply_makes_a_plan(reply: str) -> None:
    house = SceneGraph(["hall 1"])
    house.update(SymbolicObservation({"hall 1 table 3": "hall 1"}, {"mug 1": "hall 1 table 3"}))
    plan = planner(RecordingModel(reply)).plan(house, [])
    assert len(plan.steps) + plan.complete == 1
