"""Which episodes have pictures and films, and what the pages of the others are made of."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.report import ReportOptions, write_report, write_single
from tests.commands import housewise, one_line
from tests.housewise.report.conftest import play
from tests.housewise.report.pages import Page
from tests.in_process import call_housewise
from tests.record_lines import read_lines, write_lines

NAME = "generated-1-0001-run0"
OTHERS = ("generated-1-0001-run1", "generated-1-0001-run2")


@pytest.fixture
def three_runs(run_folder: Path, tmp_path: Path) -> Path:
    """A run of three episodes, of which two are copies of the first with better results."""
    folder = tmp_path / "three"
    shutil.copytree(run_folder, folder)
    (folder / "metrics.json").unlink()
    first = folder / "episodes" / f"{NAME}.jsonl"
    lines = read_lines(first)
    for number, name in enumerate(OTHERS, start=1):
        lines[0]["data"]["repetition"] = number
        lines[-1]["data"]["scores"]["success_rate"] = 0.8 + number / 10
        write_lines(first.with_name(f"{name}.jsonl"), lines)
    return folder


def filmed(folder: Path) -> set[str]:
    """The episodes whose pages show a film that is there and what the robot saw."""
    found = set()
    for path in (folder / "report").glob("*.html"):
        page = Page(path)
        films = [path.parent / str(video["src"]) for video in page.all("video")]
        assert bool(films) == bool(page.all("img")) and all(film.is_file() for film in films)
        # The map is there either way.
        assert [each for each in page.all("svg") if each.get("class") == "map" and each.get("role") == "img"]
        found |= {path.stem} if films else set()
    return found


@pytest.mark.slow
def test_the_worst_have_films_and_those_that_are_asked_for(three_runs: Path) -> None:
    index = Page(write_report(three_runs, options=ReportOptions(worst=1)))
    assert filmed(three_runs) == {NAME}
    assert f"housewise report {three_runs} --films all" in index.text
    plain = Page(three_runs / "report" / f"{OTHERS[0]}.html")
    assert f"housewise report {three_runs} --films {OTHERS[0]}" in plain.text
    write_report(three_runs, options=ReportOptions(worst=1, episodes=(OTHERS[1],)))
    assert filmed(three_runs) == {NAME, OTHERS[1]}
    # What has been made is kept when it is not asked for again.
    made: list[tuple[str, int, int]] = []
    write_report(three_runs, options=ReportOptions(worst=0), progress=lambda *state: made.append(state))
    assert made == [("pages", 0, 0), ("pictures and films", 0, 0)]
    assert filmed(three_runs) == {NAME, OTHERS[1]}
    write_report(three_runs, options=ReportOptions(worst=None))
    assert filmed(three_runs) == {NAME, *OTHERS}


@pytest.mark.slow
def test_a_film_that_somebody_deleted_is_made_again(three_runs: Path) -> None:
    write_report(three_runs, options=ReportOptions(worst=1))
    (three_runs / "report" / f"{NAME}.mp4").unlink()
    write_report(three_runs, options=ReportOptions(worst=1))
    assert filmed(three_runs) == {NAME}


def test_one_file_has_pictures_of_the_worst(three_runs: Path) -> None:
    page = Page(write_single(three_runs, options=ReportOptions(worst=1), max_episodes=2))
    assert len(page.all("article")) == 2 and len(page.all("video")) == 1
    assert "2 of 3 episodes are shown below, 1 of them with pictures" in page.text
    page = Page(write_single(three_runs, options=ReportOptions(worst=0, episodes=(OTHERS[1],)), max_episodes=1))
    assert len(page.all("article")) == 2 and len(page.all("video")) == 1


def test_an_interrupt_among_the_films_leaves_all_pages(three_runs: Path) -> None:
    def interrupted(what: str, done: int, total: int) -> None:
        if (what, done) == ("pictures and films", 1):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report(three_runs, progress=interrupted)
    assert filmed(three_runs) == {NAME}
    index = Page(three_runs / "report.html")
    assert {link["href"] for link in index.all("a")} == {f"report/{name}.html" for name in (NAME, *OTHERS)}
    assert "still to be made" not in index.text


def test_damage_between_beginning_and_end_costs_one_page_its_story(three_runs: Path) -> None:
    record = three_runs / "episodes" / f"{OTHERS[0]}.jsonl"
    lines = record.read_text(encoding="utf-8").splitlines()
    last = json.loads(lines[-1])
    last["data"]["scores"]["correct_end"] = last["data"]["scores"]["objects"]
    record.write_text("\n".join([lines[0], "{torn", json.dumps(last), ""]), encoding="utf-8")
    index = Page(write_report(three_runs, options=ReportOptions(worst=0)))
    assert len([row for row in index.all("tr") if "data-keys" in row]) == 3
    assert "line 2 is not a record's" in Page(three_runs / "report" / f"{OTHERS[0]}.html").text
    assert "Outcome of each object" in Page(three_runs / "report" / f"{OTHERS[1]}.html").text


def test_episodes_that_are_not_there_are_refused_before_anything_is_made(three_runs: Path) -> None:
    (three_runs / "report.html").unlink(missing_ok=True)
    with pytest.raises(UserError, match=f"moon.*{NAME}"):
        write_report(three_runs, options=ReportOptions(episodes=("moon",)))
    assert not (three_runs / "report.html").exists()


def test_on_the_command_line(three_runs: Path, tmp_path: Path) -> None:
    browser, seen = tmp_path / "browser.py", tmp_path / "seen"
    browser.write_text(f"import sys, pathlib; pathlib.Path({str(seen)!r}).write_text(sys.argv[1])")
    housewise("report", three_runs, "--films", "0", "--open", BROWSER=f"{sys.executable} {browser} %s", code=0)
    assert seen.read_text() == (three_runs / "report.html").as_uri()
    alone = housewise("report", three_runs, "--films", "0", "--open", BROWSER="", PATH="", DISPLAY="", code=0)
    assert f"no browser could be opened here; open {three_runs / 'report.html'}" in " ".join(alone.stderr.split())
    call_housewise("report", three_runs, "--films", "0", "--films", OTHERS[0], code=0)
    assert filmed(three_runs) == {OTHERS[0]}
    assert "moon" in one_line(call_housewise("report", three_runs, "--films", "moon"))


def test_a_run_of_one_episode_has_no_column_without_a_figure(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for planner in ("scripted", "demonstrator"):
        play(runs / planner, planner=planner, max_steps=40)
    page = Page(write_report(runs, options=ReportOptions(worst=0)))
    heads = page.text.partition("Experiments")[2]
    assert "Paired differences" in heads
    assert "95 % interval" not in heads and "higher / same / lower" not in heads and "tokens" not in heads
    shown = housewise("compare", runs / "scripted", runs / "demonstrator", COLUMNS="80").stdout
    assert "B - A" in shown and "±" not in shown and "–" not in shown
    assert max(map(len, shown.splitlines()[4:])) <= 80
