"""The episodes of a run, or of several runs, as a report lists them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path

from housewise.core.console import print_note
from housewise.core.errors import DataError, UserError
from housewise.core.files import find_paths, read_bytes
from housewise.core.formatting import plural
from housewise.core.printable_text import excerpt
from housewise.core.record import Header, Record, Result
from housewise.report.views.base import EpisodeView, find_view
from housewise.rollout.comparison_settings import Experiment, identify_experiment, planner_label
from housewise.rollout.failures import read_failures
from housewise.rollout.record_reader import read_record, read_summary
from housewise.rollout.scores import FinishedEpisode, Score
from housewise.rollout.system import system_scores
from housewise.worlds.base import OUT_OF_STEPS

# Errors of code that reads values that are missing or have another type.
_ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, AssertionError)


@dataclass(frozen=True)
class EpisodeEntry:
    """An episode in a report's index.

    Attributes:
        path: Path of its record.
        run: Folder of the run, relative to the folder that is reported on; empty for that folder itself.
        digest: Digest of the record's file.
        header: Header of the record, or None if the episode failed before it was written.
        result: Result, or None if the episode failed.
        failure: Short reason of the failure, or an empty text.
        faults: What went wrong, with counts.
        error: Error that ended a failed episode.
        words: What was said in it, for the search.
    """

    path: Path
    run: str
    digest: str
    header: Header | None
    result: Result | None
    failure: str
    faults: dict[str, int]
    error: str = ""
    words: str = ""

    @property
    def title(self) -> str:
        """Title of the episode."""
        if self.header is None:
            return self.name
        return self.view.title(self.header)

    @property
    def view(self) -> EpisodeView:
        """View that shows the episode."""
        return _cached_view(self.header.system if self.header else "")

    @property
    def name(self) -> str:
        """Name of the record."""
        return self.path.name.partition(".jsonl")[0]

    @property
    def planner(self) -> str:
        """Planner with its model."""
        return planner_label(self.header) if self.header else ""

    @cached_property
    def experiment(self) -> Experiment:
        """Experiment that the episode belongs to."""
        return identify_experiment(self.header) if self.header else ()

    @property
    def finished_episode(self) -> FinishedEpisode | None:
        """Header and result, or None if the episode failed."""
        return (self.header, self.result) if self.header and self.result else None

    @property
    def main_score(self) -> Score:
        """Main score of the system; one without a name if the system declares none."""
        return next(iter(system_scores(self.header.system) if self.header else ()), Score(""))

    @property
    def rate(self) -> float | None:
        """Main score in display units, or None if the episode failed."""
        if self.result is None:
            return None
        return self.main_score.in_display_units(self.main_score.value_in(self.result) or 0.0)

    @property
    def in_place(self) -> bool:
        """Whether nothing is left to do at the end."""
        return self.result is not None and self.view.is_perfect(self.result)

    @property
    def end_label(self) -> str:
        """How the episode ended, as one of a few labels."""
        if self.result is None:
            return "failed"
        return "kept looking" if self.in_place and self.result.end_reason == OUT_OF_STEPS else self.result.end_reason

    @property
    def ending(self) -> str:
        """How the episode ended, in words."""
        if self.finished_episode is None:
            return f"failed: {self.failure}"
        return self.view.describe_ending(*self.finished_episode)

    @property
    def troubles(self) -> list[str]:
        """What went wrong, as a list of short labels."""
        return [*self.faults, *([self.failure] if self.failure else [])]

    @property
    def key(self) -> str:
        """Name of the episode in the report: its record's name, below the run's folder if there are several runs."""
        return f"{self.run}/{self.name}" if self.run else self.name

    @property
    def page(self) -> str:
        """Path of its page, relative to the folder of the pages."""
        return f"{self.key}.html"


@lru_cache(maxsize=16)
def _cached_view(system: str) -> EpisodeView:
    return find_view(system)


def read_entries(folder: Path, *, figures_only: bool = False) -> tuple[list[EpisodeEntry], list[str]]:
    """Read every episode of a run, or of the runs in a folder. Return them, worst first, and notes for the reader.

    The notes say what is missing or cannot be read. They are printed, too.

    Args:
        folder: Folder of a run, or of several runs.
        figures_only: Whether only headers and results are read. Entries then have no digest and no faults.

    Raises:
        UserError: The folder has no episodes.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; name the folder of a run (it has episodes/ in it)")
    if (folder / "summary.json").exists():
        inner = [path.parent.relative_to(folder) for path in find_paths(folder, "*/evaluation/*/episodes")]
        named = f", such as {folder / inner[-1]}" if inner else ""
        raise UserError(f"{folder}: is a self-training, with many runs in it; name one of them{named}")
    runs = [folder] if (folder / "episodes").is_dir() else [path.parent for path in find_paths(folder, "*/episodes")]
    entries: list[EpisodeEntry] = []
    notes: list[str] = []
    for run in runs:
        name = run.relative_to(folder).as_posix() if run != folder else ""
        for path in find_paths(run / "episodes", "*.jsonl"):
            try:
                entries.append(_read_entry(path, name, figures_only))
            except UserError as error:
                notes.append(f"Left out: {error}")
        entries += _read_failed_entries(run / "episodes", name, notes)
        begun = len(find_paths(run / "episodes", "*.jsonl.partial"))
        if begun:
            notes.append(f"Unfinished in {name or 'this run'}: {plural(begun, 'episode')}.")
    if not entries:
        more = f" ({notes[0]})" if notes else ""
        raise UserError(f"{folder}: no finished episodes in it; play some with housewise run --out {folder}{more}")
    systems = sorted({entry.header.system for entry in entries if entry.header})
    if len(systems) > 1:
        raise UserError(f"{folder}: holds runs of several systems ({', '.join(systems)}); name the folder of one run")
    for note in notes:
        print_note(f"{folder}: {note}")
    return sorted(entries, key=_sort_key), notes


