from collections.abc import Sequence
from dataclasses import replace

import pytest

from housewise.agent.personalize.grammar import plan_grammar
from housewise.agent.personalize.plan_parser import ParsedStep
from housewise.agent.personalize.planner import Attempt, Plan, count_failures, hide_hopeless_targets
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.agent.personalize.wrappers.compose import make_llm_planner
from housewise.language.base import ChatRequest, Reply, Sampling
from housewise.language.replay import ReplayChatModel
from housewise.worlds.house.high_level_actions import HOLDING_NOTHING, ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation
from tests.agent.personalize.helpers import JUDGING, PLANNER, RecordingModel, llm_planner


@pytest.fixture
def graph() -> SceneGraph:
    graph = SceneGraph(["kitchen 0"])
    graph.update(SymbolicObservation({"kitchen 0 sink 2": "kitchen 0"}, {"mug 1": "kitchen 0 sink 2"}))
    return graph


VERIFIED = ("verify_completion",)
FOUR_STEPS = NotesContext(NotesTemplate.load("planner"), 4)


def test_the_model_reads_the_state_and_its_words_become_steps(graph: SceneGraph) -> None:
    model = RecordingModel(" go to mug 1\nstep 2: dance\nstep 3: pick up the mug")
    plan = llm_planner(model).plan(graph, [])
    assert [step.action for step in plan.steps] == [
        HighLevelAction(ActionKind.GO_TO, "mug 1"),
        None,
        HighLevelAction(ActionKind.PICK_UP, "mug 1"),
    ]
    assert not plan.complete
    assert model.requests[0].messages == plan.messages
    assert "kitchen 0 sink 2 with mug 1" in plan.messages[1].content
    assert model.requests[0].prefix == "step 1:"
    assert plan.reply is not None and plan.text == plan.reply.text


@pytest.mark.parametrize("normalize", [True, False])
def test_other_forms_than_the_prompts_are_understood_unless_the_settings_say_no(
    graph: SceneGraph, normalize: bool
) -> None:
    model = RecordingModel(" go to mug 1\nstep 2: grab the mug")
    plan = llm_planner(model, normalize_steps=normalize).plan(graph, [])
    assert [step.action is not None for step in plan.steps] == [True, normalize]


def test_names_that_the_robot_does_not_know_do_not_count(graph: SceneGraph) -> None:
    plan = llm_planner(RecordingModel("go to bedroom 0\nstep 2: pick up the plate")).plan(graph, [])
    assert [step.problem for step in plan.steps] == ["unknown: bedroom 0", "unknown: plate"]


def test_a_plan_is_cut_and_the_end_is_heard(graph: SceneGraph) -> None:
    model = RecordingModel("\n".join(["go to kitchen 0"] * 9), "mission complete")
    llm = llm_planner(model, FOUR_STEPS)
    assert len(llm.plan(graph, []).steps) == 4
    assert llm.plan(graph, []).complete
    assert "at most 4" in model.requests[0].messages[0].content


def test_before_the_end_it_looks_where_it_has_not_been(graph: SceneGraph) -> None:
    model = RecordingModel("mission complete", "go to mug 1\nstep 2: mission complete", "mission complete")
    llm = llm_planner(model, wrappers=VERIFIED)
    visits = llm.plan(graph, [])
    assert [str(step.action) for step in visits.steps] == ["go to kitchen 0", "go to kitchen 0 sink 2"]
    assert not visits.complete and visits.messages == ()
    assert [exchange.reply.text for exchange in visits.prior_calls] == ["mission complete"]
    entered = Attempt(HighLevelAction(ActionKind.GO_TO, "kitchen 0"), True)
    assert not llm.plan(graph, [entered]).complete
    assert llm.plan(graph, [entered, Attempt(HighLevelAction(ActionKind.GO_TO, "mug 1"), False)]).complete


def test_an_end_behind_steps_that_cannot_be_read_is_looked_into_without_asking_again(graph: SceneGraph) -> None:
    model = RecordingModel("tidy up\nstep 2: pick up the moon\nstep 3: mission complete")
    llm = llm_planner(model, wrappers=VERIFIED)
    visits = llm.plan(graph, [])
    assert [str(step.action) for step in visits.steps] == ["go to kitchen 0", "go to kitchen 0 sink 2"]
    assert not visits.complete and len(visits.prior_calls) == 1


def test_what_led_to_a_second_look_is_kept_with_the_prompt_of_each_reply(graph: SceneGraph) -> None:
    model = RecordingModel("pick up mug 1", "mission complete")
    plan = llm_planner(model, wrappers=("check_feasibility", "verify_completion")).plan(graph, [])
    assert [call.messages for call in plan.prior_calls] == [request.messages for request in model.requests]
    assert len({call.messages for call in plan.prior_calls}) == 2


@pytest.mark.parametrize("prompt", ["planner", "judging"])
def test_a_second_look_can_be_played_again(graph: SceneGraph, prompt: str) -> None:
    context = NotesContext(NotesTemplate.load(prompt))
    looked = llm_planner(RecordingModel("step 1: mission complete"), context, wrappers=VERIFIED).plan(graph, [])
    assert looked.steps and llm_planner(RecordingModel(looked.text), context).plan(graph, []).steps == looked.steps


def test_with_something_in_its_hand_it_does_not_look_again(graph: SceneGraph) -> None:
    graph.update(SymbolicObservation({}, {}, "mug 1"))
    assert llm_planner(RecordingModel("mission complete"), wrappers=VERIFIED).plan(graph, []).complete


