"""The report of a self-training, from files as it writes them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.core.files import write_json
from housewise.core.text_files import read_json
from housewise.report import ReportOptions
from housewise.report.selftraining_report import is_selftraining_folder, write_selftraining_report
from housewise.selftrain.examples import write_examples
from housewise.selftrain.personalize.filters import FilterSettings, apply_filter
from housewise.selftrain.personalize.learning_curve_plot import draw_learning_curve
from housewise.selftrain.personalize.record_demonstrations import demonstrations_from_record
from housewise.systems.personalize.record import read_house_record, read_house_records
from tests.commands import housewise, one_line
from tests.housewise.report.pages import Page
from tests.record_lines import changed_lines

EVIL = "</pre><script>alert(1)</script>"


@pytest.fixture
def learned(run_folder: Path, tmp_path: Path) -> Path:
    """A self-training of two phases that tried, filtered and was evaluated."""
    folder = tmp_path / "learned"
    grown = folder / "iteration-1" / "grow" / "episodes"
    shutil.copytree(run_folder / "episodes", grown)
    for path in grown.glob("*.jsonl"):
        with changed_lines(path) as lines:
            for number, line in enumerate(line for line in lines if line["type"] == "plan"):
                prompt = [{"role": "user", "content": f"what now? {EVIL}"}]
                worse = {"reply": f"step 1: drop {number}", "reward": -9.0 - number}
                line["data"].update(prompt=prompt, reply=f"step 1: say {number}", alternatives=[worse])
        pairs = list(demonstrations_from_record(read_house_record(path), ""))
    assert {pair.reward > 0 for pair in pairs} == {True, False}
    kept, statistics = apply_filter("positive", pairs, FilterSettings())
    replayed = kept[0].model_copy(update={"reply": "step 1: demonstrate", "reward": 99.0})
    write_examples(folder / "iteration-1" / "pairs.jsonl", [*kept, replayed])
    write_json(folder / "iteration-1" / "filter.json", statistics)
    (folder / "iteration-1" / "curve.csv").write_text("step,loss\n1,0.9\n2,0.5\n3,nan\n4,0.4\n")
    for phase in ("imitate", "iteration-1"):
        shutil.copytree(run_folder / "episodes", folder / phase / "evaluation" / "test" / "episodes")
    figures = {"episodes": 1, "success_rate": 40.0, "success_rate_stderr": 2.0, "executability": 0.9, "plans": 3.0}
    shares = {**figures, "success_rate": 0.7, "success_rate_stderr": 0.02}
    phases = [
        # The first was written by a version that had percent here.
        {"phase": "imitate", "model": EVIL, "metrics": {"pairs": 4}, "evaluation": {"test": figures}},
        {
            "version": 2,
            "phase": "iteration-1",
            "metrics": {"pairs": 3},
            "evaluation": {"test": shares},
            "notes": [f"2 of 5 pairs left out as longer than 9 tokens, all that model {EVIL} reads"],
        },
    ]
    write_json(folder / "summary.json", {"phases": phases})
    settings: dict[str, Any] = {"run": {"model": "local", "person": EVIL}, "iterations": 1}
    write_json(folder / "config.json", settings)
    return folder


def test_one_task_has_no_error(learned: Path, tmp_path: Path) -> None:
    summary: Any = read_json(learned / "summary.json")
    summary["phases"][1]["evaluation"]["test"]["success_rate_stderr"] = None
    write_json(learned / "summary.json", summary)
    page = Page(write_selftraining_report(learned, ReportOptions(film=False)))
    assert "40.0 ± 2.0 %" in page.text and "70.0 %" in page.text
    draw_learning_curve(summary["phases"][1:], tmp_path / "curve.png")


def test_phases_curves_filters_and_examples(learned: Path) -> None:
    assert is_selftraining_folder(learned)
    page = Page(write_selftraining_report(learned, ReportOptions(film=False)))
    assert not page.all("script") and EVIL in page.text
    assert f"2 of 5 pairs left out as longer than 9 tokens, all that model {EVIL} reads" in page.text
    assert "40.0 ± 2.0 %" in page.text and "70.0 ± 2.0 %" in page.text
    kept, rejected = (page.text.index(words) for words in ("Kept, the best first", "Rejected, the worst first"))
    records = list(read_house_records(learned / "iteration-1" / "grow" / "episodes"))
    pairs = [pair for record in records for pair in demonstrations_from_record(record, "")]
    good = [pair for pair in pairs if pair.reward > 0]
    assert (
        f"Of {len(pairs)} pairs from 1 episode, {len(good)} were kept and {len(pairs) - len(good)} rejected"
        in page.text
    )
    assert "Keep replies whose plan has a positive reward" in page.text
    assert good[0].reply in page.text[kept:rejected]
    # The worst are alternatives, also those to kept replies.
    worst = sorted(pairs, key=lambda pair: pair.reward)[:3]
    assert all(pair.reply in page.text[rejected:] for pair in worst) and worst[0].reply.startswith("step 1: drop")
    assert "demonstrate" not in page.text[kept:], "a demonstration that is learned again is neither"
    assert "nan" not in (learned / "report.html").read_text()
    assert len([drawing for drawing in page.all("svg") if drawing.get("class") == "chart"]) == 2
    hrefs = [href for link in page.all("a") if (href := link["href"] or "").endswith("report.html")]
    assert hrefs == [f"{phase}/evaluation/test/report.html" for phase in ("imitate", "iteration-1")]
    assert all("100 %" in Page(learned / href).text or "success rate" in Page(learned / href).text for href in hrefs)


@pytest.mark.parametrize(
    "options", [["--single"], ["--compare", "other"], ["--max-episodes", "1"]], ids=lambda options: options[0]
)
def test_options_for_single_runs_are_refused(learned: Path, options: list[str]) -> None:
    assert options[0] in one_line(housewise("report", learned, *options))
    assert not (learned / "report.html").exists()


def test_pages_of_its_runs_are_made_again_on_request(learned: Path) -> None:
    command = ("report", learned, "--no-film", "--workers", "1", "--films", "0")
    housewise(*command, code=0)
    page = next((learned / "imitate" / "evaluation" / "test" / "report").glob("*.html"))
    page.write_text(f"{page.read_text()}<!-- older -->")
    housewise(*command, code=0)
    assert "<!-- older -->" in page.read_text()
    housewise(*command, "--fresh", code=0)
    assert "<!-- older -->" not in page.read_text()


def test_damaged_files_cost_only_what_they_hold(learned: Path) -> None:
    (learned / "iteration-1" / "filter.json").write_text("[")
    (learned / "iteration-1" / "pairs.jsonl").write_text("{}\n")
    (learned / "iteration-1" / "curve.csv").write_bytes(b"\xff\x00")
    (learned / "config.json").write_text("[" * 100_000)
    page = Page(write_selftraining_report(learned, ReportOptions(film=False)))
    assert "filter.json: not the report of a filter" in page.text and "line 1: not a pair" in page.text
    assert "70.0 ± 2.0 %" in page.text
    (learned / "summary.json").write_text('{"phases": 3}')
    with pytest.raises(UserError, match=r"summary\.json: not the summary"):
        write_selftraining_report(learned)


def test_phases_lead_nowhere_else(learned: Path) -> None:
    summary = json.loads((learned / "summary.json").read_text())
    summary["phases"] = [{"phase": "../elsewhere"}, {"phase": "*"}, {"phase": "imitate"}]
    write_json(learned / "summary.json", summary)
    shutil.copytree(learned / "imitate", learned.parent / "elsewhere")
    (learned / "imitate" / "evaluation" / "linked").symlink_to(learned.parent / "elsewhere" / "evaluation" / "test")
    write_selftraining_report(learned, ReportOptions(film=False))
    assert not list((learned.parent / "elsewhere").rglob("*.html"))
    assert list((learned / "imitate").rglob("*.html")) and not list((learned / "iteration-1").rglob("*.html"))
