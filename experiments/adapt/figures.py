"""Figures over breakfasts: means with standard errors, of one cook's and of one's against another's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from housewise.core.record import Record
from housewise.people.kitchen.profiles import KitchenProfile
from housewise.rollout.scores import standard_error
from housewise.systems.adapt.record import KitchenAnswerEvent

SCORES = ("satisfaction", "questions")


def values(records: Iterable[Record], score: str) -> list[float]:
    """A score of every breakfast that has it: there is no satisfaction where no wish applies."""
    return [record.result.scores[score] for record in records if score in record.result.scores]


def mean(found: Sequence[float]) -> dict[str, float | None]:
    """``mean`` and its standard ``error``; None where there is nothing."""
    if not found:
        return {"mean": None, "error": None}
    return {"mean": fmean(found), "error": standard_error(found)}


def in_words(figure: Mapping[str, float | None], scale: float = 1) -> str:
    """A mean with its standard error, for the terminal."""
    mean, error = figure["mean"], figure["error"]
    return "-" if mean is None or error is None else f"{scale * mean:.1f} ± {scale * error:.1f}"


def figures(records: Sequence[Record]) -> dict[str, Any]:
    """``satisfaction`` and ``questions`` over ``n`` breakfasts."""
    return {**{score: mean(values(records, score)) for score in SCORES}, "n": len(records)}


def paired_differences(records: Sequence[Record], others: Sequence[Record]) -> dict[str, Any]:
    """What breakfasts have more than others of the same names, over ``n`` pairs."""
    beside = {record.header.name: record.result.scores for record in others}
    pairs = [(record.result.scores, beside[record.header.name]) for record in records if record.header.name in beside]
    gained = {
        score: mean([one[score] - two[score] for one, two in pairs if score in one and score in two])
        for score in SCORES
    }
    return {**gained, "n": len(pairs)}


def answer_value(records: Iterable[Record], people: Mapping[str, KitchenProfile]) -> dict[str, Any]:
    """What the answers were worth.

    Args:
        records: of breakfasts.
        people: by name.

    Returns:
        ``answers``: the share of all that tell a wish; ``wishes``: of those that apply, the share that was told;
        ``satisfied``, ``satisfied_unheard``: of those that apply, the shares of those that were told and of the others.
        None where there is nothing.
    """
    answers: list[bool] = []
    told: list[bool] = []
    others: list[bool] = []
    for record in records:
        person = people[record.header.person]
        words = {wish.id: (wish.text, wish.paraphrase or wish.text) for wish in person.preferences}
        said = [event.text for event in record.of_type(KitchenAnswerEvent)]
        answers += [any(text in answer for each in words.values() for text in each) for answer in said]
        for verdict in record.result.final["verdicts"]:
            if verdict["decision"] != "inapplicable":
                known = any(text in answer for answer in said for text in words[verdict["id"]])
                (told if known else others).append(verdict["decision"] == "satisfied")
    return {
        "answers": _share(answers),
        "wishes": len(told) / (len(told) + len(others)) if told or others else None,
        "satisfied": _share(told),
        "satisfied_unheard": _share(others),
    }


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None
