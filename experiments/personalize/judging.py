"""What a model knows of what belongs where: its judgements of objects that lie anywhere in generated houses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import Literal

from housewise.agent.personalize.grammar import plan_grammar
from housewise.agent.personalize.json_judge import JsonJudge
from housewise.agent.personalize.judgement_text import Judgements, objects_to_judge, parse_judgements, split_judgements
from housewise.agent.personalize.placement_candidates import find_candidates
from housewise.agent.personalize.placement_judge import accept_judgement
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.experiments.measured_values import MeasuredValue
from housewise.language import ChatModel, ChatRequest, Sampling, open_model
from housewise.language.embedder import shared_minilm
from housewise.selftrain.personalize.lessons import JudgingLesson, generate_lessons
from housewise.selftrain.personalize.settings import LessonsConfig
from housewise.worlds.house.tasks import resolve_preferences

SEED = 500_000
"""Seed of the first house. It is far from those of every recipe."""

_LESSONS_OF_A_HOUSE = 8
_BATCH = 16
_SHARES = {
    "in_place_kept": ("in place", "left"),
    "right_place": ("out of place", "right place"),
    "wrong_place": ("out of place", "wrong place"),
    "deferred": ("nowhere to go", "deferred"),
}
"""State of an object and the verdict whose share is measured, by measure."""


def judge(adapter: str | None, lessons: int, person: str = "majority", model: str = "local") -> Iterator[MeasuredValue]:
    """Yield how often a model's judgements are right, lesson by lesson.

    Replies are grounded, so that every verdict can be read.

    Args:
        adapter: Adapter of the model.
        lessons: Number of lessons; each has about 17 objects.
        person: Whose preferences count.
        model: The model.
    """
    houses = -(-lessons // _LESSONS_OF_A_HOUSE)
    kind = LessonsConfig(houses=houses, each=_LESSONS_OF_A_HOUSE, seed=SEED)
    seeds = range(SEED, SEED + houses)
    asked = [lesson for seed in seeds for lesson in generate_lessons(seed, kind, resolve_preferences(person))][:lessons]
    with closing(open_model(model, adapter=adapter)) as opened:
        for number, verdicts in enumerate(ask_verdicts(opened, asked, NotesContext(NotesTemplate.load("judging")))):
            yield from _measure_shares(number, verdicts)


def judge_by_notes(
    by: Literal["lookup", "nearest", "model", "model with notes"],
    lessons: int,
    model: str = "local",
    base_url: str | None = None,
) -> Iterator[MeasuredValue]:
    """Yield how often judgements by notes about a person are right, lesson by lesson.

    Args:
        by: What judges: notes about the kind of object (the planner ``memory_lookup``), also those about similar kinds
            (``memory_nearest``), or the model in JSON, without notes or with the prompt ``notes``.
        lessons: Number of lessons, each in another house.
        model: The model that judges, as in ``--model``.
        base_url: Address of its server, as in ``--base-url``.
    """
    kind = LessonsConfig(houses=lessons, each=1, seed=SEED, places=(6, 10), things=(5, 8), noted_fraction=(0.2, 0.5))
    preferences, embedder = resolve_preferences("majority"), shared_minilm()
    context = NotesContext(NotesTemplate.load("notes").model_copy(update={"rules": None}))
    counted: list[Counter[tuple[str, str]]] = []
    with ExitStack() as stack:
        judge = None
        if by.startswith("model"):
            judge = partial(JsonJudge, stack.enter_context(closing(open_model(model, base_url=base_url))), context)
        for number in range(lessons):
            [lesson] = generate_lessons(SEED + number, kind, preferences, embedder)
            known = lesson.knowledge if by != "model" and lesson.knowledge else PreferenceKnowledge()
            options = find_candidates(lesson.graph, known, {}, use_similar=by == "nearest")
            judgements: Judgements = {
                thing: each.places[0] if each.is_decided else each.here for thing, each in options.items()
            }
            if judge is not None:
                read = judge(known, Sampling(temperature=0.0)).judge(lesson.graph, options, (), ()).judgements
                # An object about which nothing could be read stays where it is.
                judgements = {thing: accept_judgement(each, each.here) for thing, each in options.items()} | dict(read)
            counted.append(Counter(list_verdicts(lesson, judgements)))
            yield from _measure_shares(number, counted[-1])
    yield from measure_success(counted)


def measure_success(counted: Sequence[Counter[tuple[str, str]]]) -> Iterator[MeasuredValue]:
    """Yield the success of each lesson, whose mean is the success over all objects.

    Success is the number of objects out of place that go to a right place, less those in place that are moved, as a
    share of the objects out of place. A lesson without an object out of place can still lose objects in place, so that
    all lessons are divided by the mean number of objects out of place.

    Args:
        counted: Verdicts of each lesson; see ``list_verdicts``.
    """
    out = sum(count for verdicts in counted for (state, _), count in verdicts.items() if state == "out of place")
    if not out:
        return
    for number, verdicts in enumerate(counted):
        moved = verdicts["in place", "right place"] + verdicts["in place", "wrong place"]
        gained = verdicts["out of place", "right place"] - moved
        yield MeasuredValue(f"lesson {number}", 0, "success", gained * len(counted) / out)


def _measure_shares(number: int, verdicts: Counter[tuple[str, str]]) -> Iterator[MeasuredValue]:
    """Yield the shares of a lesson's verdicts."""
    for measure, (state, verdict) in _SHARES.items():
        if count := sum(number for (what, _), number in verdicts.items() if what == state):
            yield MeasuredValue(f"lesson {number}", 0, measure, verdicts[state, verdict] / count, count)


def ask_verdicts(
    model: ChatModel, lessons: Sequence[JudgingLesson], context: NotesContext
) -> Iterator[Counter[tuple[str, str]]]:
    """Yield for each lesson how many objects of each state had each verdict."""
    words, sampling = context.template, Sampling(temperature=0.0, max_tokens=600)
    for first in range(0, len(lessons), _BATCH):
        asked = lessons[first : first + _BATCH]
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
            text = split_judgements(reply.text)[0]
            yield Counter(list_verdicts(lesson, parse_judgements(text, lesson.graph, words.prompt_names(lesson.graph))))


def list_verdicts(lesson: JudgingLesson, judgements: Judgements) -> Iterator[tuple[str, str]]:
    """Yield the state of each object of a lesson, and the verdict on it.

    Args:
        lesson: What was asked.
        judgements: Judged place by object. Objects after which the reply was cut are missing.
    """
    for thing in objects_to_judge(lesson.graph):
        right, place = lesson.right[thing], lesson.graph.container_of(thing)
        state = "in place" if place in right else "out of place" if right else "nowhere to go"
        target = judgements.get(thing)
        if thing not in judgements:
            yield state, "missing"
        elif target is None:
            yield state, "deferred"
        elif target == place:
            yield state, "left"
        else:
            yield state, "right place" if target in right else "wrong place"
