"""Show, add, edit and forget the rules that people agreed to.

Examples:

  # ask a person for rules, then see them
  housewise learn ada
  housewise rules show ada

  # one rule in your own words
  housewise rules add ada "Mugs belong on the shelf in the kitchen."
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from housewise.cli.learn import TOPICS
from housewise.cli.note_tables import print_rules
from housewise.core.console import Console, print_lines
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import read_bytes
from housewise.core.printable_text import excerpt
from housewise.terminal.options import MemoryOptions, YesOption, option

if TYPE_CHECKING:
    from housewise.agent.clipr.rule_editing import Corrections
    from housewise.people.memory import Memory

TopicOption = Annotated[
    str | None, option("TOPIC", f"Topic of the rules: {' or '.join(TOPICS)}. Default: both, or kitchen to add.")
]

_MAX_BYTES = 1 << 20
"""Maximum size of a file that an editor leaves."""
_EXAMPLES = 'as I do "For tea: prefer green; avoid sugar." or "Mugs belong on the shelf in the kitchen."'
_NOT_UNDERSTOOD = {
    "house": f"I do not understand that, {_EXAMPLES} I can keep it as it is, but robots in a house will ignore it.",
    "kitchen": f"I do not understand that, {_EXAMPLES} I can keep it as it is, but only a language model follows it.",
}
_LEADING_AND = re.compile(r"^(?:(?:and|but|also|plus)\b[\s,]*)+", re.IGNORECASE)


def show(target: MemoryOptions, topic: TopicOption = None) -> None:
    """Show a person's rules with their ids.

    Examples:

      housewise rules show ada

      housewise rules show ada --topic house

    A rule keeps its id when it is edited. Rules that are not understood, that a newer rule contradicts, or that
    reactions and goals question are marked.
    """
    _check_topic(target, topic)
    print_rules(target.load(), topic, Console())


def add(
    target: MemoryOptions,
    words: Annotated[str, typer.Argument(metavar="WORDS", help="Text of the rule.")],
    topic: TopicOption = None,
    yes: YesOption = False,
) -> None:
    """Add a rule after showing how it was understood.

    Examples:

      housewise rules add ada "Mugs belong on the shelf in the kitchen."

      housewise rules add ada "For tea: prefer green; avoid sugar." --yes

    A rule that mentions things and places in a house is about houses. Any other rule is about the kitchen by default.
    """
    _check_topic(target, topic)
    add_rule(target, words, topic or TOPICS[0], yes, sys.stdin, Console())


def edit(
    target: MemoryOptions,
    rule: Annotated[
        str | None, option("ID", "Id of the rule, as rules show prints it, or its first characters.")
    ] = None,
    text: Annotated[
        str | None, option("WORDS", 'New text of the rule. "" forgets the rule.', show_default=False)
    ] = None,
    topic: TopicOption = None,
) -> None:
    """Edit rules: one with --rule and --text, a new one with only --text, or all of them in $EDITOR.

    Examples:

      housewise rules edit ada --rule 9c1b04 --text "For drinkware: prefer shelf in the kitchen; avoid table."

      housewise rules edit ada

    An edited rule keeps its id and counts as the newest one. A rule that is not understood is kept and marked. A rule
    about things and places in a house replaces older ones that contradict it.
    """
    from housewise.agent.clipr.rule_editing import Corrections, apply_corrections, find_rule

    if rule is not None and topic is not None:
        raise UserError("--topic: a rule keeps its topic; leave out --topic or --rule")
    _check_topic(target, topic)
    console = Console()

    def save(corrections: Corrections, new: bool = False) -> None:
        with target.edit(missing_ok=new) as memory:
            print_lines(console, *apply_corrections(memory, corrections, topic or TOPICS[0]))

    if rule is None and text is None:
        with _edit_in_editor(target.load(), topic) as corrections:
            save(corrections)
    elif text is None:
        raise UserError(f"rule {rule}: give its new text with --text WORDS")
    elif rule is None:
        save(Corrections(added=[text]), new=True)
    else:
        id = find_rule(target.load(), rule).id
        save(Corrections(changed={id: text}) if text.strip() else Corrections(forgotten=[id]))
    print_rules(target.load(), None, console)


def forget(
    target: MemoryOptions,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of rules, as rules show prints them.")],
) -> None:
    """Forget rules.

    Examples:

      housewise rules forget ada 9c1b04

      housewise rules forget ada 9c1b04 77ad20
    """
    from housewise.agent.clipr.rule_editing import forget_rules

    with target.edit() as memory:
        notes = forget_rules(memory, ids)
    print_lines(Console(), *(f"forgotten: {note.text}" for note in notes))


COMMANDS: dict[str, Callable[..., None]] = {"show": show, "add": add, "edit": edit, "forget": forget}


def _check_topic(target: MemoryOptions, topic: str | None) -> None:
    """Check that robots read rules of a topic: one that is asked about, or a set of choices the person has rules for.

    Raises:
        UserError: There is no such topic.
    """
    from housewise.agent.clipr.rule_editing import list_rules

    if topic in (None, *TOPICS):
        return
    memory = target.folder.load(target.person, missing_ok=True)
    known = dict.fromkeys([*TOPICS, *(rule.topic for rule in list_rules(memory))])
    if topic not in known:
        raise UserError(f"--topic {topic}: no robot reads rules about that; {suggest_names(topic, known)}")


def add_rule(
    target: MemoryOptions, words: str, topic: str, is_confirmed: bool, stream: TextIO, console: Console
) -> None:
    """Show how a rule is understood, and add it to a memory when the person confirms it.

    Args:
        target: Memory of the person. A missing memory is created.
        words: Text of the rule.
        topic: Topic of a rule that does not mention things and places in a house.
        is_confirmed: Whether the rule is added without asking.
        stream: Where answers are read from.
        console: Where everything is printed.

    Raises:
        UserError: The rule is too long, nobody answers, or the memory cannot be written.
    """
    from housewise.agent.clipr.answer_phrases import parse_command, parse_confirmation
    from housewise.agent.clipr.rule_editing import Corrections, apply_corrections, interpret_rule, short_rule_ids
    from housewise.people.terminal_prompt import InputEnded, Prompt

    prompt = Prompt(stream, console)
    target.folder.notes_path(target.person)
    while True:
        understood = interpret_rule(words, topic)
        not_understood = _NOT_UNDERSTOOD.get(topic, _NOT_UNDERSTOOD["kitchen"])
        prompt.say(f"I understood: {understood}" if understood else not_understood)
        if is_confirmed:
            break
        prompt.say(f"{'Is that right?' if understood else 'Keep it?'} [yes / no / or say it in other words]")
        try:
            answer = prompt.read()
        except InputEnded:
            remedy = "" if stream.isatty() else "; without a terminal, confirm with --yes"
            raise UserError(f"nothing was added, as nobody said yes{remedy}") from None
        command, reply = parse_command(answer), parse_confirmation(answer)
        if command == "help":
            prompt.say("Say yes to keep it, no to leave it, or the rule in other words.")
            continue
        if reply.agrees and not reply.adds:
            break
        if (reply.agrees is False and not reply.rest) or command in ("quit", "back"):
            prompt.say("Nothing was added.")
            return
        words = f"{words.rstrip(' .')}; {_LEADING_AND.sub('', reply.rest)}" if reply.adds else reply.rest or words
    with target.edit(missing_ok=True) as memory:
        before = set(short_rule_ids(memory))
        remarks = apply_corrections(memory, Corrections(added=[words]), topic)
        new = [id for note, id in short_rule_ids(memory).items() if note not in before]
    for line in (f"Kept as rule {', '.join(new)}.", *remarks):
        prompt.say(line)


@contextmanager
def _edit_in_editor(memory: Memory, topic: str | None) -> Iterator[Corrections]:
    """Let the user edit rules in the editor that VISUAL or EDITOR names. What the user wrote is never lost.

    If the editor or the body of the with statement fails after a change, the message names a file with the text.

    Args:
        memory: Memory of a person.
        topic: Topic of the rules, or None for all.

    Yields:
        The corrections to apply.

    Raises:
        UserError: No editor is named, it fails, or its text cannot be read or applied.
    """
    from housewise.agent.clipr.rule_editing import list_rules, parse_rule_list

    rules = list_rules(memory, topic)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UserError("no editor: name one in EDITOR, or say what to change with --rule ID --text WORDS")
    text = (
        f"# Rules of {memory.person}. Edit the text behind a number; delete a line to forget the rule; add a line\n"
        "# without a number for a new rule.\n"
    ) + "".join(f"{rule.number}. {rule.note.text}\n" for rule in rules)
    folder = Path(tempfile.mkdtemp(prefix="housewise-rules-"))
    path = folder / "rules.txt"
    try:
        path.write_text(text, encoding="utf-8")
        yield parse_rule_list(_run_editor(editor, path), {rule.number: rule.note for rule in rules})
    except (UserError, KeyboardInterrupt) as error:
        reason = str(error) or f"EDITOR={excerpt(editor)}: interrupted; nothing was changed"
        if not path.is_file() or path.read_bytes() == text.encode():
            shutil.rmtree(folder, ignore_errors=True)
            raise UserError(reason) from error
        raise UserError(f"{reason}; what you wrote is in {path}") from error
    shutil.rmtree(folder, ignore_errors=True)


def _run_editor(editor: str, path: Path) -> str:
    """Run an editor on a file, and return the text that it leaves.

    Raises:
        UserError: The editor cannot be started or fails, or the file is not text.
    """
    name = f"EDITOR={excerpt(editor)}"
    try:
        code = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
        if code:
            ended = f"ended with {code}" if code > 0 else f"was ended by signal {-code}"
            raise UserError(f"{name}: {ended}; nothing was changed")
        return read_bytes(path, _MAX_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise UserError(f"{name}: cannot be used ({error}); nothing was changed") from error
