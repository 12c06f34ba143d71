"""How many different sentences an assistant says in the sessions that it has played."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from housewise.core.errors import UserError
from housewise.core.record_files import FINISHED
from housewise.experiments.measured_values import MeasuredValue
from housewise.rollout.record_reader import read_record
from housewise.systems.basis.record import GuidanceEvent

_SENTENCE = re.compile(r"[^.!?]+[.!?]*")


def count_sentences(folder: str, pattern: str = "**") -> Iterator[MeasuredValue]:
    """Count the sentences of an assistant, all and different ones; the case of letters does not count.

    Args:
        folder: Folder with runs in it.
        pattern: Pattern of the folders of the runs within it.

    Raises:
        UserError: There are no sessions.
    """
    paths = sorted(set(Path(folder).glob(f"{pattern}/**/episodes/*{FINISHED}")))
    if not paths:
        raise UserError(f"{folder}: no finished sessions in {pattern}; name the experiment that played them")
    said: list[str] = []
    for path in paths:
        for event in read_record(path).of_type(GuidanceEvent):
            said += [sentence.strip().lower() for sentence in _SENTENCE.findall(event.speech) if sentence.strip()]
    for measure, value in {
        "sessions": len(paths),
        "sentences": len(said),
        "different_sentences": len(set(said)),
    }.items():
        yield MeasuredValue("all", 0, measure, value)
