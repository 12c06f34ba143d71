"""Plans with infeasible steps: the model is asked to correct them, and steps that remain are left out."""

import pytest

from housewise.agent.personalize.plan_normalizer import parse_any_plan
from housewise.agent.personalize.plan_simulator import remove_infeasible_steps
from housewise.agent.personalize.planner import Attempt, Plan
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.core.errors import UserError
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from tests.agent.personalize.helpers import JUDGING, RecordingModel, house, llm_planner

CHECKED = ("check_feasibility",)
FETCH = "go to mug\nstep 2: pick up mug\nstep 3: go to chest\nstep 4: place mug on chest"


def infeasible_steps(
    text: str, holding: str | None = None, attempts: tuple[Attempt, ...] = ()
) -> tuple[list[str], str]:
    """Return the reason of each infeasible step (empty for the others) and the first problem."""
    graph = house(holding)
    plan, wrong = remove_infeasible_steps(Plan(parse_any_plan(text, graph.vocabulary).steps), graph, attempts)
    return [step.problem if step.action is None else "" for step in plan.steps], wrong


@pytest.mark.parametrize(
    ("text", "holding", "reasons"),
    [
        ("go to mug\npick up mug", None, ["", ""]),
        ("pick up mug\ngo to mug", None, ["you are not there; go to mug 1 first", ""]),
        ("go to mug\npick up mug\npick up cap", None, ["", "", "your hand is full; place mug 1 first"]),
        ("go to unicorn\ngo to mug", None, ["unknown: unicorn", ""]),
        ("place mug on sink", None, ["you do not hold mug 1; pick it up first"]),
        ("pick up cap\nplace mug on sink", "mug 1", ["your hand is full; place mug 1 first", None]),
        ("look at mug", None, [""]),
        ("sing a song", None, [None]),
    ],
)
def test_steps_are_left_out_with_their_reasons(text: str, holding: str | None, reasons: list[str | None]) -> None:
    found, wrong = infeasible_steps(text, holding)
    assert [None if reason is None else each for each, reason in zip(found, reasons, strict=True)] == reasons
    assert bool(wrong) == any(found)


def test_what_was_tried_tells_where_the_robot_is() -> None:
    there = (Attempt(HighLevelAction(ActionKind.GO_TO, "kitchen 0 sink 2"), True),)
    assert infeasible_steps("pick up mug", None, there)[0] == [""]
    assert infeasible_steps("pick up cap", None, there)[0] != [""]


def test_a_plan_that_cannot_be_done_is_asked_for_again_with_the_reason() -> None:
    model = RecordingModel("pick up mug", FETCH.replace("chest", "moon"), FETCH)
    plan = llm_planner(model, wrappers=CHECKED).plan(house(), [])
    assert [step.action is not None for step in plan.steps] == [True] * 4 and plan.text == FETCH
    first, second, third = model.requests
    assert second.messages[: len(first.messages)] == first.messages and len(second.messages) == 4
    assert second.messages[-2].content == "step 1:pick up mug"
    assert "step 1 (pick up mug) cannot be done: you are not there" in second.messages[-1].content
    # Of what was wrong before only the newest is told.
    assert len(third.messages) == 4 and "unknown: moon" in third.messages[-1].content
    assert [exchange.reply.text for exchange in plan.prior_calls] == ["pick up mug", FETCH.replace("chest", "moon")]


def test_after_two_repairs_what_cannot_be_done_is_left_out() -> None:
    model = RecordingModel(*["pick up mug\nstep 2: go to chest"] * 9)
    plan = llm_planner(model, wrappers=CHECKED).plan(house(), [])
    assert len(model.requests) == 3 and [step.action is None for step in plan.steps] == [True, False]
    model = RecordingModel("pick up mug\nstep 2: go to chest")
    plan = llm_planner(model, repairs=0, wrappers=CHECKED).plan(house(), [])
    assert len(model.requests) == 1 and [step.action is None for step in plan.steps] == [True, False]


def test_a_plan_that_can_be_done_is_asked_for_once_and_an_unchecked_one_is_left_as_it_is() -> None:
    model = RecordingModel(FETCH)
    assert llm_planner(model, wrappers=CHECKED).plan(house(), []).text == FETCH
    assert len(model.requests) == 1
    plan = llm_planner(RecordingModel("pick up mug")).plan(house(), [])
    assert plan.steps[0].action == HighLevelAction(ActionKind.PICK_UP, "mug 1")


@pytest.mark.parametrize("grounded", [False, True])
def test_what_has_been_judged_stands_when_the_steps_are_asked_for_again(grounded: bool) -> None:
    judged = "\nmug on kitchen sink: hall shelf\ncap on hall chest: fine\nstep 1:"
    model = RecordingModel(f"{judged} pick up mug", " go to mug")
    plan = llm_planner(model, JUDGING, grounded=grounded, wrappers=CHECKED).plan(house(), [])
    assert model.requests[1].prefix == f"Objects:{judged}" and plan.text == f"{judged} go to mug"
    assert [str(step.action) for step in plan.steps] == ["go to mug 1"]
    assert "mug on kitchen sink" not in (model.requests[1].grammar or "")
    nothing = RecordingModel("\nmug on kitchen sink: hall shelf\npick up mug", " go to mug")
    assert llm_planner(nothing, JUDGING, wrappers=CHECKED).plan(house(), []).steps == ()


def test_the_words_of_a_refusal_are_the_users(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from importlib import resources

    text = (resources.files("housewise.housekeep_configs") / "prompts" / "planner.yaml").read_text()
    mine = tmp_path / "mine.yaml"
    mine.write_text(f'{text}feedback: "Nay! {{problem}}"\n')
    model = RecordingModel("pick up mug", FETCH)
    llm_planner(model, NotesContext(NotesTemplate.load(str(mine))), wrappers=CHECKED).plan(house(), [])
    assert model.requests[1].messages[-1].content.startswith("Nay! step 1")
    mine.write_text(f'{text}feedback: "Nay! {{reason}}"\n')
    with pytest.raises(UserError, match="unknown placeholder"):
        NotesTemplate.load(str(mine))
