from pathlib import Path

import numpy as np
import pytest

from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.personalize.filters import FilterSettings, apply_filter
from housewise.selftrain.personalize.lessons import generate_lessons_about
from housewise.selftrain.personalize.relabelling import PreferenceVotes, relabel
from housewise.selftrain.personalize.settings import LessonsConfig
from housewise.systems.personalize.record import HouseRecord
from housewise.worlds.house.env import RearrangementTask
from tests.houses import PlayedEpisode
from tests.worlds.house.toy import BED, COUNTER, STOOL, TABLE

LOOK = "\nstep 1: go to bedroom\nstep 2: look at bedroom\nstep 3: go to kitchen"
TO_STOOL = """
plate on kitchen counter: bedroom stool
tea towel on kitchen table: fine
mug on bedroom bed: fine
step 1: go to plate
step 2: look at plate
step 3: pick up plate
step 4: go to bedroom stool
step 5: look at bedroom stool
step 6: place plate on bedroom stool"""
CARRY = """
mug on bedroom bed: kitchen counter
step 1: go to mug
step 2: look at mug
step 3: pick up mug
step 4: go to kitchen counter
step 5: look at kitchen counter
step 6: place mug on kitchen counter"""


@pytest.fixture
def context() -> NotesContext:
    return NotesContext(NotesTemplate.load("judging"))


def judged(pair: EpisodeDemonstration) -> list[str]:
    return pair.reply.partition("\nstep 1:")[0].strip().splitlines()


def not_learned(pair: EpisodeDemonstration) -> list[str]:
    return [pair.reply[start:end] for start, end in pair.given]


def played(toy: RearrangementTask, folder: Path, *replies: str) -> HouseRecord:
    return PlayedEpisode(toy, folder, *replies, prompt="judging").record


def test_every_reaction_is_remembered(toy: RearrangementTask, tmp_path: Path, context: NotesContext) -> None:
    told = PreferenceVotes([played(toy, tmp_path, LOOK, TO_STOOL, CARRY)], context)
    assert told.is_wanted("plate 1", "kitchen 0 counter 1") is True
    assert told.is_wanted("plate 1", "bedroom 0 stool 4") is False
    assert told.is_wanted("mug 1", "bedroom 0 bed 3") is False
    assert told.is_wanted("mug 1", "kitchen 0 counter 1") is True
    assert told.is_wanted("mug 1", "bedroom 0 stool 4") is None and len(told) == 4
    # What is known of one is known of its like.
    assert told.is_wanted("plate 2", "kitchen 7 counter 12") is True


def test_replies_are_corrected_by_what_later_ones_brought(
    toy: RearrangementTask, tmp_path: Path, context: NotesContext
) -> None:
    record = played(toy, tmp_path, LOOK, TO_STOOL, CARRY)
    _, stool, carry, *_ = relabel(record, context, PreferenceVotes([record], context))
    assert judged(stool) == [
        "plate on kitchen counter: fine",
        "tea towel on kitchen table: fine",
        "mug on bedroom bed: kitchen counter",
    ]
    assert not_learned(stool) == ["tea towel on kitchen table: fine"]
    assert stool.mistaken == 2 and stool.reward == -1.0
    assert stool.reply.endswith(CARRY.partition("\nstep 1:")[2])
    assert carry.reward == 1.0 and "plate on bedroom stool: kitchen counter" in judged(carry)


def test_without_experience_replies_stay_what_they_were_and_nothing_of_them_is_learned(
    toy: RearrangementTask, tmp_path: Path, context: NotesContext
) -> None:
    record = played(toy, tmp_path, LOOK, TO_STOOL)
    _, stool, *_ = relabel(record, context, PreferenceVotes([], context))
    assert stool.reply == TO_STOOL and stool.mistaken == 0
    assert not_learned(stool) == judged(stool)


def test_what_the_demonstrator_judges_is_believed(
    toy: RearrangementTask, tmp_path: Path, context: NotesContext
) -> None:
    shown = PlayedEpisode(toy, tmp_path / "shown", prompt="judging", demonstrated=True).record
    tried = played(toy, tmp_path / "tried", LOOK, TO_STOOL)
    _, stool, *_ = relabel(tried, context, PreferenceVotes([shown], context))
    assert "tea towel on kitchen table: bedroom stool" in judged(stool) and not not_learned(stool)


def test_prompts_that_were_told_otherwise_are_left_out(
    toy: RearrangementTask, tmp_path: Path, context: NotesContext
) -> None:
    record = played(toy, tmp_path, LOOK, TO_STOOL)
    other = NotesContext(NotesTemplate.load("compact"))
    assert list(relabel(record, other, PreferenceVotes([record], context))) == []


def test_what_was_corrected_is_worth_learning() -> None:
    pairs = [
        EpisodeDemonstration(prompt=(), reply=str(n), reward=reward, mistaken=n)
        for n, reward in enumerate((1.0, -1.0, 0.0))
    ]
    kept, figures = apply_filter(
        "corrected", [*pairs, EpisodeDemonstration(prompt=(), reply="right")], FilterSettings()
    )
    assert kept == pairs and figures["pairs"]["mistaken"] == 3


def test_lessons_are_about_what_is_known(toy: RearrangementTask, tmp_path: Path, context: NotesContext) -> None:
    told = PreferenceVotes([played(toy, tmp_path, LOOK, TO_STOOL, CARRY)], context)
    mug, plate = sorted(told.placeable_kinds(toy.scene), key=lambda kind: kind.category)
    # Of the table nobody has said anything.
    for kind, name in ((mug, "mug"), (plate, "plate")):
        assert (kind.category, kind.correct, set(kind.wrong)) == (name, (COUNTER,), {BED, STOOL, TABLE})
    config = LessonsConfig(houses=1, each=80, places=(1, 4), things=(2, 2), allow_unplaceable=False)
    lessons = generate_lessons_about(toy.scene, [mug, plate], config, np.random.default_rng(0))
    lines = {
        line for lesson in lessons for line in judged(lesson.demonstration(context)) if not line.startswith("step")
    }
    wrong = ("bedroom bed", "bedroom stool", "kitchen table")
    assert lines == {
        f"{thing} on {line}"
        for thing in ("mug", "plate")
        for line in ("kitchen counter: fine", *(f"{place}: kitchen counter" for place in wrong))
    }
