"""The grammar of plans: which replies it allows."""

import pytest

pytest.importorskip("llguidance")

from housewise.agent.personalize.grammar import plan_grammar
from housewise.language.gbnf import complete_grammar, literal
from housewise.language.grammar_matching import matches_grammar
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation


def house(holding: str | None = None) -> SceneGraph:
    graph = SceneGraph(["kitchen 0", "hall 1"])
    graph.update(SymbolicObservation({"kitchen 0 sink 2": "kitchen 0"}, {"mug 1": "kitchen 0 sink 2"}, holding))
    return graph


def lines(*steps: str) -> str:
    return "\n".join(f"step {number}: {step}" for number, step in enumerate(steps, start=1)).removeprefix("step 1:")


ALLOWED = [
    ("go to hall 1", "go to kitchen 0"),
    ("go to mug 1", "look at mug 1", "pick up mug 1", "go to kitchen 0 sink 2", "place mug 1 on kitchen 0 sink 2"),
    ("look at kitchen 0 sink 2", "mission complete"),
    ("mission complete",),
    ("pick up mug 1", "place mug 1 on kitchen 0 sink 2", "pick up mug 1"),
]
REFUSED = [
    ("go to bedroom 0",),
    ("Go to hall 1",),
    ("look at hall 1",),
    ("pick up kitchen 0 sink 2",),
    ("place mug 1 on kitchen 0 sink 2",),
    ("pick up mug 1", "pick up mug 1"),
    ("pick up mug 1", "go to mug 1"),
    ("pick up mug 1", "place mug 1 on hall 1"),
    ("pick up mug 1", "place mug 1 on kitchen 0 sink 2", "place mug 1 on kitchen 0 sink 2"),
    ("mission complete", "go to hall 1"),
    ("go to hall 1 and dance",),
    ("go to hall 1",) * 7,
]


@pytest.mark.parametrize("steps", ALLOWED)
def test_plans_about_the_known_house_are_allowed(steps: tuple[str, ...]) -> None:
    assert matches_grammar(lines(*steps), plan_grammar(house(), 6))


@pytest.mark.parametrize("steps", REFUSED)
def test_other_plans_are_not(steps: tuple[str, ...]) -> None:
    assert not matches_grammar(lines(*steps), plan_grammar(house(), 6))


def test_what_is_in_the_hand_at_the_start_counts() -> None:
    grammar = plan_grammar(house(holding="mug 1"), 6)
    assert matches_grammar(" place mug 1 on kitchen 0 sink 2\nstep 2: pick up mug 1", grammar)
    assert not matches_grammar(" pick up mug 1", grammar)


def test_a_house_that_is_not_explored_has_rooms_only() -> None:
    grammar = plan_grammar(SceneGraph(["hall 1"]), 3)
    assert matches_grammar(" go to hall 1\nstep 2: mission complete", grammar)
    assert not matches_grammar(" look at hall 1", grammar)


def test_names_of_any_letters_are_taken_as_they_are() -> None:
    name = 'o"dd \\ [a-z]* | été 1'
    grammar = plan_grammar(SceneGraph([name]), 1)
    assert matches_grammar(f" go to {name}", grammar) and not matches_grammar(
        " go to o", plan_grammar(SceneGraph(["x"]), 1)
    )


def test_a_grammar_becomes_whole_with_what_comes_before_the_reply() -> None:
    assert complete_grammar('reply ::= "a"\n', "step 1:").splitlines() == ['root ::= "step 1:" reply', 'reply ::= "a"']
    assert complete_grammar('reply ::= "a"\n').startswith("root ::= reply\n")
    assert literal('"\n\\') == '"\\"\\n\\\\"'
