"""ADAPT's tables 1 and 2, figures 3 and 4: satisfaction and questions of every agent by fold, seen and unseen people.

    python -m housewise.experiments.adapt.main_results --people FOLDER --json OUT [--fold 0] [--quick]

All agents that are models go on from the same warm-up, are answered by the same person, held to the same grammar and
given the same scenes. Errors are those of the mean over breakfasts, and over folds where there are several.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from housewise.core.errors import UserError, alternatives
from housewise.core.files import write_json
from housewise.core.machine import provenance
from housewise.core.plots import new_figure
from housewise.core.record import Record
from housewise.core.tables import Fitted, table
from housewise.experiments.adapt.figures import SCORES, heard, in_words, mean, more, values
from housewise.experiments.adapt.study import AGENTS, PUBLISHED, Agent, Study
from housewise.people.judging import satisfaction_over_time
from housewise.people.person import PEOPLE, load_people
from housewise.selftrain.adapt.settings import AdaptTrainingConfig, load_training
from housewise.selftrain.adapt.telling import tell, told_by
from housewise.selftraining import Terminal
from housewise.terminal import told

AT = (0.2, 0.4, 0.6, 0.8, 1.0)
OURS = "Reflection-DPO"
PARAPHRASED = f"{OURS}, paraphrased"
RIVALS = ("Never Ask", "Baseline", "ReAct", "STaR-GATE", "own asking")
"""Agents that ask less than everything and learned from the same warm-up; own asking with all its limits."""
QUICK = {
    "warm_up": {"people": 2, "each": 1},
    "own_asking": {"each": 1},
    "rollouts": {"runs": 1},
    "run": {"tasks": {"task": [3]}, "agent": {"most_steps": 6}},
}
_MARKERS = "os^"  # each with ten colours
_BINS = ("few", "some", "many")
_SPENT = "spent.json"  # how long all commands together have worked in a folder, but for rows that were cut off


def played(
    study: Study, agents: Sequence[Agent], folds: Sequence[int], seen: bool, told: Callable[[str], None]
) -> dict[str, dict[int, list[Record]]]:
    """Breakfasts by agent and fold; whole folds one after the other.

    Args:
        study: what they are made in.
        agents: who make them.
        folds: for whom.
        seen: whether also for the people that are seen in training.
        told: what comes next, and how much of all that is.
    """
    found: dict[str, dict[int, list[Record]]] = {agent.name: {} for agent in agents}
    for place, (number, agent) in enumerate(product(folds, agents), start=1):
        told(f"row {place} of {len(folds) * len(agents)}: {agent.name}, fold {number}")
        found[agent.name][number] = study.records(agent, number, seen)
    return found


def figures(study: Study, breakfasts: Mapping[str, Mapping[int, Sequence[Record]]]) -> dict[str, Any]:
    """What the JSON file holds of every agent."""
    rows: dict[str, Any] = {}
    for name, by_fold in breakfasts.items():
        rows[name] = {
            side: _side([(number, _of(study, number, side, records)) for number, records in by_fold.items()])
            for side in ("seen", "unseen")
        }
        unseen = _unseen(by_fold, study)
        rows[name]["information"] = AGENTS[name].information
        rows[name] |= {"questions_by_wishes": _by_wishes(unseen), "over_time": over_time(study, unseen)}
        rows[name] |= {"heard": heard(unseen, study.training.people)}
    return rows


def _of(study: Study, number: int, side: str, records: Iterable[Record]) -> list[Record]:
    people = study.splits[number].seen if side == "seen" else study.splits[number].unseen
    return [record for record in records if record.header.person in people]


def _side(by_fold: Sequence[tuple[int, Sequence[Record]]]) -> dict[str, Any]:
    """Means over breakfasts, each once, and over folds."""
    distinct = {(record.header.name, _adapter(record)): record for _, records in by_fold for record in records}
    found = {score: mean(values(distinct.values(), score)) for score in SCORES}
    means = {number: {score: mean(values(records, score))["mean"] for score in SCORES} for number, records in by_fold}
    return {**found, "n": len(distinct), "folds": means, "over_folds": _over_folds(means)}


def _over_folds(means: Mapping[int, Mapping[str, float | None]]) -> dict[str, Any]:
    """Means of means, with the standard error over folds: over people and over trainings."""
    return {score: mean([one for each in means.values() if (one := each[score]) is not None]) for score in SCORES}


def _adapter(record: Record) -> str | None:
    """Which tells the breakfasts of a fold's model from those of another's."""
    adapter: str | None = record.header.settings["models"]["agent"]["adapter"]
    return adapter


def _by_wishes(records: Sequence[Record]) -> dict[str, Any]:
    """Questions where few, some and many wishes apply, by thirds of the breakfasts (figure 3 does not say by what)."""
    ordered = sorted(records, key=lambda record: record.result.scores["applicable"])
    parts = np.array_split(np.arange(len(ordered)), len(_BINS))
    return {
        name: mean([ordered[index].result.scores["questions"] for index in part])
        for name, part in zip(_BINS, parts, strict=True)
    }


def over_time(study: Study, records: Sequence[Record]) -> dict[str, float | None]:
    """Satisfaction after each part of the breakfast (figure 4)."""
    curves = []
    for record in records:
        scene, said = told_by(record, study.training.people, study.training.embedder)
        tell(scene.world, said)
        person = study.training.people[scene.speaker.name]
        curves.append(satisfaction_over_time(scene.judge, person, scene.kitchen.trace, AT))
    return {f"{part:g}": mean([curve[part] for curve in curves])["mean"] for part in AT}


def at_equal_questions(rows: Mapping[str, Any], side: str = "unseen") -> dict[str, float] | None:
    """What the rivals satisfy with as many questions as Reflection-DPO asks, interpolated between the best of them.

    Returns:
        ``questions``, ``ours`` and ``rivals``; None where too little was played.
    """
    if OURS not in rows:
        return None
    asked, ours = (rows[OURS][side][score]["mean"] for score in ("questions", "satisfaction"))
    points = [_point(row[side]) for name, row in rows.items() if name.partition(",")[0] in RIVALS]
    front = frontier([point for point in points if point is not None])
    if asked is None or ours is None or not front:
        return None
    rivals = float(np.interp(asked, [questions for questions, _ in front], [rate for _, rate in front]))
    return {"questions": asked, "ours": ours, "rivals": rivals}


def ahead_of(breakfasts: Mapping[str, Mapping[int, Sequence[Record]]], study: Study) -> dict[str, Any]:
    """What Reflection-DPO does more than each other agent for unseen people, breakfast by breakfast in the same scenes.

    Returns:
        For each agent ``satisfaction`` and ``questions``, means and standard errors over ``n`` pairs of breakfasts, and
        means by ``folds`` and ``over_folds``; that of Reflection-DPO, paraphrased is what other words cost. Empty where
        Reflection-DPO was not played.
    """
    if OURS not in breakfasts:
        return {}

    def against(by_fold: Mapping[int, Sequence[Record]]) -> dict[str, Any]:
        ours = {number: _of(study, number, "unseen", records) for number, records in breakfasts[OURS].items()}
        others = _unseen(by_fold, study)
        means = {number: _means(more(records, others)) for number, records in ours.items()}
        return more(list(chain(*ours.values())), others) | {"folds": means, "over_folds": _over_folds(means)}

    return {name: against(by_fold) for name, by_fold in breakfasts.items() if name != OURS}


def _means(found: Mapping[str, Any]) -> dict[str, float | None]:
    return {score: found[score]["mean"] for score in SCORES}


def _unseen(by_fold: Mapping[int, Sequence[Record]], study: Study) -> list[Record]:
    """Breakfasts for unseen people: nobody is unseen in two folds."""
    return [record for number, records in by_fold.items() for record in _of(study, number, "unseen", records)]


def frontier(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Of (questions, satisfaction) those that no other satisfies as much with fewer questions, by questions."""
    kept: list[tuple[float, float]] = []
    for questions, rate in sorted(points, key=lambda point: (point[0], -point[1])):
        if not kept or rate > kept[-1][1]:
            kept.append((questions, rate))
    return kept


