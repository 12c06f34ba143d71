"""README and docs say what is in the files of results, and a figure that says something else is found."""

import json
import re
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.commands import run_module

PROJECT = Path(__file__).parents[3]
README = """# A project

Of all cases <!-- = houses/mine.csv#row=lookup .1f -->25.0<!-- / --> % were right,
<!-- a comment of another kind --> success is <!-- = houses/mine.csv#row=model, memory ±.1f -->75.0
± 25.0<!-- / --> % in <!-- = houses/mine.csv; statistic=weight .0f -->4<!-- / --> cases.
"""
CSV = "row,run,task,repeat,measure,value,weight\n" + "".join(
    f'"{row}",test,task {number},0,success_rate,{value},1\n'
    for row, values in (("model, memory", (0.5, 1.0)), ("lookup", (0.25, 0.25)))
    for number, value in enumerate(values)
)
ABOUT = {
    "experiment": "houses/mine",
    "title": "Mine",
    "axes": {"row": ["model, memory", "lookup"]},
    "measures": {"success_rate": {"label": "success, %", "scale": 100}},
    "rows": 4,
}


def readme(*arguments: object) -> CompletedProcess[str]:
    return run_module("housewise.experiments.readme", arguments)


@pytest.fixture
def tidy(tmp_path: Path) -> Path:
    """A project with a results table of an experiment."""
    folder = tmp_path / "results" / "houses"
    folder.mkdir(parents=True)
    (folder / "mine.csv").write_text(CSV)
    (folder / "mine.json").write_text(json.dumps(ABOUT))
    return tmp_path


def test_this_project_says_what_its_results_say() -> None:
    done = readme("--check", "--root", PROJECT)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_changed_digit_is_found_and_mended(tmp_path: Path) -> None:
    shutil.copytree(PROJECT / "results" / "clipr", tmp_path / "results" / "clipr")
    (tmp_path / "README.md").write_text("# A project\n")
    page = tmp_path / "docs" / "clipr.md"
    page.parent.mkdir()
    shutil.copy(PROJECT / "docs" / "clipr.md", page)
    was = page.read_text()
    place = was.index("| TidyBot | ") + len("| TidyBot | ")
    line, digit = was.count("\n", 0, place) + 1, int(was[place])
    page.write_text(was[:place] + str((digit + 1) % 10) + was[place + 1 :])
    done = readme("--check", "--root", tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(f"docs/clipr.md: line {line} says '| TidyBot | {(digit + 1) % 10}")
    assert f"should say '| TidyBot | {digit}" in done.stdout
    assert done.stdout.count("\n") == 1
    assert page.read_text() != was, "a check writes nothing"
    assert readme("--root", tmp_path).returncode == 0
    assert page.read_text() == was


def test_figures_in_prose_are_filled_in(tidy: Path) -> None:
    (tidy / "README.md").write_text(README)
    assert readme("--check", "--root", tidy).returncode == 0
    table = tidy / "results" / "houses" / "mine.csv"
    table.write_text(CSV.replace("0.25", "0.256").replace("0.5", "1.0"))
    done = readme("--check", "--root", tidy)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "README.md: line 3 says '25.0' and should say '25.6' (houses/mine.csv#row=lookup)",
        "README.md: line 4 says '75.0' and should say '100.0 ± 0.0' (houses/mine.csv#row=model, memory)",
        "README.md: line 5 says '± 25.0' and should say '' (houses/mine.csv#row=model, memory)",
    ]
    assert readme("--root", tidy).returncode == 0
    text = (tidy / "README.md").read_text()
    assert ".1f -->25.6<!-- / --> % were" in text and "±.1f -->100.0 ± 0.0<!-- / --> %" in text
    assert readme("--check", "--root", tidy).returncode == 0


def test_figures_in_links_are_filled_in(tidy: Path) -> None:
    definition = '[share]: results/houses/mine.csv "#row=lookup .1f"'
    (tidy / "README.md").write_text(f"Of all [24.0][share] %, and of all [25.0][share] %.\n\n{definition}\n")
    done = readme("--check", "--root", tidy)
    says = "README.md: line 1 says '24.0' and should say '25.0' (houses/mine.csv#row=lookup)\n"
    assert (done.returncode, done.stdout) == (1, says)
    assert readme("--root", tidy).returncode == 0
    assert (tidy / "README.md").read_text().startswith("Of all [25.0][share] %, and of all [25.0][share] %.")


def test_figures_and_tables_come_from_results_tables(tidy: Path) -> None:
    (tidy / "README.md").write_text(
        "Of all [1][m] %, and <!-- = houses/mine.csv#row=lookup .1f -->2<!-- / -->, and more:\n"
        "by <!-- = houses/mine.csv#row=model, memory - lookup,measure=success_rate ±.1f -->3<!-- / -->.\n\n"
        "over <!-- = houses/mine.csv; statistic=weight .0f -->0<!-- / --> episodes, and "
        "<!-- = houses/mine.csv; statistic=sum .1f -->0<!-- / --> in all\n\n"
        "<!-- figures: houses/mine.csv -->\n<!-- /figures -->\n\n"
        "<!-- figures: houses/mine.csv#row=model, memory|lookup; compare=row=lookup -->\n<!-- /figures -->\n\n"
        '[m]: results/houses/mine.csv "#row=model, memory,measure=success_rate ±.0f"\n'
    )
    assert readme("--root", tidy).returncode == 0
    text = (tidy / "README.md").read_text()
    assert "[75 ± 25][m] %" in text and ".1f -->25.0<!-- / -->" in text and "±.1f -->50.0 ± 25.0<!-- / -->" in text
    assert "statistic=weight .0f -->4<!-- / -->" in text and "statistic=sum .1f -->200.0<!-- / -->" in text
    assert "| model, memory | 75.0 ± 25.0 |" in text and "| lookup | 25.0 ± 0.0 |" in text
    assert "| model, memory | +50.0 ± 25.0 | -267.7 to +367.7 | 2 | 2 |" in text
    assert readme("--check", "--root", tidy).returncode == 0


