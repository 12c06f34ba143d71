"""README and docs say what is in the files of results, and a figure that says something else is found."""

import json
import re
import shutil
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from housewise.experiments.documents.tables import TABLES
from tests.commands import run_module

PROJECT = Path(__file__).parents[3]
README = """# A project

Of all cases <!-- = speed/run.json#/share .1% -->50.0 %<!-- / --> were right,
in <!-- = speed/run.json#/rows/way=ours,n=2/ms .2f -->1.50<!-- / --> ms on average, and
<!-- a comment of another kind --> success is <!-- = speed/run.json#/success_rate ±.1f -->87.2
± 1.2<!-- / --> % in <!-- = speed/run.json#/all of them , -->12,345<!-- / --> cases.
"""
RUN: dict[str, Any] = {
    "share": 0.5,
    "rows": [{"way": "theirs", "n": 2, "ms": 1}, {"way": "ours", "n": 2, "ms": 1.5}],
    "success_rate": 87.25,
    "success_rate_stderr": 1.21,
    "all of them": 12345,
    "commit": None,
}


def readme(*arguments: object) -> CompletedProcess[str]:
    return run_module("housewise.experiments.readme", arguments)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A project with one document and one file of results."""
    (tmp_path / "results" / "speed").mkdir(parents=True)
    (tmp_path / "results" / "speed" / "run.json").write_text(json.dumps(RUN))
    (tmp_path / "README.md").write_text(README)
    return tmp_path


def test_this_project_says_what_its_results_say() -> None:
    done = readme("--check", "--root", PROJECT)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_changed_digit_is_found_and_mended(tmp_path: Path) -> None:
    for name in ("docs", "results"):
        shutil.copytree(PROJECT / name, tmp_path / name)
    shutil.copy(PROJECT / "README.md", tmp_path)
    page = tmp_path / "docs" / "clipr.md"
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


def test_figures_in_prose_are_filled_in(small: Path) -> None:
    assert readme("--check", "--root", small).returncode == 0
    run = small / "results" / "speed" / "run.json"
    run.write_text(json.dumps(RUN | {"share": 0.256, "success_rate": 90, "success_rate_stderr": None}))
    done = readme("--check", "--root", small)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "README.md: line 3 says '50.0 %' and should say '25.6 %' (speed/run.json#/share)",
        "README.md: line 5 says '87.2' and should say '90.0' (speed/run.json#/success_rate)",
        "README.md: line 6 says '± 1.2' and should say '' (speed/run.json#/success_rate)",
    ]
    assert readme("--root", small).returncode == 0
    assert ".1% -->25.6 %<!-- / --> were" in (small / "README.md").read_text()
    assert "±.1f -->90.0<!-- / --> %" in (small / "README.md").read_text()
    assert readme("--check", "--root", small).returncode == 0


def test_figures_in_links_are_filled_in(small: Path) -> None:
    definition = '[share]: results/speed/run.json "#/share .1%"'
    (small / "README.md").write_text(f"Of all [49.0 %][share], and of all [50.0 %][share].\n\n{definition}\n")
    done = readme("--check", "--root", small)
    says = "README.md: line 1 says '49.0 %' and should say '50.0 %' (speed/run.json#/share)\n"
    assert (done.returncode, done.stdout) == (1, says)
    assert readme("--root", small).returncode == 0
    assert (small / "README.md").read_text().startswith("Of all [50.0 %][share], and of all [50.0 %][share].")


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


@pytest.fixture
def tidy(tmp_path: Path) -> Path:
    """A project with a results table of an experiment."""
    folder = tmp_path / "results" / "houses"
    folder.mkdir(parents=True)
    (folder / "mine.csv").write_text(CSV)
    (folder / "mine.json").write_text(json.dumps(ABOUT))
    return tmp_path


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
    assert "statistic=weight .0f -->4<!-- / -->" in text and "statistic=sum .1f -->2.0<!-- / -->" in text
    assert "| model, memory | 75.0 ± 25.0 |" in text and "| lookup | 25.0 ± 0.0 |" in text
    assert "| model, memory | +50.0 ± 25.0 | -267.7 to +367.7 | 2 | 2 |" in text
    assert readme("--check", "--root", tidy).returncode == 0


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
    ("content", "complaint"),
    [
        ("{", "run.json: cannot be read"),
        ("[]", "run.json: holds no JSON object"),
        (
            json.dumps({key: value for key, value in RUN.items() if key != "commit"}),
            "run.json: field commit is missing",
        ),
        (json.dumps(RUN | {"share": "half"}), "README.md, line 3: .*run.json: no number at /share but half"),
        (json.dumps(RUN | {"share": float("nan")}), "run.json: no number at /share but nan"),
        (json.dumps(RUN | {"rows": [1, None]}), "README.md, line 4: .*more than one, at /rows/way=ours"),
        (
            json.dumps(RUN | {"rows": []}),
            "README.md, line 4: .*more than one, at /rows/way=ours",
        ),
        (
            json.dumps(RUN | {"rows": 2 * RUN["rows"]}),
            "README.md, line 4: .*more than one, at /rows/way=ours",
        ),
    ],
)
def test_damaged_results_are_told_of_in_one_line(small: Path, content: str, complaint: str) -> None:
    (small / "results" / "speed" / "run.json").write_text(content)
    _refused(small, complaint)


@pytest.mark.parametrize("table", sorted(TABLES.keys() - {"all results"}))
def test_a_file_without_what_a_table_shows_or_none_is_told_of_in_one_line(small: Path, table: str) -> None:
    for path in (PROJECT / "results").rglob("*.json"):
        if path.with_suffix(".csv").exists():
            continue
        emptied = small / path.relative_to(PROJECT)
        emptied.parent.mkdir(exist_ok=True)
        emptied.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text()))))
    (small / "README.md").write_text(f"<!-- figures: {table} -->\n<!-- /figures -->\n")
    _refused(small, r"README.md, line 1: .*json: (no|cannot be read)")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("in <!-- = speed/run.json#/share .1% -->5 %", "line 8: <!-- = speed.* is no whole mark"),
        ("in <!-- = speed/run.json -->5<!-- / -->", "line 8: <!-- = .* is no whole mark"),
        ("in <!-- = speed/other.json#/share .1% -->5<!-- / -->", "other.json: cannot be read"),
        ("in <!-- = speed/run.json#/share blue -->5<!-- / -->", "line 8: .*cannot be shown as 'blue'"),
        ("<!-- = speed/run.json#/share .1% -->5<!-- / -->", "line 8: a line begins with a mark"),
        ("<!-- figures: all result -->\n<!-- /figures -->", "line 8: no table all result; did you mean all results"),
    ],
)
def test_damaged_marks_are_told_of_in_one_line(small: Path, words: str, complaint: str) -> None:
    (small / "README.md").write_text(f"{README}\n{words}\n")
    _refused(small, complaint)


def test_what_is_no_project_is_refused(tmp_path: Path) -> None:
    _refused(tmp_path, "no README.md with results beside it")


def _refused(root: Path, complaint: str) -> None:
    done = readme("--root", root)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    assert re.search(complaint, done.stderr), done.stderr
