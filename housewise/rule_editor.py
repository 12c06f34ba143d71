"""``housewise rules edit`` without a rule: all of them in an editor, whose text is never lost."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from housewise.agent.clipr.rule_editing import Corrections, lines_of
from housewise.core.errors import UserError, excerpt
from housewise.core.files import read_bytes
from housewise.people.memory import Memory, Note

_LARGEST = 1 << 20
"""Bytes of a file that comes back from an editor."""
_NUMBERED = re.compile(r"^\s*(\d{1,6})\s*[.)]\s*(.*)$")


@contextmanager
def edited(memory: Memory, topic: str | None) -> Iterator[Corrections]:
    """Have rules corrected in the editor that VISUAL or EDITOR names, for what carries the corrections out.

    Where that fails, or the editor does, and the text was changed, the text is kept in a file that the message names.

    Args:
        memory: of the person.
        topic: whose rules; None for all.

    Raises:
        UserError: when there is no editor, it fails, or what comes back cannot be read or carried out.
    """
    lines = [line for line in lines_of(memory) if topic in (None, line.topic)]
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UserError("no editor: name one in EDITOR, or say what to change with --rule ID --text WORDS")
    text = (
        f"# Rules of {memory.person}. Change the words behind a number; a line that is taken out is forgotten; a line\n"
        "# without a number is a new rule.\n"
    ) + "".join(f"{line.number}. {line.note.text}\n" for line in lines)
    folder = Path(tempfile.mkdtemp(prefix="housewise-rules-"))
    path = folder / "rules.txt"
    try:
        path.write_text(text, encoding="utf-8")
        yield read_back(_text_from(editor, path), {line.number: line.note for line in lines})
    except (UserError, KeyboardInterrupt) as error:
        reason = str(error) or f"EDITOR={excerpt(editor)}: interrupted; nothing was changed"
        if not path.is_file() or path.read_bytes() == text.encode():
            shutil.rmtree(folder, ignore_errors=True)
            raise UserError(reason) from error
        raise UserError(f"{reason}; what you wrote is in {path}") from error
    shutil.rmtree(folder, ignore_errors=True)


def _text_from(editor: str, path: Path) -> str:
    """What is in a file when an editor has ended.

    Raises:
        UserError: the editor cannot be started or fails, or the file is no text.
    """
    name = f"EDITOR={excerpt(editor)}"
    try:
        code = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
        if code:
            ended = f"ended with {code}" if code > 0 else f"was ended by signal {-code}"
            raise UserError(f"{name}: {ended}; nothing was changed")
        return read_bytes(path, _LARGEST).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise UserError(f"{name}: cannot be used ({error}); nothing was changed") from error


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
