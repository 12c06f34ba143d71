"""A report on ADAPT: the transcript, each wish with when and why, and hostile words that stay words."""

import shutil
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.language.embedder import has_minilm
from housewise.report import write_report
from housewise.rollout.record_reader import read_record
from housewise.systems.adapt.record import CookingActionEvent, KitchenAnswerEvent
from tests.housewise.report.pages import EVIL, Page, assert_words_stay_words, page_of
from tests.record_lines import changed_lines
from tests.systems.command_runs import adapt

pytestmark = pytest.mark.skipif(not has_minilm(), reason="needs MiniLM")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("adapt") / "run"
    adapt("person=miranda", "task=[8]", "max_questions=4", "--out", folder)
    return folder


def with_changes(played: Path, target: Path, **words: object) -> Path:
    """The run with other words in its actions, answers and verdicts."""
    shutil.copytree(played, target)
    (path,) = (target / "episodes").glob("*.jsonl")
    with changed_lines(path) as lines:
        for data in (line["data"] for line in lines):
            for part in (data, *data.get("final", {}).get("verdicts", [])):
                part.update({name: value for name, value in words.items() if name in part})
    return target


def test_the_page_has_the_transcript_and_the_wishes(played: Path) -> None:
    index = Page(write_report(played))
    assert "satisfaction, %" in index.text and "violated: " in index.text
    record = read_record(next((played / "episodes").glob("*.jsonl")))
    page = Page(page_of(played))
    for event in record.of_type(CookingActionEvent):
        assert event.text in page.text and event.prepared_food.splitlines() == [
            line for line in event.prepared_food.splitlines() if line in page.text
        ]
    assert all(event.text in page.text for event in record.of_type(KitchenAnswerEvent))
    for line in record.result.final["verdicts"]:
        assert line["text"] in page.text and line["why"] in page.text
    assert "made so far" in page.text and "for miranda" in page.text


def test_a_thought_stands_with_its_action(played: Path, tmp_path: Path) -> None:
    thinking = with_changes(played, tmp_path / "thinking")
    (path,) = (thinking / "episodes").glob("*.jsonl")
    with changed_lines(path) as lines:
        lines.insert(1, {"type": "thought", "data": {"text": "Tea takes <b>water</b>."}})
    write_report(thinking)
    assert page_of(thinking).read_text().count("<dt>thought</dt><dd>Tea takes &lt;b&gt;water&lt;/b&gt;.</dd>") == 1


def test_what_was_answered_on_another_day_is_said_to_be(played: Path, tmp_path: Path) -> None:
    write_report(played)
    assert "answer of an earlier episode" not in page_of(played).read_text()
    recalled = with_changes(played, tmp_path / "recalled", recalled=True)
    write_report(recalled)
    answers = len(read_record(next((played / "episodes").glob("*.jsonl"))).of_type(KitchenAnswerEvent))
    assert page_of(recalled).read_text().count("<dt>answer of an earlier episode</dt>") == answers > 0


def test_words_stay_words(played: Path, tmp_path: Path) -> None:
    evil = with_changes(played, tmp_path / "evil", observation=EVIL, text=EVIL, why=EVIL, prepared_food=EVIL)
    write_report(evil)
    assert_words_stay_words(Page(page_of(evil)))


def test_a_damaged_record_is_named(played: Path, tmp_path: Path) -> None:
    damaged = with_changes(played, tmp_path / "damaged", decision="perhaps")
    with pytest.raises(UserError, match=r"miranda-8-run0\.jsonl: field verdicts\.0\.decision: .*delete the file"):
        write_report(damaged)
