"""Cook in the text kitchen at the terminal, and hear what the person thinks of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from housewise.core.errors import UserError
from housewise.people.judging import Judge, satisfaction
from housewise.people.person import PEOPLE, Person, load_people
from housewise.worlds.kitchen.actions import TEMPLATES
from housewise.worlds.kitchen.world import TextKitchen

_HELP = "help shows what can be said, made what has been made, wishes what the person wants, quit ends it."


def main(
    task: Annotated[int, typer.Option(min=1, help="Number of the task.")] = 1,
    person: Annotated[str | None, typer.Option(help="For whom; one of the sixteen, or of --people.")] = None,
    people: Annotated[Path | None, typer.Option(help="File or folder of people.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the scene.")] = 0,
) -> None:
    """Prepare a breakfast by hand.

    Examples:

      python -m housewise.experiments.adapt.play --task 2 --person nalini
    """
    console = Console(highlight=False)
    cooked_for = _chosen(person, people) if person or people else None
    world = TextKitchen(task, seed)
    console.print(world.layout(), markup=False)
    console.print(f"\nTask: {world.task.text}. {_HELP}", markup=False)
    while True:
        try:
            line = console.input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            break
        if line == "quit":
            break
        if line in ("help", "made", "wishes"):
            console.print(_told(line, world, cooked_for), markup=False)
            continue
        step = world.step(line)
        console.print(("Not done: " if step.failed else "") + (step.observation or "(asked)"), markup=False)
        if step.ended or step.truncated:
            break
    if cooked_for is not None:
        _judge(console, world, cooked_for)


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
            console.print(line, markup=False)
    share = satisfaction(verdicts)
    said = "no wish applies" if share is None else f"{100 * share:.0f} % of the wishes that apply"
    console.print(f"{person.name}: {said}", markup=False)


if __name__ == "__main__":
    from housewise.core.console import guarded

    guarded(lambda: typer.run(main))
