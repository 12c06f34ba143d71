"""Tables in terminals of any width: what stands in them is there, and no name is broken that need not be."""

import io

import pytest
from rich.console import Console

from housewise.core.tables import FittedTable
from housewise.experiments.tables import FormattedTable
from housewise.systems.personalize.system import Personalize
from housewise.terminal.run_progress import summary_table

ROW = {
    "episodes": 1000,
    "success_rate": -1.0,
    "success_rate_stderr": 0.123,
    "executability": 0.987,
    "unique_placements": 10.2,
    "plans": 150,
    "steps": 999,
    "prompt_tokens": 123456,
    "completion_tokens": 7890,
    "seconds": 1234,
}


def printed(shown: object, width: int) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    console.print(shown)
    return stream.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_runs_figures_fit(width: int) -> None:
    names = ("Benevolence_2_int/demo_validation", "Merom_1_int/test", "generated-12")
    shown = printed(
        summary_table({"by_task_set": dict.fromkeys(names, ROW), "overall": ROW}, Personalize.scores), width
    )
    assert max(map(len, shown.splitlines())) <= width
    words = shown.split()
    assert {"Benevolence_2_int", "demo_validation", "Merom_1_int", "generated-12"} <= set(words)
    for figure in ("1000", "-100.0", "12.3", "98.7", "10.2", "150", "999", "131346", "1234"):
        assert words.count(figure) == 4


def test_at_80_columns_a_runs_figures_are_one_table() -> None:
    shown = printed(
        summary_table({"by_task_set": {"Benevolence_2_int/demo_validation": ROW}, "overall": ROW}, Personalize.scores),
        80,
    )
    assert shown.count("scene") == 1


def test_every_part_of_a_wide_table_has_all_names() -> None:
    rows = [("silence", measure, "1.5 to 2.5", "+10.0 ± 3.0", "210") for measure in ("success", "actions")]
    shown = printed(FittedTable("t", ("", "measure", "interval", "more than oracle", "episodes"), rows, names=2), 34)
    assert max(map(len, shown.splitlines())) <= 34
    parts = shown.count("silence") // 2
    assert parts > 1 and shown.count("success") == shown.count("actions") == parts


def test_what_nobody_has_a_figure_of_is_left_out() -> None:
    columns = ("name", "a", "b", "c")
    shown = printed(FittedTable("t", columns, [("x", "1", "–", ""), ("y", "–", "–", "–")]), 80)
    assert "a" in shown.splitlines()[1].split() and not {"b", "c"} & set(shown.splitlines()[1].split())
    alone = ROW | {"episodes": 2, "success_rate_stderr": None}
    run = summary_table({"by_task_set": {"g": alone}, "overall": alone}, Personalize.scores)
    assert "±" not in printed(run, 80).splitlines()[1]
    assert "12.3 (n=1)" in printed(
        summary_table(
            {"by_task_set": {}, "overall": ROW | {"success_rate": 0.123, "success_rate_episodes": 1}},
            Personalize.scores,
        ),
        80,
    )


@pytest.mark.parametrize("width", [50, 60, 80, 200])
def test_an_experiments_table_fits(width: int) -> None:
    scenes = ("Benevolence_2_int", "Pomaria_2_int")
    columns = ["", *(f"{scene}, {tasks}" for scene in scenes for tasks in ("train", "test"))]
    rows = [[row, *(["44.4 ± 12.3 [33.3 ± 3.3]"] * 4)] for row in ("LLM-Planner", "after the second iteration")]
    shown = printed(FormattedTable("success", columns, rows), width)
    assert max(map(len, shown.splitlines())) <= width
    words = shown.split()
    assert words.count("44.4") == words.count("[33.3") == 8
    assert all(shown.count(scene) == 2 for scene in scenes)


def test_markup_in_names_is_words() -> None:
    assert "[red]x" in printed(FittedTable("[bold]", ("a", "[b]"), [("[red]x", "[1]")]), 80)


def test_a_name_longer_than_the_terminal_is_all_there() -> None:
    shown = printed(FittedTable("t", ("name", "n"), [("x" * 50, "7")]), 30)
    assert shown.count("x") == 50
    assert "7" in shown
