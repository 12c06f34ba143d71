"""Figures of a report: a row for each experiment, what is stale, what is not the same."""

import json
from pathlib import Path
from typing import Any

from housewise.core.files import write_json
from housewise.core.record import Header, Result
from housewise.playback.replay import replay_settings
from housewise.report import experiment_tables
from housewise.systems.personalize.record import read_house_records


def test_stale_figures_are_told(run_folder: Path, tmp_path: Path) -> None:
    episodes = [(record.header, record.result) for record in read_house_records(run_folder / "episodes")]
    assert experiment_tables.find_stale_metrics(run_folder, episodes) == ""
    for content, said in [('{"overall": {"episodes": 9, "success_rate": 5}}', "9 episodes"), ("[]", ""), ("{", "")]:
        (tmp_path / "metrics.json").write_text(content, encoding="utf-8")
        assert said in experiment_tables.find_stale_metrics(tmp_path, episodes)
        assert bool(said) == bool(experiment_tables.find_stale_metrics(tmp_path, episodes))
    assert experiment_tables.find_stale_metrics(tmp_path / "none", episodes) == ""


def test_figures_in_percent_as_they_were_before_version_2_are_not_stale(run_folder: Path, tmp_path: Path) -> None:
    episodes = [(record.header, record.result) for record in read_house_records(run_folder / "episodes")]
    content = json.loads((run_folder / "metrics.json").read_text(encoding="utf-8"))
    assert content["version"] == 2 and 0 < content["overall"]["success_rate"] < 1
    content["overall"]["success_rate"] *= 100
    for version, find_stale_metrics in ((2, True), (1, False)):
        write_json(tmp_path / "metrics.json", {**content, "version": version})
        assert bool(experiment_tables.find_stale_metrics(tmp_path, episodes)) == find_stale_metrics


def test_tables_have_a_row_for_each_experiment(run_folder: Path) -> None:
    record = next(read_house_records(run_folder / "episodes"))
    settings = replay_settings(record.header)

    def other(config: dict[str, Any] | None = None, **changes: Any) -> tuple[Header, Result]:
        chosen = settings.with_changes(**config or {}).model_dump(mode="json")
        return record.header.model_copy(update={"settings": chosen, **changes}), record.result

    def shown(*episodes: tuple[Header, Result]) -> tuple[list[str], list[tuple[str, ...]]]:
        found = experiment_tables.make_tables(episodes)
        return found.settings, [row.experiment for row in found.experiments]

    assert shown(other()) == (["planner"], [("scripted",)])
    # Which houses are played makes no other experiment; whose wishes count does.
    assert shown(other(), other({"seed": 5, "workers": 3}, task="generated-2-0002")) == (["planner"], [("scripted",)])
    assert shown(other(), other({"person": "carl"})) == (["preferences of"], [("ada",), ("carl",)])
    assert shown(other(), other({"planner": "llm"}, agent="llm", models={"agent": "m"})) == (
        ["planner"],
        [("llm",), ("scripted",)],
    )
    taught = [
        other({"planner": "llm", **more}, agent="llm", models={"agent": "m"})
        for more in ({"prompt": "judging"}, {"adapter": "tidy", "prompt": "judging"})
    ]
    assert shown(*taught) == (["adapter"], [("tidy",), ("none",)])
    bold = other(
        {"planner": "llm", "prompt": "judging", "sampling": {"temperature": 2.0}}, agent="llm", models={"agent": "m"}
    )
    assert shown(taught[0], bold) == (["temperature"], [("1",), ("2",)])
    scenes = experiment_tables.make_tables([other({"data": "x"}, group="b"), other({"data": "x"}, group="a/test")])
    assert [row.scene for row in scenes.scenes] == ["a, test", "b"]
    assert experiment_tables.overall_row([other()]).error is None


def test_a_long_list_of_a_setting_is_told_in_short_and_from_another(run_folder: Path) -> None:
    record = next(read_house_records(run_folder / "episodes"))
    plain = replay_settings(record.header)

    def with_kinds(*kinds: str) -> tuple[Header, Result]:
        chosen = plain.with_changes(planner="llm", familiar_kinds=list(kinds)).model_dump(mode="json")
        return record.header.model_copy(
            update={"settings": chosen, "agent": "llm", "models": {"agent": "m"}}
        ), record.result

    kinds = [f"kind {number}" for number in range(300)]
    found = experiment_tables.make_tables([with_kinds(*kinds), with_kinds(*kinds[1:], "another"), with_kinds("mug")])
    assert found.settings == ["familiar_kinds"]
    cells = [row.experiment[0] for row in found.experiments]
    assert len(set(cells)) == 3 and "mug" in cells and max(map(len, cells)) < 20
    assert sorted(cell.split()[0] for cell in cells) == ["300", "300", "mug"]


def test_unequal_sets_are_told(run_folder: Path) -> None:
    record = next(read_house_records(run_folder / "episodes"))
    ours = [(record.header.model_copy(update={"repetition": run}), record.result) for run in range(3)]
    theirs = [(record.header.model_copy(update={"repetition": 0, "agent": "demonstrator"}), record.result)]
    found = experiment_tables.make_tables([*ours, *theirs])
    (note,) = found.notes
    assert "demonstrator: 1 episode; scripted: 3 episodes; 1 in common" in note
    assert found.comparisons[0].differences[0].mean == 0
