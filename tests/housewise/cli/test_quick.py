"""``--quick`` changes what a configuration says, and nothing that the command line says."""

from pathlib import Path
from typing import Any

import pytest

from housewise.cli import selftrain
from housewise.core.plugins import SYSTEMS, plugin_names
from housewise.core.settings import merge_nested
from housewise.selftrain.personalize.quick_settings import quick_settings
from housewise.selftrain.personalize.settings import LessonsConfig, load_selftraining
from housewise.selftrain.training_settings import describe_quick
from housewise.terminal import run_progress, selftrain_progress
from tests.in_process import call_housewise


def config_file(folder: Path, content: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(content)
    return path


@pytest.mark.parametrize("system", plugin_names(SYSTEMS))
def test_a_quick_run_plays_few_episodes_unless_the_command_line_says_how_many(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[int | None] = []
    monkeypatch.setattr(
        run_progress, "play_run", lambda playing, *_: limits.append(playing.settings.execution.max_episodes)
    )
    config = config_file(tmp_path, "max_episodes: 9999\n")
    words = ("run", "--system", system, "--config", config, "--quick", "--out", tmp_path / "out")
    for more in ((), ("max_episodes=700",), ("max_episodes=null",)):
        call_housewise(*words, *more, code=0)
    few, *given = limits
    assert few is not None and few < 700 and given == [700, None]


PERSONALIZE = {
    "demonstrations": {"houses": 1, "repeats": 1},
    "training_tasks": {"houses": 1},
    "grow": {"repeats": 1},
    "iterations": 1,
    "lessons": [],
    "evaluation": {"repeats": 1},
}


@pytest.mark.parametrize(
    ("system", "config", "words", "quick", "given"),
    [
        (
            "personalize",
            "iterations: 3\ngrow: {repeats: 5}\nlessons: [{houses: 9, each: 2, seed: 4000}]\n",
            (
                *("--houses", "8", "--repeats", "2", "iterations=2", "demonstrations.repeats=3"),
                *("evaluation.repeats=4", "lessons=[{houses: 1, each: 2, seed: 3000}]"),
            ),
            PERSONALIZE,
            {
                "demonstrations": {"houses": 4, "repeats": 3},
                "training_tasks": {"houses": 8},
                "grow": {"repeats": 2},
                "iterations": 2,
                "lessons": [LessonsConfig(houses=1, each=2, seed=3000)],
                "evaluation": {"repeats": 4},
            },
        ),
        ("personalize", "iterations: 0\n", ("--iterations", "1"), {"iterations": 0}, {"iterations": 1}),
        (
            "adapt",
            "run: {person: lisa}\nwarm_up: {people: 7}\n",
            ("--person", "mark", "warm_up.people=3"),
            {"run": {"tasks": {"person": ("juan",)}}, "warm_up": {"people": 1}},
            {"run": {"tasks": {"person": ("mark",)}}, "warm_up": {"people": 3}},
        ),
        (
            "adapt",
            "run: {person: lisa}\n",
            ("--person", "mine.yaml"),
            {"run": {"tasks": {"person": ("juan",), "people": None}}},
            {"run": {"tasks": {"person": (), "people": "mine.yaml"}}},
        ),
        (
            "adapt",
            "",
            ("--person", "mine.yaml:zoe"),
            {"run": {"tasks": {"person": ("juan",), "people": None}}},
            {"run": {"tasks": {"person": ("zoe",), "people": "mine.yaml"}}},
        ),
        ("basis", "sessions: {scenarios: 7}\n", ("sessions.scenarios=3",), {"sessions": {"scenarios": 1}},
         {"sessions": {"scenarios": 3}}),
    ],
)  # fmt: skip
def test_a_quick_training_is_small_where_the_command_line_says_nothing_else(
    system: str,
    config: str,
    words: tuple[str, ...],
    quick: dict[str, Any],
    given: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trained: list[Any] = []
    monkeypatch.setattr(selftrain_progress, "run_selftraining", lambda settings, *_: trained.append(settings))
    monkeypatch.setattr(selftrain_progress, "run_training", lambda train, *_: train(None))
    monkeypatch.setattr(selftrain, "_find_training", lambda _: (lambda settings, *_: trained.append(settings), "x"))
    command = ("selftrain", "--system", system, "--config", config_file(tmp_path, config), "--quick")
    for more in ((), words):
        call_housewise(*command, *more, "--out", tmp_path / "out", code=0)
    assert [selection(each, expected) for each, expected in zip(trained, (quick, given), strict=True)] == [quick, given]


def selection(settings: Any, expected: dict[str, Any]) -> dict[str, Any]:
    """The settings that are expected, by key."""
    return {
        key: selection(getattr(settings, key), value) if isinstance(value, dict) else getattr(settings, key)
        for key, value in expected.items()
    }


def test_the_note_names_what_quick_changes_alone() -> None:
    command = {"iterations": 2, "grow": {"repeats": 7}}
    whole = load_selftraining(settings=command)
    note = describe_quick(whole, load_selftraining(settings=merge_nested(quick_settings(whole), command)))
    assert "run.max_steps=120" in note and "demonstrations.houses=1" in note
    assert "iteration" not in note and "grow.repeats" not in note
    assert describe_quick(whole, whole).startswith("quick: nothing changes")