@pytest.mark.parametrize(("count", "seeds"), [(1, [40, 41, 42]), (4, [40, 44, 48])])
def test_every_plan_is_drawn_with_a_seed_of_its_own(graph: SceneGraph, count: int, seeds: list[int]) -> None:
    model = RecordingModel()
    llm = make_llm_planner(model, PLANNER, Sampling(temperature=0.5, seed=40, n=count))
    for _ in range(3):
        llm.plan(graph, [])
    assert [request.sampling.seed for request in model.requests] == seeds
    assert {request.sampling.temperature for request in model.requests} == {0.5}
    unseeded = RecordingModel()
    llm_planner(unseeded).plan(graph, [])
    assert unseeded.requests[0].sampling.seed is None


def test_a_plan_without_a_model_can_be_put_into_words() -> None:
    steps = tuple(ParsedStep(f"go to room {number}", None) for number in range(2))
    assert Plan(steps).text == "go to room 0\nstep 2: go to room 1"
    assert Plan((), complete=True).text == "mission complete"
    assert Plan(()).text == ""


class Cut(RecordingModel):
    """Returns truncated replies."""

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        return [[replace(reply, finish_reason="length") for reply in part] for part in super().complete(requests)]


@pytest.mark.parametrize("grounded", [True, False])
def test_half_a_line_is_dropped(graph: SceneGraph, grounded: bool) -> None:
    model = Cut(" go to mug 1\nstep 2: go to kitchen 0 si")
    plan = llm_planner(model, FOUR_STEPS, grounded=grounded).plan(graph, [])
    assert [str(step.action) for step in plan.steps] == ["go to mug 1"] and plan.text == " go to mug 1"


def test_a_planner_reads_what_is_said_after_thinking(graph: SceneGraph) -> None:
    model = RecordingModel(
        "<think>\nmug 1 on sink: hall table?\nstep 1: go to hall 1\n</think>\nmug 1 on sink: fine\nstep 1: go to mug 1"
    )
    plan = llm_planner(model, JUDGING).plan(graph, [])
    assert [str(step.action) for step in plan.steps] == ["go to mug 1"]


def test_a_grounded_planner_sends_what_may_be_said(graph: SceneGraph) -> None:
    model = RecordingModel(" go to mug 1")
    llm_planner(model, FOUR_STEPS, grounded=True).plan(graph, [])
    assert model.requests[0].grammar == plan_grammar(graph, 4)
    ungrounded = RecordingModel()
    llm_planner(ungrounded).plan(graph, [])
    assert ungrounded.requests[0].grammar is None


def tried(action: HighLevelAction, times: int, succeeded: bool = False) -> list[Attempt]:
    return [Attempt(action, succeeded)] * times


def test_what_failed_too_often_is_not_mentioned_again(graph: SceneGraph) -> None:
    pick = HighLevelAction(ActionKind.PICK_UP, "mug 1")
    assert hide_hopeless_targets(graph, tried(pick, 9), None) is graph
    assert hide_hopeless_targets(graph, tried(pick, 2), 3) is graph
    assert hide_hopeless_targets(graph, tried(HighLevelAction(ActionKind.GO_TO, "mug 1"), 9), 3) is graph
    for succeeded in (False, True):
        left = hide_hopeless_targets(graph, tried(pick, 3, succeeded), 3)
        assert set(left.objects) == set(graph.objects) - {"mug 1"} and left.receptacles == graph.receptacles
    assert "mug 1" in graph.objects


def test_a_placement_with_an_empty_hand_says_nothing_about_the_place() -> None:
    put = HighLevelAction(ActionKind.PLACE, "mug 1", "kitchen 0 sink 2")
    empty, full = Attempt(put, False, HOLDING_NOTHING), Attempt(put, False, "no room")
    assert count_failures([empty, empty]) == {} and count_failures([empty, full]) == {"mug 1 on kitchen 0 sink 2": 1}


def test_a_place_that_takes_nothing_is_left_out_while_the_hand_is_full(graph: SceneGraph) -> None:
    (place,) = [place for place in graph.receptacles if place == graph.container_of("mug 1")]
    put = HighLevelAction(ActionKind.PLACE, "cap 1", place)
    assert hide_hopeless_targets(graph, tried(put, 3), 3) is graph
    graph.update(SymbolicObservation({}, {}, "cap 1"))
    left = hide_hopeless_targets(graph, tried(put, 3), 3)
    assert place not in left.receptacles and "mug 1" not in left.objects and left.holding == "cap 1"


def test_words_mean_what_they_mean_in_the_prompt() -> None:
    """One of two shelves is hidden, so that "the shelf" is unambiguous."""
    graph = SceneGraph(["bedroom 0"])
    shelves = {"bedroom 0 shelf 1": "bedroom 0", "bedroom 0 shelf 2": "bedroom 0"}
    graph.update(SymbolicObservation(shelves, {}, "hat 1"))
    full = HighLevelAction(ActionKind.PLACE, "hat 1", "bedroom 0 shelf 1")
    model = RecordingModel("\nhat in hand: bedroom shelf\nstep 1: place hat on bedroom shelf")
    (step,) = llm_planner(model, JUDGING, grounded=True).plan(graph, tried(full, 3)).steps
    assert step.action == HighLevelAction(ActionKind.PLACE, "hat 1", "bedroom 0 shelf 2")


def test_the_prompt_and_the_grammar_leave_it_out_too(graph: SceneGraph) -> None:
    planner = llm_planner(ReplayChatModel(["x"]), JUDGING)
    plan = planner.plan(graph, tried(HighLevelAction(ActionKind.PICK_UP, "mug 1"), 3))
    assert "mug" not in plan.messages[1].content
