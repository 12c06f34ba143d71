"""Lessons: they say what people want, in the words of the prompt that they are for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from agent.prompt import ContextGenerator, PromptTemplate
from household.errors import UserError
from household.generator import generate_house
from household.tasks import wishes
from selftrain.lessons import lessons_in
from selftrain.loop import SelfTraining
from selftrain.loop_config import load_selftraining
from selftrain.pairs import Pair

HOUSES = range(3000, 3004)


@pytest.fixture(scope="module")
def context() -> ContextGenerator:
    return ContextGenerator(PromptTemplate.load("judging"))


@pytest.fixture(scope="module")
def lessons(context: ContextGenerator) -> list[Pair]:
    return [pair for seed in HOUSES for pair in lessons_in(seed, 10, wishes("majority"), context)]


def judged(lesson: Pair) -> list[tuple[str, str, str]]:
    """Kind of each thing, where it is, and what is thought of that."""
    lines = [line for line in lesson.reply.partition("step 1:")[0].splitlines() if line]
    return [(*line.split(": ")[0].split(" on "), line.split(": ")[1]) for line in lines]  # type: ignore[misc]


def test_every_verdict_is_what_the_majority_wants(lessons: list[Pair]) -> None:
    majority = wishes("majority")
    for lesson in lessons:
        scene = generate_house(int(lesson.scene.removeprefix("generated-")))
        kinds = {room.name: room.kind for room in scene.rooms}
        wanted = {
            (kinds[str(place.room)], place.kind): place for place in scene.receptacles if place.usable and place.room
        }
        for thing, place, verdict in judged(lesson):
            if verdict == "elsewhere":
                continue
            words = (place if verdict == "fine" else verdict).rstrip("0123456789 ")
            room, kind = next(pair for pair in wanted if " ".join(pair) == words)
            assert majority.wants(thing.replace(" ", "_"), room, kind), (thing, verdict)


def test_about_as_many_things_are_out_of_place_as_not(lessons: list[Pair]) -> None:
    verdicts = Counter(verdict == "fine" for lesson in lessons for _, _, verdict in judged(lesson))
    assert 0.25 < verdicts[True] / verdicts.total() < 0.55


def test_the_first_thing_that_has_a_place_is_moved_there(lessons: list[Pair], context: ContextGenerator) -> None:
    for lesson in lessons:
        first = next(((thing, to) for thing, _, to in judged(lesson) if to not in ("fine", "elsewhere")), None)
        steps = lesson.reply.partition("step 1: ")[2]
        if first is not None:
            assert steps.startswith(f"go to {first[0]}\n")
            assert steps.endswith(f"place {first[0]} on {first[1]}")
        else:
            assert steps.startswith("go to ") or steps == "mission complete"
            assert lesson.complete == (steps == "mission complete")


def test_the_same_seed_makes_the_same_lessons(lessons: list[Pair], context: ContextGenerator) -> None:
    again = [pair for seed in HOUSES for pair in lessons_in(seed, 10, wishes("majority"), context)]
    assert again == lessons
    assert len({lesson.reply for lesson in lessons}) == len(lessons)


def test_another_persons_lessons_say_something_else(lessons: list[Pair], context: ContextGenerator) -> None:
    ada = [pair for seed in HOUSES for pair in lessons_in(seed, 10, wishes("ada"), context)]
    assert {lesson.reply for lesson in ada} != {lesson.reply for lesson in lessons}


def test_lessons_and_data_do_not_go_together(tmp_path: Path) -> None:
    config = load_selftraining(settings={"lessons": {"houses": 2}, "run": {"data": str(tmp_path)}})
    with pytest.raises(UserError, match=r"lessons\.houses=0"):
        SelfTraining(config, tmp_path / "out", None)  # type: ignore[arg-type]
