"""What the main results say of breakfasts: of each agent, and of Reflection-DPO against the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from housewise.core.record import Record
from housewise.experiments.adapt.figures import SCORES, answer_value, figures, mean, paired_differences
from housewise.experiments.adapt.study import AGENTS, AdaptStudy
from housewise.people.kitchen.preference_judge import satisfaction_curve
from housewise.selftrain.adapt.breakfast_replay import play_breakfast, recorded_scene

AT = (0.2, 0.4, 0.6, 0.8, 1.0)
OURS = "Reflection-DPO"
PARAPHRASED = f"{OURS}, paraphrased"
RIVALS = ("Never Ask", "Baseline", "ReAct", "STaR-GATE", "own asking")
"""Agents that ask less than everything and learned from the same warm-up; own asking with all its limits."""
BINS = ("few", "some", "many")


class Rows:
    """Breakfasts by agent and fold, and what they come to.

    Args:
        study: what they are made in.
    """

    def __init__(self, study: AdaptStudy) -> None:
        self._study = study
        self._breakfasts: dict[str, dict[int, Sequence[Record]]] = {}
        self._rows: dict[str, Any] = {}

    def add(self, name: str, number: int, records: Sequence[Record]) -> None:
        """An agent's breakfasts in a fold."""
        by_fold = self._breakfasts.setdefault(name, {})
        by_fold[number] = records
        self._rows[name] = row(self._study, name, by_fold)

    def figures(self) -> dict[str, Any]:
        """``rows`` by agent, and what they are beside each other."""
        return {
            "rows": self._rows,
            "at_equal_questions": at_equal_questions(self._rows),
            "ahead_of": ahead_of(self._breakfasts, self._study),
            "frontier": frontier(filter(None, (point(each["unseen"]) for each in self._rows.values()))),
        }


def row(study: AdaptStudy, name: str, by_fold: Mapping[int, Sequence[Record]]) -> dict[str, Any]:
    """What the JSON file holds of an agent."""
    sides = {
        side: _side([(number, _records_of_side(study, number, side, records)) for number, records in by_fold.items()])
        for side in ("seen", "unseen")
    }
    unseen = _unseen(by_fold, study)
    return {
        **sides,
        "information": AGENTS[name].information,
        "questions_by_wishes": _by_wishes(unseen),
        "over_time": over_time(study, unseen),
        "heard": answer_value(unseen, study.training.people),
    }


def _records_of_side(study: AdaptStudy, number: int, side: str, records: Iterable[Record]) -> list[Record]:
    people = study.splits[number].seen if side == "seen" else study.splits[number].unseen
    return [record for record in records if record.header.person in people]


def _side(by_fold: Sequence[tuple[int, Sequence[Record]]]) -> dict[str, Any]:
    """Means over breakfasts, each once, and over folds."""
    distinct = {(record.header.name, _adapter(record)): record for _, records in by_fold for record in records}
    means = {number: _means(figures(records)) for number, records in by_fold}
    return {**figures(list(distinct.values())), "folds": means, "over_folds": _over_folds(means)}


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
    parts = np.array_split(np.arange(len(ordered)), len(BINS))
    return {
        name: mean([ordered[index].result.scores["questions"] for index in part])
        for name, part in zip(BINS, parts, strict=True)
    }


def over_time(study: AdaptStudy, records: Sequence[Record]) -> dict[str, float | None]:
    """Satisfaction after each part of the breakfast (figure 4)."""
    curves = []
    for record in records:
        scene, said = recorded_scene(record, study.training.people, study.training.embedder)
        list(play_breakfast(scene.world, said))
        person = study.training.people[scene.speaker.name]
        curves.append(satisfaction_curve(scene.judge, person, scene.kitchen.trace, AT))
    return {f"{part:g}": mean([curve[part] for curve in curves])["mean"] for part in AT}


def at_equal_questions(rows: Mapping[str, Any], side: str = "unseen") -> dict[str, float] | None:
    """What the rivals satisfy with as many questions as Reflection-DPO asks, interpolated between the best of them.

    Returns:
        ``questions``, ``ours`` and ``rivals``; None where too little was played.
    """
    if OURS not in rows:
        return None
    asked, ours = (rows[OURS][side][score]["mean"] for score in ("questions", "satisfaction"))
    points = [point(row[side]) for name, row in rows.items() if name.partition(",")[0] in RIVALS]
    front = frontier([point for point in points if point is not None])
    if asked is None or ours is None or not front:
        return None
    rivals = float(np.interp(asked, [questions for questions, _ in front], [rate for _, rate in front]))
    return {"questions": asked, "ours": ours, "rivals": rivals}


def ahead_of(breakfasts: Mapping[str, Mapping[int, Sequence[Record]]], study: AdaptStudy) -> dict[str, Any]:
    """What Reflection-DPO does more than each other agent for unseen people, breakfast by breakfast in the same scenes.

    Returns:
        For each agent ``satisfaction`` and ``questions``, means and standard errors over ``n`` pairs of breakfasts, and
        means by ``folds`` and ``over_folds``; that of Reflection-DPO, paraphrased is what other words cost. Empty where
        Reflection-DPO was not played.
    """
    if OURS not in breakfasts:
        return {}

    def against(by_fold: Mapping[int, Sequence[Record]]) -> dict[str, Any]:
        ours = {
            number: _records_of_side(study, number, "unseen", records) for number, records in breakfasts[OURS].items()
        }
        others = _unseen(by_fold, study)
        means = {number: _means(paired_differences(records, others)) for number, records in ours.items()}
        return paired_differences(list(chain(*ours.values())), others) | {
            "folds": means,
            "over_folds": _over_folds(means),
        }

    return {name: against(by_fold) for name, by_fold in breakfasts.items() if name != OURS}


def _means(found: Mapping[str, Any]) -> dict[str, float | None]:
    return {score: found[score]["mean"] for score in SCORES}


def _unseen(by_fold: Mapping[int, Sequence[Record]], study: AdaptStudy) -> list[Record]:
    """Breakfasts for unseen people: nobody is unseen in two folds."""
    return [
        record for number, records in by_fold.items() for record in _records_of_side(study, number, "unseen", records)
    ]


def frontier(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Of (questions, satisfaction) those that no other satisfies as much with fewer questions, by questions."""
    kept: list[tuple[float, float]] = []
    for questions, rate in sorted(points, key=lambda point: (point[0], -point[1])):
        if not kept or rate > kept[-1][1]:
            kept.append((questions, rate))
    return kept


def point(side: Mapping[str, Any]) -> tuple[float, float] | None:
    """Questions and satisfaction of seen or unseen people, where there were any."""
    questions, rate = side["questions"]["mean"], side["satisfaction"]["mean"]
    return None if questions is None or rate is None else (questions, rate)
