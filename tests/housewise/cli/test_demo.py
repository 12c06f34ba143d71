"""What the demo shows."""

from housewise.cli.demo import demo_runs, summary_lines
from housewise.core.settings import flatten_settings


def test_the_models_two_runs_differ_in_the_adapter_alone() -> None:
    runs = demo_runs(houses=2, seed=7)
    trained, untrained = (flatten_settings(runs[name].model_dump()) for name in ("trained", "untrained"))
    assert {key for key in trained if trained[key] != untrained[key]} == {"models.agent.adapter"}
    assert untrained["models.agent.adapter"] is None
    assert {(run.tasks.houses, run.tasks.seed) for run in runs.values()} == {(2, 7)}


def test_its_last_lines_say_what_came_of_each_run_and_who_chose_the_steps() -> None:
    figures = {
        "scripted": {"success_rate": 1.0},
        "trained": {"success_rate": 0.8, "own_choice": 0.72},
        "untrained": {"success_rate": -0.25, "own_choice": 0.34},
    }
    came_out, who_chose = summary_lines(figures)
    assert all(share in came_out for share in ("scripted 100 %", "its adapter 80 %", "without it -25 %", "below 0"))
    assert "72 % and 34 %" in who_chose
    figures["untrained"]["success_rate"] = 0.0
    assert "below 0" not in summary_lines(figures)[0]
