"""What a model knows of what belongs where: its judgements of things put anywhere in generated houses.

    python -m housewise.experiments.personalize.judging [--adapter FOLDER] [--lessons 48] \\
        [--person majority] [--json FILE]

The model as it comes and the one with the adapter judge the same lessons (selftrain.personalize.lessons), in houses
that no recipe of housekeep_configs learns from. Replies are grounded, so that every verdict can be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.agent.personalize.grammar import plan_grammar
from housewise.agent.personalize.judgement_text import objects_to_judge, parse_judgements, split_judgements
from housewise.agent.personalize.prompt import ContextGenerator, PromptTemplate
from housewise.core.console import Console
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.core.tables import table
from housewise.experiments.quick import QuickOption, say_left_out
from housewise.language import ChatModel, ChatRequest, Sampling, open_model
from housewise.selftrain.personalize.lessons import JudgingLesson, generate_lessons
from housewise.selftrain.personalize.settings import LessonsConfig
from housewise.worlds.house.tasks import resolve_preferences

SEED = 500_000
"""Of the first house; far from those of every recipe."""

_EACH = 8
_QUICK_LESSONS = 2
_AT_ONCE = 16
_ROWS = {
    "in its place": ("fine", "taken away"),
    "out of place, a right place is known": ("right place", "wrong place", "fine", "elsewhere"),
    "out of place, none is known": ("elsewhere", "wrong place", "fine"),
}


def verdicts(lesson: JudgingLesson, said: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    """How each thing of a lesson stands, and what was said of it.

    Args:
        lesson: what was asked.
        said: judgements; what is missing was not said before the reply was cut.
    """
    for thing in objects_to_judge(lesson.graph):
        right, place = lesson.right[thing], lesson.graph.container_of(thing)
        if place in right:
            yield "in its place", "unsaid" if thing not in said else "fine" if said[thing] == place else "taken away"
            continue
        row = "out of place, a right place is known" if right else "out of place, none is known"
        target = said.get(thing)
        if thing not in said:
            yield row, "unsaid"
        elif target is None:
            yield row, "elsewhere"
        elif target == place:
            yield row, "fine"
        else:
            yield row, "right place" if target in right else "wrong place"


def judge(model: ChatModel, lessons: Sequence[JudgingLesson], context: ContextGenerator) -> Counter[tuple[str, str]]:
    """Ask for judgements, and count them."""
    words, sampling = context.template, Sampling(temperature=0.0, max_tokens=600)
    counted: Counter[tuple[str, str]] = Counter()
    for first in range(0, len(lessons), _AT_ONCE):
        asked = lessons[first : first + _AT_ONCE]
        requests = [
            ChatRequest(
                context.messages(lesson.graph),
                sampling,
                words.prefix,
                plan_grammar(lesson.graph, 1, words.prompt_names(lesson.graph), words.judging),
            )
            for lesson in asked
        ]
        for lesson, (reply,) in zip(asked, model.complete(requests), strict=True):
            thoughts = split_judgements(reply.text)[0]
            counted.update(verdicts(lesson, parse_judgements(thoughts, lesson.graph, words.prompt_names(lesson.graph))))
    return counted


def shares(counted: Counter[tuple[str, str]]) -> dict[str, dict[str, float]]:
    """Percentages of each kind of thing, and how many there were."""
    figures = {}
    for row in _ROWS:
        found = {verdict: count for (kind, verdict), count in counted.items() if kind == row}
        number = sum(found.values())
        figures[row] = {"things": number} | {said: 100 * count / number for said, count in sorted(found.items())}
    return figures


def main(
    model: Annotated[str, typer.Option(help="local, or local:<folder or Hugging Face name>.")] = "local",
    adapter: Annotated[str | None, typer.Option(help="Folder or name of an adapter to compare with.")] = None,
    number: Annotated[int, typer.Option("--lessons", min=1, help="How many lessons; about 17 things each.")] = 48,
    person: Annotated[str, typer.Option(help="Whose idea of order counts.")] = "majority",
    quick: QuickOption = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", callback=check_writable_file, help="Write the figures there.")
    ] = None,
) -> None:
    """Measure what a model knows of what belongs where.

    Examples:

      python -m housewise.experiments.personalize.judging --adapter tidy

      python -m housewise.experiments.personalize.judging --adapter runs/brain/imitate/adapter --lessons 96 \\
          --json judging.json
    """
    console, made = Console(), provenance()
    say_left_out(quick, f"{_QUICK_LESSONS} lessons in place of {number}")
    number = min(number, _QUICK_LESSONS) if quick else number
    context = ContextGenerator(PromptTemplate.load("judging"))
    kind = LessonsConfig(houses=-(-number // _EACH), each=_EACH, seed=SEED)
    houses = range(SEED, SEED + kind.houses)
    lessons = [lesson for seed in houses for lesson in generate_lessons(seed, kind, resolve_preferences(person))][
        :number
    ]
    arms: dict[str, dict[str, dict[str, float]]] = {}
    for name, given in {"as it comes": None, **({adapter: adapter} if adapter else {})}.items():
        with console.status(f"{name}: {number} lessons"), closing(open_model(model, adapter=given)) as opened:
            arms[name] = shares(judge(opened, lessons, context))
    rows = [
        (
            row if verdict == _ROWS[row][0] else "",
            verdict,
            *(f"{arm[row].get(verdict, 0.0):.1f}" for arm in arms.values()),
        )
        for row in _ROWS
        for verdict in (*_ROWS[row], "unsaid")
    ]
    console.print(table(f"{number} lessons, what is said of a thing, %", ("a thing", "said", *arms), rows))
    if json_file is not None:
        settings: dict[str, Any] = {"model": model, "adapter": adapter, "lessons": number, "person": person}
        settings["quick"] = quick
        write_json(json_file, {**settings, "seed": SEED, "arms": arms, **made})


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
