"""Writes the pages of episodes in several processes, and only those that are missing or out of date.

All pages are first written from the records alone, which is fast. Pages with pictures and films are then written
again.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from housewise.core.errors import UserError
from housewise.core.files import open_regular, write_bytes, write_text
from housewise.core.printable_text import excerpt
from housewise.core.processes import can_start_processes, process_pool
from housewise.core.record import Record
from housewise.report.drawing.film import Film, encoder
from housewise.report.entries import EpisodeEntry, wrap_record_errors
from housewise.report.rendering import digest_report_code, render
from housewise.report.views.base import EpisodeContent, EpisodeView, SaveFilm
from housewise.rollout.comparison_settings import setting_label
from housewise.rollout.record_reader import read_record
from housewise.worlds.house.simulator import RAYCAST, SimulatorChoice

Progress = Callable[[str, int, int], None]
"""Called as `progress(what, done, total)` before the first page and after each."""

WORST = 20
"""Default number of the worst episodes with pictures and films."""

_MAX_ALIKE = 3
_PAGE_KEY = re.compile(r"<!-- (\w+)( filmed)? -->")
_NAVIGATION = re.compile(r"(?<=<!--turn-->).*?(?=<!--/turn-->)", re.DOTALL)


@dataclass(frozen=True)
class ReportOptions:
    """How pages are written.

    Attributes:
        film: Whether pages with pictures also have films.
        simulator: Simulator that renders the pictures.
        worst: Number of the worst episodes with pictures, or None for all.
        episodes: Names of further episodes with pictures.
    """

    film: bool = True
    simulator: SimulatorChoice = RAYCAST
    worst: int | None = WORST
    episodes: tuple[str, ...] = ()

    def choose_illustrated(self, entries: Sequence[EpisodeEntry]) -> set[str]:
        """Return the keys of the episodes that get pictures.

        Args:
            entries: All episodes, worst first. Failed ones get no pictures.

        Raises:
            UserError: A named episode does not exist.
        """
        played = [entry for entry in entries if entry.result is not None]
        found = {entry.key for entry in played[: self.worst]}
        for name in self.episodes:
            named = {entry.key for entry in played if name in (entry.name, entry.key)}
            if not named:
                alike = get_close_matches(name, [entry.key for entry in played], _MAX_ALIKE, cutoff=0)
                raise UserError(
                    f"--films {excerpt(name)}: neither all, nor a number, nor an episode that was played to its end"
                    + (f"; episodes are called as their records are, such as {', '.join(alike)}" if alike else "")
                )
            found |= named
        return found


@dataclass(frozen=True)
class PageLink:
    """A link from one episode's page to another."""

    href: str
    title: str


@dataclass(frozen=True)
class EpisodePage:
    """The page of an episode that is to be written.

    Attributes:
        entry: The episode.
        file: Path of the page.
        index: URL of the index, relative to the page.
        name: Name of the report.
        options: How the page is written.
        has_pictures: Whether the page has pictures.
        command: Command that writes it with pictures.
        together: Path of the page that shows it beside others. None if there is none.
    """

    entry: EpisodeEntry
    file: Path
    index: str
    name: str
    options: ReportOptions
    has_pictures: bool
    command: str
    together: Path | None = None

    @property
    def title(self) -> str:
        """Title of the page: episode and agent."""
        return " · ".join(filter(None, (self.entry.title, self.entry.planner)))

    @property
    def together_url(self) -> str:
        """URL of the page that shows it beside others, relative to the page; empty if there is none."""
        return relative_url(self.together, self.file) if self.together else ""

    @property
    def has_film(self) -> bool:
        """Whether the page has a film."""
        return self.has_pictures and self.options.film

    @property
    def key(self) -> str:
        """Digest of everything that the page depends on."""
        return self._key(self.has_pictures, self.has_film)

    @property
    def is_there(self) -> bool:
        """Whether the file exists, up to date or not."""
        return self.file.is_file()

    @property
    def is_current(self) -> bool:
        """Whether the file is the page that would be written, or that page with pictures."""
        key, filmed = self._read_page_key()
        kinds = [(False, False), (True, False), (True, True)]
        good = {self._key(*kind) for kind in kinds[kinds.index((self.has_pictures, self.has_film)) :]}
        return key in good and (not filmed or self.film is not None)

    @property
    def film(self) -> Path | None:
        """Path of the film that the existing page shows, or None."""
        films = [self.file.with_suffix(ending) for ending in (".mp4", ".webp")]
        return next(filter(Path.is_file, films), None) if self._read_page_key()[1] else None

    @property
    def poster(self) -> Path:
        """Path of the film's still picture."""
        return self.file.with_suffix(".poster.webp")

    def _read_page_key(self) -> tuple[str, bool]:
        """Return the key of the existing page, and whether it has a film."""
        found = _PAGE_KEY.search(read_page_start(self.file))
        return (found[1], bool(found[2])) if found else ("", False)

    def _key(self, has_pictures: bool, has_film: bool) -> str:
        how = [
            template_version(),
            self.entry.digest,
            self.name,
            self.index,
            self.together_url,
            has_pictures and self.options.simulator.name,
        ]
        return sha256(json.dumps([*how, has_film and (bool(encoder()) or "animated")]).encode()).hexdigest()


