"""The paper's conditions, and some of our own: which parts of STARS are at work (STARS, experiment design)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from housewise.core.errors import UserError, excerpt, suggest_names

_WITH_USER = "+O"


@dataclass(frozen=True)
class StarsCondition:
    """Which parts are at work.

    Attributes:
        name: as in the paper's tables.
        retrieval: replies drawn at a temperature, the search tree, or goals that are viable by construction, as a model
            rates them or by meaning alone.
        repairs: whether unviable goals are repaired and never used.
        choice: the goal of highest mean token probability, the one that a model selects by number, or the one that it
            finds likeliest where it is asked for a goal, whoever retrieved or mended it.
        user: whether a user confirms the goal, and states it in the end.
        hints: whether the model that selects is told what holds in this house (STARS*).
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
        # Ours: a small model rates goals better than it says their numbers.
        StarsCondition("STARS-rated", repairs=True, choice="rating"),
        StarsCondition("STARS-rated+O", repairs=True, choice="rating", user=True),
        # Ours: the model only rates what can be said, seen and done; nothing is left to repair.
        StarsCondition("grounded", retrieval="grounded"),
        StarsCondition("grounded+S", retrieval="grounded", choice="selection"),
        StarsCondition("grounded+S+O", retrieval="grounded", choice="selection", user=True),
        # No language model at all: what the others have to be better than.
        StarsCondition("nearest", retrieval="meaning"),
    )
}


def find_condition(name: str) -> StarsCondition:
    """A condition by name; ``+O`` behind any of them adds the user.

    Raises:
        UserError: when there is none.
    """
    if name in CONDITIONS:
        return CONDITIONS[name]
    known = CONDITIONS.get(name.removesuffix(_WITH_USER))
    if known is None or known.user or not name.endswith(_WITH_USER):
        raise UserError(f"setting condition: no condition {excerpt(name)}; {suggest_names(name, CONDITIONS)}")
    return replace(known, name=name, user=True)
