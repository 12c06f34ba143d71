"""SayCan: the model scores feasible actions or chooses from a list."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.agent.personalize.baselines.saycan import SayCanPlanner, SayCanTemplate, sample_index, select_option
from housewise.agent.personalize.planner import Attempt
from housewise.language import ChatRequest, Sampling
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation
from tests.agent.personalize.helpers import RecordingModel

THERE = [
    Attempt(HighLevelAction(ActionKind.GO_TO, "mug 1"), True),
    Attempt(HighLevelAction(ActionKind.LOOK_AT, "hall 1 table 3"), False, "out of sight"),
    Attempt(HighLevelAction(ActionKind.LOOK_AT, "mug 1"), True),
]

SEEN = [Attempt(HighLevelAction(ActionKind.GO_TO, "attic 2"), False, "nothing there")]


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


def planner(model: RecordingModel, temperature: float = 1.0, grounded: bool = False) -> SayCanPlanner:
    sampling = Sampling(temperature=temperature, seed=3)
    return SayCanPlanner(model, SayCanTemplate.load("saycan"), sampling, grounded)


def test_a_model_that_scores_takes_the_likeliest_of_what_can_be_done(graph: SceneGraph) -> None:
    model = Judge("pick up")
    plan = planner(model).plan(graph, [*SEEN, *THERE])
    assert [str(step.action) for step in plan.steps] == ["pick up mug 1"] and plan.text == "pick up mug 1"
    assert model.requests[0].prefix == "step 5:"
    said = model.scored[0]
    assert " mission complete\n" in said and " go to attic 2\n" in said
    assert not [one for one in said for other in said if one != other and other.startswith(one)]
    assert not any("place" in text for text in model.scored[0])
    assert plan.scores["pick up mug 1"] == -1.0 and plan.scores["mission complete"] == -900.0
    told = plan.messages[1].content
    assert (
        "step 2: go to mug 1\nstep 3: look at hall 1 table 3 (did not work: out of sight)\nstep 4: look at mug 1"
        in told
    )


@pytest.mark.parametrize("model", [Judge("mission"), RecordingModel("7"), RecordingModel("Mission complete!")])
def test_it_can_say_that_all_is_done(graph: SceneGraph, model: RecordingModel) -> None:
    # With six places to go to, besides.
    plan = planner(model).plan(graph, SEEN)
    assert plan.complete and not plan.steps and plan.text == "mission complete"


def test_it_does_not_end_before_every_room_was_seen_or_tried(graph: SceneGraph) -> None:
    model = Judge("mission")
    assert planner(model).plan(graph, THERE).steps and " mission complete" not in model.scored[0]


def test_a_chat_model_chooses_from_a_numbered_list(graph: SceneGraph) -> None:
    model = RecordingModel("2")
    plan = planner(model).plan(graph, [])
    listed = model.requests[0].messages[1].content
    assert "1. go to kitchen 0\n2. go to hall 1\n3. go to attic 2\n" in listed
    assert listed.endswith("6. go to mug 1")
    assert [str(step.action) for step in plan.steps] == ["go to hall 1"] and plan.text == "go to hall 1"
    assert [exchange.reply.text for exchange in plan.prior_calls] == ["2"]
    assert [sum(reply.prompt_tokens for reply in plan.replies), len(plan.scores)] == [10, 0]


def test_a_choice_of_nothing_is_a_step_that_cannot_be_done(graph: SceneGraph) -> None:
    plan = planner(RecordingModel("I would rather not")).plan(graph, [])
    assert plan.steps[0].action is None and plan.steps[0].problem and not plan.complete


def test_a_grounded_choice_is_a_number(graph: SceneGraph) -> None:
    model = RecordingModel("2")
    planner(model, grounded=True).plan(graph, [])
    assert (
        model.requests[0].grammar is not None
        and '"6"' in model.requests[0].grammar
        and '"7"' not in model.requests[0].grammar
    )


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("1", "go to hall 1"),
        (" 2. go to hall 1 table 3", "go to hall 1 table 3"),
        ("I choose 2", "go to hall 1 table 3"),
        ("Go to hall 1 table 3, of course", "go to hall 1 table 3"),
        ("go to hall 1", "go to hall 1"),
        ('go_to("hall 1 table 3")', "go to hall 1 table 3"),
        ('{"action": "go to", "target": "hall 1"}', "go to hall 1"),
        ("Navigate[hall_1]", "go to hall 1"),
        ("```\n2\n```", "go to hall 1 table 3"),
        ("99", None),
        ("", None),
    ],
)
def test_choices_are_read_out_of_any_words(reply: str, option: str | None) -> None:
    assert select_option(reply, ["go to hall 1", "go to hall 1 table 3"]) == option


def test_what_is_drawn_follows_the_scores() -> None:
    scores = [-1000.0, -1001.0, -5000.0]
    points = [number / 1000 for number in range(1000)]
    drawn = [sample_index(scores, 1.0, point) for point in points]
    assert drawn.count(0) == pytest.approx(731, abs=2) and drawn.count(2) == 0
    assert {sample_index(scores, 0.0, point) for point in points} == {0}
    assert sample_index([float("-inf")] * 2 + [0.0], 1.0, 0.999999) == 2


@settings(max_examples=60, deadline=None)
@given(reply=st.text() | st.from_regex(r"\W{0,3}\d{1,30}.{0,9}"))
def test_any_reply_makes_a_plan(reply: str) -> None:
    house = SceneGraph(["hall 1"])
    house.update(SymbolicObservation({"hall 1 table 3": "hall 1"}, {"mug 1": "hall 1 table 3"}))
    plan = planner(RecordingModel(reply)).plan(house, [])
    assert len(plan.steps) + plan.complete == 1