def _point(side: Mapping[str, Any]) -> tuple[float, float] | None:
    questions, rate = side["questions"]["mean"], side["satisfaction"]["mean"]
    return None if questions is None or rate is None else (questions, rate)


def shown(rows: Mapping[str, Any]) -> Fitted:
    """The table: ours, and the published figures beside."""
    columns = ("agent", "seen", "unseen", "asked", "n", "published *", "asked *")
    lines = []
    for name, row in rows.items():
        printed = PUBLISHED["rows"].get(name)
        beside = [f"{printed['unseen'][0]:.1f}", f"{printed['questions_unseen'][0]:.1f}"] if printed else ["", ""]
        rates = [in_words(row[side]["satisfaction"], 100) for side in ("seen", "unseen")]
        lines.append((name, *rates, in_words(row["unseen"]["questions"]), str(row["unseen"]["n"]), *beside))
    return table("satisfaction (%) of seen and unseen people, and questions, ± standard error", columns, lines)


def draw(rows: Mapping[str, Any], path: Path) -> None:
    """Satisfaction against questions of those people for whom was played, and the published figures below.

    Raises:
        UserError: when matplotlib is not installed.
    """
    points = {
        side: {name: point for name, row in rows.items() if (point := _point(row[side]))} for side in ("seen", "unseen")
    }
    sides = [side for side, found in points.items() if found] or ["unseen"]
    figure = new_figure(8 * len(sides), 9)
    panels = figure.subplots(2, len(sides), squeeze=False)
    for place, side in enumerate(sides):
        ours = {name: (asked, 100 * rate) for name, (asked, rate) in points[side].items()}
        printed = {name: (row[f"questions_{side}"][0], row[side][0]) for name, row in PUBLISHED["rows"].items()}
        _scatter(panels[0][place], ours, f"{side} people")
        _scatter(panels[1][place], printed, f"published, {side} people: another scale")
    figure.savefig(path, dpi=150)


