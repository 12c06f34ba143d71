"""``housewise learn`` and ``housewise rules``: a conversation about what a person wants, and what comes of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from housewise.commands.options import BaseUrlOption, ModelOption
from housewise.commands.remembering import MemoriesOption, PersonArgument
from housewise.core.console import Console
from housewise.core.errors import UserError, alternatives
from housewise.core.files import check_writable

if TYPE_CHECKING:
    from housewise.conversing import Conversation

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

    Every answer is kept at once. An empty line passes a question over; quit, Ctrl-D or Ctrl-C end the conversation, and
    the same command goes on with it. The rules are in the memory that housewise run --memory PERSON goes by: those
    about the house in houses, those about the kitchen with --system clipr. Questions come from local components, or
    from a chat model that is named.

    Examples:

      housewise learn ada

      housewise learn ada --about house

      housewise learn ada --model my-model --base-url http://localhost:8000/v1
    """
    from housewise.conversing import converse
    from housewise.people.memory import MemoryFolder

    folder, console = MemoryFolder.usual(memories), Console()
    check_writable(folder.file(person).parent)
    conversation = _conversation(about, model, base_url)
    rules = converse(person, conversation, folder, questions, sys.stdin, console)
    for rule in rules:
        console.print(f"- {rule.text}", soft_wrap=True, highlight=False)
    told = f"new rules: {len(rules)}; to see all: housewise rules show {person}" if rules else "no new rules"
    console.print(told, soft_wrap=True, highlight=False)


def show(person: PersonArgument, about: AboutOption = None, memories: MemoriesOption = None) -> None:
    """Show a person's rules, numbered: which are not understood, contradicted, or questioned by reactions and goals.

    Examples:

      housewise rules show ada

      housewise rules show ada --about house
    """
    from housewise.people.memory import MemoryFolder
    from housewise.rulebook import show_rules

    show_rules(MemoryFolder.usual(memories).load(person), about, Console())


def edit(
    person: PersonArgument,
    rule: Annotated[int | None, typer.Option(min=1, metavar="NUMBER", help="As rules show numbers it.")] = None,
    text: Annotated[
        str | None, typer.Option(metavar="WORDS", help="What it says; an empty word forgets it.", show_default=False)
    ] = None,
    about: AboutOption = None,
    memories: MemoriesOption = None,
) -> None:
    """Correct rules: one with --rule and --text, a new one with --text alone, or all of them in $EDITOR.

    A corrected rule is the newest, and counts before what was said or shown earlier. A rule that is not understood is
    kept and marked. One about things and places in a house takes the place of an older one that says otherwise.

    Examples:

      housewise rules edit ada --rule 3 --text "For drinkware: prefer shelf in the kitchen; avoid table."

      housewise rules edit ada --text "Mugs belong on the shelf in the kitchen."

      housewise rules edit ada
    """
    from housewise.people.memory import MemoryFolder
    from housewise.rulebook import Corrections, correct, edited, lines_of, show_rules

    folder, console = MemoryFolder.usual(memories), Console()
    if rule is None and text is None:
        corrections = edited(folder.load(person), about)
    elif text is None:
        raise UserError(f"rule {rule}: say what it is to say, with --text WORDS")
    elif rule is None:
        corrections = Corrections(added=[text])
    else:
        notes = {line.number: line.note for line in lines_of(folder.load(person))}
        if rule not in notes:
            raise UserError(f"{person} has no rule {rule}; housewise rules show {person} numbers {len(notes)} of them")
        id = notes[rule].id
        corrections = Corrections(changed={id: text}) if text.strip() else Corrections(forgotten=[id])
    with folder.changing(person, new=rule is None and text is not None) as memory:
        for words in correct(memory, corrections, about or _TOPICS[0]):
            console.print(words, soft_wrap=True, highlight=False)
    show_rules(folder.load(person), None, console)


COMMANDS: dict[str, Callable[..., None]] = {"show": show, "edit": edit}


def _conversation(topic: str, model: str | None, base_url: str | None) -> Conversation:
    from housewise.conversing import conversation_about

    if topic not in _TOPICS:
        raise UserError(f"--about {topic}: nothing is asked about that; {alternatives(topic, _TOPICS)}")
    if topic == "house":
        if model is not None:
            raise UserError("--about house is asked by local components; leave out --model")
        from housewise.agent.clipr.house import HOUSE, HouseInterview
        from housewise.language.embedder import MiniLM

        return conversation_about(HOUSE, HouseInterview(MiniLM()))
    from housewise.worlds.choices.kitchen import read_kitchen

    examples = [example.situation for example in read_kitchen().examples]
    if model is None:
        from housewise.agent.clipr.local.components import LocalComponents
        from housewise.language.embedder import MiniLM

        return conversation_about(topic, LocalComponents(MiniLM()), examples)
    from housewise.agent.clipr.chat import ChatLanguage
    from housewise.language import open_model

    return conversation_about(topic, ChatLanguage(open_model(model, base_url=base_url)), examples)
