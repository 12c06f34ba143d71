"""Lessons: they say what people want, in the words of the prompt that they are for."""

from collections import Counter
from pathlib import Path

import pytest

from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.core.errors import UserError
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.personalize.lessons import generate_lessons
from housewise.selftrain.personalize.self_training import SelfTraining
from housewise.selftrain.personalize.settings import LessonsConfig, load_selftraining
from housewise.worlds.house.generator import generate_house
from housewise.worlds.house.preferences import default_groups
from housewise.worlds.house.random_preferences import random_preferences
from housewise.worlds.house.tasks import resolve_preferences

HOUSES = range(3000, 3002)
TEN = LessonsConfig(houses=1, each=10)


@pytest.fixture(scope="module")
def context() -> NotesContext:
    return NotesContext(NotesTemplate.load("judging"))


def taught(context: NotesContext, kind: LessonsConfig, person: str) -> list[EpisodeDemonstration]:
    return [
        lesson.demonstration(context)
        for seed in HOUSES
        for lesson in generate_lessons(seed, kind, resolve_preferences(person))
    ]


@pytest.fixture(scope="module")
def lessons(context: NotesContext) -> list[EpisodeDemonstration]:
    return taught(context, TEN, "majority")


def judged(lesson: EpisodeDemonstration) -> list[tuple[str, str, str]]:
    """Kind of each thing, where it is, and what is thought of that."""
    lines = [line.replace(" in hand: ", " on hand: ") for line in lesson.reply.partition("step 1:")[0].splitlines()]
    return [(*line.split(": ")[0].split(" on "), line.split(": ")[1]) for line in lines if line]  # type: ignore[misc]


def test_every_verdict_is_what_the_majority_wants(lessons: list[EpisodeDemonstration]) -> None:
    majority, houses = resolve_preferences("majority"), {f"generated-{seed}": generate_house(seed) for seed in HOUSES}
    for lesson in lessons:
        scene = houses[lesson.scene]
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


def test_about_as_many_things_are_out_of_place_as_not(lessons: list[EpisodeDemonstration]) -> None:
    verdicts = Counter(verdict == "fine" for lesson in lessons for _, _, verdict in judged(lesson))
    assert 0.25 < verdicts[True] / verdicts.total() < 0.55


def test_the_first_thing_that_has_a_place_is_moved_there(
    lessons: list[EpisodeDemonstration], context: NotesContext
) -> None:
    for lesson in lessons:
        first = next(((thing, to) for thing, _, to in judged(lesson) if to not in ("fine", "elsewhere")), None)
        steps = lesson.reply.partition("step 1: ")[2]
        if first is not None:
            assert steps.startswith(f"go to {first[0]}\n")
            assert steps.endswith(f"place {first[0]} on {first[1]}")
        else:
            assert steps.startswith("go to ") or steps == "mission complete"
            assert lesson.complete == (steps == "mission complete")


def test_the_same_seed_makes_the_same_lessons(lessons: list[EpisodeDemonstration], context: NotesContext) -> None:
    again = taught(context, TEN, "majority")
    assert again == lessons
    assert len({lesson.reply for lesson in lessons}) == len(lessons)


def test_another_persons_lessons_say_something_else(lessons: list[EpisodeDemonstration], context: NotesContext) -> None:
    ada = taught(context, TEN, "ada")
    assert {lesson.reply for lesson in ada} != {lesson.reply for lesson in lessons}


def test_lessons_and_data_do_not_go_together(tmp_path: Path) -> None:
    config = load_selftraining(settings={"lessons": [{"houses": 2, "each": 1}], "run": {"data": str(tmp_path)}})
    with pytest.raises(UserError, match=r"lessons=\[\]"):
        SelfTraining(config, tmp_path / "out", None)  # type: ignore[arg-type]


def test_where_to_look_next(context: NotesContext) -> None:
    kind = LessonsConfig(houses=1, each=40, things=(0, 2), unseen=True, holding_fraction=0.5)
    lessons = taught(context, kind, "majority")
    assert {len(judged(lesson)) for lesson in lessons} == {0, 1, 2}
    assert any(" in hand: " in lesson.reply for lesson in lessons)
    looking = [lesson for lesson in lessons if ": go to " in lesson.reply and lesson.reply.count("step ") == 1]
    for lesson in looking:
        rooms = [
            line.partition(" not entered")[0] for line in lesson.prompt[1]["content"].splitlines() if " not e" in line
        ]
        assert lesson.reply.endswith(f"step 1: go to {rooms[0]}")
    assert any(" not entered\n" in lesson.prompt[1]["content"] for lesson in looking)


@pytest.mark.parametrize(
    "wrong", [{"things": (3, 1)}, {"places": (-1, 2)}, {"holding_fraction": 2.0}, {"houses": 0}, {"as_usual": (1, 0)}]
)
def test_lessons_that_cannot_be(wrong: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"lessons.0.*{next(iter(wrong))}"):
        load_selftraining(settings={"lessons": [{"houses": 1, "each": 1, **wrong}]})


REMEMBERED = LessonsConfig(houses=1, each=10, places=(10, 30), things=(6, 14), invented=True, noted_fraction=(0.5, 0.9))


def test_who_does_not_exist_wants_a_group_of_things_together_and_not_as_others_do() -> None:
    people = [random_preferences(seed) for seed in range(20)]
    mugs = [person.places_for("mug") for person in people]
    assert len({str(places) for places in mugs}) > 5 and mugs[0] == random_preferences(0).places_for("mug")
    together = sum(person.places_for("cup") == places for person, places in zip(people, mugs, strict=True))
    assert 12 <= together < 20


def test_some_invented_people_want_nearly_everything_as_usual_and_some_nothing() -> None:
    usual = {name: group.wanted for name, group in default_groups().items()}
    things = {name: group.things for name, group in default_groups().items()}
    shares = []
    for seed in range(40):
        person = random_preferences(seed, (0.0, 1.0))
        places = [person.places_for(thing) == usual[name] for name in usual for thing in things[name]]
        shares.append(sum(places) / len(places))
    assert min(shares) < 0.2 and max(shares) > 0.8


def test_what_is_remembered_is_what_the_lesson_says() -> None:
    context, known, moved = NotesContext(NotesTemplate.load("remembering")), 0, 0
    for seed in HOUSES:
        for lesson in generate_lessons(seed, REMEMBERED, resolve_preferences("majority")):
            said = {thing: (place, verdict) for thing, place, verdict in judged(lesson.demonstration(context))}
            for line in lesson.demonstration(context).prompt[1]["content"].splitlines():
                thing, _, note = line.partition(" = ")
                if not note or " on " not in thing:
                    continue
                known += 1
                verdict = said[thing.partition(" on ")[0]][1]
                if note == "here":
                    assert verdict == "fine"
                elif note.startswith("not here"):
                    assert verdict != "fine"
                elif verdict != "fine":
                    # A thing may be right where it is, of which the notes tell another right place.
                    assert verdict == note.split(", ")[0]
                    moved += 1
    assert known > 50 and moved > 15


def test_without_notes_a_lesson_has_none(context: NotesContext) -> None:
    bare = REMEMBERED.model_copy(update={"noted_fraction": (0.0, 0.0)})
    for lesson in generate_lessons(HOUSES[0], bare, resolve_preferences("majority")):
        asked = lesson.demonstration(NotesContext(NotesTemplate.load("remembering"))).prompt
        assert asked == lesson.demonstration(context).prompt
