"""What a run says before it begins."""

from pathlib import Path
from typing import Any

import pytest

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.rollout.failures import RunEndedError
from housewise.rollout.run import Run
from housewise.rollout.scores import compute_metrics
from housewise.rollout.system import find_system
from housewise.systems.adapt.system import Adapt
from housewise.systems.basis.system import Basis
from housewise.systems.personalize.system import Personalize
from housewise.terminal.run_progress import _print_figures, announcement_lines, quick_episodes, resume_hint


def said_of(folder: Path, **settings: Any) -> str:
    return " | ".join(announcement_lines(Run(Personalize(Personalize.load(settings=settings)), folder)))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"houses": 40}, "with the adapter tidy | playing 40 episodes, roughly 15 min on two CPU cores; --quick"),
        ({"houses": 4, "planner": "scripted"}, "playing 4 episodes, roughly 10 s on two CPU cores"),
        ({"houses": 2, "model": "m"}, "model: m | playing 2 episodes; the time left is shown once some are over"),
        ({"houses": 9, "planner": "scripted", "max_episodes": 2}, "; 7 are left out, which the same command plays"),
        ({"houses": 2, "planner": "scripted", "max_episodes": 1}, "; 1 is left out, which the same command plays"),
    ],
)
def test_it_says_how_many_episodes_and_roughly_how_long(
    settings: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    assert expected in said_of(tmp_path / "run", **settings)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            {"model": "m"},
            "model: m | playing 70 episodes; the time left is shown once some are over; up to about 3,430",
        ),
        ({"model": "m", "person": "model", "max_episodes": 1, "attempts": 2}, "; up to about 198 requests to models"),
        (
            {"planner": "llm", "max_episodes": 1, "max_actions": 6},
            "1 episode, roughly 60 s on two CPU cores; up to about 5",
        ),
        ({}, "playing 70 episodes, roughly 70 s on two CPU cores"),
    ],
)
def test_it_says_how_many_requests_are_made_at_most(settings: dict[str, Any], expected: str, tmp_path: Path) -> None:
    said = " | ".join(announcement_lines(Run(Basis(Basis.load(settings=settings)), tmp_path / "run")))
    assert expected in said and ("requests" in said) == bool(settings)


@pytest.mark.parametrize(
    ("system", "settings", "limit"),
    [("stars", {"max_goal_tokens": 7}, "max_goal_tokens=7"), ("personalize", {"max_tokens": 9}, "max_tokens=9")],
)
def test_cut_replies_name_the_limit_of_the_system(
    system: str, settings: dict[str, Any], limit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = find_system(system)
    figures = compute_metrics([], ())
    figures["overall"]["finish_reasons"] = {"length": 2, "stop": 1}
    _print_figures(figures, found(found.load(settings=settings)), tmp_path, Console())
    assert f"2 of 3 replies were cut at {limit}, so that" in capsys.readouterr().out


def test_a_quick_run_plays_the_first_episodes_and_the_same_run_the_others(tmp_path: Path) -> None:
    settings = {"houses": 3, "planner": "scripted", "max_steps": 5}
    first = Run(Personalize(Personalize.load(settings={**settings, "max_episodes": 1})), tmp_path)
    first.play()
    assert [job.task.name for job in first.jobs] == ["generated-0-0000"]
    rest = Run(Personalize(Personalize.load(settings=settings)), tmp_path)
    assert (len(rest.finished_jobs), len(rest.open_jobs)) == (1, 2)
    assert "1 of 3 episodes are finished already; playing the other 2" in " ".join(announcement_lines(rest))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyboardInterrupt(), "to resume: the same command with --out "),
        (RunEndedError("an episode failed"), "to resume: the same command with --out "),
        (UserError("delete a file"), "to resume, after what the error below asks for: the same command with --out "),
    ],
)
def test_what_an_error_asks_for_comes_before_resuming(
    error: BaseException, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "generated-0-0000-run0.jsonl").touch()
    with pytest.raises(type(error)), resume_hint(Console(), tmp_path):
        raise error
    assert capsys.readouterr().out.startswith(said)


def test_a_quick_run_takes_some_two_minutes() -> None:
    assert quick_episodes(Adapt(Adapt.load(settings={"adapter": "breakfast"}))) == 4
    assert quick_episodes(Personalize(Personalize.load(settings={"adapter": "none"}))) == 1
    assert quick_episodes(Personalize(Personalize.load(settings={"model": "somebody's"}))) == 2
