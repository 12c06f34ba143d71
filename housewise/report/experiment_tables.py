"""The tables of a report, computed from the records that it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from housewise.core.errors import UserError
from housewise.core.text_files import read_json
from housewise.rollout.comparison import Comparison, compare
from housewise.rollout.comparison_settings import (
    Experiment,
    experiment_names,
    find_varying_settings,
    identify_experiment,
    planner_label,
    setting_label,
)
from housewise.rollout.scores import VERSION, FinishedEpisode, Score, summarize
from housewise.rollout.system import system_scores

_MAX_PAIRS = 6
_GENERATED_SCENES = "generated houses"


@dataclass(frozen=True)
class ExperimentRow:
    """Mean scores of some episodes as texts.

    Attributes:
        experiment: Values of the settings in `ExperimentTables.settings`.
        name: Name of the agent, numbered if several experiments share it; empty for all experiments.
        scene: Scene with its task set; empty for all scenes.
        cells: Texts by heading.
        rate: Main score in display units.
        error: Standard error of `rate`, or None for a single episode.
    """

    experiment: tuple[str, ...]
    name: str
    scene: str
    cells: dict[str, str]
    rate: float
    error: float | None


@dataclass(frozen=True)
class ExperimentTables:
    """Tables of a report.

    Attributes:
        settings: Names of the settings in which experiments differ.
        experiments: One row per experiment.
        scenes: One row per experiment and scene, or empty if there is only one scene.
        common: Settings that are equal in all experiments, by name.
        comparisons: Comparisons of two experiments each, over their common episodes.
        notes: Which episodes the experiments share, if they are not the same.
    """

    settings: list[str]
    experiments: list[ExperimentRow]
    scenes: list[ExperimentRow]
    common: dict[str, str]
    comparisons: list[Comparison]
    notes: list[str]


def make_tables(episodes: Sequence[FinishedEpisode]) -> ExperimentTables:
    """Group episodes by experiment and return the tables."""
    groups = group_by_experiment(episodes)
    called = experiment_names(list(groups))
    differ = find_varying_settings(groups)
    keys = differ or ["planner"]
    ordered = sorted(groups, key=lambda experiment: called[experiment])

    short = _number_duplicates({experiment: planner_label(groups[experiment][0][0]) for experiment in ordered})

    def row(experiment: Experiment, scene: str, members: Sequence[FinishedEpisode]) -> ExperimentRow:
        facts = dict(experiment)
        return _make_row(tuple(facts.get(key, "–") for key in keys), short[experiment], scene, members)

    scenes = sorted({_scene(one) for one in episodes})
    parts = [
        (experiment, scene, [one for one in groups[experiment] if _scene(one) == scene])
        for scene in scenes
        for experiment in ordered
    ]
    comparisons, notes = _compare_experiments(groups, ordered, called)
    shared = [key for key in dict.fromkeys(key for experiment in ordered for key, _ in experiment) if key not in differ]
    return ExperimentTables(
        [setting_label(key) for key in keys],
        [row(experiment, "", groups[experiment]) for experiment in ordered],
        [row(*part) for part in parts if part[2]] if len(scenes) > 1 else [],
        {setting_label(key): next(dict(one)[key] for one in ordered if key in dict(one)) for key in shared},
        comparisons,
        notes,
    )


def group_by_experiment(episodes: Sequence[FinishedEpisode]) -> dict[Experiment, list[FinishedEpisode]]:
    """Return the episodes of each experiment."""
    groups: dict[Experiment, list[FinishedEpisode]] = {}
    for one in episodes:
        groups.setdefault(identify_experiment(one[0]), []).append(one)
    return groups


def _number_duplicates(agents: Mapping[Experiment, str]) -> dict[Experiment, str]:
    """Return short names of agents, with a number if several are equal."""
    several, so_far = Counter(agents.values()), Counter[str]()
    found = {}
    for experiment, agent in agents.items():
        so_far[agent] += 1
        found[experiment] = f"{agent}, {so_far[agent]}" if several[agent] > 1 else agent
    return found


def overall_row(episodes: Sequence[FinishedEpisode]) -> ExperimentRow:
    """Return the scores over all episodes."""
    return _make_row((), "", "", episodes)


def find_stale_metrics(folder: Path, episodes: Sequence[FinishedEpisode]) -> str:
    """Describe how `metrics.json` differs from the records. The text is empty if it agrees."""
    path = folder / "metrics.json"
    try:
        content = read_json(path)
        told, main = content["overall"], system_scores(episodes[0][0].system)[0]
        counted, rate = int(told["episodes"]), float(told[main.name])
        if content.get("version", 1) >= VERSION:
            rate = main.in_display_units(rate)
    except (UserError, ValueError, LookupError, TypeError, AttributeError, OverflowError):
        return ""
    real = overall_row(episodes)
    if counted == len(episodes) and abs(rate - real.rate) < 0.05:
        return ""
    return (
        f"metrics.json counts {counted} episodes with {rate:.1f} {main.unit} {main.label or main.name}; the "
        f"{len(episodes)} records here have {real.rate:.1f} {main.unit}. This page follows the records; the same "
        "housewise run again brings the file up to date."
    )


def _compare_experiments(
    groups: dict[Experiment, list[FinishedEpisode]], ordered: Sequence[Experiment], called: dict[Experiment, str]
) -> tuple[list[Comparison], list[str]]:
    """Compare all pairs of experiments, or each with the largest one if there are many."""
    pairs = list(combinations(ordered, 2))
    if len(pairs) > _MAX_PAIRS:
        first = max(ordered, key=lambda experiment: len(groups[experiment]))
        pairs = [(first, other) for other in ordered if other != first]
    found, notes = [], []
    for one, other in pairs:
        try:
            made = compare(groups[one], groups[other], (called[one], called[other]))
        except UserError as error:
            notes.append(f"Not compared: {error}.")
            continue
        found.append(made)
        if made.only_a or made.only_b or made.other_tasks:
            notes.append(
                f"Not the same episodes: {made.episode_summary}. Compare the differences below, not the means."
            )
    return found, notes


def _scene(one: FinishedEpisode) -> str:
    """Return the scene of an episode. All generated houses count as one."""
    group = one[0].group
    return _GENERATED_SCENES if group.startswith("generated-") else group.replace("/", ", ")


def _make_row(experiment: tuple[str, ...], name: str, scene: str, episodes: Sequence[FinishedEpisode]) -> ExperimentRow:
    if not episodes:
        return ExperimentRow(experiment, name, scene, {"episodes": "0"}, 0.0, None)
    scores = [score for score in system_scores(episodes[0][0].system) if not score.total]
    means: dict[str, Any] = summarize(
        [result for _, result in episodes], scores, [header.task for header, _ in episodes]
    )
    tokens = means["prompt_tokens"] + means["completion_tokens"]
    main = scores[0] if scores else Score("")
    error = means.get(f"{main.name}_stderr")
    cells = {
        "episodes": str(len(episodes)),
        **{score.label or score.name: _cell(score, means.get(score.name)) for score in scores[1:]},
        "tokens": f"{tokens:,.0f}" if tokens else "–",
        "seconds": _short(means["seconds"]),
    }
    rate = main.in_display_units(float(means.get(main.name, 0.0)))
    return ExperimentRow(experiment, name, scene, cells, rate, None if error is None else main.in_display_units(error))


def _cell(score: Score, mean: float | None) -> str:
    if mean is None:
        return "–"
    value = score.in_display_units(mean)
    if score.unit == "%":
        return f"{value:.0f} %"
    return f"{value:.0f}" if score.decimals == 0 else _short(value)


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 or value == round(value) else f"{value:.1f}"
