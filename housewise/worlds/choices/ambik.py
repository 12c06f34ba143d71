"""Reads the preference tasks of AmbiK from a user's own copy (Ivanova et al., AmbiK, ACL 2025).

The data has no licence, so it is not bundled. A file is a table as the authors published it (CSV, such as
``ambik_test_900.csv``), or JSON Lines with the fields ``id``, ``environment``, ``request``, ``variants``, ``question``,
``answer`` and ``intent``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from housewise.core.errors import DataError
from housewise.core.printable_text import excerpt
from housewise.core.text_files import read_text
from housewise.language.words import content_words
from housewise.worlds.choices.data_files import MAX_FILE_BYTES, DataRow, read_json_lines, split_list

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
"""Matches intents about an amount or a procedure, which cannot be turned into options."""


class AmbikIntent(DataRow):
    """What the annotator marked as decisive.

    Attributes:
        wanted: Groups of alternatives, of each of which one has to be present.
        unwanted: Groups of alternatives that must not be present.
    """

    wanted: tuple[tuple[str, ...], ...]
    unwanted: tuple[tuple[str, ...], ...]


class AmbikTask(DataRow):
    """One task. The unambiguous version of the request is not read, so that no method can use it."""

    id: str
    environment: tuple[str, ...]
    request: str
    variants: tuple[str, ...]
    question: str
    answer: str
    intent: AmbikIntent
    about_amount_or_procedure: bool = False


def read_ambik(path: Path) -> list[AmbikTask]:
    """Read all preference tasks of a file.

    Raises:
        DataError: The file is invalid. The message names the line and the field.
    """
    text = read_text(path, f"give {SOURCE}", MAX_FILE_BYTES)
    if not is_ambik_table(text):
        return read_json_lines(path, AmbikTask, SOURCE)
    tasks = list(_read_table(text, path))
    if not tasks:
        raise DataError(f"{path}: has no row whose ambiguity_type is {_PREFERENCES}; give {SOURCE}")
    return tasks


def is_ambik_table(text: str) -> bool:
    """Whether a text begins like a table of AmbiK's authors."""
    return _COLUMNS[0] in text.partition("\n")[0] and not text.lstrip().startswith("{")


def _read_table(text: str, path: Path) -> Iterator[AmbikTask]:
    rows = csv.DictReader(io.StringIO(text), strict=True)
    try:
        names = rows.fieldnames or ()
        if missing := [name for name in _COLUMNS if name not in names]:
            raise DataError(f"{path}, line 1: there is no column {missing[0]}; give the table as it was published")
        for number, row in enumerate(rows):
            if row[_COLUMNS[0]] == _PREFERENCES:
                if None in row.values():
                    raise DataError(f"{path}, line {rows.line_num}: has too few columns; give the table as it was")
                # The first column has no name and numbers the rows of the whole data set.
                yield _task(row, row.get("") or str(number))
    except csv.Error as error:
        raise DataError(
            f"{path}, line {rows.line_num}: no table ({excerpt(error)}); give it as it was published"
        ) from error


def _task(row: Mapping[str, str], number: str) -> AmbikTask:
    wanted: list[tuple[str, ...]] = []
    unwanted: list[tuple[str, ...]] = []
    for part in split_list(row["user_intent"]):
        alternatives = split_list(part.lstrip("-"), "|")
        (unwanted if part.startswith("-") else wanted).append(alternatives)
    variants, question = split_list(row["variants"], "\n"), row["question"].strip()
    asks_how = (
        _HOW.search(question) or _AMOUNT_OR_PROCEDURE.search(row["user_intent"]) or re.search(r"\d", row["answer"])
    )
    return AmbikTask(
        id=f"ambik-{number:0>3}",
        environment=split_list(row["environment_short"]),
        request=row["ambiguous_task"].strip(),
        variants=variants,
        question=question,
        answer=row["answer"].strip(),
        intent=AmbikIntent(wanted=tuple(wanted), unwanted=tuple(unwanted)),
        about_amount_or_procedure=not variants and asks_how is not None,
    )


def intended_options(task: AmbikTask) -> frozenset[int]:
    """Return the options that meet the annotator's marked intent, which can differ from the answer.

    An option meets a wanted group if it contains all words of an alternative, or if the alternative contains all words
    that distinguish the option from the others. Options that equal an alternative take precedence over those that only
    contain it. Options with something unwanted are removed. The result may be empty: the person wanted something that
    is not offered.
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
