"""``housewise rules``: the rules of a memory as a numbered list to read, and to correct one by one or in an editor."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from housewise.agent.clipr.house import HOUSE, following, giving_way, house_notes, questioned, rule_notes_in, told
from housewise.agent.clipr.notes import overruled, rule_notes
from housewise.agent.clipr.places import house_rule
from housewise.agent.clipr.rules import MOST_CHARACTERS, read_rule
from housewise.core.errors import UserError, shown
from housewise.core.files import read_bytes
from housewise.language.words import one_line
from housewise.people.memory import Memory, Note
from housewise.people.memory.note import just_after, now

_LARGEST = 1 << 20
"""Bytes of a file that comes back from an editor."""
_NUMBERED = re.compile(r"^\s*(\d{1,6})\s*[.)]\s*(.*)$")


@dataclass(frozen=True)
class Line:
    """A rule as it is listed.

    Attributes:
        number: from 1.
        note: that keeps it.
        topic: that it belongs to.
        remarks: what there is to say of it.
    """

    number: int
    note: Note
    topic: str
    remarks: tuple[str, ...]


@dataclass
class Corrections:
    """What is to become of some rules.

    Attributes:
        changed: other words by the note's id.
        forgotten: ids.
        added: words of new rules.
    """

    changed: dict[str, str] = field(default_factory=dict)
    forgotten: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)


def topic_of_rule(note: Note) -> str:
    """What a rule is about: the task that its note names, else a house."""
    return note.about.task or HOUSE


def lines_of(memory: Memory) -> list[Line]:
    """The rules of a memory, the oldest first, with what there is to say of each."""
    notes = rule_notes_in(memory)
    newer, against = _overruled(notes), questioned(memory)
    return [
        Line(number, note, topic_of_rule(note), tuple(_remarks(note, newer.get(note.id), len(against[note.id]))))
        for number, note in enumerate(notes, 1)
    ]


def show_rules(memory: Memory, topic: str | None, console: Console) -> None:
    """Print rules, those of one topic or all."""
    lines = [line for line in lines_of(memory) if topic in (None, line.topic)]
    grid = Table.grid(padding=(0, 2, 0, 0))
    for column in range(3):
        grid.add_column(no_wrap=column < 2, overflow="fold")
    for line in lines:
        words = Text(line.note.text or str(line.note.value))
        words.append(f" ({'; '.join(line.remarks)})" if line.remarks else "", "dim")
        grid.add_row(Text(f"{line.number}.", "cyan"), Text(line.topic, "dim"), words)
    console.print(grid if lines else f"no rules of {memory.person}{f' about {shown(topic)}' if topic else ''}")


def correct(memory: Memory, corrections: Corrections, topic: str) -> list[str]:
    """Carry corrections out, all or none.

    Args:
        memory: of the person; it is changed.
        corrections: to carry out.
        topic: of new rules that do not speak of things and places in a house.

    Returns:
        What was done beyond that, in words: rules that gave way to others.

    Raises:
        UserError: when a rule is gone, or too long; nothing should be kept of the memory then.
    """
    news: list[Note] = []
    for id, text in corrections.changed.items():
        if topic_of_rule(memory[id]) == HOUSE:
            words = _checked(text)
            (about, value), *others = told(house_rule(read_rule(words)))
            news.append(memory.edit(id, text=words, about=about, value=value))
            for each in following(news[-1], others):
                memory.add(each)
        else:
            news.append(memory.edit(id, text=_checked(text)))
    for id in corrections.forgotten:
        memory.forget(id)
    for text in corrections.added:
        news += [memory.add(note) for note in _new(memory, _checked(text), topic)]
    return give_way(memory, news)


def give_way(memory: Memory, news: Sequence[Note]) -> list[str]:
    """Have rules about things in houses give way to new ones: a robot goes by all that it has.

    Returns:
        What was forgotten, in words.
    """
    words = []
    for new in (note for note in rule_notes_in(memory) if note in news):
        replaced, exceptions = giving_way(memory, new)
        for note in exceptions:
            memory.add(note)
        for older in replaced:
            memory.forget(older.id)
            words.append(f"forgotten, as a newer rule says otherwise: {older.text}")
    return words


def edited(memory: Memory, topic: str | None) -> Corrections:
    """Have rules corrected in the editor that VISUAL or EDITOR names.

    Args:
        memory: of the person.
        topic: whose rules; None for all.

    Raises:
        UserError: when there is no editor, it fails, or what comes back cannot be read.
    """
    lines = [line for line in lines_of(memory) if topic in (None, line.topic)]
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UserError("no editor: name one in EDITOR, or say what to change with --rule NUMBER --text WORDS")
    head = (
        f"# Rules of {memory.person}. Change the words behind a number; a line that is taken out is forgotten; a line\n"
        "# without a number is a new rule.\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.txt"
        path.write_text(head + "".join(f"{line.number}. {line.note.text}\n" for line in lines), encoding="utf-8")
        try:
            code = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
            text = read_bytes(path, _LARGEST).decode("utf-8-sig")
        except (OSError, ValueError) as error:
            raise UserError(f"EDITOR={shown(editor)}: cannot be used ({error}); nothing was changed") from error
    if code:
        raise UserError(f"EDITOR={shown(editor)}: ended with {code}; nothing was changed")
    return read_back(text, {line.number: line.note for line in lines})


def read_back(text: str, notes: Mapping[int, Note]) -> Corrections:
    """What a corrected list says.

    Args:
        text: a rule a line.
        notes: that it was written from, by number.

    Raises:
        UserError: when a number is new or stands there twice, or nothing is left of a list.
    """
    found, corrections = Counter[int](), Corrections()
    for place, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        matched = _NUMBERED.match(line)
        if matched is None:
            corrections.added.append(line.strip().lstrip("-*•").strip())
            continue
        number, words = int(matched[1]), matched[2].strip()
        found[number] += 1
        if number not in notes or found[number] > 1:
            why = "there is no such rule" if number not in notes else "it stands there twice"
            raise UserError(f"line {place}: rule {number}: {why}; write a new rule without a number")
        note = notes[number]
        if words and words != note.text:
            corrections.changed[note.id] = words
        elif note.text and not words:
            corrections.forgotten.append(note.id)
    if notes and not found:
        raise UserError("no rule is left in the list, and nothing was changed; housewise memory forget takes out many")
    corrections.forgotten += [note.id for number, note in notes.items() if number not in found]
    return corrections


def _new(memory: Memory, text: str, topic: str) -> list[Note]:
    rule, time = read_rule(text), now()
    if memory.notes:
        time = max(time, just_after(memory.notes[-1].time))
    if topic == HOUSE or house_rule(rule) is not None:
        return house_notes(memory.person, rule, time=time)
    return rule_notes(memory.person, topic, [rule], time=time)


def _checked(text: str) -> str:
    """A rule's words without what cannot be seen."""
    seen = one_line(text)
    if not 1 <= len(seen) <= MOST_CHARACTERS:
        raise UserError(f"rule {shown(seen[:60])!r}: has {len(seen)} characters; 1 to {MOST_CHARACTERS} can be kept")
    return seen


def _overruled(notes: Sequence[Note]) -> dict[str, int]:
    """For rules that a later one of their topic contradicts its number."""
    by_topic: dict[str, list[int]] = {}
    for number, note in enumerate(notes):
        by_topic.setdefault(topic_of_rule(note), []).append(number)
    return {
        notes[numbers[earlier]].id: numbers[later] + 1
        for numbers in by_topic.values()
        for earlier, later in overruled([notes[number] for number in numbers]).items()
    }


def _remarks(note: Note, newer: int | None, count: int) -> list[str]:
    remarks = []
    if topic_of_rule(note) == HOUSE:
        if not (isinstance(note.value, float) and (note.about.room or note.about.receptacle)):
            remarks.append("not understood: no robot in a house goes by it")
    elif not (note.text and read_rule(note.text).typed):
        remarks.append("not understood: only a language model goes by it")
    if newer is not None:
        remarks.append(f"rule {newer} says otherwise, and is newer")
    if count:
        remarks.append(f"questioned by {count} note{'' if count == 1 else 's'}")
    return remarks
