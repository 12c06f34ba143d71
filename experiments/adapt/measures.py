"""Measures of ADAPT's breakfasts: what answers were worth, and questions and satisfaction by part, wishes and day.

The satisfaction rate itself is ``people.kitchen.preference_judge.satisfaction_rate``.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial

from housewise.core.record import Record
from housewise.people.kitchen.invented_profiles import invent_profile
from housewise.people.kitchen.profile_files import ADAPT_PROFILES, load_profiles
from housewise.people.kitchen.profiles import KitchenPreference, KitchenProfile
from housewise.selftrain.adapt.settings import WarmUpConfig
from housewise.systems.adapt.record import CookingActionEvent, KitchenAnswerEvent
from housewise.worlds.kitchen.kitchen_data import load_kitchen

Weighted = tuple[float, float] | None
"""A value and its weight in means; None without a value."""
WishKind = tuple[str, str, tuple[int, ...]]
"""What satisfies a wish, when it is applicable, and its tasks. Wishes of one kind may be said in other words."""


def answers_telling(record: Record) -> Weighted:
    """Return the share of answers that tell a wish."""
    phrases = [text for each in _phrases(record).values() for text in each]
    return _share([any(text in answer for text in phrases) for answer in _answers(record)])


def wishes_told(record: Record) -> Weighted:
    """Return the share of the applicable wishes that were told."""
    return _share([told for told, _ in _wishes(record)])


def _share_of_satisfied(record: Record, told: bool) -> Weighted:
    """Return the share of satisfied wishes among the applicable ones that were told, or the others."""
    return _share([satisfied for was_told, satisfied in _wishes(record) if was_told == told])


satisfied_told = partial(_share_of_satisfied, told=True)
satisfied_others = partial(_share_of_satisfied, told=False)


def _share_of_warm_up(record: Record, shared: bool) -> Weighted:
    """Return the share of satisfied wishes among the applicable ones that the warm-up shares, or the others."""
    kinds = {wish.id: _kind(wish) for wish in _person(record).preferences}
    return _share(
        [
            verdict["decision"] == "satisfied"
            for verdict in record.result.final["verdicts"]
            if verdict["decision"] != "inapplicable" and (kinds[verdict["id"]] in warm_up_wishes()) == shared
        ]
    )


satisfied_shared = partial(_share_of_warm_up, shared=True)
satisfied_new = partial(_share_of_warm_up, shared=False)


@cache
def warm_up_wishes() -> frozenset[WishKind]:
    """Return what the people of the default warm-up want."""
    warm_up = WarmUpConfig()
    people = (invent_profile(warm_up.seed + number, warm_up.preferences_per_person) for number in range(warm_up.people))
    return frozenset(_kind(wish) for person in people for wish in person.preferences)


def _kind(wish: KitchenPreference) -> WishKind:
    return wish.wants_text, wish.if_text, wish.tasks


def _satisfied_at(record: Record, part: float) -> float | None:
    """Return the satisfaction after a part of the actions: of the wishes that are satisfied for good (figure 4)."""
    verdicts = [each for each in record.result.final["verdicts"] if each["decision"] != "inapplicable"]
    actions = sum(not event.failed for event in record.of_type(CookingActionEvent))
    satisfied = [each["decision"] == "satisfied" and each["step"] <= round(part * actions) for each in verdicts]
    return sum(satisfied) / len(satisfied) if satisfied else None


satisfied_at_20 = partial(_satisfied_at, part=0.2)
satisfied_at_40 = partial(_satisfied_at, part=0.4)
satisfied_at_60 = partial(_satisfied_at, part=0.6)
satisfied_at_80 = partial(_satisfied_at, part=0.8)


def _questions_where(record: Record, least: int, most: int) -> float | None:
    """Return the number of questions if so many wishes apply (figure 3)."""
    scores = record.result.scores
    return scores["questions"] if least <= scores["applicable"] <= most else None


questions_few = partial(_questions_where, least=0, most=4)
questions_some = partial(_questions_where, least=5, most=6)
questions_many = partial(_questions_where, least=7, most=1000)
"""Thirds of the breakfasts, nearly; the paper does not say where its bins end."""


def _on_day(record: Record, score: str, first: int, last: int) -> float | None:
    """Return a score of one of the first breakfasts of a person in a run: of several tasks in turn, or of one again."""
    tasks = record.header.settings["tasks"]
    numbers = list(tasks["task"] or load_kitchen().tasks.tasks)
    again = tasks["repeats"] > 1
    day = record.header.repetition if again else numbers.index(record.header.initial_state["number"])
    return record.result.scores.get(score) if first <= day + 1 <= last else None


satisfaction_1 = partial(_on_day, score="satisfaction", first=1, last=1)
satisfaction_2 = partial(_on_day, score="satisfaction", first=2, last=2)
satisfaction_3 = partial(_on_day, score="satisfaction", first=3, last=3)
satisfaction_later = partial(_on_day, score="satisfaction", first=2, last=1000)
questions_1 = partial(_on_day, score="questions", first=1, last=1)
questions_2 = partial(_on_day, score="questions", first=2, last=2)
questions_3 = partial(_on_day, score="questions", first=3, last=3)
questions_later = partial(_on_day, score="questions", first=2, last=1000)
"""Scores of the first, second and third breakfast of a person, and of all after the first."""


def _wishes(record: Record) -> list[tuple[bool, bool]]:
    """Return of each applicable wish whether it was told, and whether it is satisfied."""
    phrases, answers = _phrases(record), _answers(record)
    return [
        (
            any(text in answer for answer in answers for text in phrases[verdict["id"]]),
            verdict["decision"] == "satisfied",
        )
        for verdict in record.result.final["verdicts"]
        if verdict["decision"] != "inapplicable"
    ]


def _answers(record: Record) -> list[str]:
    return [event.text for event in record.of_type(KitchenAnswerEvent)]


def _phrases(record: Record) -> dict[str, tuple[str, ...]]:
    """Return the sentences in which the person of a record says each wish, by its id."""
    return {wish.id: (wish.text, wish.paraphrase or wish.text) for wish in _person(record).preferences}


def _person(record: Record) -> KitchenProfile:
    return _people(record.header.settings["tasks"]["people"])[record.header.person]


@lru_cache(maxsize=4)
def _people(path: str | None) -> dict[str, KitchenProfile]:
    return {person.name: person for person in load_profiles(path or ADAPT_PROFILES)}


def _share(found: list[bool]) -> Weighted:
    return (sum(found) / len(found), len(found)) if found else None
