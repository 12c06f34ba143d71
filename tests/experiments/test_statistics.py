"""Statistics of results tables, against plain formulas."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from housewise.core.errors import UserError
from housewise.experiments.catalogue import load_experiment
from housewise.experiments.experiment_file import TableLayout
from housewise.experiments.results_table import MeasureUnit, ResultsHeader, ResultsTable, read_table
from housewise.experiments.statistics import error_over_levels, paired_differences, summarize
from housewise.experiments.tables import format_differences, format_results

VALUES = st.lists(st.floats(-1, 1, allow_nan=False), min_size=3, max_size=8)


def frame(values: dict[str, list[float]], repeats: int = 1, weight: float = 1.0) -> pd.DataFrame:
    """One row per level, task and repeat."""
    rows = [
        (level, "test", f"task {number // repeats}", number % repeats, "success_rate", value, weight)
        for level, those in values.items()
        for number, value in enumerate(those)
    ]
    return pd.DataFrame(rows, columns=["row", "run", "task", "repeat", "measure", "value", "weight"])


@given(VALUES)
def test_errors_are_those_of_plain_formulas_where_each_task_is_played_once(values: list[float]) -> None:
    (line,) = summarize(frame({"a": values}), ["row"]).to_dict("records")
    assert math.isclose(line["mean"], np.mean(values), abs_tol=1e-12)
    plain = np.std(values, ddof=1) / math.sqrt(len(values))
    assert math.isclose(line["error_over_episodes"], plain, abs_tol=1e-9)
    assert math.isclose(line["error_over_tasks"], plain, abs_tol=1e-9)


def test_repeats_of_a_task_count_once() -> None:
    (line,) = summarize(frame({"a": [1, 1, 1, 0, 0, 0]}, repeats=3), ["row"]).to_dict("records")
    assert (line["mean"], line["episode_count"], line["task_count"]) == (0.5, 6, 2)
    assert math.isclose(line["error_over_tasks"], 0.5) and line["error_over_episodes"] < 0.3


def test_one_task_has_no_error_over_tasks() -> None:
    data = frame({"a": [0, 0, 1], "b": [1, 1, 1]}, repeats=3)
    for line in (summarize(data, ["row"]).iloc[0], paired_differences(data, "row", "a").iloc[0]):
        assert math.isnan(line["error_over_tasks"] or math.nan) and line["error_over_episodes"] > 0.3
    (shown,) = format_differences(results(data), TableLayout(rows=("row",)), {"row": ["a"]})
    assert list(shown.rows[0][1:3]) == ["+66.7", "–"]


def test_weights_make_a_mean_over_all_that_was_tried() -> None:
    data = frame({"a": [1.0, 0.0]})
    data["weight"] = [3, 1]
    assert summarize(data, ["row"])["mean"][0] == 0.75


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=3, max_size=8))
def test_paired_differences_agree_with_a_paired_t_test(pairs: list[tuple[float, float]]) -> None:
    ours, theirs = [one for one, _ in pairs], [other for _, other in pairs]
    (line,) = paired_differences(frame({"a": ours, "b": theirs}), "row", "a").to_dict("records")
    if np.std(np.subtract(theirs, ours)) < 1e-6:
        return
    interval = ttest_rel(theirs, ours).confidence_interval()
    assert math.isclose(line["low"], interval.low, abs_tol=1e-6)
    assert math.isclose(line["high"], interval.high, abs_tol=1e-6)
    # Two episodes a task: the interval over episodes is that of a paired t-test over them all.
    columns = {"a": [*ours, *ours[:1]], "b": [*theirs, *theirs[:1]]}
    (line,) = paired_differences(frame(columns, repeats=2), "row", "a").to_dict("records")
    interval = ttest_rel(columns["b"], columns["a"]).confidence_interval(0.95)
    assert math.isclose(line["low_over_episodes"], interval.low, abs_tol=1e-6)
    assert math.isclose(line["high_over_episodes"], interval.high, abs_tol=1e-6)


def test_only_common_episodes_are_compared() -> None:
    data = pd.concat([frame({"a": [0, 0, 0]}), frame({"b": [1, 1]})])
    (line,) = paired_differences(data, "row", "a").to_dict("records")
    assert (line["difference"], line["episode_count"]) == (1, 2)


def test_a_control_without_training_seeds_is_compared_with_all_of_them() -> None:
    seeds = [frame({"learned": [value, value]}).assign(seed=str(seed)) for seed, value in enumerate([1.0, 0.0, 0.5])]
    data = pd.concat([*seeds, frame({"silence": [0.0, 0.0]}).assign(seed="0")])
    (line,) = paired_differences(data, "row", "silence").to_dict("records")
    assert (line["difference"], line["episode_count"], line["task_count"]) == (0.5, 6, 2)
    by_seed = paired_differences(data, "row", "silence", ["seed"]).to_dict("records")
    assert [line["difference"] for line in by_seed] == [1.0], "nothing to compare with at the other seeds"


def test_episodes_of_other_people_are_not_compared() -> None:
    people = [frame({"a": [0.0], "b": [1.0]}).assign(person="ada"), frame({"b": [0.4]}).assign(person="ben")]
    (line,) = paired_differences(pd.concat(people), "row", "a").to_dict("records")
    assert (line["difference"], line["episode_count"]) == (1.0, 1)


def test_episodes_in_which_a_measure_is_undefined_are_not_compared() -> None:
    data = frame({"learned": [0.6, 0.6, 0.6], "silence": [0.0, 0.0, 0.4]})
    data.loc[(data["row"] == "silence") & (data["value"] == 0), "weight"] = 0
    (line,) = paired_differences(data, "row", "silence").to_dict("records")
    assert math.isclose(line["difference"], 0.2) and line["episode_count"] == 1


def test_the_difference_is_that_of_the_means_that_are_shown() -> None:
    data = pd.concat([frame({"a": [1.0, 0.0, 0.5]}), frame({"b": [0.2, 0.4, 0.9]})])
    data["weight"] = [3, 1, 2, 1, 4, 2]
    means = summarize(data, ["row"]).set_index("row")["mean"]
    (line,) = paired_differences(data, "row", "a").to_dict("records")
    assert math.isclose(line["difference"], means["b"] - means["a"])


def test_what_a_function_measures_is_compared_with_the_only_run() -> None:
    data = pd.concat([frame({"learned": [1.0, 0.5]}), frame({"chance": [0.5, 0.5]}).assign(run="")])
    (line,) = paired_differences(data, "row", "chance").to_dict("records")
    assert (line["difference"], line["episode_count"]) == (0.25, 2)


def test_aggregates_are_not_compared() -> None:
    data = frame({"a": [0.0, 0.0], "b": [1.0, 1.0]})
    assert paired_differences(data.assign(task=""), "row", "a").empty


def test_error_over_seeds() -> None:
    data = frame({"a": [0.0, 1.0], "b": [1.0, 1.0]}).rename(columns={"row": "seed"})
    (line,) = error_over_levels(data, "seed", []).to_dict("records")
    assert math.isclose(line["error"], 0.25) and line["count"] == 2


def results(data: pd.DataFrame, aggregate: bool = False) -> ResultsTable:
    measures = {"success_rate": MeasureUnit(label="success, %", scale=100)}
    axes = {"row": tuple(dict.fromkeys(data["row"]))}
    header = ResultsHeader(experiment="mine", title="Mine", axes=axes, measures=measures, aggregate=aggregate)
    return ResultsTable(header, data)


def test_tables_are_read_back_and_shown(tmp_path: Path) -> None:
    made = results(frame({"1.0": [0, 0.5, 1], "null": [1, 1, 1]}))
    made.write(tmp_path, "mine")
    read = read_table(tmp_path / "mine.csv")
    pd.testing.assert_frame_equal(read.frame, made.frame, check_dtype=False)
    shown = format_results(read)
    assert list(shown.rows[0]) == ["1.0", "50.0 ± 28.9"] and "6 episodes of 3 tasks" in shown.notes[0]
    one = results(frame({"a": [0.5]}))
    one = ResultsTable(one.header.model_copy(update={"missing_episodes": 1}), one.frame)
    assert "; 1 episode of 1 task; 1 is missing." in format_results(one).notes[0]
    assert "| null | 100.0 ± 0.0 |" in shown.markdown


def test_errors_over_episodes_and_over_tasks_stand_in_one_cell(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "{title: Mine, shows: -, system: personalize, axes: {row: {a: {}}}, measures: [success_rate], "
        "table: {rows: [row], errors: both}}"
    )
    shown = format_results(results(frame({"a": [0, 0, 1, 1]}, repeats=2)), load_experiment(path))
    assert shown.rows[0][1] == "50.0 ± 28.9 (± 50.0)" and "over episodes (in parentheses: over tasks)" in shown.notes[0]


@pytest.mark.parametrize("over", ["tasks", "episodes"])
def test_intervals_of_differences_are_over_what_the_errors_of_the_table_are(over: Literal["tasks", "episodes"]) -> None:
    data = frame({"a": [0, 0, 0, 0, 0, 0], "b": [0, 1, 1, 1, 0.5, 0]}, repeats=2)
    (shown,) = format_differences(results(data), TableLayout(rows=("row",), errors=over), {"row": ["a"]})
    line = paired_differences(data, "row", "a").iloc[0]
    low, high = (
        (line["low"], line["high"]) if over == "tasks" else (line["low_over_episodes"], line["high_over_episodes"])
    )
    assert shown.columns[2] == f"95 % interval over {over}"
    assert shown.rows[0][2] == f"{100 * low:+.1f} to {100 * high:+.1f}" and line["low"] != line["low_over_episodes"]


def test_aggregates_show_the_error_that_was_kept(tmp_path: Path) -> None:
    data = pd.DataFrame(
        [("a", "test", "", 0, "success_rate", 0.5, 1.0, 0.1, 20)],
        columns=["row", "run", "task", "repeat", "measure", "value", "weight", "error", "count"],
    )
    results(data, aggregate=True).write(tmp_path, "mine")
    shown = format_results(read_table(tmp_path / "mine.csv"))
    assert list(shown.rows[0]) == ["a", "50.0 ± 10.0"] and "Single episodes were not kept" in shown.notes[0]


def test_pooled_aggregates_have_no_error() -> None:
    data = pd.DataFrame(
        [(row, "", "success_rate", 0.5, 1.0, error, 20) for row, error in (("a", 0.1), ("a", 0.3), ("b", 0.2))],
        columns=["row", "task", "measure", "value", "weight", "error", "count"],
    )
    lines = summarize(data, ["row"]).set_index("row")
    assert math.isnan(lines["error_over_tasks"]["a"]) and lines["error_over_tasks"]["b"] == 0.2
    assert list(lines["episode_count"]) == [40, 20]


def test_parts_of_a_table_are_selected() -> None:
    made = results(frame({"a": [0.0, 0.5], "b": [1.0, 1.0], "c": [0.0, 0.0]}))
    part = made.select({"row": ["a", "c"], "measure": ["success_rate"]})
    assert part.header.axes == {"row": ("a", "c")} and set(part.frame["row"]) == {"a", "c"} and len(made.frame) == 6


@pytest.mark.parametrize(
    "chosen, message",
    [
        ({"rows": ["a"]}, "no axis 'rows'; did you mean row"),
        ({"row": ["z"]}, "axis row: no level 'z'; available: a, b"),
        ({"measure": ["success"]}, "axis measure: no level 'success'; did you mean success_rate"),
        ({"row": ["b"], "measure": ["success_rate"]}, "no rows with row=b"),
    ],
)
def test_a_selection_of_nothing_is_refused(chosen: dict[str, list[str]], message: str) -> None:
    made = results(frame({"a": [0.0], "b": [1.0]}))
    made = ResultsTable(made.header, made.frame[made.frame["row"] == "a"])
    with pytest.raises(UserError, match=message):
        made.select(chosen)


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda csv, about: about.write_text(about.read_text().replace('"version": 1', '"version": 7')), "version 7"),
        (lambda csv, about: about.write_text('{"version": 2, "new": 1}'), "version 2, not 1"),
        (lambda csv, about: about.unlink(), "mine.json"),
        (lambda csv, about: about.write_text('{"version": 1'), "mine.json"),
        (lambda csv, about: csv.write_text(csv.read_text().replace("value", "figure", 1)), "has no column 'value'"),
        (lambda csv, about: csv.write_text(csv.read_text() + "a,b,c,d,e,f,g,h,i,j\n"), "not a results table"),
        (lambda csv, about: csv.write_text("".join(csv.read_text().splitlines(True)[:-1])), "has 3 whole rows of 4"),
        (lambda csv, about: csv.write_text(csv.read_text().replace("success_rate", "luck", 1)), "measure 'luck'"),
        (lambda csv, about: csv.write_text(csv.read_text()[:-9]), "whole rows of 4"),
    ],
)  # fmt: skip
def test_damaged_tables_are_refused_in_a_line(tmp_path: Path, damage: object, message: str) -> None:
    results(frame({"a": [0.0, 0.5], "b": [1.0, 1.0]})).write(tmp_path, "mine")
    damage(tmp_path / "mine.csv", tmp_path / "mine.json")  # type: ignore[operator]
    with pytest.raises(UserError) as error:
        read_table(tmp_path / "mine.csv")
    assert message in str(error.value) and "\n" not in str(error.value)
