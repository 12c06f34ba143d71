"""Runs in their folders: which episodes there are to play, each recorded, none played twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError
from housewise.core.files import alone, write_json, write_text
from housewise.rollout.executors import Silent, Watcher, open_executor
from housewise.rollout.failures import FailedEpisodesError, read_failures
from housewise.rollout.metrics import metrics
from housewise.rollout.record import FAILED, read_records
from housewise.systems.personalize.config import RunConfig
from housewise.systems.personalize.tasks import Job, check_person, task_names


class Run:
    """A run in its folder: ``config.json``, ``episodes/*.jsonl``, ``metrics.json``.

    Args:
        config: what to play and with what.
        folder: made when it is missing; one in which episodes were played with other settings is refused.

    Raises:
        UserError: when the folder or the settings do not fit.
    """

    def __init__(self, config: RunConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.episodes = folder / "episodes"
        self._check_folder()
        check_person(config)
        self.jobs = [Job(task, run) for task in task_names(config) for run in range(config.runs)]

    @property
    def finished(self) -> list[Job]:
        """Jobs whose records are there."""
        return [job for job in self.jobs if (self.episodes / f"{job.name}.jsonl").exists()]

    @property
    def open(self) -> list[Job]:
        """Jobs still to be played."""
        done = {job.name for job in self.finished}
        return [job for job in self.jobs if job.name not in done]

    def play(self, watcher: Watcher | None = None) -> dict[str, Any]:
        """Play what is open.

        Returns:
            The figures over all records of the folder, as in ``metrics.json``.

        Raises:
            FailedEpisodesError: when some episodes failed; the others are played, and it brings their figures.
            UserError: when something outside the program is wrong; finished episodes are kept.
        """
        with alone(self.folder):
            # Another program may have played here since.
            self._check_folder()
            return self._play(watcher or Silent())

    def _play(self, watcher: Watcher) -> dict[str, Any]:
        jobs = self.open
        if jobs:
            write_json(self.folder / "config.json", self.config.model_dump())
            keep_files(self.config, self.folder, anew=not begun(self.episodes))
            open_executor(self.config, self.episodes, watcher).play(jobs)
        finished = [(record.episode, record.result) for record in read_records(self.episodes)]
        failures = read_failures(self.episodes)
        figures = metrics(finished, [each.reason for each in failures])
        write_json(self.folder / "metrics.json", figures)
        mine = {job.name for job in self.jobs}
        if failed := [each for each in failures if each.name in mine]:
            raise FailedEpisodesError.of(failed, len(self.jobs), figures)
        return figures

    def _check_folder(self) -> None:
        path = self.folder / "config.json"
        if not path.exists():
            return
        try:
            earlier = RunConfig.model_validate(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError) as error:
            raise UserError(f"{path}: not the settings of a run; choose another folder with --out") from error
        # Where nothing has been played, nothing is lost with other settings: a slip can be corrected.
        if not begun(self.episodes):
            return
        changed = [key for key, value in self.config.identity.items() if not same_setting(earlier.identity[key], value)]
        if changed:
            raise UserError(
                f"{self.folder}: holds a run with other settings ({', '.join(changed)}); choose another folder with "
                "--out, or use the same settings to resume it"
            )
        check_files(self.config, self.folder)


def begun(episodes: Path) -> bool:
    """Whether a folder of records has an episode that was played to its end, or that failed."""
    return any(path.name.endswith((".jsonl", f".jsonl{FAILED}")) for path in episodes.glob("*"))


def same_setting(earlier: Any, now: Any) -> bool:
    """Whether a setting is what it was, or names a model in a folder that has been moved or is seen from elsewhere."""
    if earlier == now:
        return True
    if not isinstance(earlier, str) or not isinstance(now, str):
        return False
    before, after = (Path(name.removeprefix("local:")) for name in (earlier, now))
    if before.is_dir() and after.is_dir():
        return before.samefile(after)
    alike = len(after.parts) > 1 and before.parts[-2:] == after.parts[-2:]
    return alike and after.is_dir() and not before.exists()


def keep_files(config: RunConfig, folder: Path, anew: bool = False) -> None:
    """Keep copies of files of the user's own that a run depends on: its prompt and its person.

    Args:
        config: of the run.
        folder: of the copies.
        anew: whether to replace copies that are there.

    Raises:
        UserError: when the disk does not take them.
    """
    for path, copy in _own_files(config, folder):
        if anew or not copy.exists():
            write_text(copy, path.read_text(encoding="utf-8"))


def check_files(config: RunConfig, folder: Path) -> None:
    """Compare files of the user's own with the copies that keep_files made.

    Raises:
        UserError: when one has changed since.
    """
    for path, copy in _own_files(config, folder):
        if copy.exists() and copy.read_bytes() != path.read_bytes():
            raise UserError(
                f"{path}: has changed since {folder} was begun; choose another folder with --out, or bring back what "
                f"it was, which is in {copy}"
            )


def _own_files(config: RunConfig, folder: Path) -> list[tuple[Path, Path]]:
    named = {"prompt": Path(config.prompt), "person": Path(config.person)}
    return [(path, folder / f"{setting}.yaml") for setting, path in named.items() if path.is_file()]