def plan_pages(
    entries: Sequence[EpisodeEntry],
    folder: Path,
    out: Path,
    index: Path,
    name: str,
    options: ReportOptions,
    together: Mapping[str, Path] | None = None,
) -> list[EpisodePage]:
    """Return the page of each episode.

    Args:
        entries: Episodes in the order of the index.
        folder: Folder of the run or runs.
        out: Folder for the pages.
        index: Path of the index.
        name: Name of the report.
        options: How pages are written.
        together: Path of the page that shows an episode beside others, by the episode's key.

    Raises:
        UserError: A target folder is a symbolic link, or pictures of an unknown episode are requested.
    """
    pictured = options.choose_illustrated(entries)
    found = []
    for entry in entries:
        file = out / entry.page
        for above in (out, file.parent):
            if above.is_symlink():
                raise UserError(f"{above}: is a link, and a report is not written through links; remove it")
        has_pictures = entry.key in pictured and can_have_pictures(entry)
        command = illustrate_command(folder, entry.key) if can_have_pictures(entry) else ""
        beside = (together or {}).get(entry.key)
        found.append(EpisodePage(entry, file, relative_url(index, file), name, options, has_pictures, command, beside))
    return found


def can_have_pictures(entry: EpisodeEntry) -> bool:
    """Return whether an episode can have pictures."""
    return entry.result is not None and getattr(entry.view, "has_pictures", True)


def illustrate_command(folder: Path, which: str) -> str:
    """Return the command that adds pictures and films.

    Args:
        folder: Folder of the run.
        which: Value of `--films`.
    """
    return shlex.join(["housewise", "report", str(folder), "--films", which])


PageWriter = Callable[[Sequence[EpisodePage]], Iterator[None]]
"""Writes pages in order and yields after each.

Raises:
    UserError: A page cannot be written, or a process was killed.
"""


@contextmanager
def open_page_writer(workers: int) -> Iterator[PageWriter]:
    """Open a writer of pages.

    Args:
        workers: Number of processes, or 1 for this process alone.
    """
    if workers <= 1 or not can_start_processes():
        yield lambda wanted: map(_write_page, wanted)
        return
    with process_pool(workers, _ignore_interrupts) as pool:
        yield lambda wanted: (
            made.result() for made in as_completed([pool.submit(_write_page, page) for page in wanted])
        )


def link_neighbours(all_pages: Sequence[EpisodePage]) -> None:
    """Link each existing page to the previous and the next one."""
    there = [page for page in all_pages if page.is_there]
    for place, page in enumerate(there):
        text = page.file.read_text(encoding="utf-8", errors="replace")
        turn = _render_navigation(page, there, place)
        linked = _NAVIGATION.sub(lambda _, turn=turn: turn, text, count=1)  # type: ignore[misc]
        if linked != text:
            write_text(page.file, linked)


def _render_navigation(page: EpisodePage, there: Sequence[EpisodePage], place: int) -> str:
    """Render the links to the neighbours of a page."""

    def neighbour(other: int) -> PageLink | None:
        if not 0 <= other < len(there):
            return None
        return PageLink(relative_url(there[other].file, page.file), there[other].title)

    facts = {"before": neighbour(place - 1), "after": neighbour(place + 1), "place": place + 1, "count": len(there)}
    return render("turn.html", facts)


def _ignore_interrupts() -> None:
    """Ignore interrupts in a worker process, so that it finishes the current page."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _write_page(page: EpisodePage) -> None:
    """Write one page, its film first, so that a page never shows a missing film."""
    if page.entry.result is None:
        write_text(page.file, _render_page(page, None, page.key))
        return
    films: list[Path] = []

    def save_film(film: Film) -> str:
        films.append(page.file.with_suffix(".mp4" if film.is_video else ".webp"))
        write_bytes(films[0], film.data)
        write_bytes(page.poster, film.still)
        return quote(films[0].name)

    simulator = page.options.simulator if page.has_pictures else None
    content = make_content(1, page.entry, simulator, save_film if page.has_film else None)
    made = f"{page.key} filmed" if films else page.key
    write_text(page.file, _render_page(page, content, made if content.complete else ""))


def make_content(
    number: int, entry: EpisodeEntry, simulator: SimulatorChoice | None, save_film: SaveFilm | None
) -> EpisodeContent:
    """Return an episode's content as its system's view shows it, or event by event if the view cannot read its record.

    Args:
        number: Number of the episode on its page, from 1.
        entry: The episode, which must not have failed.
        simulator: Simulator that renders pictures, or None for no pictures.
        save_film: Saves a film, or None for no film; see `SaveFilm`.
    """
    assert entry.header is not None and entry.result is not None, "a failed episode has no content"
    record = Record(entry.header, (), entry.result)
    try:
        record = read_record(entry.path)
        with wrap_record_errors(entry.path):
            return entry.view.make_content(number, record, entry.path, simulator, save_film)
    except UserError as error:
        plain = EpisodeView(entry.header.system).list_events(number, record)
        return replace(plain, complete=False, notes=[f"Shown event by event: {error}"])


def _render_page(page: EpisodePage, content: EpisodeContent | None, made: str) -> str:
    config = dict(page.entry.experiment)
    facts = {
        "made": made,
        "beside": True,
        "index": page.index,
        "together": page.together_url,
        "name": page.name,
        "title": page.title,
        "turn": "",
        "content": content,
        "command": "" if page.has_pictures else page.command,
        "entry": page.entry,
        "began": page.entry.view.initial_facts(page.entry.header) if page.entry.header else [],
        "facts": {setting_label(key): value for key, value in config.items()},
    }
    return render("episode.html", facts)


def relative_url(target: Path, page: Path) -> str:
    """Return the URL of a file relative to a page."""
    return quote(Path(os.path.relpath(target, page.parent)).as_posix())


def read_page_start(file: Path) -> str:
    """Return the beginning of a page, where its key is, or nothing if the file cannot be read."""
    try:
        with open_regular(file) as stream:
            return stream.read(200).decode("utf-8", "replace")
    except OSError:
        return ""


@lru_cache(maxsize=1)
def template_version() -> str:
    """Return the digest of the report's code; see digest_report_code."""
    return digest_report_code()
