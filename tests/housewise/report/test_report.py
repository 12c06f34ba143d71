import base64
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from housewise.core.errors import UserError
from housewise.report import ReportOptions, write_report, write_single
from housewise.report.views.house import HouseView
from housewise.systems.personalize.record import read_house_records
from tests.commands import run_module
from tests.experiments.records import make_record, with_changes
from tests.housewise.report.conftest import play
from tests.housewise.report.pages import Page, page_of
from tests.in_process import call_housewise
from tests.record_lines import changed_lines

PAGES = ReportOptions(film=False)


def test_a_page_that_needs_nothing_else(run_folder: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    out = tmp_path / "deep" / "page.html"
    assert write_single(run_folder, out, progress=lambda *state: told.append(state)) == out
    assert told == [("episodes", 0, 1), ("episodes", 1, 1)]
    page = Page(out)
    addresses = [
        value for _, attributes in page.tags for key, value in attributes.items()
        if key in ("src", "srcset", "href", "xlink:href", "poster", "action", "data")
    ]  # fmt: skip
    assert all(address and address.startswith(("data:", "#")) for address in addresses)
    assert not re.search(
        r"(https?:)?//[a-z]|@import|url\(", re.sub(r'"data:[^"]*"', "", out.read_text(encoding="utf-8"))
    )
    assert len(page.all("script")) == 1 and not page.all("link") and not page.all("iframe")
    assert not any(
        "style" in attributes or any(key.startswith("on") for key in attributes) for _, attributes in page.tags
    )
    links = {address[1:] for address in addresses if address and address.startswith("#")}
    assert links <= {attributes.get("id") for _, attributes in page.tags}
    assert out.stat().st_size < 4e6


@pytest.mark.slow
def test_the_index_links_a_page_for_each_episode_and_the_page_its_film(two_runs: Path) -> None:
    index = Page(write_report(two_runs))
    rows = [row for row in index.all("tr") if "data-keys" in row]
    # Above the table the films, below their names the same pages.
    assert [video["src"].partition(".mp4")[1] for video in index.all("video")] == [".mp4"] * 2
    assert all((two_runs / video[key]).is_file() for video in index.all("video") for key in ("src", "poster"))
    hrefs = list(dict.fromkeys(link["href"] for link in index.all("a")))
    assert len(rows) == len(hrefs) == 2
    # Worst first: the one that was cut after 60 steps.
    assert hrefs == ["report/cut/generated-1-0001-run0.html", "report/whole/generated-1-0001-run0.html"]
    for href, other, way in zip(hrefs, reversed(hrefs), ("next", "prev"), strict=True):
        page = Page(two_runs / href)
        turns = {link.get("rel"): link["href"] for link in page.all("a") if link.get("rel")}
        assert turns.keys() == {way}
        assert (two_runs / href).parent.joinpath(turns[way]).resolve() == (two_runs / other).resolve()
        (video,) = page.all("video")
        film = (two_runs / href).parent / video["src"]
        assert film.read_bytes()[4:8] == b"ftyp"
        assert video["preload"] == "none" and "controls" in video and "autoplay" not in video
        assert "scripted" in page.title
        assert any(link["href"].endswith("../report.html") for link in page.all("a"))


def test_pages_that_are_up_to_date_are_not_made_again(two_runs: Path) -> None:
    def made(fresh: bool = False) -> int:
        told: dict[str, int] = {}
        write_report(
            two_runs, options=PAGES, fresh=fresh, progress=lambda what, done, total: told.update({what: total})
        )
        assert told["pages"] == told["pictures and films"]
        return told["pages"]

    assert made() == 2
    pages = {path: path.stat().st_mtime_ns for path in (two_runs / "report").rglob("*.html")}
    assert made() == 0
    assert pages == {path: path.stat().st_mtime_ns for path in (two_runs / "report").rglob("*.html")}
    record = two_runs / "cut" / "episodes" / "generated-1-0001-run0.jsonl"
    record.write_text(record.read_text().replace('"agent":"scripted"', '"agent":"saycan"'))
    assert made() == 1
    assert made(fresh=True) == 2
    assert "saycan" in Page(two_runs / "report" / "whole" / record.with_suffix(".html").name).text


def test_what_an_interrupt_leaves_is_kept_and_linked(two_runs: Path) -> None:
    def interrupted(what: str, done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report(two_runs, options=PAGES, progress=interrupted)
    index = Page(two_runs / "report.html")
    assert [link["href"] for link in index.all("a")] == ["report/cut/generated-1-0001-run0.html"]
    assert "1 of 2 pages are still to be made" in index.text
    write_report(two_runs, options=PAGES)
    assert len(Page(two_runs / "report.html").all("a")) == 2


def test_no_page_is_written_through_a_link(two_runs: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (two_runs / "report").symlink_to(elsewhere)
    with pytest.raises(UserError, match="is a link"):
        write_report(two_runs, options=PAGES)
    (two_runs / "report").unlink()
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (two_runs / "report.html").symlink_to(precious)
    write_report(two_runs, options=PAGES)
    assert precious.read_text() == "mine" and not (two_runs / "report.html").is_symlink()


def test_failed_episodes_come_first_with_their_reason(run_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run_folder, folder)
    (record,) = (folder / "episodes").glob("*.jsonl")
    header = json.loads(record.read_text().splitlines()[0]) | {"episode": 9}
    failed = folder / "episodes" / "generated-9-0009-run0.jsonl.failed"
    failure = {"type": "failure", "reason": "no way <b>there</b>", "error": "room 3 has nothing"}
    failed.write_text(f"{json.dumps(header)}\n{json.dumps(failure)}\n")
    (folder / "episodes" / "torn.jsonl.failed").write_text("{")
    index = Page(write_report(folder, options=PAGES))
    rows = [row for row in index.all("tr") if "data-keys" in row]
    assert [row["data-rate"] == "" for row in rows] == [True, True, False]
    assert "2 of 3 episodes failed and are in no mean" in index.text
    assert {"no way <b>there</b>", "its record is damaged"} <= set(index.options)
    page = Page(folder / "report" / "generated-9-0009-run0.html")
    assert "no way <b>there</b>" in page.text and "room 3 has nothing" in page.text


@pytest.mark.parametrize(
    ("ended", "correct", "said"),
    [
        ("out of steps", 7, "all in place, kept looking until step 160"),
        ("out of steps", 5, "2 of 7 out of place; used all 160 steps"),
        ("complete", 7, "all in place; the planner took it as done"),
        ("out of plans", 6, "1 of 7 out of place; used all 4 plans"),
        ("idle", 6, "1 of 7 out of place; stopped after 4 plans, the last ones without a step"),
    ],
)
def test_what_an_end_means_is_said(ended: str, correct: int, said: str) -> None:
    limit, ended = (9, "out of plans") if ended == "idle" else (4, ended)
    record = make_record({f"mug {number}": "moon" for number in range(7)}, end_reason=ended)
    record = with_changes(record, correct_end=correct, steps=160, plans=[], settings={"agent": {"max_plans": limit}})
    result = record.result.model_copy(update={"scores": {**record.result.scores, "plans": 4}})
    assert HouseView().describe_ending(record.header, result) == said


@pytest.fixture(scope="module")
def cut_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same episode cut early."""
    return play(tmp_path_factory.mktemp("runs") / "cut", max_steps=60)


@pytest.fixture
def two_runs(run_folder: Path, cut_folder: Path, tmp_path: Path) -> Path:
    """An episode played to its end and cut early."""
    shutil.copytree(run_folder / "episodes", tmp_path / "two" / "whole" / "episodes")
    shutil.copytree(cut_folder, tmp_path / "two" / "cut")
    return tmp_path / "two"


def test_experiments_are_compared_on_what_they_share(two_runs: Path, tmp_path: Path) -> None:
    text = Page(write_report(two_runs, options=PAGES)).text
    assert "max_steps" in text and "Paired differences" in text
    assert "1 in common" in text
    against = Page(write_report(two_runs / "whole", tmp_path / "x.html", PAGES, against=two_runs / "cut")).text
    assert "the experiments differ in more than the agent (max_steps: 60 against 160)" in against


def test_settings_leave_room_for_the_figures(run_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(run_folder / "episodes", tmp_path / "two" / "usual" / "episodes")
    walking = {"goal_radius": 0.3, "max_walk": 90, "max_look": 9}
    play(tmp_path / "two" / "other", max_steps=9, look_down=20, max_plans=9, max_idle_plans=9, **walking)
    table, _, rest = Page(write_report(tmp_path / "two", options=PAGES)).text.partition("differing settings")
    assert "max_steps" not in table.partition("Experiments")[2]
    assert all(name in rest for name in ("max_steps", "look_down", "max_plans", "goal_radius", "max_walk"))


def test_pictures_are_pictures_and_described(run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without an encoder the film is an animated picture.
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "nowhere"))
    page = Page(write_single(run_folder))
    record = next(read_house_records(run_folder / "episodes"))
    images = page.all("img")
    assert len(images) == 1 + 2 * len(record.plans)
    assert all(image["alt"] for image in images)
    opened = [decode(image["src"]) for image in (*images, *({"src": drawn["href"]} for drawn in page.all("image")))]
    assert sum(getattr(image, "n_frames", 1) > 5 for image in opened) == 1
    assert all(drawing.get("role") == "img" or drawing.get("aria-hidden") for drawing in page.all("svg"))


def decode(address: str | None) -> Image.Image:
    assert address is not None
    image = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2])))
    image.load()
    return image


def test_numbers_are_the_records(run_folder: Path, tmp_path: Path) -> None:
    text = Page(write_single(run_folder, tmp_path / "page.html", PAGES)).text
    scores = next(read_house_records(run_folder / "episodes")).result.scores
    assert f"{100 * scores['success_rate']:.0f} %" in text
    assert f"{scores['succeeded']:.0f} of {scores['actions']:.0f}" in text
    assert f"{scores['correct_start']:.0f} → {scores['correct_end']:.0f} of {scores['objects']:.0f}" in text
    assert "may differ" not in text


def test_nothing_of_a_reply_is_markup(edited: Callable[..., Path]) -> None:
    evil = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}\x1b[31m\u202e"
    neutralize_text = evil.replace("\x1b", "␛").replace("\u202e", "‹U+202E›")

    def change(line: dict[str, Any]) -> None:
        if line["type"] == "plan":
            asked = {"prompt": [{"role": evil, "content": evil}], "reply": evil}
            line.update(**asked, prior_calls=[asked])
        if line["type"] == "action":
            line.update(raw=evil, action=None, reason=evil, discovered=[*line["discovered"], evil])
        if line["type"] == "header":
            line.update(agent=evil, models={"agent": evil}, started=evil, software={evil: evil})
            setting = line["initial_state"]
            setting["correct"] = {thing: [*places, evil] for thing, places in setting["correct"].items()}

    folder = edited(change)
    (folder / "episodes" / "generated-1-0001-run0.jsonl").rename(folder / "episodes" / '"><script>x.jsonl')
    (folder / "metrics.json").unlink()
    for path, scripts in ((write_report(folder, options=PAGES), 1), (page_of(folder), 0)):
        page = Page(path)
        assert len(page.all("script")) == scripts
        assert not any("onerror" in attributes for _, attributes in page.tags)
        assert (
            neutralize_text in page.text
            and "\x1b" not in page.text
            and "\u202e" not in path.read_text(encoding="utf-8")
        )


def test_what_was_said_on_the_way_to_a_plan_is_shown(edited: Callable[..., Path]) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["type"] == "plan":
            asked = {
                "prompt": [{"role": "user", "content": "what is left?"}],
                "reply": "mug on bed: fine\nstep 1: done",
            }
            line.update(reply="mug on bed: shelf\nstep 1: go to mug", prompt=[], prior_calls=[asked])

    text = Page(write_single(edited(change), options=PAGES)).text
    assert "Second look" in text
    assert "what is left?" in text and "before that, 1 of 1: mug on bed: fine" in text
    assert "step 1: mug on bed" not in text


def test_without_the_data_there_are_no_pictures_but_a_hint(edited: Callable[..., Path]) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["type"] == "header":
            line["settings"]["tasks"]["data"] = "/nowhere/housekeep"

    page = Page(write_single(edited(change)))
    assert not page.all("img") and not page.all("image")
    assert "No pictures of this episode: /nowhere/housekeep" in page.text
    assert "set HOUSEKEEP_DATA" in page.text
    assert len([drawing for drawing in page.all("svg") if drawing.get("class") == "tree"]) == 2


def test_settings_that_this_version_refuses_cost_only_the_pictures(edited: Callable[..., Path]) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["type"] == "header":
            line["settings"]["world"]["simulator"] = "crystal ball"

    page = Page(write_single(edited(change)))
    assert not page.all("img") and "No pictures of this episode" in page.text


def test_doubtful_pictures_are_marked(edited: Callable[..., Path]) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["type"] == "result":
            line["final"]["placements"] = dict.fromkeys(line["final"]["placements"], "moon")

    assert "Pictures may differ" in Page(write_single(edited(change), options=PAGES)).text


def test_damaged_records_are_left_out_and_named(run_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run_folder, folder)
    (folder / "episodes" / "zebra.jsonl").write_text("{}\n", encoding="utf-8")
    assert "zebra.jsonl" in Page(write_report(folder, options=PAGES)).text


def test_a_self_training_is_not_taken_for_its_demonstrations(run_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(run_folder / "episodes", tmp_path / "demonstrate" / "episodes")
    shutil.copytree(run_folder / "episodes", tmp_path / "iteration-1" / "evaluation" / "test" / "episodes")
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(UserError, match="iteration-1/evaluation/test"):
        write_report(tmp_path)


def test_several_runs_in_one_file(run_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(run_folder, tmp_path / "both" / "one")
    shutil.copytree(run_folder, tmp_path / "both" / "two")
    page = Page(write_single(tmp_path / "both", options=PAGES, max_episodes=1))
    assert len(page.all("article")) == 1
    assert "1 of 2 episodes are shown below with pictures, the worst first" in page.text


def test_strange_records_are_shown_with_a_note(two_runs: Path) -> None:
    record = two_runs / "cut" / "episodes" / "generated-1-0001-run0.jsonl"
    with changed_lines(record) as lines:
        next(line for line in lines if line["type"] == "action")["data"]["moves"] = {"ghost 1": ["moon", "bed"]}
    write_report(two_runs, options=PAGES)
    strange, whole = (Page(two_runs / "report" / run / f"{record.stem}.html") for run in ("cut", "whole"))
    assert "which are not both in this house" in strange.text and strange.all("img")
    assert whole.all("img") and "Pictures may differ" not in whole.text


@pytest.mark.parametrize("there", ["nothing", "folder", "damaged"])
def test_nothing_to_show(tmp_path: Path, there: str) -> None:
    folder = tmp_path / "run"
    if there != "nothing":
        (folder / "episodes").mkdir(parents=True)
    if there == "damaged":
        (folder / "episodes" / "x.jsonl").write_text("no\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        write_report(folder)
    assert "\n" not in str(caught.value) and "run" in str(caught.value)


def test_an_unwritable_page(run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be written"):
        write_single(run_folder, tmp_path / "file" / "page.html", PAGES, max_episodes=0)


def test_on_the_command_line(two_runs: Path) -> None:
    made = run_module("housewise", ["report", two_runs, "--no-film", "--workers", "2"], code=0)
    assert f"report: {two_runs / 'report.html'}" in made.stdout
    assert len(list((two_runs / "report").rglob("*.html"))) == 2
    single = ("--single", "--max-episodes", "1", "--no-film", "--compare", two_runs / "whole")
    call_housewise("report", two_runs / "cut", *single, code=0)
    assert not (two_runs / "cut" / "report").exists()
    page = Page(two_runs / "cut" / "report.html")
    assert len(page.all("article")) == 1 and "Paired differences" in page.text
    refused = call_housewise("report", two_runs / "whole", "--simulator", "crystal ball", code=2)
    assert "Traceback" not in refused.stderr
