"""The index of a report: which episodes it lists, in which order, and in which units."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from housewise.core.record_files import format_event
from housewise.report import ReportOptions, entries, experiment_tables, write_report, write_single
from housewise.report.views import base
from housewise.rollout.scores import Score
from tests.experiments.records import SHELF, TABLE, make_record
from tests.housewise.report.pages import Page
from tests.record_lines import changed_lines, read_lines, write_lines

PLAIN = ReportOptions(film=False, worst=0)
FAILURE = {"type": "failure", "data": {"reason": "no memory", "error": "no memory is left", "traceback": ""}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of one finished episode."""
    record = make_record({"mug": SHELF, "cup": TABLE}).record
    path = tmp_path / "run" / "episodes" / f"{record.name}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{format_event(event)}\n" for event in (record.header, *record.events, record.result)))
    return tmp_path / "run"


def foreign_run(folder: Path, system: str, scores: list[dict[str, float]]) -> Path:
    """A run with an episode for each of some scores, of which only header and result are there."""
    (folder / "episodes").mkdir(parents=True)
    for number, each in enumerate(scores):
        header: dict[str, Any] = {"version": 3, "system": system, "task": f"t{number}", "agent": "x"}
        lines = [{"type": "header", "data": header}, {"type": "result", "data": {"end_reason": "end", "scores": each}}]
        write_lines(folder / "episodes" / f"t{number}-run0.jsonl", lines)
    return folder


def test_an_episode_that_failed_while_it_opened_changes_no_column(folder: Path) -> None:
    before = Page(write_report(folder, options=PLAIN))
    write_lines(folder / "episodes" / "Merom_1_int-0009-run0.jsonl.failed", [FAILURE])
    after = Page(write_report(folder, options=PLAIN))
    assert "success rate" in before.text and "in place, start → end" in before.text
    assert after.text.count("success rate") == before.text.count("success rate")
    assert "in place, start → end" in after.text and "no memory" in after.options


@pytest.mark.parametrize("odd", [{"mug": 5, "cup": None}, {"mug": {}, "cup": "shelf"}])
def test_the_odd_header_of_a_failed_episode_costs_no_report(folder: Path, odd: dict[str, Any]) -> None:
    (record,) = (folder / "episodes").iterdir()
    failed = record.with_name("Merom_1_int-0009-run0.jsonl.failed")
    header = read_lines(record)[0]
    header["data"]["initial_state"]["correct"] = odd
    write_lines(failed, [header, FAILURE])
    assert "no memory" in Page(write_report(folder, options=PLAIN)).options
    assert "wanted on nothing here" in Page(folder / "report" / "Merom_1_int-0009-run0.html").text


def test_a_failed_episode_whose_header_no_view_can_show_is_listed_without_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(view: object, header: object) -> list[base.InitialFact]:
        raise TypeError("what is that")

    (record,) = (folder / "episodes").iterdir()
    failed = record.with_name("Merom_1_int-0009-run0.jsonl.failed")
    write_lines(failed, [read_lines(record)[0], FAILURE])
    record.unlink()
    monkeypatch.setattr("housewise.report.views.house.HouseView.initial_facts", refuse)
    page = Page(write_report(folder, options=PLAIN))
    assert "Shown without its header" in page.text and f"{failed}: does not hold" in page.text
    assert "no memory" in page.options


def test_seed_0_is_a_fact_like_any_other(folder: Path) -> None:
    shutil.copytree(folder, folder.parent / "both" / "first")
    shutil.copytree(folder, folder.parent / "both" / "second")
    (record,) = (folder.parent / "both" / "second" / "episodes").iterdir()
    with changed_lines(record) as lines:
        lines[0]["data"]["seed"] = 1
    text = write_report(folder.parent / "both", options=PLAIN).read_text()
    assert "<dt>seed</dt><dd>0, 1</dd>" in text


def test_no_pictures_are_promised_where_none_can_be(tmp_path: Path) -> None:
    scores = [{"accuracy": number / 3} for number in range(3)]
    page = Page(write_single(foreign_run(tmp_path / "run", "clipr", scores), max_episodes=2))
    assert "2 of 3 episodes are shown below, the worst first." in page.text


def test_the_command_for_missing_pages_can_be_pasted(folder: Path) -> None:
    odd = folder.rename(folder.with_name("my run"))

    def interrupt(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report(odd, options=PLAIN, progress=interrupt)
    assert f"are still to be made: housewise report '{odd}'" in Page(odd / "report.html").text


@pytest.mark.parametrize(
    ("score", "shown", "mean"),
    [
        (Score("mistakes", unit="s", better="lower", decimals=2), ["12.00 s", "3.00 s", "0.00 s"], "5.00 s"),
        (Score("mistakes", better="higher", decimals=0), ["0", "3", "12"], "5"),
        (Score("mistakes", unit="%", better="higher"), ["0 %", "3 %", "12 %"], "5 %"),
    ],
)
def test_main_scores_have_their_unit_and_the_worst_is_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, score: Score, shown: list[str], mean: str
) -> None:
    for module in (entries, experiment_tables, base):
        monkeypatch.setattr(module, "system_scores", lambda system: (score,))
    folder = foreign_run(tmp_path / "run", "pottery", [{"mistakes": value} for value in (0, 3, 12)])
    text = write_report(folder, options=PLAIN).read_text()
    cells = re.findall(r'data-label="mistakes[^"]*" data-v="[^"]*">(.*?)</td>', text)
    assert [re.sub("<svg.*</svg>", "", cell).strip() for cell in cells] == shown
    assert all(("<svg" in cell) == (score.unit == "%") for cell in cells)
    assert f'<li class="main"><b>{mean}' in text
    assert ("success rate, percent" in text) == (score.unit == "%")


def test_a_run_started_with_its_first_episode_wherever_that_is_listed(tmp_path: Path) -> None:
    run = foreign_run(tmp_path / "run", "other", [{}, {}, {}])
    times = ["2026-11-02T10:00:00+00:00", "2026-11-01T23:59:58+00:00", ""]
    for path, started in zip(sorted((run / "episodes").iterdir()), times, strict=True):
        with changed_lines(path) as lines:
            lines[0]["data"]["started"] = started
    assert "2026-11-01 23:59 UTC" in Page(write_report(run, options=PLAIN)).text
