"""How judgements are counted: by a model that knows, and by one that finds everything fine."""

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from housewise.agent.personalize.prompt import ContextGenerator, PromptTemplate
from housewise.experiments.personalize.judging import judge, main, shares
from housewise.language.replay import ReplayChatModel
from housewise.selftrain.personalize.lessons import JudgingLesson, generate_lessons
from housewise.selftrain.personalize.settings import LessonsConfig
from housewise.worlds.house.tasks import resolve_preferences
from tests.language.tiny import save_tiny_model

IN, KNOWN, UNKNOWN = "in its place", "out of place, a right place is known", "out of place, none is known"


@pytest.fixture(scope="module")
def context() -> ContextGenerator:
    return ContextGenerator(PromptTemplate.load("judging"))


@pytest.fixture(scope="module")
def lessons() -> list[JudgingLesson]:
    return generate_lessons(7, LessonsConfig(houses=1, each=20), resolve_preferences("majority"))


def test_the_demonstrators_judgements_are_all_right(lessons: list[JudgingLesson], context: ContextGenerator) -> None:
    counted = judge(ReplayChatModel([lesson.demonstration(context).reply for lesson in lessons]), lessons, context)
    assert set(counted) == {(IN, "fine"), (KNOWN, "right place"), (UNKNOWN, "elsewhere")}
    assert counted.total() == sum(len(lesson.graph.objects) for lesson in lessons)
    assert shares(counted)[KNOWN]["right place"] == 100


def test_finding_everything_fine_is_right_for_what_is_in_its_place(
    lessons: list[JudgingLesson], context: ContextGenerator
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
    counted = judge(ReplayChatModel(replies), lessons, context)
    assert set(counted) == {(IN, "fine"), (KNOWN, "fine"), (UNKNOWN, "fine")}


def test_what_is_not_said_counts_as_unsaid(lessons: list[JudgingLesson], context: ContextGenerator) -> None:
    counted = judge(ReplayChatModel([""] * len(lessons)), lessons, context)
    assert {said for _, said in counted} == {"unsaid"}
    assert shares(Counter())[IN] == {"things": 0}


def test_the_command_measures_a_model(tmp_path: Path) -> None:
    pytest.importorskip("llguidance")
    import typer

    app = typer.Typer()
    app.command()(main)
    folder, figures = save_tiny_model(tmp_path / "tiny"), tmp_path / "judging.json"
    result = CliRunner().invoke(app, ["--model", f"local:{folder}", "--lessons", "1", "--json", str(figures)])
    assert result.exit_code == 0, result.output
    arm = json.loads(figures.read_text())["arms"]["as it comes"]
    assert sum(row["things"] for row in arm.values()) > 5
    assert all(sum(row.values()) - row["things"] == pytest.approx(100) for row in arm.values() if row["things"])
