"""AmbiK's preference tasks, from a user's own copy (Ivanova et al., AmbiK, ACL 2025).

The repository has no licence, so that nothing of it comes with Housewise. A file has one task a line (JSON): ``id``,
``environment``, ``request``, ``variants``, ``question``, ``answer``, ``intent`` and ``shortlist``.
"""

from __future__ import annotations

from pathlib import Path

from housewise.language.words import content_words
from housewise.worlds.choices.files import Row, read_rows

SOURCE = "AmbiK's preference tasks"


class Intent(Row):
    """What the annotator marked as decisive: alternatives of which one has to be there, and what must not be."""

    wanted: tuple[tuple[str, ...], ...]
    unwanted: tuple[tuple[str, ...], ...]


class AmbikTask(Row):
    """One task; the unambiguous twins of the request are not read, so that no method can see them."""

    id: str
    environment: tuple[str, ...]
    request: str
    shortlist: tuple[str, ...] = ()
    variants: tuple[str, ...]
    question: str
    answer: str
    intent: Intent
    about_amount_or_procedure: bool = False


def read_ambik(path: Path) -> list[AmbikTask]:
    """Every task of a file.

    Raises:
        DataError: it is not such a file; the message names the line and the field.
    """
    return read_rows(path, AmbikTask, SOURCE)


def intended_options(task: AmbikTask) -> frozenset[int]:
    """The options that meet the annotator's marked intent, which is not the answer itself.

    An option meets a wanted group where it holds all words of one of its alternatives, or where all words that tell
    it from the other options are in the alternative. Options that equal an alternative drive out those that only hold
    it, and what is unwanted is left out. None may be left: the person wanted something that is not offered.
    """
    words = [frozenset(content_words(option)) for option in task.variants]
    shared = frozenset[str]().union(*words).intersection(*words) if words else frozenset[str]()
    met: set[int] = set()
    for group in task.intent.wanted:
        alternatives = [frozenset(content_words(alternative)) for alternative in group]
        equal = {index for index, option in enumerate(words) if option in alternatives}
        met |= equal or {
            index
            for index, option in enumerate(words)
            if any(wanted <= option or (option - shared and option - shared <= wanted) for wanted in alternatives)
        }
    unwanted = [frozenset(content_words(alternative)) for group in task.intent.unwanted for alternative in group]
    return frozenset(index for index in met if not any(each <= words[index] for each in unwanted))
