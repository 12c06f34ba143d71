"""Cards of knowledge for an assistant: task, object and environment knowledge, chosen by what was said or seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from housewise.worlds.lab.history import LabTurn
from housewise.worlds.lab.state import LabState
from housewise.worlds.lab.surroundings import Surroundings


@dataclass(frozen=True)
class KnowledgeSwitches:
    """Which knowledge an assistant is given.

    Attributes:
        task: General steps of the tasks that the person's words resemble.
        object: Function, use, place and look of the devices that were mentioned or seen.
        environment: Where the things are that were mentioned, and in which state, in this episode.
    """

    task: bool = True
    object: bool = True
    environment: bool = True


ALL_KNOWLEDGE, NO_KNOWLEDGE = KnowledgeSwitches(), KnowledgeSwitches(False, False, False)


def select_knowledge(
    state: LabState, surroundings: Surroundings, turns: Sequence[LabTurn], switches: KnowledgeSwitches
) -> str:
    """Return the text of the cards that what was said or seen calls for."""
    return ""
