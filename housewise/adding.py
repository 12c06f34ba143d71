"""``housewise rules add``: a rule is shown as it was understood, and kept when the person says that it is right."""

from __future__ import annotations

import re
from typing import TextIO

from rich.console import Console

from housewise.agent.clipr.answer_phrases import parse_command, parse_confirmation
from housewise.agent.clipr.house_interview import HOUSE_TOPIC
from housewise.agent.clipr.rule_editing import Corrections, apply_corrections, rule_ids, interpret_rule
from housewise.cli.prompt import InputEnded, Prompt
from housewise.core.errors import UserError
from housewise.people.memory import MemoryFolder

_EXAMPLES = 'as I do "For tea: prefer green; avoid sugar." or "Mugs belong on the shelf in the kitchen."'
_AND = re.compile(r"^(?:(?:and|but|also|plus)\b[\s,]*)+", re.IGNORECASE)
_UNKNOWN = {
    True: f"I do not understand that, {_EXAMPLES} I can keep it as it is, but no robot in a house goes by it.",
    False: f"I do not understand that, {_EXAMPLES} I can keep it as it is, but only a language model goes by it.",
}
"""By whether it is about the house."""


def add_rule(
    folder: MemoryFolder, person: str, words: str, topic: str, sure: bool, stream: TextIO, console: Console
) -> None:
    """Keep a rule.

    Args:
        folder: of memories.
        person: whose; the memory begins here where there is none.
        words: what it says.
        topic: of a rule that does not speak of things and places in a house.
        sure: whether nobody is asked.
        stream: where the answer comes from.
        console: where everything is shown.

    Raises:
        UserError: the rule is too long, nobody answers, or the memory cannot be written.
    """
    prompt = Prompt(stream, console)
    folder.notes_path(person)
    while True:
        understood = interpret_rule(words, topic)
        prompt.say(f"I understood: {understood}" if understood else _UNKNOWN[topic == HOUSE_TOPIC])
        if sure:
            break
        prompt.say(f"{'Is that right?' if understood else 'Keep it?'} [yes / no / or say it in other words]")
        try:
            said = prompt.read()
        except InputEnded:
            remedy = "" if stream.isatty() else "; add --yes where nobody can be asked"
            raise UserError(f"nothing was added, as nobody said yes{remedy}") from None
        command, heard = parse_command(said), parse_confirmation(said)
        if command == "help":
            prompt.say("Say yes to keep it, no to leave it, or the rule in other words.")
            continue
        if heard.agrees and not heard.adds:
            break
        if (heard.agrees is False and not heard.rest) or command in ("quit", "back"):
            prompt.say("Nothing was added.")
            return
        words = f"{words.rstrip(' .')}; {_AND.sub('', heard.rest)}" if heard.adds else heard.rest or words
    with folder.edit_memory(person, new=True) as memory:
        before = set(rule_ids(memory))
        remarks = apply_corrections(memory, Corrections(added=[words]), topic)
        kept = [id for note, id in rule_ids(memory).items() if note not in before]
    prompt.say(f"Kept as rule {', '.join(kept)}.")
    for remark in remarks:
        prompt.say(remark)
