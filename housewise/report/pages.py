"""A page for each episode, made by several processes, and only where the one that is there is not up to date."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from housewise.core.errors import UserError
from housewise.core.files import open_regular, write_bytes, write_text
from housewise.core.processes import has_processes, process_pool
from housewise.report.film import Film, encoder
from housewise.report.rendering import render, version
from housewise.report.sources import Entry, OddRecordError, readable
from housewise.report.views import EventsView, KeepFilm, Shown
from housewise.rollout.experiment import label
from housewise.rollout.records import read_record
from housewise.worlds.house.simulator import RAYCAST, SimulatorChoice

Progress = Callable[[int, int], None]
"""Called before the first episode and after each, with how many are done and how many there are."""

_TURN = re.compile(r"(?<=<!--turn-->).*?(?=<!--/turn-->)", re.DOTALL)


@dataclass(frozen=True)
class Options:
    """How pages are made.

    Attributes:
        film: whether with films.
        simulator: which takes the pictures, and where.
    """

    film: bool = True
    simulator: SimulatorChoice = RAYCAST


@dataclass(frozen=True)
class Neighbour:
    """An episode's page as another page links to it."""

    href: str
    title: str


@dataclass(frozen=True)
class Page:
    """An episode's page that is to be there.

    Attributes:
        entry: the episode.
        file: where the page is.
        index: the index, as the page links to it.
        name: of the report.
        options: how it is made.
    """

    entry: Entry
    file: Path
    index: str
    name: str
    options: Options

    @property
    def title(self) -> str:
        """Which episode it is, and who played."""
        return " · ".join(filter(None, (self.entry.title, self.entry.planner)))

    @property
    def key(self) -> str:
        """Of all that the page depends on."""
        how = [_version(), self.entry.digest, self.name, self.index, self.options.film, self.options.simulator.name]
        return sha256(json.dumps([*how, self.options.film and bool(encoder())]).encode()).hexdigest()

    @property
    def is_there(self) -> bool:
        """Whether a page of this episode is there, up to date or not."""
        return self.file.is_file()

    @property
    def is_current(self) -> bool:
        """Whether the page that is there is the one that would be made."""
        try:
            with open_regular(self.file) as stream:
                begin = stream.read(200).decode("utf-8", "replace")
        except OSError:
            return False
        films = [self.file.with_suffix(ending) for ending in (".mp4", ".webp")]
        filmed = self.options.film and self.entry.result is not None
        return f"<!-- {self.key} -->" in begin and (not filmed or any(map(Path.is_file, films)))


def pages(entries: Sequence[Entry], folder: Path, index: Path, name: str, options: Options) -> list[Page]:
    """Where the page of each episode goes.

    Args:
        entries: the episodes, in the index's order.
        folder: of the pages.
        index: the index's file.
        name: of the report.
        options: how they are made.

    Raises:
        UserError: when a folder that they go to is a link, which may lead anywhere.
    """
    found = []
    for entry in entries:
        file = folder / entry.page
        for above in (folder, file.parent):
            if above.is_symlink():
                raise UserError(f"{above}: is a link, and a report is not written through links; remove it")
        found.append(Page(entry, file, _address(index, file), name, options))
    return found


def make_pages(wanted: Sequence[Page], workers: int, progress: Progress) -> None:
    """Make pages, those first that come first.

    Args:
        wanted: those that are not up to date.
        workers: how many processes; 1 for this one alone.
        progress: told of each page.

    Raises:
        UserError: when a page cannot be written, or a process was killed.
    """
    progress(0, len(wanted))
    for done, _ in enumerate(_made(wanted, min(workers, len(wanted))), start=1):
        progress(done, len(wanted))


def link(all_pages: Sequence[Page]) -> None:
    """Have each page that is there name the one before it and the one after it."""
    there = [page for page in all_pages if page.is_there]
    for place, page in enumerate(there):
        text = page.file.read_text(encoding="utf-8", errors="replace")
        turn = _turn(page, there, place)
        linked = _TURN.sub(lambda _, turn=turn: turn, text, count=1)  # type: ignore[misc]
        if linked != text:
            write_text(page.file, linked)


def _turn(page: Page, there: Sequence[Page], place: int) -> str:
    """Links to the neighbours of a page."""

    def neighbour(other: int) -> Neighbour | None:
        if not 0 <= other < len(there):
            return None
        return Neighbour(_address(there[other].file, page.file), there[other].title)

    facts = {"before": neighbour(place - 1), "after": neighbour(place + 1), "place": place + 1, "count": len(there)}
    return render("turn.html", facts)


def _made(wanted: Sequence[Page], workers: int) -> Iterator[None]:
    if workers <= 1 or not has_processes():
        yield from map(_make, wanted)
        return
    with process_pool(workers, _quiet) as pool:
        for made in as_completed([pool.submit(_make, page) for page in wanted]):
            yield made.result()


def _quiet() -> None:
    """An interrupt is for the process that made this one: what has been begun is finished."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _make(page: Page) -> None:
    """Make one page, its film first: what a page shows is there when the page is."""
    if page.entry.result is None:
        write_text(page.file, _rendered(page, None, page.key))
        return
    keep = (lambda film: _kept(page, film)) if page.options.film else None
    chapter = chapter_of(1, page.entry, page.options, keep)
    write_text(page.file, _rendered(page, chapter, page.key if chapter.complete else ""))


def chapter_of(number: int, entry: Entry, options: Options, keep: KeepFilm | None) -> Shown:
    """An episode as its system shows it; where that does not know what to make of its record, event by event.

    Args:
        number: of the chapter.
        entry: the episode, which did not fail.
        options: how pages are made.
        keep: see KeepFilm; None for no film.
    """
    record = read_record(entry.path)
    try:
        with readable(entry.path):
            return entry.view.shown(number, record, entry.path, options.simulator, keep)
    except OddRecordError as error:
        plain = EventsView(record.header.system).plain(number, record)
        return replace(plain, complete=False, notes=[f"Shown event by event: {error}"])


def _kept(page: Page, film: Film) -> str:
    """Put a film beside its page, and return how the page names it."""
    file = page.file.with_suffix(".mp4" if film.is_video else ".webp")
    write_bytes(file, film.data)
    return quote(file.name)


def _rendered(page: Page, chapter: Shown | None, made: str) -> str:
    config = dict(page.entry.experiment)
    facts = {
        "made": made,
        "beside": True,
        "index": page.index,
        "name": page.name,
        "title": page.title,
        "turn": "",
        "chapter": chapter,
        "entry": page.entry,
        "began": page.entry.view.began(page.entry.header) if page.entry.header else [],
        "facts": {label(key): value for key, value in config.items()},
    }
    return render("episode.html", facts)


def _address(target: Path, page: Path) -> str:
    """How a page links to a file that is near it."""
    return quote(Path(os.path.relpath(target, page.parent)).as_posix())


@lru_cache(maxsize=1)
def _version() -> str:
    return version()
