"""What measured episodes were played with: commits, dates and software, as their records say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from housewise.core.files import find_paths
from housewise.core.record_files import FINISHED
from housewise.experiments.runner import ExperimentRunner
from housewise.rollout.record_reader import read_summary


class EpisodeProvenance(BaseModel):
    """What the episodes of a results table, or the calls of its function, were measured with.

    Attributes:
        commits: Commits, the earliest used first. None stands for episodes whose commit is not known.
        changed: Whether code of some episodes differed from their commit.
        first, last: Start of the first and of the last one, UTC, ISO 8601.
        software: Versions by package; more than one if an experiment was resumed after an update.
    """

    model_config = ConfigDict(extra="forbid")

    commits: tuple[str | None, ...] = ()
    changed: bool = False
    first: str = ""
    last: str = ""
    software: dict[str, tuple[str, ...]] = {}

    @property
    def knows_commit(self) -> bool:
        """Whether the commit of at least one episode is known."""
        return any(self.commits)


class _Origin(NamedTuple):
    """What one episode or call was measured with."""

    date: str
    commit: str | None
    changed: bool
    software: dict[str, str]


def read_episode_provenance(runner: ExperimentRunner) -> EpisodeProvenance:
    """Return what the finished episodes and calls of an experiment were measured with.

    Raises:
        UserError: A record is damaged.
    """
    found = sorted([*_origins_of_calls(runner), *_origins_of_episodes(runner)], key=lambda origin: origin.date)
    dates = [origin.date for origin in found if origin.date]
    software: dict[str, dict[str, None]] = {}
    for origin in found:
        for package, version in origin.software.items():
            software.setdefault(package, {})[version] = None
    return EpisodeProvenance(
        commits=tuple(dict.fromkeys(origin.commit for origin in found)),
        changed=any(origin.changed for origin in found),
        first=dates[0] if dates else "",
        last=dates[-1] if dates else "",
        software={package: tuple(versions) for package, versions in software.items()},
    )


def _origins_of_episodes(runner: ExperimentRunner) -> Iterator[_Origin]:
    for planned in runner.grid.measured_runs:
        for path in find_paths(runner.folder / planned.folder / "episodes", f"*{FINISHED}"):
            header, _ = read_summary(path)
            if planned.measures_task(header.task):
                yield _Origin(header.started, header.commit, bool(header.changed), header.software)


def _origins_of_calls(runner: ExperimentRunner) -> Iterator[_Origin]:
    for made in runner.function_provenance():
        yield _Origin(
            str(made.get("date") or ""), made.get("commit"), bool(made.get("changed")), made.get("software", {})
        )
