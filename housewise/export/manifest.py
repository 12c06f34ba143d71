"""The manifest of an export: which episodes it holds, and which it leaves out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from housewise.core.formatting import join_names
from housewise.core.record import Record
from housewise.core.record_files import FINISHED
from housewise.export.episode_playback import Playback

MANIFEST = "housewise.json"
"""File of an export that lists its episodes with their records, and the episodes that were left out."""


@dataclass(frozen=True)
class ExportedEpisode:
    """A finished episode that is being exported.

    Attributes:
        run: Name of the run's folder.
        path: Path of the record.
        record: Record of the episode.
        playback: The replayed episode, or None if it cannot be replayed.
        id: Digest of the record's file, which identifies it among all records of all runs.
    """

    run: str
    path: Path
    record: Record
    playback: Playback | None
    id: str

    @property
    def name(self) -> str:
        """Name of the record's file, which no other record of the run has, even if their headers are equal."""
        return self.path.name.removesuffix(FINISHED)

    @property
    def facts(self) -> dict[str, Any]:
        """What identifies the episode among all episodes, and how it ended."""
        header = self.record.header
        return {
            "run": self.run,
            "record": self.name,
            "id": self.id,
            "system": header.system,
            "task": header.task,
            "person": header.person,
            "agent": header.agent,
            "models": header.models,
            "seed": header.seed,
            "started": header.started,
            "end_reason": self.record.result.end_reason,
            "scores": self.record.result.scores,
        }


class Manifest:
    """Collects the episodes of an export and those that are left out.

    Attributes:
        warnings: Lines for the user about what the export lacks.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._episodes: list[dict[str, Any]] = []
        self._left_out: dict[str, list[str]] = defaultdict(list)

    @property
    def episodes(self) -> int:
        """Number of episodes in the export."""
        return len(self._episodes)

    def add(self, episode: ExportedEpisode, **place: Any) -> None:
        """Add an episode that was written.

        Args:
            episode: The episode.
            place: Where it is in the export, by name.
        """
        differences = list(episode.playback.differences) if episode.playback else []
        self._episodes.append({**place, **episode.facts, "differences": differences})

    def leave_out(self, name: str, reason: str) -> None:
        """Add an episode that is not exported.

        Args:
            name: Name of its record.
            reason: A short reason, equal for all episodes that are left out for it.
        """
        self._left_out[reason].append(name)

    @property
    def content(self) -> dict[str, Any]:
        """The manifest as JSON-compatible values."""
        return {"housewise": version("housewise"), "episodes": self._episodes, "left_out": dict(self._left_out)}

    @property
    def omissions(self) -> list[str]:
        """One line per reason with the number and the names of the episodes that were left out."""
        return [f"left out, {reason}: {len(names)} ({join_names(names)})" for reason, names in self._left_out.items()]
