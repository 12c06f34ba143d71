"""Rules that a chat model concludes from all notes about a person, in one call per change of the memory.

The rules are text of a model that has read untrusted notes: they are bounded, checked and quoted like the notes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from pydantic import Field, ValidationError

from housewise.agent.clipr.rules import MAX_RULE_CHARACTERS, parse_rules
from housewise.agent.personalize.planner import ModelCall, RuleSummary
from housewise.agent.personalize.quoted_notes import QuoteWords
from housewise.core.template_text import Template, template_text
from housewise.core.validation import StrictModel
from housewise.language.base import ChatModel, ChatRequest, Message, RequestError, Sampling
from housewise.language.words import content_words
from housewise.people.memory import Note, RulesFile

_TOKENS_PER_RULE = 60
_NOT_USABLE = "the reply has no usable rule"


class RuleWords(Template):
    """Texts of the request for rules, and around the rules in a prompt.

    Attributes:
        system, user: The request. ``lines`` are the notes.
        rules: Text around the rules in a planner's prompt, one per line.
        rule: A rule.
        max_rules: Maximum number of rules.
        max_notes: Maximum number of notes in the request: general ones first, then the newest.
    """

    system: str = template_text("max_rules")
    user: str = template_text("lines", "max_rules")
    rules: str = template_text("lines")
    rule: str = template_text("text")
    max_rules: int = Field(default=8, ge=1, le=50)
    max_notes: int = Field(default=200, ge=1, le=1000)

    def format_rules(self, rules: Sequence[str]) -> str:
        """Return the text around some rules, or nothing without any."""
        return self.rules.format(lines="\n".join(self.rule.format(text=text) for text in rules)) if rules else ""


class _KeptRules(StrictModel):
    """The file with the rules of a memory.

    Attributes:
        request: SHA-256 of the model's name and of the request, which changes with the memory.
        rules, problem: See RuleSummary.
    """

    request: str
    rules: tuple[str, ...]
    problem: str = ""


def summarize_notes(
    model: ChatModel, words: RuleWords, quotes: QuoteWords, notes: Sequence[Note], file: RulesFile | None = None
) -> RuleSummary:
    """Return the rules that a model concludes from notes. A file with the answer to the same request is read instead.

    Args:
        model: Model to ask, greedily.
        words: Texts of the request, and how many notes and rules at most.
        quotes: How notes are quoted in it.
        notes: Notes, the most important first.
        file: File that keeps the answer. None keeps nothing.
    """
    notes = notes[: words.max_notes]
    lines = "\n".join(dict.fromkeys(map(quotes.quote, notes)))
    messages = (
        Message("system", words.system.format(max_rules=words.max_rules).strip()),
        Message("user", words.user.format(lines=lines, max_rules=words.max_rules).strip()),
    )
    asked = [model.name, *(message.turn for message in messages)]
    key = hashlib.sha256(json.dumps(asked).encode(errors="replace")).hexdigest()
    if (kept := _read(file, key)) is not None:
        return kept
    sampling = Sampling(temperature=0.0, max_tokens=_TOKENS_PER_RULE * words.max_rules)
    try:
        [[reply]] = model.complete([ChatRequest(messages, sampling)])
    except RequestError as error:
        # Without rules the prompt still has the notes. A model that answers nothing at all ends the episode.
        return RuleSummary((), error.reason)
    rules = _usable_rules(reply.complete_lines, notes, words.max_rules)
    found = RuleSummary(rules, "" if rules else _NOT_USABLE, (ModelCall(messages, reply),))
    if file is not None:
        kept_rules = _KeptRules(request=key, rules=rules, problem=found.problem)
        file.write(kept_rules.model_dump_json(indent=1) + "\n")
    return found


def _usable_rules(reply: str, notes: Sequence[Note], max_rules: int) -> tuple[str, ...]:
    """Return the rules in a reply that name something which the notes are about."""
    known = {word for note in notes for word in content_words(note.about.phrase)}
    rules = [rule.text.replace('"', "'") for rule in parse_rules(reply)]
    return tuple(text for text in rules if known.intersection(content_words(text)))[:max_rules]


def _read(file: RulesFile | None, key: str) -> RuleSummary | None:
    """Return the kept answer to a request; None if there is none, or the file is damaged."""
    content = None if file is None else file.read()
    if content is None:
        return None
    try:
        kept = _KeptRules.model_validate_json(content)
    except ValidationError:
        return None
    if kept.request != key or any(len(rule) > MAX_RULE_CHARACTERS for rule in kept.rules):
        return None
    return RuleSummary(kept.rules, kept.problem)
