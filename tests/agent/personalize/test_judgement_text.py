"""Judgements before a plan: their format, their parser and their grammar."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.agent.personalize.demonstrator import Demonstrator
from housewise.agent.personalize.grammar import plan_grammar
from housewise.agent.personalize.judgement_text import (
    find_judged_kinds,
    format_judgements,
    objects_to_judge,
    parse_judgements,
    split_judgements,
)
from housewise.agent.personalize.planner import Attempt
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.agent.personalize.scripted_planner import ScriptedPlanner
from housewise.agent.personalize.wrappers.compose import make_llm_planner
from housewise.language.replay import ReplayChatModel
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation

PLACES = {"kitchen 0 sink 2": "kitchen 0", "hall 1 chest 3": "hall 1", "hall 1 shelf 4": "hall 1"}
THINGS = {"mug 1": "kitchen 0 sink 2", "cap 1": "kitchen 0 sink 2", "pen 1": "hall 1 chest 3"}
WANTED = {"mug 1": {"kitchen 0 sink 2"}, "cap 1": {"hall 1 chest 3", "hall 1 shelf 4"}, "pen 1": {"desk"}}

JUDGED = "\nmug on kitchen sink: fine\ncap on kitchen sink: hall chest\npen on hall chest: elsewhere\nstep 1: go to cap"


def house(holding: str | None = None) -> SceneGraph:
    graph = SceneGraph(["kitchen 0", "hall 1"])
    graph.update(SymbolicObservation(PLACES, THINGS, holding))
    graph.mark_visited("kitchen 0")
    return graph


def wants(thing: str, place: str) -> bool:
    return place in WANTED[thing]


def demonstrated(graph: SceneGraph, attempts: Sequence[Attempt] = (), most_tries: int = 3) -> str:
    template = NotesTemplate.load("judging").model_copy(update={"most_tries": most_tries})
    shown = Demonstrator(ScriptedPlanner(wants, listed=True), NotesContext(template))
    plan = shown.plan(graph, attempts)
    assert plan.reply is not None
    return plan.reply.text


def test_the_demonstrator_judges_every_object_and_moves_the_first_that_has_a_place() -> None:
    first, *rest = demonstrated(house()).split("\nstep ")
    assert f"{first}\nstep {rest[0]}" == JUDGED
    assert rest[-1] == "6: place cap on hall chest"


def test_what_the_prompt_hides_is_not_demonstrated() -> None:
    failed = [Attempt(HighLevelAction(ActionKind.PICK_UP, "cap 1"), False)]
    assert "step 3: pick up cap" in demonstrated(house(), failed, most_tries=2)
    assert "cap" not in demonstrated(house(), failed, most_tries=1)


def test_with_a_full_hand_only_that_object_is_judged() -> None:
    graph = house(holding="cap 1")
    assert objects_to_judge(graph) == ("cap 1",)
    assert demonstrated(graph).startswith("\ncap in hand: hall chest\nstep 1: go to hall chest")


def test_what_is_written_can_be_read() -> None:
    graph = house()
    called = NotesTemplate.load("judging").prompt_names(graph)
    judged = {"mug 1": "kitchen 0 sink 2", "cap 1": "hall 1 chest 3", "pen 1": None}
    thoughts = split_judgements(JUDGED)[0]
    assert format_judgements(judged, graph, called).strip() == thoughts.strip()
    assert parse_judgements(thoughts, graph, called) == judged
    assert parse_judgements(thoughts.replace("hall chest\n", "hall chset\n"), graph, called) == {
        "mug 1": judged["mug 1"],
        "pen 1": None,
    }
    assert parse_judgements(thoughts.partition("\ncap")[0], graph, called) == {"mug 1": judged["mug 1"]}
    assert parse_judgements("", graph, called) == {}


def test_a_reply_tells_which_kinds_it_judges() -> None:
    assert find_judged_kinds(demonstrated(house())) == {"mug", "cap", "pen"}
    assert find_judged_kinds(demonstrated(house(holding="cap 1"))) == {"cap"}
    assert find_judged_kinds("\ntable lamp 2 on living room 3 side table 1: fine\nstep 1: place it on: x") == {
        "table lamp"
    }
    assert find_judged_kinds("step 1: go to kitchen") == find_judged_kinds("") == set()


def test_an_empty_house_is_explored_without_a_judgement() -> None:
    assert demonstrated(SceneGraph(["hall 1"])) == "\nstep 1: go to hall"


def test_rooms_that_were_only_glimpsed_are_told_apart() -> None:
    _, user = NotesContext(NotesTemplate.load("judging")).messages(house())
    assert user.content.splitlines() == [
        "kitchen sink",
        "hall not entered: hall chest, hall shelf",
        "holding nothing",
        "mug on kitchen sink",
        "cap on kitchen sink",
        "pen on hall chest",
    ]


def test_only_what_follows_the_judgements_is_done() -> None:
    model = ReplayChatModel([JUDGED, "\nmug: go to hall\ncap: fine"])
    planner = make_llm_planner(model, NotesContext(NotesTemplate.load("judging")))
    assert [str(step.action) for step in planner.plan(house(), []).steps] == ["go to cap 1"]
    assert planner.plan(house(), []).steps == ()


@given(st.text(), st.text())
def test_judgements_and_steps_are_parted_without_loss(thoughts: str, steps: str) -> None:
    assert "".join(split_judgements(thoughts + steps)) == thoughts + steps
    assert split_judgements(f"{thoughts}step 1:{steps}")[1].startswith("step 1:")


def test_the_grammar_holds_judgements_to_what_is_known() -> None:
    pytest.importorskip("llguidance")
    from housewise.language.grammar_matching import matches_grammar

    graph = house()
    called = NotesTemplate.load("judging").prompt_names(graph)
    grammar = plan_grammar(graph, 3, called, with_judgements=True)
    assert matches_grammar(JUDGED, grammar)
    assert matches_grammar(
        format_judgements(dict.fromkeys(objects_to_judge(graph)), graph, called) + "\nstep 1: mission complete", grammar
    )
    assert not matches_grammar(JUDGED.replace("hall chest\n", "hall 1 chest 9\n"), grammar)
    assert not matches_grammar(JUDGED.replace("\nmug on kitchen sink: fine", ""), grammar)
    assert not matches_grammar(" go to cap", grammar)
