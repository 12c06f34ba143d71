"""Notes in plain words: quotations of what a person said or showed, with how they did so and when it holds."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from housewise.agent.clipr.house_notes import HOUSE_TOPIC
from housewise.core.template_text import Template, template_text
from housewise.language.words import one_line
from housewise.people.memory import Kind, Note


class QuoteWords(Template):
    """Texts around quoted notes.

    Attributes:
        notes: Text around the notes, one per line.
        note: A note.
        told: How the person told of it, by kind of note.
        when: The task or situation in which it holds, if it does not always hold.
        asked: The question that it answers.
        max_notes: Maximum number of notes in a prompt.
        max_characters: Length at which a quotation is cut; a question is cut at a third of it.
    """

    notes: str = template_text("lines")
    note: str = template_text("person", "told", "text", "when", "asked")
    told: dict[Kind, str]
    when: str = template_text("condition")
    asked: str = template_text("question")
    max_notes: int = Field(default=20, ge=1, le=200)
    max_characters: int = Field(default=240, ge=20, le=2000)

    def quote(self, note: Note) -> str:
        """Return a note as a sentence on one line."""
        about = note.about
        conditions = (about.task if about.task != HOUSE_TOPIC else None, about.subtask, about.situation)
        condition = self._cut("; ".join(filter(None, conditions)))
        question = self._cut(about.question or "", self.max_characters // 3)
        return self.note.format(
            person=note.person,
            told=self.told.get(note.kind, note.kind),
            text=self._cut(note.text or _describe_value(note)),
            when=self.when.format(condition=condition) if condition else "",
            asked=self.asked.format(question=question) if question else "",
        )

    def quote_all(self, notes: Iterable[Note]) -> str:
        """Return the text around some notes, or nothing without any."""
        lines = dict.fromkeys(map(self.quote, notes))
        return self.notes.format(lines="\n".join(lines)) if lines else ""

    def _cut(self, text: str, max_characters: int | None = None) -> str:
        """Return untrusted text on one line without quotation marks, which could end the quotation."""
        line = one_line(text).replace('"', "'")
        limit = max_characters or self.max_characters
        return line if len(line) <= limit else f"{line[: limit - 3].rstrip()}..."


def _describe_value(note: Note) -> str:
    value = ("yes" if note.value > 0 else "no") if isinstance(note.value, float) else note.value
    return f"{note.about.phrase or 'in general'}: {value}"
