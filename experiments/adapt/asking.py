"""What questions and a memory are worth to the scripted cook, without any language model.

Rows: the cook who knows everything, one who never asks, and one who asks what its next action turns on, with few and
with many questions. Then breakfasts of the same person one after the other in other scenes, with the same task and with
others, and breakfasts made without asking, with their own memory and with another person's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from housewise.agent.adapt.asking import AskingCook, PhraseBook
from housewise.agent.adapt.cook import ScriptedCook
from housewise.core.files import write_json
from housewise.core.machine import provenance
from housewise.language.embedder import Embedder, shared_minilm
from housewise.people.answering import AnsweringPerson
from housewise.people.base import Question
from housewise.people.judging import Judge, satisfaction
from housewise.people.person import PEOPLE, Person, load_people
from housewise.people.topics import usual_topics
from housewise.worlds.kitchen.data import load_kitchen
from housewise.worlds.kitchen.world import MAX_STEPS, TextKitchen

Told = list[tuple[str, str]]
"""Questions with their answers."""
BUDGETS = (2, 5, 10, MAX_STEPS)
BREAKFASTS = 3  # of the same person, one after the other


@dataclass(frozen=True)
class Eaten:
    """A breakfast.

    Attributes:
        rate: satisfied of applicable wishes; None where none applies.
    """

    rate: float | None
    questions: int


class Table:
    """Makes breakfasts for some people.

    Args:
        people: for whom.
        embedder: of the person who answers.
    """

    def __init__(self, people: Sequence[Person], embedder: Embedder) -> None:
        self._phrases, self._embedder = PhraseBook(people), embedder

    def knowing(self, person: Person, task: int, seed: int) -> Eaten:
        """Made by the cook who knows what the person wants."""
        world = TextKitchen(task, seed)
        cook = ScriptedCook(person, task)
        while not world.ended:
            if world.step(cook.act(world.cooking)).truncated:
                break
        return Eaten(satisfaction(Judge(task).verdicts(person, world.trace)), 0)

    def asking(self, person: Person, task: int, seed: int, most: int, told: Told) -> Eaten:
        """Made by a cook who asks at most so many questions; ``told`` grows by the answers."""
        world, judge = TextKitchen(task, seed, max_steps=2 * MAX_STEPS), Judge(task)
        speaker = AnsweringPerson(person, judge, world.trace, self._embedder)
        cook = AskingCook(task, self._phrases, usual_topics(), most, told)
        questions = 0
        while not world.ended:
            step = world.step(cook.act(world.cooking))
            if step.truncated:
                break
            if step.action is not None and step.action.name == "ask":
                question = step.action.x
                answer = speaker.answer(Question(question)).text
                cook.hear(question, answer)
                told.append((question, answer))
                questions += 1
        return Eaten(satisfaction(judge.verdicts(person, world.trace)), questions)


def rows(table: Table, people: Sequence[Person], tasks: Sequence[int], seed: int) -> dict[str, Any]:
    """Satisfaction and questions of every cook, over all people and tasks; all are given the same scenes."""
    places = [(person, task, seed + 8 * index + task) for index, person in enumerate(people) for task in tasks]
    found = {"knows": figures([table.knowing(*place) for place in places])}
    found["never asks"] = figures([table.asking(*place, 0, []) for place in places])
    for most in BUDGETS:
        found[f"asks at most {most}"] = figures([table.asking(*place, most, []) for place in places])
    return found


def days(table: Table, people: Sequence[Person], tasks: Sequence[int], seed: int, further: int) -> dict[str, Any]:
    """Breakfasts of each person one after the other, each in another scene; then some without asking.

    Each person begins with another task, so that tasks weigh alike on all days. The last ones are made with their own
    answers and with those of the next person.

    Args:
        further: by how many tasks the next breakfast is further in the list; 0 for the same one.
    """
    eaten, memories = [], []
    for index in range(len(people)):
        told: Told = []
        eaten.append(
            [
                table.asking(
                    people[index], tasks[(index + further * day) % len(tasks)], seed + 100 * index + day, 99, told
                )
                for day in range(BREAKFASTS)
            ]
        )
        memories.append(told)
    found = {f"breakfast {day + 1}": figures([each[day] for each in eaten]) for day in range(BREAKFASTS)}
    for name, shift in (("own memory, no questions", 0), ("another's memory, no questions", 1)):
        found[name] = figures(
            [
                table.asking(
                    person, task, seed + 100 * index + 50 + task, 0, list(memories[(index + shift) % len(people)])
                )
                for index, person in enumerate(people)
                for task in tasks
            ]
        )
    return found


def figures(eaten: Sequence[Eaten]) -> dict[str, Any]:
    """Over breakfasts: ``satisfaction`` of those in which a wish applies and ``questions``, mean and standard error."""
    rates = [each.rate for each in eaten if each.rate is not None]
    return {
        "satisfaction": _mean(rates),
        "questions": _mean([each.questions for each in eaten]),
        "n": len(eaten),
    }


def _mean(values: Sequence[float]) -> dict[str, float]:
    error = float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else 0.0
    return {"mean": float(np.mean(values)), "error": error}


def main(
    people: Annotated[Path | None, typer.Option(help="File or folder of people; the sixteen of ADAPT.")] = None,
    task: Annotated[list[int] | None, typer.Option(help="Number of a task; all of them without it.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first scene.")] = 1000,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures there.")] = None,
) -> None:
    """Compare cooks that ask more or less, and breakfasts with and without a memory.

    Examples:

      python -m housewise.experiments.adapt.asking --json asking.json
    """
    console, made = Console(highlight=False), provenance()
    found = load_people(people or PEOPLE)
    table = Table(found, shared_minilm())
    tasks = task or list(load_kitchen().tasks.tasks)
    result = {
        "cooks": rows(table, found, tasks, seed),
        "same_task": days(table, found, tasks, seed, 0),
        "other_tasks": days(table, found, tasks, seed, 3),
    }
    for part, each_row in result.items():
        console.print(part.replace("_", " "))
        for name, each in each_row.items():
            rate, asked = each["satisfaction"], each["questions"]
            console.print(
                f"  {name}: satisfaction {100 * rate['mean']:.1f} ± {100 * rate['error']:.1f} %, "
                f"{asked['mean']:.1f} questions, {each['n']} breakfasts",
                markup=False,
            )
    if json_file is not None:
        write_json(json_file, {**result, "people": len(found), "seed": seed, **made})


if __name__ == "__main__":
    from housewise.core.console import guarded

    guarded(lambda: typer.run(main))
