"""``housewise learn`` and ``housewise rules``: a conversation about what a person wants, and what comes of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from housewise.cli.memory import MemoriesOption, PersonArgument
from housewise.cli.options import BaseUrlOption, ModelOption
from housewise.core.console import Console
from housewise.core.errors import UserError, suggest_names
from housewise.core.files import check_writable

if TYPE_CHECKING:
    from housewise.agent.clipr.terminal_interview import Interview

_TOPICS = ("kitchen", "house")

AboutOption = Annotated[
    str | None,
    typer.Option(metavar="TOPIC", help=f"What it is about: {' or '.join(_TOPICS)}.", show_default=False),
]


def learn(
    person: PersonArgument,
    about: Annotated[str, typer.Option(metavar="TOPIC", help="kitchen, or house: where things belong.")] = "kitchen",
    questions: Annotated[int, typer.Option(min=1, max=10, metavar="N", help="How many are asked at most.")] = 10,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    memories: MemoriesOption = None,
) -> None:
    """Ask a person at most ten questions, and keep what they want as rules.

    Answer by number or in your own words. Every rule is shown as it was understood, and kept as soon as you say yes.
    At any prompt: don't care, don't have it, back (the last question again), skip, help, quit. The same command goes on
    later. The rules are in the memory that housewise run --memory PERSON goes by: those about the house in houses,
    those about the kitchen with --system clipr. A chat model asks and reads the answers where one is named.

    Examples:

      housewise learn ada

      housewise learn ada --about house

      housewise learn ada --model my-model --base-url http://localhost:8000/v1
    """
    from housewise.cli.rule_conversation import Conversation
    from housewise.people.memory import MemoryFolder

    folder = MemoryFolder.default(memories)
    check_writable(folder.notes_path(person).parent)
    interview = _interview(about, model, base_url)
    Conversation(person, about, interview, folder, questions, sys.stdin, Console()).hold()


def show(person: PersonArgument, about: AboutOption = None, memories: MemoriesOption = None) -> None:
    """Show a person's rules with their ids, which they keep when they are corrected.

    Those that are not understood, contradicted, or questioned by reactions and goals are marked.

    Examples:

      housewise rules show ada

      housewise rules show ada --about house
    """
    from housewise.agent.clipr.rule_editing import show_rules
    from housewise.people.memory import MemoryFolder

    show_rules(MemoryFolder.default(memories).load(person), about, Console())


def add(
    person: PersonArgument,
    words: Annotated[str, typer.Argument(metavar="WORDS", help="What it says.")],
    about: AboutOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether it was understood.")] = False,
    memories: MemoriesOption = None,
) -> None:
    """Add a rule, which is shown as it was understood.

    It is about houses where it speaks of things and places in them, else about the kitchen.

    Examples:

      housewise rules add ada "Mugs belong on the shelf in the kitchen."

      housewise rules add ada "For tea: prefer green; avoid sugar." --yes
    """
    from housewise.adding import add_rule
    from housewise.people.memory import MemoryFolder

    add_rule(MemoryFolder.default(memories), person, words, about or _TOPICS[0], yes, sys.stdin, Console())


def forget(
    person: PersonArgument,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Of rules, or how they begin, as show has them.")],
    memories: MemoriesOption = None,
) -> None:
    """Forget rules.

    Examples:

      housewise rules forget ada 9c1b04
    """
    from housewise.agent.clipr.rule_editing import forget_rules
    from housewise.people.memory import MemoryFolder

    with MemoryFolder.default(memories).edit_memory(person) as memory:
        gone = forget_rules(memory, ids)
    console = Console()
    for note in gone:
        console.print(f"forgotten: {note.text}", soft_wrap=True, highlight=False)


def edit(
    person: PersonArgument,
    rule: Annotated[str | None, typer.Option(metavar="ID", help="As rules show has it, or how it begins.")] = None,
    text: Annotated[
        str | None, typer.Option(metavar="WORDS", help="What it says; an empty word forgets it.", show_default=False)
    ] = None,
    about: AboutOption = None,
    memories: MemoriesOption = None,
) -> None:
    """Correct rules: one with --rule and --text, a new one with --text alone, or all of them in $EDITOR.

    A corrected rule keeps its id, is the newest, and counts before what was said or shown earlier. A rule that is not
    understood is kept and marked. One about things and places in a house takes the place of an older one that says
    otherwise.

    Examples:

      housewise rules edit ada --rule 9c1b04 --text "For drinkware: prefer shelf in the kitchen; avoid table."

      housewise rules edit ada
    """
    from housewise.agent.clipr.rule_editing import Corrections, apply_corrections, find_rule, show_rules
    from housewise.people.memory import MemoryFolder
    from housewise.rule_editor import edited

    folder, console = MemoryFolder.default(memories), Console()

    def carry_out(corrections: Corrections, new: bool = False) -> None:
        with folder.edit_memory(person, new=new) as memory:
            for words in apply_corrections(memory, corrections, about or _TOPICS[0]):
                console.print(words, soft_wrap=True, highlight=False)

    if rule is None and text is None:
        with edited(folder.load(person), about) as corrections:
            carry_out(corrections)
    elif text is None:
        raise UserError(f"rule {rule}: say what it is to say, with --text WORDS")
    elif rule is None:
        carry_out(Corrections(added=[text]), new=True)
    else:
        id = find_rule(folder.load(person), rule).id
        carry_out(Corrections(changed={id: text}) if text.strip() else Corrections(forgotten=[id]))
    show_rules(folder.load(person), None, console)


COMMANDS: dict[str, Callable[..., None]] = {"show": show, "add": add, "edit": edit, "forget": forget}


def _interview(topic: str, model: str | None, base_url: str | None) -> Interview:
    from housewise.agent.clipr.terminal_interview import ModelInterview, house_interview, kitchen_interview

    if topic not in _TOPICS:
        raise UserError(f"--about {topic}: nothing is asked about that; {suggest_names(topic, _TOPICS)}")
    if model is None:
        from housewise.language.embedder import MiniLM

        return house_interview(MiniLM()) if topic == "house" else kitchen_interview(MiniLM())
    if topic == "house":
        raise UserError("--about house has questions of its own; leave out --model")
    from housewise.agent.clipr.chat_steps import ChatSteps
    from housewise.language import open_model
    from housewise.worlds.choices.kitchen_choices import read_kitchen_choices

    examples = [example.situation for example in read_kitchen_choices().examples]
    return ModelInterview(ChatSteps(open_model(model, base_url=base_url)), examples)
