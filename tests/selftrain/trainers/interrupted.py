"""Trainings that are killed at one of their writes, or whose disk is full from one on, and tried again.

    python -m tests.selftrain.trainers.interrupted WHAT FOLDER STOPS EVERY

Prints a JSON object: the ``writes`` of a training that nothing disturbs, how many were ``tried``, each EVERY-th, and
what went ``wrong``. STOPS are ``kill_at`` and ``full_from``, separated by commas, and take turns. A process of its
own, as each try is a fork of it, which is quick.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from housewise.core.console import Console
from housewise.core.exit_codes import run_cli
from housewise.selftrain.examples import write_examples
from housewise.selftrain.personalize.self_training import SelfTraining
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.train_on_preferences import main as prefer
from housewise.selftrain.trainers import ModelReference, dpo
from housewise.selftrain.trainers.local import LocalTrainer
from housewise.terminal.selftrain_progress import TrainingDisplay
from tests.machines.writes import NEED_NO_ROOM, run_traced
from tests.selftrain.tiny import PREFERENCES, pair, save_learner, save_prompt, training

_STEPS = {"checkpoint_steps": 1, "rank": 2}
_LOADED = dpo
"""It takes most of a training's time to load what it takes; forks find that here."""
_SECONDS = re.compile(rb'("seconds": |\| seconds \| )[\d.e+-]+')


class Trainings:
    """What is interrupted.

    Args:
        folder: for the model and all else that a training begins with.
    """

    def __init__(self, folder: Path) -> None:
        self._model = f"local:{save_learner(folder / 'tiny')}"
        self._preferences, self._prompt = folder / "preferences.jsonl", save_prompt(folder / "short.yaml")
        write_examples(self._preferences, PREFERENCES)

    def preferences(self, folder: Path) -> None:
        """DPO, by its command; three steps, so that checkpoints are removed as well."""
        settings = [
            "epochs=1",
            "batch=2",
            "max_packed_examples=1",
            "rank=2",
            "checkpoint_steps=1",
            "device=cpu",
            "dtype=float32",
        ]
        overrides = [f"preference.{setting}" for setting in settings]
        prefer(self._preferences, folder, self._model, overrides=overrides)

    def replies(self, folder: Path) -> None:
        """An adapter that learns replies, two in a row."""
        self._learn(folder, 8, max_packed_examples=2)

    def weights(self, folder: Path) -> None:
        """All weights, which learn replies."""
        self._learn(folder, 4, method="full")

    def _learn(self, folder: Path, count: int, **changes: Any) -> None:
        settings = training(epochs=1, **_STEPS, **changes)
        examples = [pair(number) for number in range(count)]
        LocalTrainer(settings).train(examples, ModelReference(model=self._model), folder)

    def phase(self, folder: Path) -> None:
        """The first phase of a self-training, whose demonstrations are there, with what is written around it."""
        run = {"model": self._model, "prompt": str(self._prompt), "max_steps": 40, "max_plans": 2}
        tasks = {"houses": 1}
        settings = {
            "run": run,
            "demonstrations": tasks,
            "training_tasks": tasks,
            "iterations": 0,
            "imitation_epochs": 1,
            "imitation_plans": 4,
            "lessons": [],
            "training": {"batch": 2, "device": "cpu", "dtype": "float32", "max_example_tokens": 16384, **_STEPS},
            "evaluation": {"tasks": [], "untrained": False},
        }
        SelfTraining(load_selftraining(settings=settings), folder, TrainingDisplay(Console())).run()


def interrupted(what: str, folder: Path, stops: list[str], every: int) -> dict[str, Any]:
    """See above."""
    train: Callable[[Path], None] = getattr(Trainings(folder), what)
    place, log, begun = folder / "training", folder / "log", folder / "begun"

    def attempt(**stops: int | None) -> tuple[int, str, list[str]]:
        found = run_traced(lambda: run_cli(lambda: train(place)), place, log, **stops)
        return found.status, found.output, found.writes

    begun.mkdir()
    if what == "phase":
        status, output, _ = attempt()
        assert status == 0, output
        shutil.copytree(place / "demonstrate", begun / "demonstrate")
        shutil.rmtree(place)
    shutil.copytree(begun, place)
    status, output, writes = attempt()
    assert status == 0, output
    whole, wrong, tried = _contents(place), list[str](), 0
    for number in range(every, len(writes) + 1, every):
        stop = stops[tried % len(stops)]
        if stop == "full_from" and writes[number - 1].partition(" ")[0] in NEED_NO_ROOM:
            continue
        tried += 1
        shutil.rmtree(place)
        shutil.copytree(begun, place)
        status, output, _ = attempt(**{stop: number})
        problem = _problem(stop, status, output)
        if not problem:
            status, output, _ = attempt()
            problem = output if status else _difference(whole, _contents(place))
        if problem:
            wrong.append(f"{stop} {number}, {writes[number - 1]}: {problem}")
    return {"writes": writes, "tried": tried, "wrong": wrong}


def _problem(stop: str, status: int, output: str) -> str:
    """What is wrong with how a stopped training ended: killed, with one line, or well where it can do without."""
    if stop == "kill_at":
        return "" if status < 0 else f"was not killed: {output}"
    errors = [line for line in output.splitlines() if line.startswith("error: ")]
    if status == 0 or (status == 2 and len(errors) == 1 and "No space left on device" in errors[0]):
        return ""
    return f"{status}: {output}"


def _contents(folder: Path) -> dict[str, bytes]:
    """Every file and folder, without how long it took."""
    return {
        path.relative_to(folder).as_posix(): b"" if path.is_dir() else _SECONDS.sub(b"", path.read_bytes())
        for path in folder.rglob("*")
    }


def _difference(whole: dict[str, bytes], found: dict[str, bytes]) -> str:
    names = sorted(name for name in {*whole, *found} if whole.get(name) != found.get(name))
    return f"differs in {', '.join(names)}" if names else ""


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    [which, where, ways, step] = sys.argv[1:]
    print(json.dumps(interrupted(which, Path(where), ways.split(","), int(step))))
