"""``housewise play kitchen``: cook in the text kitchen, ask the person, and hear what they think of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.language.embedder import INSTALL, has_minilm, shared_minilm
from housewise.people.answering import AnsweringPerson
from housewise.people.base import Question
from housewise.people.judging import Judge, satisfaction
from housewise.people.person import PEOPLE, Person, load_people
from housewise.worlds.kitchen.actions import TEMPLATES
from housewise.worlds.kitchen.world import TextKitchen

_HELP = "help shows what can be said, made what has been made, wishes what the person wants, quit ends it."


def cook(
    task: int, person: str | None, people: Path | None, seed: int, console: Console, read: Callable[[], str]
) -> None:
    """Prepare a breakfast line by line.

    Args:
        task: its number.
        person: for whom; None for nobody, or the first of ``people``.
        people: file or folder of people; None for the sixteen that come along.
        seed: of the scene.
        console: where everything is shown.
        read: brings a line; EOFError or KeyboardInterrupt where there is none.

    Raises:
        UserError: nobody is named so, or there is no such task.
    """
    cooked_for = _chosen(person, people) if person or people else None
    world = TextKitchen(task, seed)
    answers = _answers(world, cooked_for)
    console.print(world.layout())
    console.print(f"\nTask: {world.task.text}. {_HELP}")
    while True:
        try:
            line = read().strip()
        except (EOFError, KeyboardInterrupt):
            break
        if line == "quit":
            break
        if line in ("help", "made", "wishes"):
            console.print(_told(line, world, cooked_for))
            continue
        step = world.step(line)
        asked = step.action is not None and step.action.name == "ask" and not step.failed
        said = answers(step.action.x) if asked and step.action else step.observation
        console.print(("Not done: " if step.failed else "") + said)
        if step.ended or step.truncated:
            break
    if cooked_for is not None:
        _judge(console, world, cooked_for)


def _answers(world: TextKitchen, person: Person | None) -> Callable[[str], str]:
    """What is said to a question."""
    if person is None:
        return lambda question: "Nobody is there to answer; start with --person NAME."
    if not has_minilm():
        return lambda question: f"{person.name} cannot answer without sentence embeddings: run `{INSTALL}`"
    speaker = AnsweringPerson(person, Judge(world.number, world.kitchen), world.trace, shared_minilm())
    return lambda question: f"{person.name}: {speaker.answer(Question(question)).text}"


def _chosen(name: str | None, path: Path | None) -> Person:
    people = {person.name: person for person in load_people(path or PEOPLE)}
    if name is None:
        return next(iter(people.values()))
    if name not in people:
        raise UserError(f"nobody is named {name!r}; use one of {', '.join(people)}")
    return people[name]


def _told(word: str, world: TextKitchen, person: Person | None) -> str:
    if word == "made":
        return world.made_so_far()
    if word == "help":
        return "\n".join(f"  {form}" for _, form in TEMPLATES) + '\n  ask "..."\nX, Y, Z: things; R: a name; V: a verb'
    if person is None:
        return "Nobody in particular; start with --person NAME."
    return "\n".join(f"  {one.id} {one.text}" for one in person.preferences if world.number in one.tasks)


def _judge(console: Console, world: TextKitchen, person: Person) -> None:
    verdicts = Judge(world.number, world.kitchen).verdicts(person, world.trace, when=True)
    for verdict in verdicts:
        if verdict.decision != "inapplicable":
            line = f"  {verdict.decision:9} {verdict.preference.text} (since step {verdict.step}; {verdict.why})"
            console.print(line)
    share = satisfaction(verdicts)
    said = "no wish applies" if share is None else f"{100 * share:.0f} % of the wishes that apply"
    console.print(f"{person.name}: {said}")
