"""What the robot makes of sentences of many shapes, in the three tasks and with their own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.agent.stars.analysis_and_repair import GoalAnalyser
from housewise.agent.stars.data_files import load_robot, load_task
from housewise.agent.stars.goal_grammar import WIDE_GRAMMAR, GoalLanguage
from housewise.agent.stars.responses import Mismatch, MismatchKind
from housewise.agent.stars.situation import RobotAbilities, TargetRequirement
from housewise.core.errors import UserError
from tests.agent.stars.conftest import Analyse

UNINTERPRETABLE, UNKNOWN, UNGROUNDED, AFFORDANCE = MismatchKind

VIABLE = [
    "the mug is in the cupboard",
    "the mug is in the cupboard and the cupboard is closed",
    "the cupboard is closed and the mug is in the cupboard",
    "the mug is in the cupboard and the cupboard is closed and the drawer is closed",
    "the mug is in the refrigerator and the fridge is closed",
    "the mug is in the trash",
    "the mug is in the bin",
    "the mug is in the recycling bin",
    "the mug is in the rack",
    "the mug is on the table",
    "the mug is under the table",
    "the mug is next to the sink",
    "the mug are in the sink",
    "the mug is empty",
    "the mug is full and the mug is on the counter",
    "the dishes are in the dishwasher",
    "the plate is in the sink",
    "the mug on the table is in the sink",
    "the mug is in the drawer of the counter",
    "the fridge is opened",
    "the mug is in cupboard",
    "the dishes are in cupboard and the cupboard is closed",
    "the mug is in recycling bin",
    "the mug on counter is next to sink",
]


@pytest.mark.parametrize("goal", VIABLE)
def test_goals_that_can_be_understood_seen_and_done(analyse: Analyse, goal: str) -> None:
    for sentence in (f"the goal is that {goal}", f"The goal is that  {goal}.", f"THE GOAL IS THAT {goal.upper()}"):
        found = analyse(sentence)
        assert found.viable and found.kind is None and found.clauses, found.mismatches


UNINTERPRETABLE_GOALS = [
    # Known only as verbs, or as nothing that names a state.
    "the goal is that the sink is clean",
    "the goal is that the kitchen is tidy",
    "the goal is that the counter is clear and the mug is in the drawer",
    "the goal is that the fridge is open",
    "the goal is that the mug is put away",
    "the goal is that the dishwasher is on",
    "the goal is that the dishwasher is turned on",
    # Two nouns in a row, no article, another article, commas.
    "the goal is that the mug is in the garbage can",
    "the goal is that the mug is in the desk drawer",
    "the goal is that the fridge door is closed",
    "the goal is that the mug is in fridge and fridge is closed",
    "the goal is that no mug is in the fridge",
    "the goal is that there is a mug in the fridge",
    "the goal is that mug is in the fridge",
    "the goal is that the mug is in a drawer",
    "the goal is that the mug is in the cupboard, and the cupboard is closed",
    # Ellipsis, pronouns, negation, more than one subject.
    "the goal is that the mug is in the cupboard and closed",
    "the goal is that the mug is in the cupboard and it is closed",
    "the goal is that the mug is not on the table",
    "the goal is that the mug and the plate are in the sink",
    "the goal is that the mug is in the sink or the dishwasher",
    # Imperative, modal, passive, another beginning, no beginning, no end.
    "put the mug in the sink",
    "the goal is that the mug should be in the sink",
    "the goal is to put the mug in the sink",
    "the mug is in the sink",
    "the goal is that",
    "the goal is that the mug is in the",
    "the goal is that the mug is in the sink the sink",
    "the goal is that and the mug is in the sink",
    "the goal is that the mug is full of water",
    "",
    "...",
]


@pytest.mark.parametrize("sentence", UNINTERPRETABLE_GOALS)
def test_known_words_that_the_robot_cannot_interpret(analyse: Analyse, sentence: str) -> None:
    found = analyse(sentence)
    assert found.mismatches == (Mismatch(UNINTERPRETABLE),) and not found.clauses


@pytest.mark.parametrize(
    ("sentence", "mismatches"),
    [
        ("the goal is that the mug is in the closet", [Mismatch(UNKNOWN, "closet")]),
        ("the goal is that the mug is in the closet and the wardrobe is closed", [Mismatch(UNKNOWN, "closet")]),
        ("the goal is that the mug is in the trash can and in the closet", [Mismatch(UNKNOWN, "closet")]),
        ("the goal is that the counter is clear()", [Mismatch(UNKNOWN, "clear()")]),
        ("the goal is that the shelf is organised", [Mismatch(UNKNOWN, "organised"), Mismatch(UNGROUNDED, "shelf")]),
        (
            "the goal is that the mug is on the shelf and the shelf in the bookshelf is neat",
            [Mismatch(UNKNOWN, "neat"), Mismatch(UNGROUNDED, "shelf"), Mismatch(UNGROUNDED, "bookshelf")],
        ),
        ("the goal is that the mug is in the cabinet", [Mismatch(UNGROUNDED, "cabinet")]),
        ("the goal is that the mug is in the dish cabinet", [Mismatch(UNGROUNDED, "cabinet")]),
        ("the goal is that the mug is in the dish bin", [Mismatch(UNGROUNDED, "bin")]),
        (
            "the goal is that the mug is in the cabinet and the door to the cabinet is closed",
            [Mismatch(UNGROUNDED, "cabinet"), Mismatch(UNGROUNDED, "door")],
        ),
        ("the goal is that the desk is next to the mug", [Mismatch(UNGROUNDED, "desk")]),
        (
            "the goal is that the dish rack is in the cabinet",
            [Mismatch(UNGROUNDED, "cabinet"), Mismatch(AFFORDANCE, "grabbable", "rack")],
        ),
        ("the goal is that the mug is in cabinet and the fridge is closed", [Mismatch(UNGROUNDED, "cabinet")]),
        ("the goal is that the mug is on fridge", [Mismatch(AFFORDANCE, "surface", "fridge")]),
        # Whatever there is said to be none of cannot be grounded, whether or not there is any.
        ("the goal is that there is no mug", [Mismatch(UNGROUNDED, "mug")]),
        ("the goal is that there are no dishes in the sink", [Mismatch(UNGROUNDED, "dishes")]),
        (
            "the goal is that there is no milk on shelf and the mug is in the table",
            [Mismatch(UNGROUNDED, "milk"), Mismatch(UNGROUNDED, "shelf"), Mismatch(AFFORDANCE, "receptacle", "table")],
        ),
        (
            "the goal is that there is no mug in cabinet and the sink is neat",
            [Mismatch(UNKNOWN, "neat"), Mismatch(UNGROUNDED, "mug"), Mismatch(UNGROUNDED, "cabinet")],
        ),
        ("the goal is that the rack is next to the sink", [Mismatch(AFFORDANCE, "grabbable", "rack")]),
        ("the goal is that the mug is in the table", [Mismatch(AFFORDANCE, "receptacle", "table")]),
        ("the goal is that the mug is in the kitchen", [Mismatch(AFFORDANCE, "receptacle", "kitchen")]),
        ("the goal is that the mug is on the fridge", [Mismatch(AFFORDANCE, "surface", "fridge")]),
        ("the goal is that the mug is closed", [Mismatch(AFFORDANCE, "closed", "mug")]),
        ("the goal is that the trash is closed", [Mismatch(AFFORDANCE, "closed", "garbage")]),
        (
            "the goal is that the mug is on the rack and the rack is empty",
            [Mismatch(AFFORDANCE, "surface", "rack"), Mismatch(AFFORDANCE, "empty", "rack")],
        ),
    ],
)
def test_what_is_wrong_and_which_reason_comes_first(
    analyse: Analyse, sentence: str, mismatches: list[Mismatch]
) -> None:
    found = analyse(sentence)
    assert list(found.mismatches) == mismatches
    assert found.kind is mismatches[0].kind and not found.viable


def test_the_same_sentence_is_judged_by_what_is_seen(analyse: Analyse) -> None:
    sentence = "the goal is that the pen is in the filing cabinet and the cabinet is closed"
    assert analyse(sentence, "pen", "organize office").viable
    assert analyse(sentence, "cream", "store groceries").kind is UNKNOWN  # pens are no word there
    assert analyse("the goal is that the groceries are in the fridge", "eggs", "store groceries").viable
    assert analyse("the goal is that the bag is empty", "eggs", "store groceries").mismatches == (
        Mismatch(AFFORDANCE, "empty", "bag"),
    )


def test_a_noun_means_the_object_in_question_where_it_can(analyse: Analyse) -> None:
    for about in ("mug 1", "mug 2"):
        found = analyse("the goal is that the mug is in the sink", about)
        assert {thing.name for thing in found.things[found.clauses[0].subject]} == {about}


def test_another_robot_is_another_file(analyse: Analyse) -> None:
    task, vocabulary = load_task("tidy kitchen")
    strong = RobotAbilities(moves="receptacle", relations={"in": TargetRequirement("surface", needs="surface")})
    analyser = GoalAnalyser(GoalLanguage(vocabulary), strong)
    found = analyser.analyse("the goal is that the dish rack is in the table", task.situation)
    assert found.viable and not analyse("the goal is that the dish rack is in the table").viable
    assert load_robot().relations["on"].forbids == "receptacle"


@pytest.mark.parametrize(
    ("sentence", "goal"),
    [
        ("put the mug in the cupboard and close it", "the mug is in the cupboard and the cupboard is closed"),
        ("Please put the mug back into the sink.", "the mug is in the sink"),
        ("the mug should be placed in the sink", "the mug is in the sink"),
        ("the goal is for the mug to be in the sink", "the mug is in the sink"),
        ("mug is stored in fridge and closed", "the mug is in the fridge and the fridge is closed"),
        ("make sure that a mug is in the bin, and close the drawer", "the mug is in the bin and the drawer is closed"),
        ("the mug is in the drawer and it is closed", "the mug is in the drawer and the drawer is closed"),
    ],
)
def test_a_wider_grammar_reads_other_words_as_the_same_goal(analyse: Analyse, sentence: str, goal: str) -> None:
    plain = analyse(f"the goal is that {goal}")
    assert analyse(sentence, grammar=WIDE_GRAMMAR).clauses == plain.clauses and plain.viable
    assert not analyse(sentence).viable


def test_a_wider_grammar_checks_all_the_same(analyse: Analyse) -> None:
    assert analyse("put the rack on the fridge", grammar=WIDE_GRAMMAR).kind is AFFORDANCE
    assert analyse("put the mug into the closet", grammar=WIDE_GRAMMAR).mismatches == (Mismatch(UNKNOWN, "closet"),)
    assert analyse("close it", grammar=WIDE_GRAMMAR).kind is UNINTERPRETABLE


@given(st.text())
def test_any_text_is_judged(analyse: Analyse, text: str) -> None:
    found = analyse(text)
    assert not found.viable
    assert analyse(f"the goal is that {text}").mismatches


KNOWN = "the goal is that mug in on sink and closed fridge open , are to"


@given(st.lists(st.sampled_from(KNOWN.split()), max_size=40))
def test_known_words_in_any_order_are_viable_or_not_interpretable(analyse: Analyse, words: list[str]) -> None:
    found = analyse(" ".join(words))
    assert found.viable or found.kind in (UNINTERPRETABLE, AFFORDANCE, UNGROUNDED)


def test_endless_text_is_not_read(analyse: Analyse) -> None:
    assert analyse("the goal is that " + "the mug is in the sink and " * 100_000).kind is UNINTERPRETABLE


def test_a_grammar_that_is_none_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    _, vocabulary = load_task("tidy kitchen")
    broken = tmp_path / "broken.lark"
    broken.write_text('goal: "the goal (\n')
    for path in (broken, tmp_path / "none.lark"):
        with pytest.raises(UserError, match=path.name):
            GoalLanguage(vocabulary, str(path))
