"""The page of all results: for each experiment its table, its command, and what it was made with."""

from __future__ import annotations

from collections.abc import Iterator

from housewise.experiments.catalogue import bundled_experiments, load_experiment
from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.experiment_file import Experiment
from housewise.experiments.results_table import MEASURE, ResultsHeader
from housewise.experiments.tables import format_differences, format_results

_TITLES = {
    "personalize": "LLM-Personalize",
    "clipr": "CLIPR",
    "stars": "STARS",
    "adapt": "ADAPT",
    "bench": "Benchmarks",
}


def draw_results(files: FigureFiles) -> str:
    """Draw a section for each experiment that has results, and list the others."""
    parts, open_experiments, bundled = [], [], bundled_experiments()
    for group, title in _TITLES.items():
        sections = []
        for name in (each for each in bundled if each.startswith(f"{group}/")):
            experiment = load_experiment(bundled[name])
            if files.has(f"{name}.csv"):
                sections.append(_draw_section(name, experiment, files))
            else:
                open_experiments.append(f"- `{_command(name)}`: {experiment.shows}")
        parts += [f"## {title}", *sections] if sections else []
    if open_experiments:
        parts += ["## Not recorded yet", "\n".join(open_experiments)]
    return "\n\n".join(parts)


def _draw_section(name: str, experiment: Experiment, files: FigureFiles) -> str:
    results = files.table(f"{name}.csv")
    own = {axis: base for axis, base in experiment.compare.items() if base in results.header.axes.get(axis, ())}
    means = format_results(results, experiment)
    parts = [f"### {experiment.title}", experiment.shows, means.markdown_body, *means.notes]
    # The others are in the file that the command writes.
    main = results.select({MEASURE: [next(iter(results.header.measures))]})
    for each in format_differences(main, experiment.table, own):
        summary = "<details><summary>Paired differences, with 95 % intervals over tasks</summary>"
        parts += [summary, each.markdown_body, "</details>"]
    return "\n\n".join([*parts, " ".join(_describe(name, results.header))])


def _describe(name: str, header: ResultsHeader) -> Iterator[str]:
    """Yield sentences about how a table was made."""
    made = header.made
    commit, date = str(made.get("commit") or ""), str(made.get("date") or "")
    yield f"`{_command(name)}`; measured {f'on {date[:10]} ' if date else ''}at commit {commit[:8] or 'unknown'}"
    if made.get("changed"):
        yield "with changes that are in no commit"
    for adapter, files in header.adapters.items():
        digest = next((value for key, value in files.items() if key.endswith(".safetensors")), "")
        yield f"with adapter {adapter} ({digest[:8]})"
    yield f"([data](../results/{name}.csv), [settings and versions](../results/{name}.json))."


def _command(name: str) -> str:
    return f"housewise experiment {name}"
