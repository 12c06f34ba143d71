"""Marks that say what a setting affects. Resuming runs and telling experiments apart follow from them.

A field is marked in its type: ``workers: Annotated[int, EXECUTION]``. The mark of a section holds for its fields,
except for what the mark of a field says otherwise. A subclass that defines a field again inherits the field's marks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from housewise.core.errors import suggest_names

Effect = Literal["result", "selection", "execution"]
"""What a setting affects.

``result``: How an episode goes, or what a model learns. It must stay the same when a run is resumed.
``selection``: Which episodes are played, or which examples are learned. It may change when a run is resumed.
``execution``: Where and how fast something is computed. Results differ by rounding at most.
"""


@dataclass(frozen=True)
class Affects:
    """What a setting affects. None stands for what the mark of the section says.

    Attributes:
        effect: See ``Effect``. The default is ``result``.
        compared: Whether a table tells experiments with different values apart. The default is True.
        needs_model: Whether the setting has an effect in runs with a chat model only. The default is False.
        needs: Name and value, or a tuple of values, that a field of the same class must have for the setting to have an
            effect.

    Raises:
        ValueError: There is no such effect.
    """

    effect: Effect | None = None
    compared: bool | None = None
    needs_model: bool | None = None
    needs: tuple[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.effect is not None and self.effect not in get_args(Effect):
            raise ValueError(f"no effect {self.effect!r} of a setting; {suggest_names(self.effect, get_args(Effect))}")

    def refine(self, other: Affects) -> Affects:
        """Return this mark with everything that another one says."""
        return replace(self, **{name: value for name, value in vars(other).items() if value is not None})


RESULT, SELECTION = Affects("result"), Affects("selection")
EXECUTION = Affects("execution")
NOT_COMPARED = Affects(compared=False)
NEEDS_MODEL = Affects(needs_model=True)
