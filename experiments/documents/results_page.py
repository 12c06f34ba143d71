"""The page of all results: each table, the command that made it, and what it was made with."""

from __future__ import annotations

from collections.abc import Iterator

from housewise.experiments.catalogue import bundled_experiments, load_experiment
from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.marks import Drawn
from housewise.experiments.experiment_file import Experiment
from housewise.experiments.results_table import MEASURE, ResultsHeader, ResultsTable
from housewise.experiments.tables import FormattedTable, format_differences, format_results

_TITLES = {
    "personalize": "LLM-Personalize",
    "clipr": "CLIPR",
    "stars": "STARS",
    "adapt": "ADAPT",
    "basis": "BASIS",
    "bench": "Benchmarks",
}


def draw_results(files: FigureFiles) -> str:
    """Draw a section for each results table, and list the experiments that have none."""
    parts, open_experiments = [], []
    experiments = {name: load_experiment(path) for name, path in bundled_experiments().items()}
    tables = {name.removesuffix(".csv"): table for name, table in files.read_all().items()}
    for group, title in _TITLES.items():
        sections = []
        for name in sorted(name for name in {*experiments, *tables} if name.startswith(f"{group}/")):
            experiment = experiments.get(name)
            if name in tables:
                sections.append(_draw_section(name, experiment, tables[name]))
            elif experiment is not None:
                open_experiments.append(f"- `{_command(name)}`: {experiment.shows}")
        parts += [f"## {title}", *sections] if sections else []
    if open_experiments:
        parts += ["## Not recorded yet", "\n".join(open_experiments)]
    return "\n\n".join(parts)


def _draw_section(name: str, experiment: Experiment | None, results: ResultsTable) -> str:
    """Draw a section. Older results may be of a command that is no longer there."""
    means = format_results(results, experiment)
    parts = [f"### {results.header.title if experiment is None else experiment.title}"]
    parts += [*([experiment.shows] if experiment else []), means.markdown_body, *means.notes]
    for each in _draw_differences(results, experiment) if experiment else ():
        summary = "<details><summary>Paired differences, with 95 % intervals</summary>"
        parts += [summary, each.markdown_body, "</details>"]
    command = f"`{_command(name)}`" if experiment else "Older results, whose command is no longer there"
    return "\n\n".join([*parts, f"{command}; {' '.join(_describe(name, results.header))}"])


def _draw_differences(results: ResultsTable, experiment: Experiment) -> Iterator[FormattedTable]:
    """Draw the differences of the first measure. The others are in the file that the command writes."""
    levels = results.header.axes
    own = {axis: [each for each in bases if each in levels.get(axis, ())] for axis, bases in experiment.compare.items()}
    main = results.select({MEASURE: [next(iter(results.header.measures))]})
    return format_differences(main, experiment.table, own)


def _describe(name: str, header: ResultsHeader) -> Iterator[str]:
    """Yield parts of a sentence about how a table was made."""
    episodes, made = header.episodes, header.made
    commits, changed = [str(made.get("commit") or "")], bool(made.get("changed"))
    days = [str(made.get("date") or "")[:10]]
    if episodes.knows_commit:
        commits, changed = [commit or "" for commit in episodes.commits], episodes.changed
        days = list(dict.fromkeys((episodes.first[:10], episodes.last[:10])))
    when = f"from {days[0]} to {days[1]} " if len(days) > 1 else f"on {days[0]} " if days[0] else ""
    listed = ", ".join(commit[:8] or "unknown" for commit in commits)
    yield f"measured {when}at {'commits' if len(commits) > 1 else 'commit'} {listed}"
    if changed:
        yield "with changes that are in no commit"
    for adapter, files in header.adapters.items():
        digest = next((value for key, value in files.items() if key.endswith(".safetensors")), "")
        yield f"with adapter {adapter} ({digest[:8]})"
    yield f"([data](../results/{name}.csv), [settings and versions](../results/{name}.json))."


def _command(name: str) -> str:
    return f"housewise experiment {name}"


RESULTS_TABLES: dict[str, Drawn] = {"all results": draw_results}
