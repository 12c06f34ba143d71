"""AmbiK's preference tasks, from a user's own copy (Ivanova et al., AmbiK, ACL 2025).

The repository has no licence, so that nothing of it comes with Housewise. A file is a table as the authors published it
(CSV, such as ``ambik_test_900.csv``), or has one task a line (JSON): ``id``, ``environment``, ``request``,
``variants``, ``question``, ``answer``, ``intent`` and ``shortlist``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from housewise.core.errors import DataError, excerpt
from housewise.core.text_files import read_text
from housewise.language.words import content_words
from housewise.worlds.choices.files import MAX_FILE_BYTES, DataRow, read_json_lines

SOURCE = "AmbiK's preference tasks"

_COLUMNS = (
    "ambiguity_type",
    "environment_short",
    "ambiguous_task",
    "amb_shortlist",
    "variants",
    "question",
    "answer",
    "user_intent",
)
_PREFERENCES = "preferences"
_HOW = re.compile(r"^how\b|\bmean\b|\bdoneness\b", re.IGNORECASE)
_AMOUNT_OR_PROCEDURE = re.compile(
    r"\b(equal|same|separate|apart|handful|minutes?|slice|wash|blend|\d+)\b", re.IGNORECASE
)
"""Questions and intents about how much or how, of which no option can be made."""


class AmbikIntent(DataRow):
    """What the annotator marked as decisive: alternatives of which one has to be there, and what must not be."""

    wanted: tuple[tuple[str, ...], ...]
    unwanted: tuple[tuple[str, ...], ...]


class AmbikTask(DataRow):
    """One task; the unambiguous twins of the request are not read, so that no method can see them."""

    id: str
    environment: tuple[str, ...]
    request: str
    shortlist: tuple[str, ...] = ()
    variants: tuple[str, ...]
    question: str
    answer: str
    intent: AmbikIntent
    about_amount_or_procedure: bool = False


def read_ambik(path: Path) -> list[AmbikTask]:
    """Every preference task of a file.

    Raises:
        DataError: it is not such a file; the message names the line and the field.
    """
    text = read_text(path, f"give {SOURCE}", MAX_FILE_BYTES)
    if not is_ambik_table(text):
        return read_json_lines(path, AmbikTask, SOURCE)
    tasks = list(_published(text, path))
    if not tasks:
        raise DataError(f"{path}: has no row whose ambiguity_type is {_PREFERENCES}; give {SOURCE}")
    return tasks


def is_ambik_table(text: str) -> bool:
    """Whether a text begins like one of AmbiK's own tables."""
    return _COLUMNS[0] in text.partition("\n")[0] and not text.lstrip().startswith("{")


def _published(text: str, path: Path) -> Iterator[AmbikTask]:
    """The preference tasks of a table."""
    rows = csv.DictReader(io.StringIO(text), strict=True)
    try:
        names = rows.fieldnames or ()
        if missing := [name for name in _COLUMNS if name not in names]:
            raise DataError(f"{path}, line 1: there is no column {missing[0]}; give the table as it was published")
        for number, row in enumerate(rows):
            if row[_COLUMNS[0]] == _PREFERENCES:
                if None in row.values():
                    raise DataError(f"{path}, line {rows.line_num}: has too few columns; give the table as it was")
                # The first column, which has no name, numbers the rows of the whole data set.
                yield _task(row, row.get("") or str(number))
    except csv.Error as error:
        raise DataError(
            f"{path}, line {rows.line_num}: no table ({excerpt(error)}); give it as it was published"
        ) from error


def _task(row: Mapping[str, str], number: str) -> AmbikTask:
    wanted: list[tuple[str, ...]] = []
    unwanted: list[tuple[str, ...]] = []
    for part in _listed(row["user_intent"]):
        alternatives = tuple(_listed(part.lstrip("-"), "|"))
        (unwanted if part.startswith("-") else wanted).append(alternatives)
    variants, question = tuple(_listed(row["variants"], "\n")), row["question"].strip()
    asks_how = (
        _HOW.search(question) or _AMOUNT_OR_PROCEDURE.search(row["user_intent"]) or re.search(r"\d", row["answer"])
    )
    return AmbikTask(
        id=f"ambik-{number:0>3}",
        environment=tuple(_listed(row["environment_short"])),
        request=row["ambiguous_task"].strip(),
        shortlist=tuple(_listed(row["amb_shortlist"])),
        variants=variants,
        question=question,
        answer=row["answer"].strip(),
        intent=AmbikIntent(wanted=tuple(wanted), unwanted=tuple(unwanted)),
        about_amount_or_procedure=not variants and asks_how is not None,
    )


def _listed(text: str, mark: str = ",") -> list[str]:
    return [part.strip() for part in text.split(mark) if part.strip()]


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