def test_the_page_of_results_says_when_and_at_which_commits_they_were_measured(tidy: Path) -> None:
    (tidy / "README.md").write_text("<!-- figures: all results -->\n<!-- /figures -->\n")
    made = {"commit": "a" * 40, "changed": False, "date": "2026-03-01T00:00:00+00:00"}
    later = {"first": "2026-01-01T00:00:00+00:00", "last": "2026-02-01T00:00:00+00:00", "changed": True}
    for episodes, words in (
        ({}, "measured on 2026-03-01 at commit aaaaaaaa ([data]"),
        ({"commits": [None]}, "measured on 2026-03-01 at commit aaaaaaaa ([data]"),
        (
            {**later, "commits": ["b" * 40, "c" * 40, None]},
            "measured from 2026-01-01 to 2026-02-01 at commits bbbbbbbb, cccccccc, unknown with changes that are in no",
        ),
    ):
        about = {**ABOUT, "experiment": "bench/mine", "made": made, "episodes": episodes}
        for suffix, text in ((".csv", CSV), (".json", json.dumps(about))):
            (tidy / "results" / "bench").mkdir(exist_ok=True)
            (tidy / "results" / "bench" / f"mine{suffix}").write_text(text)
        assert readme("--root", tidy).returncode == 0
        assert words in (tidy / "README.md").read_text()


def test_results_of_an_adapter_that_was_replaced_are_named(tidy: Path) -> None:
    adapters = {"tidy": {"name": "tidy", "adapter_model.safetensors": "0123"}, "own": {"name": "own"}}
    (tidy / "results" / "houses" / "mine.json").write_text(json.dumps({**ABOUT, "adapters": adapters}))
    (tidy / "README.md").write_text("Nothing.\n")
    done = readme("--check", "--root", tidy)
    words = "results/houses/mine.csv: These results are of an adapter tidy that has been replaced since"
    assert (done.returncode, done.stderr) == (0, f"note: {words}; measure them again.\n")


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("houses/mine.csv#raw=lookup", "README.md, line 1: houses/mine.csv: no axis 'raw'; did you mean row"),
        ("houses/mine.csv#row=sage", "houses/mine.csv: axis row: no level 'sage'; available: model, memory, lookup"),
        ("houses/mine.csv#measure=luck", "axis measure: no level 'luck'"),
        ("houses/mine.csv#lookup", "'lookup' is not NAME=VALUE"),
        ("houses/mine.csv#row=lookup; statistic=all", "no statistic 'all'; available: sum, weight, max"),
        ("houses/other.csv#row=lookup", "other.json"),
    ],
)
def test_an_address_that_selects_nothing_is_told_in_one_line(tidy: Path, address: str, complaint: str) -> None:
    (tidy / "README.md").write_text(f"in <!-- = {address} .1f -->5<!-- / -->\n")
    _refused(tidy, complaint)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("houses/mine.csv; rows=raw", "no axis 'raw'"),
        ("houses/mine.csv#row=lookup; compare=row=lookup", "no episodes to compare with row=lookup"),
        ("houses/mine.csv; compare", "'compare' is not NAME=VALUE"),
    ],
)
def test_a_table_of_nothing_is_told_in_one_line(tidy: Path, words: str, complaint: str) -> None:
    (tidy / "README.md").write_text(f"<!-- figures: {words} -->\n<!-- /figures -->\n")
    _refused(tidy, complaint)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("in <!-- = houses/mine.csv#row=lookup .1f -->5 %", "line 7: <!-- = houses.* is no whole mark"),
        ("in <!-- = houses/mine.csv -->5<!-- / -->", "line 7: <!-- = .* is no whole mark"),
        ("in <!-- = houses/other.csv .1f -->5<!-- / -->", "line 7: .*other.json"),
        ("in <!-- = houses/mine.json#row=lookup .1f -->5<!-- / -->", "line 7: .*names no results table"),
        ("in <!-- = houses/mine.csv#row=lookup blue -->5<!-- / -->", "line 7: .*cannot be shown as 'blue'"),
        ("<!-- = houses/mine.csv#row=lookup .1f -->5<!-- / -->", "line 7: a line begins with a mark"),
        ("<!-- figures: all result -->\n<!-- /figures -->", "line 7: no table all result; did you mean all results"),
    ],
)
def test_damaged_marks_are_told_of_in_one_line(tidy: Path, words: str, complaint: str) -> None:
    (tidy / "README.md").write_text(f"{README}\n{words}\n")
    _refused(tidy, complaint)


def test_what_is_no_project_is_refused(tmp_path: Path) -> None:
    _refused(tmp_path, "no README.md with results beside it")


def _refused(root: Path, complaint: str) -> None:
    done = readme("--root", root)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    assert re.search(complaint, done.stderr), done.stderr
