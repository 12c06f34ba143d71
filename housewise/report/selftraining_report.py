"""The report of a self-training: success after each phase, and what each phase learned and filtered out."""

from __future__ import annotations

import csv
import glob
import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from markupsafe import Markup
from pydantic import BaseModel, Field, FiniteFloat, model_validator

from housewise.core.errors import UserError
from housewise.core.files import find_paths, write_text
from housewise.core.plugins import FILTERS, load_plugin, plugin_names
from housewise.core.text_files import read_text
from housewise.core.validation import read_model
from housewise.report.drawing.charts import Series, chart, swatch
from housewise.report.episode_pages import Progress, ReportOptions
from housewise.report.rendering import render
from housewise.report.report import write_report
from housewise.rollout.scores import VERSION
from housewise.selftrain.examples import EpisodeDemonstration, read_examples
from housewise.selftrain.personalize.record_demonstrations import (
    demonstrations_from_record,
    executed_reply,
    make_demonstration,
)
from housewise.selftrain.personalize.settings import read_selftraining
from housewise.systems.personalize.record import read_house_record

_EXAMPLES = 3
_T = TypeVar("_T")


class _Figures(BaseModel):
    """Success of a model on some tasks, in percent."""

    success_rate: FiniteFloat = 0.0
    success_rate_stderr: FiniteFloat | None = None


class _Phase(BaseModel):
    """A phase in `summary.json`."""

    version: int = 1
    phase: str
    model: str = ""
    adapter: str | None = None
    metrics: dict[str, FiniteFloat] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    evaluation: dict[str, _Figures] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _in_percent(self) -> _Phase:
        """Convert shares to percent, the unit of version 1."""
        if self.version >= VERSION:
            for figures in self.evaluation.values():
                figures.success_rate *= 100
                if figures.success_rate_stderr is not None:
                    figures.success_rate_stderr *= 100
        return self


class _Summary(BaseModel):
    phases: list[_Phase]


class _Statistics(BaseModel):
    """Statistics of pairs; see `housewise.selftrain.personalize.filters.demonstration_statistics`."""

    count: int = 0
    rewards: dict[str, int] = Field(default_factory=dict)
    moved: dict[str, int] = Field(default_factory=dict)
    mistaken: int = 0
    complete: int = 0
    episodes: int = 0


class _FilterReport(BaseModel):
    """Content of `filter.json`. Demonstrations have only the kept pairs."""

    filter: str
    kept: _Statistics
    pairs: _Statistics | None = None


@dataclass(frozen=True)
class KeptShare:
    """How many pairs of one kind were attempted, and how many of them were kept."""

    what: str
    tried: int
    kept: int


@dataclass(frozen=True)
class PhaseContent:
    """What the report shows of a phase.

    Attributes:
        phase: The phase in the summary.
        reports: Names of its evaluations and URLs of their reports, which are empty if there is none.
        filtered: Statistics of its filter, or None.
        why: What the filter keeps.
        rewards: Kept shares by reward.
        moved: Kept shares by the kind of the moved object.
        kept: Examples of kept pairs.
        rejected: Examples of pairs that were filtered out.
        curve: Chart of the training loss, or an empty text.
        notes: What was left out of the training, and what could not be read.
    """

    phase: _Phase
    reports: list[tuple[str, str]]
    filtered: _FilterReport | None = None
    why: str = ""
    rewards: list[KeptShare] = field(default_factory=list)
    moved: list[KeptShare] = field(default_factory=list)
    kept: list[EpisodeDemonstration] = field(default_factory=list)
    rejected: list[EpisodeDemonstration] = field(default_factory=list)
    curve: Markup | str = ""
    notes: list[str] = field(default_factory=list)


def is_selftraining_folder(folder: Path) -> bool:
    """Return whether a folder is that of a self-training with at least one finished phase."""
    return (folder / "summary.json").is_file()


