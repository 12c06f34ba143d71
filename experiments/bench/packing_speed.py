"""Speed of training on sessions whose turns are packed in one sequence, beside each turn alone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from housewise.experiments.measured_values import MeasuredValue
from housewise.rollout.executor import RunCallback
from housewise.rollout.run import Run
from housewise.selftrain.basis.session_examples import SessionLessonsConfig, session_demonstrations
from housewise.selftrain.examples import SessionDemonstration
from housewise.selftrain.trainers.local import LocalTrainer
from housewise.selftrain.trainers.settings import TrainingConfig
from housewise.selftrain.trainers.trained_model import ModelReference
from housewise.systems.basis.settings import BasisAgentSettings, BasisSettings, BasisTaskSettings
from housewise.systems.basis.system import Basis


def time_training(
    variants: Sequence[str], seed: int, packed: int, routine_share: float = 1.0
) -> Iterator[MeasuredValue]:
    """Measure one epoch on sessions of the scripted oracle, packed and each turn alone, without loading the model.

    Args:
        variants: Names of variants; a session of each is learned.
        seed: Seed of the scenarios, which are those for training.
        packed: Maximum number of turns in one sequence.
        routine_share: Share of the routine turns that are learned; see SessionLessons.
    """
    with TemporaryDirectory() as folder:
        sessions = play_sessions(variants, seed, Path(folder) / "sessions", routine_share)
        for number, turns in enumerate(sessions):
            ours = time_epoch(turns, packed, Path(folder) / f"packed{number}")
            alone = time_epoch(turns, 1, Path(folder) / f"alone{number}")
            for measure, value in {
                "turns": len(turns),
                "seconds_per_turn": ours / len(turns),
                "alone_seconds_per_turn": alone / len(turns),
                "times_alone": alone / ours,
            }.items():
                yield MeasuredValue(turns[0].variant, 0, measure, value)


def play_sessions(
    variants: Sequence[str], seed: int, folder: Path, routine_share: float
) -> list[list[SessionDemonstration]]:
    """Play sessions with the scripted oracle, and return the examples of those that reached their goal."""
    tasks = BasisTaskSettings(variant=tuple(variants), seed=seed, split="training", attempts=3)
    settings = BasisSettings(tasks=tasks, agent=BasisAgentSettings(planner="oracle"))
    Run(Basis(settings), folder).play(RunCallback())
    config = SessionLessonsConfig.load(overrides=["agent.perception=words", "agent.compact=true"])
    return list(session_demonstrations([folder], config.lessons(routine_share)))


def time_epoch(turns: Sequence[SessionDemonstration], packed: int, folder: Path) -> float:
    """Train on the turns of a session twice, and return the seconds of the second time."""
    ends: list[float] = []

    def note_time(done: int, total: int, description: str) -> None:
        if done:
            ends.append(time.perf_counter())

    config = TrainingConfig(
        epochs=2, batch=1 if packed > 1 else len(turns), max_packed_examples=packed, max_example_tokens=3072
    )
    LocalTrainer(config, 0, note_time).train(turns, ModelReference(model="local"), folder)
    return ends[-1] - ends[len(ends) // 2 - 1]
