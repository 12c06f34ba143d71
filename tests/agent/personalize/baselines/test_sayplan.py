"""SayPlan: search of the scene graph, planning, and correction of the plan."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from housewise.agent.personalize.baselines.sayplan import SayPlanPlanner, SayPlanTemplate, SearchCommand, parse_command
from housewise.core.errors import UserError
from housewise.language import Sampling
from housewise.language.gbnf import REPLY
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation
from tests.agent.personalize.helpers import RecordingModel

GOOD = " go to mug 1\nstep 2: look at mug 1\nstep 3: pick up mug 1"


def planner(model: RecordingModel, **options: int | bool) -> SayPlanPlanner:
    return SayPlanPlanner(model, SayPlanTemplate.load("sayplan"), Sampling(seed=40), **options)  # type: ignore[arg-type]


def test_the_model_opens_and_closes_rooms_and_plans_with_what_it_sees(graph: SceneGraph) -> None:
    model = RecordingModel(" expand hall 1", "expand the kitchen", "Contract hall 1.", "plan", GOOD)
    plan = planner(model).plan(graph, [])
    assert [str(step.action) for step in plan.steps] == ["go to mug 1", "look at mug 1", "pick up mug 1"]
    maps = [request.messages[1].content for request in model.requests]
    assert "kitchen 0: closed.\nhall 1: closed.\nattic 2: closed." in maps[0] and "mug" not in maps[0]
    assert "hall 1: hall 1 table 3 [empty; go to, look at, place on]." in maps[1]
    assert "Your commands so far: expand hall 1, expand kitchen 0, contract hall 1" in maps[3]
    sink = "kitchen 0 sink 2 [holds mug 1; go to, look at, place on]"
    mug = "mug 1 [on kitchen 0 sink 2; go to, look at, pick up]"
    assert f"kitchen 0: {sink}. {mug}.\nhall 1: closed.\nattic 2: closed." in maps[4]
    assert [request.prefix for request in model.requests] == ["command:"] * 4 + ["step 1:"]
    assert [request.sampling.seed for request in model.requests] == [40, 41, 42, 43, 44]


@pytest.mark.parametrize(("grounded", "most"), [(True, 40), (False, 160)])
def test_a_model_that_is_free_to_think_aloud_has_the_words_for_it(graph: SceneGraph, grounded: bool, most: int) -> None:
    model = RecordingModel("<think>plan? No: expand attic 2.</think>\nexpand hall 1", "plan", GOOD)
    sampling = Sampling(max_tokens=160)
    SayPlanPlanner(model, SayPlanTemplate.load("sayplan"), sampling, grounded=grounded).plan(graph, [])
    assert [request.sampling.max_tokens for request in model.requests] == [most, most, 160]
    assert "commands so far: expand hall 1" in model.requests[1].messages[1].content


def test_a_plan_that_introduces_a_command_does_not_end_the_search(graph: SceneGraph) -> None:
    model = RecordingModel("my plan: expand hall 1", "plan", GOOD)
    planner(model).plan(graph, [])
    assert "Your commands so far: expand hall 1" in model.requests[1].messages[1].content
    assert "hall 1: hall 1 table 3 [empty" in model.requests[2].messages[1].content


def test_the_record_has_every_question_and_answer(graph: SceneGraph) -> None:
    model = RecordingModel("expand attic 2", "plan", "pick up mug 1", GOOD)
    plan = planner(model).plan(graph, [])
    assert [exchange.reply.text for exchange in plan.prior_calls] == ["expand attic 2", "plan", "pick up mug 1"]
    assert [exchange.messages for exchange in plan.prior_calls] == [request.messages for request in model.requests[:-1]]
    assert plan.reply is not None and plan.text == GOOD and plan.messages == model.requests[-1].messages
    assert sum(reply.prompt_tokens for reply in plan.replies) == 40
    assert "attic 2: not explored yet." in plan.messages[1].content


def test_what_is_wrong_with_a_plan_is_told_and_the_last_plan_counts(graph: SceneGraph) -> None:
    model = RecordingModel("plan", "pick up mug 1", "go to mug 1\nstep 2: pick up mug 1", *["dance"] * 9)
    plan = planner(model).plan(graph, [])
    assert len(model.requests) == 1 + 1 + 5
    assert [message.role for message in model.requests[2].messages] == ["system", "user", "assistant", "user"]
    assert model.requests[2].messages[2].content == "step 1:pick up mug 1"
    assert (
        "step 1 (pick up mug 1) cannot be done: you are not there; go to mug 1 first"
        in model.requests[2].messages[3].content
    )
    assert "look at mug 1 first" in model.requests[3].messages[3].content
    assert [step.problem for step in plan.steps] and plan.steps[0].action is None


def test_plans_in_other_forms_are_understood_if_the_settings_say_so(graph: SceneGraph) -> None:
    reply = "Navigate to mug 1"
    for normalize in (True, False):
        plan = planner(RecordingModel("plan", *[reply] * 6), normalize=normalize).plan(graph, [])
        assert (plan.steps[0].action is not None) == normalize


def test_the_search_ends(graph: SceneGraph) -> None:
    model = RecordingModel(*["expand cellar 7", "hm"] * 5, GOOD)
    plan = planner(model).plan(graph, [])
    assert len(plan.prior_calls) == 10 and len(plan.steps) == 3
    assert "unknown: cellar 7, not a command" in model.requests[2].messages[1].content
    assert planner(RecordingModel(GOOD), searches=0).plan(graph, []).text == GOOD


def test_grounded_requests_bring_grammars(graph: SceneGraph) -> None:
    model = RecordingModel("expand hall 1", "plan", GOOD)
    planner(model, grounded=True).plan(graph, [])
    grammars = [request.grammar or "" for request in model.requests]
    assert all(grammar.startswith(f"{REPLY} ::= ") for grammar in grammars)
    assert '"expand hall 1"' in grammars[0] and '"contract hall 1"' in grammars[1] and '"pick up mug 1"' in grammars[2]


@pytest.mark.parametrize(
    ("reply", "command"),
    [
        (" expand kitchen 0", SearchCommand("expand", "kitchen 0")),
        ("I will expand the **kitchen**.\nThen plan", SearchCommand("expand", "kitchen 0")),
        ("expand hall, to see what is there", SearchCommand("expand", "hall 1")),
        ("CONTRACT hall", SearchCommand("contract", "hall 1")),
        ("Let us plan now", SearchCommand("plan")),
        ("My plan: expand the kitchen", SearchCommand("expand", "kitchen 0")),
        ("**Plan:**\n1. expand hall\n2. plan", SearchCommand("expand", "hall 1")),
        ("The plan is to contract hall 1.", SearchCommand("contract", "hall 1")),
        ('{"plan": "expand kitchen 0"}', SearchCommand("expand", "kitchen 0")),
        ('{"command": "plan", "room": null}', SearchCommand("plan")),
        ("plan: go to mug 1", SearchCommand("plan")),
        ("I plan to plan now, not to expand hall 1", SearchCommand("plan")),
        ('expand_room("kitchen 0")', SearchCommand("expand", "kitchen 0")),
        ('```json\n{"command": "expand", "room": "kitchen 0"}\n```', SearchCommand("expand", "kitchen 0")),
        ("1. **contract**: \u200bhall", SearchCommand("contract", "hall 1")),
        ("expand", SearchCommand("expand", None, "no name given")),
        ("planning", SearchCommand("", problem="not a command")),
    ],
)
def test_commands_are_read_out_of_any_words(graph: SceneGraph, reply: str, command: SearchCommand) -> None:
    assert parse_command(reply, graph.vocabulary) == command


@settings(max_examples=40, deadline=None)
@given(replies=st.lists(st.text() | st.sampled_from(["expand hall 1", "plan", GOOD, "mission complete"]), max_size=20))
def test_any_replies_make_a_plan(replies: list[str]) -> None:
    house = SceneGraph(["hall 1"])
    house.update(SymbolicObservation({"hall 1 table 3": "hall 1"}, {"mug 1": "hall 1 table 3"}))
    plan = planner(RecordingModel(*replies)).plan(house, [])
    assert len(plan.steps) <= 10 and len(plan.prior_calls) <= 15


def test_a_template_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="sayplan"):
        SayPlanTemplate.load("nowhere")
    path = tmp_path / "mine.yaml"
    path.write_text(f'{SayPlanTemplate.load("sayplan").model_dump_json()[:-1]}, "surplus": "x"}}')
    with pytest.raises(UserError, match="surplus"):
        SayPlanTemplate.load(str(path))
    path.write_text(SayPlanTemplate.load("sayplan").model_copy(update={"feedback": "{reason}"}).model_dump_json())
    with pytest.raises(UserError, match="feedback"):
        SayPlanTemplate.load(str(path))