def write_selftraining_report(
    folder: Path,
    options: ReportOptions | None = None,
    fresh: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
) -> Path:
    """Write the report of a self-training and the reports of its evaluations.

    Args:
        folder: Folder of the self-training.
        options: See `write_report`.
        fresh: See `write_report`.
        workers: See `write_report`.
        progress: See `write_report`.

    Returns:
        Path of the report, `<folder>/report.html`.

    Raises:
        UserError: The summary cannot be read, or a page cannot be written.
    """
    phases = _phases(folder)
    runs = [run for phase in phases for run in _evaluations(folder, phase)]
    out = folder / "report.html"
    _write(out, folder, phases)
    try:
        for run in runs:
            write_report(run, options=options, fresh=fresh, workers=workers, progress=progress)
    finally:
        _write(out, folder, phases)
    return out


def _phases(folder: Path) -> list[_Phase]:
    path = folder / "summary.json"
    remedy = "give the same housewise selftrain again, which writes it anew"
    return read_model(path, _Summary, remedy, "the summary of a self-training").phases


def _evaluations(folder: Path, phase: _Phase) -> list[Path]:
    """Return the folders of a phase's evaluations. Symbolic links are ignored, since they may lead anywhere."""
    if Path(phase.phase).name != phase.phase:
        return []
    runs = find_paths(folder, f"{glob.escape(phase.phase)}/evaluation/*/episodes")
    own = [run.parent for run in runs if not any(map(Path.is_symlink, (run.parent, *run.parent.parents[:2])))]
    return [run for run in own if find_paths(run, "episodes/*.jsonl")]


def _write(out: Path, folder: Path, phases: Sequence[_Phase]) -> None:
    names = list(dict.fromkeys(name for phase in phases for name in phase.evaluation))
    series = [
        Series(
            name,
            [found.success_rate if (found := phase.evaluation.get(name)) else None for phase in phases],
            [found.success_rate_stderr if (found := phase.evaluation.get(name)) else None for phase in phases],
        )
        for name in names
    ]
    facts: dict[str, Any] = {
        "made": "",
        "beside": True,
        "name": folder.resolve().name,
        "facts": _facts(folder),
        "names": names,
        "curve": chart(series, [phase.phase for phase in phases], " %", "Success rate after each phase"),
        "swatches": [swatch(number) for number in range(len(names))],
        "contents": [_phase_content(folder, phase) for phase in phases],
    }
    write_text(out, render("learning.html", facts))


def _facts(folder: Path) -> dict[str, str]:
    """Return the settings that the summary does not state."""
    try:
        settings = read_selftraining(folder / "config.json")
    except UserError:
        return {}
    run = settings.run
    told = {
        "model": run.models.agent.model,
        "begun from": run.models.agent.adapter,
        "prompt": run.agent.prompt,
        "preferences of": run.tasks.person,
        "iterations": settings.iterations,
        "target": settings.target,
        "simulator": run.world.simulator,
    }
    return {name: str(value) for name, value in told.items() if value not in (None, "")}


def _phase_content(folder: Path, phase: _Phase) -> PhaseContent:
    """Return the content of a phase. Files that cannot be read are noted and left out."""
    notes = list(phase.notes)
    reports = [(run.name, _link(folder, run / "report.html")) for run in _evaluations(folder, phase)]
    if Path(phase.phase).name != phase.phase:
        return PhaseContent(phase, reports, notes=notes)
    place = folder / phase.phase
    filtered = _read_if_present(place / "filter.json", _read_filter_report, notes)
    learned = _read_if_present(place / "pairs.jsonl", _read_pairs, notes) or []
    # The lessons and the demonstrations that are learned again follow the kept pairs in the file.
    chosen = learned if filtered is None else learned[: filtered.kept.count]
    kept = _distinct_examples(sorted(chosen, key=lambda pair: -pair.reward))
    rejected = _rejected_examples(chosen, _attempted_pairs(folder, place / "grow" / "episodes", chosen, notes))
    rewards, moved = _shares(filtered)
    why = _describe_filter(filtered)
    return PhaseContent(
        phase, reports, filtered, why, rewards, moved, kept, rejected, _curve(place / "curve.csv", phase.phase), notes
    )


def _read_if_present(path: Path, read: Callable[[Path], _T], notes: list[str]) -> _T | None:
    """Read a file, or return None where it does not exist, or where it is damaged, which is noted."""
    try:
        return read(path) if path.exists() else None
    except UserError as error:
        notes.append(str(error))
        return None


