"""Writes pages that show the episodes of one task side by side, turn by turn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.files import write_text
from housewise.report.entries import EpisodeEntry
from housewise.report.episode_pages import read_page_start, relative_url, template_version
from housewise.report.rendering import render
from housewise.report.views.base import TurnCell
from housewise.rollout.record_reader import read_record

MAX_BESIDE = 6
"""Maximum number of episodes on a page: the worst ones."""

_FOLDER = "side-by-side"


@dataclass(frozen=True)
class SideBySidePage:
    """A page with several episodes of one task.

    Attributes:
        entries: The episodes, worst first.
        file: Path of the page.
        index: Path of the index.
        pages: Folder of the episodes' own pages.
        name: Name of the report.
    """

    entries: tuple[EpisodeEntry, ...]
    file: Path
    index: Path
    pages: Path
    name: str

    @property
    def is_current(self) -> bool:
        """Whether the file is the page that would be written."""
        return self._key() in read_page_start(self.file)

    def write(self) -> None:
        """Write the page."""
        shown = self.entries[:MAX_BESIDE]
        turns = [{(cell.attempt, cell.number): cell for cell in _turns(entry)} for entry in shown]
        variables = {
            "made": self._key(),
            "beside": True,
            "index": relative_url(self.index, self.file),
            "name": self.name,
            "entries": shown,
            "main_score": shown[0].main_score,
            "links": [relative_url(self.pages / entry.page, self.file) for entry in shown],
            "initial_facts": shown[0].view.initial_facts(shown[0].header) if shown[0].header else [],
            "several_attempts": any(attempt > 1 for cells in turns for attempt, _ in cells),
            "rows": [
                (key, [cells.get(key) for cells in turns]) for key in sorted({key for cells in turns for key in cells})
            ],
            "left_out": len(self.entries) - len(shown),
        }
        write_text(self.file, render("side_by_side.html", variables))

    def _key(self) -> str:
        """Return the digest of everything that the page depends on."""
        digests = [(entry.key, entry.digest) for entry in self.entries]
        parts = [template_version(), digests, self.name, relative_url(self.index, self.file)]
        return sha256(json.dumps(parts).encode()).hexdigest()


def plan_side_by_side(entries: Sequence[EpisodeEntry], out: Path, index: Path, name: str) -> list[SideBySidePage]:
    """Return a page for each task that was played several times, if its system has turns to show.

    Args:
        entries: All episodes, worst first.
        out: Folder for the pages.
        index: Path of the index.
        name: Name of the report.

    Raises:
        UserError: The target folder is a symbolic link.
    """
    groups: dict[str, list[EpisodeEntry]] = {}
    for entry in entries:
        if entry.header and entry.result and getattr(entry.view, "has_turns", False):
            task = json.dumps([entry.header.task, entry.header.initial_state], sort_keys=True)
            groups.setdefault(task, []).append(entry)
    folder = out / _FOLDER
    if groups and folder.is_symlink():
        raise UserError(f"{folder}: is a link, and a report is not written through links; remove it")
    return [
        SideBySidePage(tuple(group), folder / f"{sha256(task.encode()).hexdigest()[:16]}.html", index, out, name)
        for task, group in groups.items()
        if len(group) > 1
    ]


def together_files(pages: Sequence[SideBySidePage]) -> dict[str, Path]:
    """Return the path of the page that shows each episode beside others, by the episode's key."""
    return {entry.key: page.file for page in pages for entry in page.entries[:MAX_BESIDE]}


def _turns(entry: EpisodeEntry) -> list[TurnCell]:
    return entry.view.list_turns(read_record(entry.path))