def finished_episodes(entries: Sequence[EpisodeEntry]) -> list[FinishedEpisode]:
    """Return header and result of the episodes that did not fail."""
    return [entry.finished_episode for entry in entries if entry.finished_episode]


def _read_failed_entries(folder: Path, run: str, notes: list[str]) -> Iterator[EpisodeEntry]:
    """Read the failed episodes of a folder, and add to the notes whose header cannot be shown."""
    for failure in read_failures(folder):
        # An episode that failed once and finished later has both files.
        if (folder / f"{failure.name}.jsonl").exists():
            continue
        digest, error = file_digest(failure.path), failure.failure.error
        entry = EpisodeEntry(failure.path, run, digest, failure.header, None, failure.reason, {}, error)
        try:
            with wrap_record_errors(failure.path):
                _read_needed_values(entry)
        except OddRecordError as odd:
            notes.append(f"Shown without its header: {odd}")
            entry = replace(entry, header=None)
        yield entry


def _read_needed_values(entry: EpisodeEntry) -> None:
    """Read the values that every index and page needs, which records of other programs may lack."""
    _ = entry.title, entry.planner, entry.rate, entry.ending, entry.experiment
    if entry.header is not None:
        _ = entry.view.initial_facts(entry.header)


def _read_entry(path: Path, run: str, figures_only: bool) -> EpisodeEntry:
    header, result = read_summary(path)
    for score in system_scores(header.system)[:1]:
        if not math.isfinite(score.value_in(result) or 0.0):
            raise UserError(f"{path}: {score.name} is not a number; delete the file to run the episode again")
    with wrap_record_errors(path):
        view = _cached_view(header.system)
        # A perfect episode has no faults, so that its events need not be read.
        record = Record(header, (), result) if figures_only or view.is_perfect(result) else read_record(path)
        faults = {} if figures_only else view.count_faults(record, path)
        # Views of other packages may lack it.
        spoken = getattr(view, "spoken_words", None)
        digest = "" if figures_only else file_digest(path)
        words = "" if figures_only or spoken is None else spoken(record)
        entry = EpisodeEntry(path, run, digest, header, result, "", faults, words=words)
        _read_needed_values(entry)
        _ = view.describe_state(result), view.state_sort_value(result), view.cells(result), view.is_perfect(result)
    return entry


class OddRecordError(DataError):
    """A record that is complete but lacks what its system's view needs."""


@contextmanager
def wrap_record_errors(path: Path) -> Iterator[None]:
    """Turn errors that a view raises about a record into one line.

    Raises:
        OddRecordError: The record lacks what the view needs.
    """
    try:
        yield
    except _ODD as error:
        why = excerpt(f"{type(error).__name__}: {error}")
        raise OddRecordError(
            f"{path}: does not hold what a record of its system does ({why}); delete the file to run the episode again"
        ) from error


def file_digest(path: Path) -> str:
    """Return the digest of a file, or an empty text if it cannot be read."""
    try:
        return sha256(read_bytes(path)).hexdigest()
    except OSError:
        return ""


def _sort_key(entry: EpisodeEntry) -> tuple[bool, float, int, str, str]:
    """Sort failed episodes first, then by score, the worst first."""
    rate = entry.rate or 0.0
    goodness = -rate if entry.main_score.better == "lower" else rate
    return (entry.result is not None, goodness, -sum(entry.faults.values()), entry.run, entry.name)
