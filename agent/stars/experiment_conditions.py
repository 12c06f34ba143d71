"""The conditions of the paper's experiments and additional ones: which parts of STARS are active."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from housewise.core.errors import UserError, suggest_names
from housewise.core.printable_text import excerpt

_WITH_USER = "+O"


@dataclass(frozen=True)
class StarsCondition:
    """Which parts of STARS are active.

    Attributes:
        name: Name in the paper's tables.
        retrieval: Sampled replies, the search tree, or goals that are viable by construction, which a model rates
            (``grounded``) or whose meaning is compared (``meaning``).
        repairs: Whether unviable goals are repaired and never used.
        choice: The goal of highest mean token probability, the goal that a model selects by number, or the goal that a
            model finds most probable after the prompt for a goal.
        user: Whether a user confirms the goal, and states it if none is confirmed.
        hints: Whether the selecting model is told facts about the house (STARS*).
    """

    name: str
    retrieval: Literal["templates", "tree", "grounded", "meaning"] = "tree"
    repairs: bool = False
    choice: Literal["likeliest", "selection", "rating"] = "likeliest"
    user: bool = False
    hints: bool = False


CONDITIONS: Mapping[str, StarsCondition] = {
    condition.name: condition
    for condition in (
        StarsCondition("TBP", retrieval="templates"),
        StarsCondition("TBP+O", retrieval="templates", user=True),
        StarsCondition("ST"),
        StarsCondition("STS", choice="selection"),
        StarsCondition("STAR", repairs=True),
        StarsCondition("STARS", repairs=True, choice="selection"),
        StarsCondition("STARS+O", repairs=True, choice="selection", user=True),
        StarsCondition("STARS*", repairs=True, choice="selection", hints=True),
        # Additional: small models are better at rating goals than at naming their numbers.
        StarsCondition("STARS-rated", repairs=True, choice="rating"),
        StarsCondition("STARS-rated+O", repairs=True, choice="rating", user=True),
        # Additional: the model only rates viable goals, so that there is nothing to repair.
        StarsCondition("grounded", retrieval="grounded"),
        StarsCondition("grounded+S", retrieval="grounded", choice="selection"),
        StarsCondition("grounded+S+O", retrieval="grounded", choice="selection", user=True),
        # Additional: baseline without a language model.
        StarsCondition("nearest", retrieval="meaning"),
    )
}


def find_condition(name: str) -> StarsCondition:
    """Return a condition by name. ``+O`` after any name adds the user.

    Raises:
        UserError: There is no such condition.
    """
    if name in CONDITIONS:
        return CONDITIONS[name]
    known = CONDITIONS.get(name.removesuffix(_WITH_USER))
    if known is None or known.user or not name.endswith(_WITH_USER):
        raise UserError(f"setting condition: no condition {excerpt(name)}; {suggest_names(name, CONDITIONS)}")
    return replace(known, name=name, user=True)
