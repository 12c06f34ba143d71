from __future__ import annotations

import base64
import io
import json
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from experiments.report import chapter, figures, write_report
from experiments.report.page import _chosen
from household.errors import UserError
from selftrain.record import EpisodeRecord, read_records

VOID = {"meta", "img", "source", "br", "link", "input"}


class Page(HTMLParser):
    """Checks that tags are balanced, and keeps what matters."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        assert self.open == []

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def handle_data(self, text: str) -> None:
        self.text += text

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


@pytest.fixture(autouse=True)
def short_films(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chapter, "FRAMES", 10)


def test_a_page_that_needs_nothing_else(run_folder: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    out = tmp_path / "deep" / "page.html"
    assert write_report(run_folder, out, progress=lambda done, total: told.append((done, total))) == out
    assert told == [(0, 1), (1, 1)]
    page = Page(out)
    addresses = [
        value for _, attributes in page.tags for key, value in attributes.items()
        if key in ("src", "srcset", "href", "xlink:href", "poster", "action", "data")
    ]  # fmt: skip
    assert all(address and address.startswith(("data:", "#")) for address in addresses)
    assert not re.search(
        r"(https?:)?//[a-z]|@import|url\(", re.sub(r'"data:[^"]*"', "", out.read_text(encoding="utf-8"))
    )
    assert not page.all("script") and not page.all("link")
    links = {address[1:] for address in addresses if address and address.startswith("#")}
    assert links <= {attributes.get("id") for _, attributes in page.tags}
    assert out.stat().st_size < 4e6


def test_pictures_are_pictures_and_described(run_folder: Path) -> None:
    page = Page(write_report(run_folder))
    record = next(read_records(run_folder / "episodes"))
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
    text = Page(write_report(run_folder, tmp_path / "page.html", film=False)).text
    result = next(read_records(run_folder / "episodes")).result
    assert f"{100 * result.success_rate:.0f} %" in text
    assert f"{result.succeeded} of {result.actions}" in text
    assert f"{result.correct_start} → {result.correct_end} of {result.objects}" in text
    assert "may differ" not in text


def test_nothing_of_a_reply_is_markup(edited: Callable[..., Path]) -> None:
    evil = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>"

    def change(line: dict[str, Any]) -> None:
        if line["type"] == "plan":
            asked = {"prompt": [{"role": evil, "content": evil}], "reply": evil}
            line.update(**asked, earlier=[asked])
        if line["type"] == "action":
            line.update(raw=evil, action=None, reason=evil, discovered=[*line["discovered"], evil])
        if line["type"] == "episode":
            line.update(planner=evil, model=evil, started=evil, software={evil: evil})
            line["correct"] = {thing: [*places, evil] for thing, places in line["correct"].items()}

    page = Page(write_report(edited(change), film=False))
    assert not page.all("script")
    assert not any("onerror" in attributes for _, attributes in page.tags)
    assert evil in page.text


def test_what_was_said_on_the_way_to_a_plan_is_shown(edited: Callable[..., Path]) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["type"] == "plan":
            asked = {
                "prompt": [{"role": "user", "content": "what is left?"}],
                "reply": "mug on bed: fine\nstep 1: done",
            }
            line.update(reply="mug on bed: shelf\nstep 1: go to mug", prompt=[], earlier=[asked])

    text = Page(write_report(edited(change), film=False)).text
    assert "Second look" in text
    assert "what is left?" in text and "before that, 1 of 1: mug on bed: fine" in text
    assert "step 1: mug on bed" not in text


def test_without_the_data_there_are_no_pictures_but_a_hint(
    edited: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOUSEKEEP_DATA", raising=False)

    def change(line: dict[str, Any]) -> None:
        if line["type"] == "episode":
            line["config"]["data"] = "/nowhere/housekeep"

    page = Page(write_report(edited(change)))
    assert not page.all("img") and not page.all("image")
    assert "No pictures of this episode: /nowhere/housekeep" in page.text
    assert "set HOUSEKEEP_DATA" in page.text
    assert len([drawing for drawing in page.all("svg") if drawing.get("class") == "tree"]) == 2


def test_settings_that_this_version_refuses_cost_only_the_pictures(edited: Callable[..., Path]) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["type"] == "episode":
            line["config"]["simulator"] = "crystal ball"

    page = Page(write_report(edited(change)))
    assert not page.all("img") and "No pictures of this episode" in page.text


def test_doubtful_pictures_are_marked(edited: Callable[..., Path]) -> None:
    def change(line: dict[str, Any]) -> None:
        if line["type"] == "result":
            line["placements"] = dict.fromkeys(line["placements"], "moon")

    assert "Pictures may differ" in Page(write_report(edited(change), film=False)).text


def test_damaged_records_are_left_out_and_named(run_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run_folder, folder)
    (folder / "episodes" / "zebra.jsonl").write_text("{}\n", encoding="utf-8")
    assert "zebra.jsonl" in Page(write_report(folder, film=False)).text


def test_a_self_training_is_not_taken_for_its_demonstrations(run_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(run_folder / "episodes", tmp_path / "demonstrate" / "episodes")
    shutil.copytree(run_folder / "episodes", tmp_path / "iteration-1" / "evaluation" / "test" / "episodes")
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(UserError, match="iteration-1/evaluation/test"):
        write_report(tmp_path)


def test_several_runs_in_one_folder(run_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(run_folder, tmp_path / "both" / "one")
    shutil.copytree(run_folder, tmp_path / "both" / "two")
    page = Page(write_report(tmp_path / "both", film=False, most_episodes=1))
    assert len(page.all("article")) == 1
    assert "1 of 2 episodes are shown below" in page.text


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
        write_report(run_folder, tmp_path / "file" / "page.html", film=False, most_episodes=0)


def test_stale_figures_are_told(run_folder: Path, tmp_path: Path) -> None:
    records = list(read_records(run_folder / "episodes"))
    assert figures.stale(run_folder, records) == ""
    for content, said in [('{"overall": {"episodes": 9, "success_rate": 5}}', "9 episodes"), ("[]", ""), ("{", "")]:
        (tmp_path / "metrics.json").write_text(content, encoding="utf-8")
        assert said in figures.stale(tmp_path, records)
        assert bool(said) == bool(figures.stale(tmp_path, records))
    assert figures.stale(tmp_path / "none", records) == ""


def test_tables_have_a_row_for_each_group(run_folder: Path) -> None:
    record = next(read_records(run_folder / "episodes"))

    def other(**changes: Any) -> EpisodeRecord:
        return record.model_copy(update={"episode": record.episode.model_copy(update=changes)})

    names = [(row.name, row.planner) for row in figures.rows([record, other(scene="b"), other(task_set="test")])]
    scene = record.episode.scene
    assert names == [("b", "scripted"), (scene, "scripted"), (f"{scene}, test", "scripted"), ("all scenes", "scripted")]
    assert len(figures.rows([record])) == 1
    assert figures.overall([record]).error is None
    both = figures.rows([record, other(planner="llm", model="m")])
    assert [row.planner for row in both] == ["llm (m)", "scripted"]
    taught = figures.rows([other(planner="llm", model="m", config=config) for config in ({}, {"adapter": "tidy"})])
    assert [row.planner for row in taught] == ["llm (m with tidy)", "llm (m)"]


def test_every_episode_is_shown_once_before_any_twice(run_folder: Path) -> None:
    record = next(read_records(run_folder / "episodes"))
    pairs = [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0)]
    records = [
        record.model_copy(update={"episode": record.episode.model_copy(update={"episode": episode, "run": run})})
        for episode, run in pairs
    ]
    assert [pairs[place] for place in _chosen(records, 3)] == [(1, 0), (2, 0), (3, 0)]
    assert [pairs[place] for place in _chosen(records, 4)] == [(1, 0), (1, 1), (2, 0), (3, 0)]
    assert json.dumps(_chosen(records, 9)) == "[0, 1, 2, 3, 4]"
