"""What stands in the way of success: what becomes of the things that people want moved, of steps, and of episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from housewise.experiments.personalize.oracle import LEFT, left_over
from housewise.playback.object_outcomes import HAND, ObjectOutcome, list_object_outcomes
from housewise.systems.personalize.record import HouseRecord
from housewise.worlds.house.spoken_names import kind_from_name

FATES = ("tidied", "wrong place", "in the hand", "undiscovered", "no space", "no steps left", "failed", "left alone")
"""What may become of a thing that starts where people do not want it."""

DISTURBED = "disturbed"


def obstacles(records: Sequence[HouseRecord], familiar: Collection[str] | None = None) -> dict[str, Any]:
    """Shares of some episodes' things, steps and endings; what is a share of nothing is left out.

    ``things`` has the share of each of FATES among the things that started in a wrong place, and ``disturbed``: how
    many others were taken from a right place, for each of them. ``unfamiliar`` tells the things apart whose kind was
    never moved in what the model learned from: their share, and the shares of both that were tidied. ``steps`` and
    ``endings`` are shares of all steps and episodes.

    Args:
        records: of finished episodes.
        familiar: kinds of object moved in what the model learned from; None for a model that has not learned.
    """
    ends = [(kind_from_name(name), fate) for record in records for name, fate in _fates(record)]
    wrong = [(what, fate) for what, fate in ends if fate != DISTURBED]
    found = {
        "things": _shares([fate for _, fate in wrong], FATES),
        "steps": _shares([_status_label(step.status) for record in records for step in record.actions]),
        "endings": _shares([record.result.end_reason for record in records]),
    }
    if wrong:
        found["things"][DISTURBED] = (len(ends) - len(wrong)) / len(wrong)
    if familiar is not None and wrong:
        known = [fate == "tidied" for what, fate in wrong if what in familiar]
        new = [fate == "tidied" for what, fate in wrong if what not in familiar]
        found["unfamiliar"] = {"share": len(new) / len(wrong)}
        found["unfamiliar"] |= {"tidied": sum(new) / len(new)} if new else {}
        found["unfamiliar"] |= {"familiar tidied": sum(known) / len(known)} if known else {}
    return found


def _fates(record: HouseRecord) -> Iterator[tuple[str, str]]:
    """What became of every thing that started in a wrong place, or that ended in one after a right one."""
    reasons = left_over(record)
    for fate in list_object_outcomes(record):
        if not fate.was_correct:
            yield fate.name, _wrong(fate, reasons.get(fate.name, ""))
        elif not fate.is_correct:
            yield fate.name, DISTURBED


def _wrong(fate: ObjectOutcome, reason: str) -> str:
    """What became of a thing that started in a wrong place."""
    if fate.is_correct:
        return "tidied"
    if fate.end == HAND:
        return "in the hand"
    if fate.is_displaced:
        return "wrong place"
    if not fate.was_discovered:
        return "undiscovered"
    return reason if reason in FATES else "left alone" if reason == LEFT else "failed"


def _status_label(status: str) -> str:
    return "not understood" if status == "skipped" else status


def _shares(what: Sequence[str], order: Sequence[str] = ()) -> dict[str, float]:
    counts = Counter(what)
    return {name: counts[name] / len(what) for name in (*order, *sorted(set(counts) - set(order)))} if what else {}