def _scatter(axes: Any, points: Mapping[str, tuple[float, float]], title: str) -> None:
    """Agents that lie close to each other are told apart by markers, in a legend, and ours stands out."""
    for place, (name, (asked, rate)) in enumerate(points.items()):
        size = 12 if name == OURS else 7
        axes.plot([asked], [rate], _MARKERS[place // 10 % len(_MARKERS)], color=f"C{place % 10}", ms=size, label=name)
    axes.set(title=title, xlabel="questions", ylabel="satisfaction, %")
    axes.grid(alpha=0.3)
    if points:
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))


def _settings(people: Path | None, quick: bool, model: str | None, overrides: Sequence[str]) -> AdaptTrainingConfig:
    found = people or PEOPLE
    named = {} if people is None else {"run": {"tasks": {"people": str(people)}}}
    chosen = {"run": {"models": {"agent": {"model": model}}}} if model else {}
    few = {"run": {"tasks": {"person": [person.name for person in load_people(found)[:2]]}}} if quick else {}
    parts = [part for part in (named, chosen, few, QUICK if quick else {}) if part]
    return load_training(settings=_merged(parts), overrides=overrides)


def _merged(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            both = isinstance(value, Mapping) and isinstance(whole.get(key), Mapping)
            whole[key] = _merged([whole[key], value]) if both else value
    return whole


def _folder(config: AdaptTrainingConfig) -> Path:
    """The same for the same settings and people."""
    chosen = config.run.tasks.people
    files = (
        sorted(Path(chosen).rglob("*.y*ml")) if chosen and Path(chosen).is_dir() else [Path(chosen)] if chosen else []
    )
    told = json.dumps(config.identity, sort_keys=True, default=str).encode() + b"".join(map(Path.read_bytes, files))
    return Path("runs") / f"adapt-{hashlib.sha256(told).hexdigest()[:10]}"


def _seconds(folder: Path) -> float:
    """What earlier commands have spent in a folder."""
    try:
        return float(json.loads((folder / _SPENT).read_text(encoding="utf-8"))["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0


def main(
    people: Annotated[Path | None, typer.Option(help="File or folder of people; the sixteen of ADAPT.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures there.")] = None,
    fold: Annotated[list[int] | None, typer.Option(help="Only this fold; several as --fold 0 --fold 1.")] = None,
    agent: Annotated[list[str] | None, typer.Option(help="Only this agent.")] = None,
    seen: Annotated[
        bool, typer.Option(help="Play for the people of the training too, or for the others alone.")
    ] = True,
    quick: Annotated[bool, typer.Option(help="Two people, one task, few steps: whether all of it works.")] = False,
    model: Annotated[str | None, typer.Option(help="The local model that is trained.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of everything; the same one goes on.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw satisfaction against questions there.")] = None,
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, as in warm_up.people=20.")] = None,
) -> None:
    """Train and play every agent, by folds of people.

    Examples:

      python -m housewise.experiments.adapt.main_results --fold 0 --json results.json

      python -m housewise.experiments.adapt.main_results --fold 0 --no-seen --json results.json

      python -m housewise.experiments.adapt.main_results --quick --json quick.json
    """
    console, began, made = Console(highlight=False), perf_counter(), provenance()
    config = _settings(people, quick, model, overrides or ())
    for name in agent or ():
        if name not in AGENTS:
            raise UserError(f"--agent {name}: no such agent; {alternatives(name, AGENTS)}")
    study = Study(config, out or _folder(config), Terminal(console))
    for name in agent or ():
        if missing := study.missing(AGENTS[name]):
            raise UserError(f"--agent {name}: {missing}; leave it out")
    folds = fold or list(range(1 if quick else len(study.splits)))
    for number in folds:
        if not 0 <= number < len(study.splits):
            raise UserError(f"--fold {number}: there are the folds 0 to {len(study.splits) - 1}")
    chosen = [AGENTS[name] for name in agent] if agent else study.agents()
    earlier = _seconds(study.folder)

    def spent() -> float:
        seconds = round(earlier + perf_counter() - began, 1)
        write_json(study.folder / _SPENT, {"seconds": seconds})
        return seconds

    breakfasts = played(
        study, chosen, folds, seen, lambda line: told(console, f"{line}, after {spent() / 60:.0f} minutes in all")
    )
    rows = figures(study, breakfasts)
    compared, ahead = at_equal_questions(rows), ahead_of(breakfasts, study)
    result = {
        "rows": rows,
        "at_equal_questions": compared,
        "ahead_of": ahead,
        "frontier": frontier(filter(None, (_point(row["unseen"]) for row in rows.values()))),
        "reflection": {number: json.loads(path.read_text("utf-8")) for number, path in study.reflections(folds)},
        "published_on_another_scale": PUBLISHED,
        "folds": {number: {"unseen": study.splits[number].unseen} for number in folds},
        "quick": quick,
        "settings": config.model_dump(mode="json"),
        "seconds": spent(),
    }
    if json_file is not None:
        write_json(json_file, {**result, **made})
    if figure is not None:
        draw(rows, figure)
    console.print(shown(rows))
    console.print("* published, unseen people: another model, person and verifier, and so another scale")
    if compared is not None:
        console.print(
            f"with {compared['questions']:.1f} questions: {OURS} {100 * compared['ours']:.1f} %, "
            f"its rivals {100 * compared['rivals']:.1f} % (interpolated)"
        )
    if PARAPHRASED in ahead:
        loss = in_words(ahead[PARAPHRASED]["satisfaction"], 100)
        console.print(f"answered in other words, {OURS} loses {loss} points of satisfaction")


if __name__ == "__main__":
    from housewise.core.console import guarded

    guarded(lambda: typer.run(main))
