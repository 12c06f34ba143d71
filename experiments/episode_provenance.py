"""What measured episodes were played with: commits, dates and software, as their records say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from housewise.core.record import Header


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


class MeasurementOrigin(NamedTuple):
    """What one episode or call was measured with.

    Attributes:
        date: Its start, UTC, ISO 8601. Empty if it is not known.
        commit: Commit of the program, if it is known.
        changed: Whether the code differed from the commit.
        software: Versions by package.
    """

    date: str
    commit: str | None
    changed: bool
    software: Mapping[str, str]

    @classmethod
    def of_episode(cls, header: Header) -> MeasurementOrigin:
        """Return what an episode was played with."""
        return cls(header.started, header.commit, bool(header.changed), header.software)

    @classmethod
    def of_call(cls, made: Mapping[str, Any]) -> MeasurementOrigin:
        """Return what a call was made with, as its file says. Files of earlier versions do not say it."""
        return cls(str(made.get("date") or ""), made.get("commit"), bool(made.get("changed")), made.get("software", {}))


def combine_origins(origins: Iterable[MeasurementOrigin]) -> EpisodeProvenance:
    """Return what the finished episodes and calls of an experiment were measured with."""
    found = sorted(origins, key=lambda origin: origin.date)
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