def _read_filter_report(path: Path) -> _FilterReport:
    return read_model(path, _FilterReport, what="the report of a filter")


def _read_pairs(path: Path) -> list[EpisodeDemonstration]:
    return read_examples(path, EpisodeDemonstration)


def _rejected_examples(
    kept: Sequence[EpisodeDemonstration], attempted: Iterable[EpisodeDemonstration]
) -> list[EpisodeDemonstration]:
    """Return the worst attempted pairs that were not kept, without duplicate replies."""
    taken = {_attempt_key(pair) for pair in kept}
    worst: dict[str, EpisodeDemonstration] = {}
    for pair in attempted:
        if _attempt_key(pair) in taken or (pair.reply in worst and worst[pair.reply].reward <= pair.reward):
            continue
        worst[pair.reply] = pair
        worst = dict(sorted(worst.items(), key=lambda item: item[1].reward)[:_EXAMPLES])
    return list(worst.values())


def _attempted_pairs(
    folder: Path, grown: Path, kept: Sequence[EpisodeDemonstration], notes: list[str]
) -> Iterator[EpisodeDemonstration]:
    """Yield the pairs that the filter was given. Those that were relabelled have the replies as they were."""
    try:
        target = read_selftraining(folder / "config.json").target
    except UserError:
        target = "raw"
    prefix = kept[0].prefix if kept else ""
    for path in find_paths(grown, "*.jsonl"):
        try:
            record = read_house_record(path)
            if target != "relabelled":
                yield from demonstrations_from_record(record, prefix, target)
                continue
            # Alternatives are not relabelled.
            for plan in (plan for plan in record.plans if plan.prompt):
                yield make_demonstration(record, plan, executed_reply(record, plan), prefix, plan.reply)
        except UserError as error:
            notes.append(f"Left out: {error}")


def _attempt_key(pair: EpisodeDemonstration) -> tuple[Any, ...]:
    """Return what identifies one of the replies to a prompt. Its text may have changed; see LearningTarget."""
    return pair.scene, pair.episode, pair.run, pair.plan, pair.reward, pair.moved, pair.discovered


def _distinct_examples(pairs: Sequence[EpisodeDemonstration]) -> list[EpisodeDemonstration]:
    first: dict[str, EpisodeDemonstration] = {}
    for pair in pairs:
        first.setdefault(pair.reply, pair)
    return list(first.values())[:_EXAMPLES]


def _shares(filtered: _FilterReport | None) -> tuple[list[KeptShare], list[KeptShare]]:
    if filtered is None:
        return [], []
    tried = filtered.pairs or filtered.kept
    rewards = [KeptShare(what, count, filtered.kept.rewards.get(what, 0)) for what, count in tried.rewards.items()]
    moved = [KeptShare(what, count, filtered.kept.moved.get(what, 0)) for what, count in tried.moved.items()]
    return rewards, moved


def _describe_filter(filtered: _FilterReport | None) -> str:
    """Return what a filter keeps: the first line of its docstring."""
    if filtered is None:
        return ""
    if filtered.filter == "all":
        return "Demonstrations are not filtered."
    # The name comes from a file, so that no other module is imported for it.
    found = load_plugin(FILTERS, filtered.filter, "filter") if filtered.filter in plugin_names(FILTERS) else None
    return (found.__doc__ or "").partition("\n")[0]


def _curve(path: Path, phase: str) -> Markup | str:
    """Return a chart of the training loss, or an empty text."""
    try:
        table = csv.DictReader(io.StringIO(read_text(path), newline=""))
        rows = [(row["step"], float(row["loss"])) for row in table if row.get("loss")]
    except (UserError, ValueError, LookupError, csv.Error):
        return ""
    if sum(math.isfinite(loss) for _, loss in rows) < 2:
        return ""
    losses = [loss if math.isfinite(loss) else None for _, loss in rows]
    return chart([Series("loss", losses)], [step for step, _ in rows], "", f"Training loss of {phase}, by step")


def _link(folder: Path, report: Path) -> str:
    return quote(report.relative_to(folder).as_posix()) if report.is_file() else ""
