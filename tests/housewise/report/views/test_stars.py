"""STARS in the report: what was said, refused, chosen and done; whatever a record says, it does nothing."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")

from housewise.report import ReportOptions, write_report, write_single
from housewise.report.views.stars import StarsView, build_response_tree
from housewise.rollout.record_reader import read_record
from housewise.rollout.run import Run
from housewise.systems.stars.record import MismatchLine, ResponseLine
from housewise.systems.stars.system import Stars
from tests.housewise.report.pages import EVIL, Page, assert_words_stay_words
from tests.language.conftest import ChatServer
from tests.record_lines import changed_lines
from tests.servers import serving
from tests.systems.command_runs import ATTIC
from tests.systems.stars.housekeeper_server import housekeeper

NAME = "tidy-attic-run0.jsonl"


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with serving(ChatServer()) as made:
        made.play(housekeeper(also="bookshelf"))
        yield made


@pytest.fixture(scope="module")
def played(server: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stars")
    (folder / "attic.yaml").write_text(ATTIC)
    settings = {"model": "m", "base_url": server.url, "runs": 2, "task": str(folder / "attic.yaml")}
    Run(Stars(Stars.load(settings=settings)), folder / "run").play()
    return folder / "run"


@pytest.fixture
def edited(played: Path, tmp_path: Path) -> Callable[[Callable[[list[Any]], None]], Path]:
    """Copies the run with a change to the lines of its first record."""

    def edit(change: Callable[[list[Any]], None]) -> Path:
        folder = tmp_path / "edited"
        shutil.copytree(played, folder)
        with changed_lines(folder / "episodes" / NAME) as lines:
            change(lines)
        return folder

    return edit


def page_of(folder: Path) -> Page:
    write_report(folder, options=ReportOptions(film=False))
    return Page(folder / "report" / "tidy-attic-run0.html")


def test_a_page_shows_each_object_from_what_was_said_to_what_was_done(played: Path) -> None:
    page = page_of(played)
    words = " ".join(page.text.split())
    for said in (
        "pen on desk in place: drawer", "the goal is that the pen is in the", "unknown word: closet",
        "refused: I do not know the word closet", "– no new response",
        "For pen on desk: is it right that the goal is that the pen is in the", "of the model",
        "If the object is a novel then the goal is that the object is in the bookshelf.", "put pen in drawer",
        "The pen belongs in the drawer in the office.",
    ):  # fmt: skip
        assert said in words, said
    assert re.search(r"0\.\d\d viable", words)
    assert any("content-security-policy" in str(each.get("http-equiv")).lower() for each in page.all("meta"))
    assert not page.all("script") and not any("style" in attributes for _, attributes in page.tags)
    again = " ".join(Page(played / "report" / "tidy-attic-run1.html").text.split())
    assert "remembered" in again and "all of it by memory" in again and "the model said" not in again
    index = Page(played / "report.html").text
    assert "objects in place" in index and "2 of 2" in index and "all of it by memory" in index


def test_what_a_record_says_is_shown_and_does_nothing(edited: Callable[..., Path]) -> None:
    def spoil(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: spoil(inner) if key not in ("source", "kind", "id", "person", "time") else inner
                    for key, inner in value.items()}  # fmt: skip
        if isinstance(value, list):
            return [spoil(inner) for inner in value]
        return f"{value} {EVIL}" if isinstance(value, str) else value

    def change(lines: list[Any]) -> None:
        for line in lines[1:-1]:
            if line["type"] in ("retrieved", "repair", "selection", "question", "answer", "goal", "action"):
                line["data"] = spoil(line["data"])

    folder = edited(change)
    assert_words_stay_words(page_of(folder))
    single = write_single(folder, folder / "single.html", options=ReportOptions(film=False))
    assert len(Page(single).all("script")) == 1


def test_endless_and_nested_responses_are_bounded(edited: Callable[..., Path]) -> None:
    def change(lines: list[Any]) -> None:
        line = next(line for line in lines if line["type"] == "retrieved")
        response = line["data"]["responses"][0]
        chain = [{**response, "text": "on " * number} for number in range(1, 500)]
        line["data"]["responses"] = [{**response, "text": "x" * 100_000}, *chain]
        # A repair of what it brought itself.
        wrong = chain[0]["text"]
        repair = {"thing": "pen", "wrong": wrong, "reason": "no", "depth": 1, "responses": chain}
        lines[lines.index(line) + 1 : 1] = [{"type": "repair", "data": repair}] * 50

    page = page_of(edited(change))
    assert "further responses in the record" in page.text and len(page.text) < 200_000


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[0]["data"].update(initial_state={}),
        lambda lines: lines[-1]["data"].update(final={"places": 7}),
    ],
)
def test_a_damaged_record_is_left_out_in_one_line(
    edited: Callable[..., Path], change: Callable[[list[Any]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = edited(change)
    write_report(folder, options=ReportOptions(film=False))
    text = " ".join(Page(folder / "report.html").text.split())
    told = rf"Left out: \S*{re.escape(NAME)}: field \w+: .*?delete the file to run the episode again"
    assert re.search(told, text)
    assert re.search(told, capsys.readouterr().err)


def test_events_that_are_missing_or_of_others_leave_the_rest(edited: Callable[..., Path]) -> None:
    def change(lines: list[Any]) -> None:
        lines[1:-1] = [line for line in lines[1:-1] if line["type"] in ("object", "retrieved")]
        lines.insert(1, {"type": "surprise", "data": {"what": "ever"}})

    folder = edited(change)
    page = page_of(folder)
    assert "pen on desk" in page.text and "done" in page.text
    record = read_record(folder / "episodes" / NAME)
    assert StarsView().count_faults(record, folder / "episodes" / NAME) == {}


def test_objects_that_are_out_of_place_are_counted_by_why(edited: Callable[..., Path]) -> None:
    def change(lines: list[Any]) -> None:
        lines[-1]["data"]["final"]["places"] = {"pen": "bookshelf", "novel": "desk"}
        for line in lines:
            if line["type"] == "goal" and line["data"]["thing"] == "novel":
                line["data"].update(source="nobody", goal="")

    folder = edited(change)
    path = folder / "episodes" / NAME
    assert StarsView().count_faults(read_record(path), path) == {"another place": 1, "no goal": 1}


def test_responses_stand_as_a_tree_of_what_they_begin_with() -> None:
    def line(text: str, probability: float, *wrong: str) -> ResponseLine:
        mismatches = [MismatchLine(kind="unknown-word", what=word) for word in wrong]
        return ResponseLine(text=text, probability=probability, source="initial", mismatches=mismatches)

    [goal] = build_response_tree(
        [line("a mug is in", 0.9), line("a mug is in it", 0.5), line("a mug hangs", 0.1, "hangs")]
    )
    assert goal.words == "a mug" and goal.response is None
    [inside, hangs] = goal.further
    assert inside.words == "is in" and inside.response is not None and inside.verdict == ""
    assert [each.words for each in inside.further] == ["it"]
    assert hangs.verdict == "unknown word: hangs"
    assert build_response_tree([]) == [] and build_response_tree([line("", 0.5)])[0].words == ""
