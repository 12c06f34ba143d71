"""The assistant remembers by which descriptions a person found things, and prefers those."""

from dataclasses import replace
from pathlib import Path

import pytest

from housewise.agent.basis.advice import Advisor
from housewise.agent.basis.descriptions import DescriptionMemory, all_descriptions, load_descriptions, usual_look
from housewise.agent.basis.knowledge import ALL_KNOWLEDGE, select_knowledge
from housewise.agent.basis.oracle_phrases import load_oracle_phrases
from housewise.core.errors import UserError
from housewise.people.lab.grounding import find_matches
from housewise.people.lab.own_words import OwnWords
from housewise.people.lab.understanding import understand
from housewise.people.lab.views import SeenThing
from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.history import LabTurn
from housewise.worlds.lab.kinds import KINDS
from tests.people.lab.small_lab import SPACE, one_of_each, turn

STATE = one_of_each()
PHRASES = load_oracle_phrases("training")
MONITOR, OTHER, THIRD = all_descriptions("laser_monitor")


def acted(kind: str, verb: str = "Toggle") -> LabTurn:
    thing = next(each for each in STATE.things if each.kind == kind)
    done = turn(STATE, LabAction(verb, thing.id))  # type: ignore[arg-type]
    return replace(done, outcome=replace(done.outcome, status="ActionSuccessful"))


def said(text: str) -> LabTurn:
    return turn(STATE, LabAction("RotateLeft", "90")).with_speech(f"Look for the computer: {text}.")


@pytest.mark.parametrize("kind", load_descriptions())
def test_a_person_finds_a_thing_by_each_description(kind: str) -> None:
    things = [SeenThing(each.key, each.fuzzy, each.colors[0], each.look) for each in KINDS.values() if each.fuzzy]
    thing = next(each for each in STATE.things if each.kind == kind)
    for text in all_descriptions(kind):
        look = Advisor(PHRASES, describe=lambda key, text=text: text if key == kind else usual_look(key)).look(thing)
        (hint,) = understand(f"It is the {look}.").instructions
        assert find_matches(hint, things, {})[0].thing.id == kind, text


def test_what_worked_is_said_again_and_what_did_not_is_not() -> None:
    memory = DescriptionMemory("ada")
    assert memory.describe("laser_monitor") == MONITOR
    turns = [said(MONITOR), acted("freeze_ray_monitor")]
    (note,) = memory.listen(turns)
    assert (note.value, note.about.situation, note.about.things) == (-1.0, MONITOR, ("laser monitor",))
    assert memory.describe("laser_monitor") == OTHER
    turns = [*turns[:-1], turns[-1].with_speech(f"Look for the {OTHER}."), acted("printer")]
    assert memory.listen(turns) == [], "a machine is no computer"
    (note,) = memory.listen([*turns, acted("laser_monitor", "GotoObject")])
    assert (note.value, note.text) == (1.0, f'Found the laser monitor by "{OTHER}".')
    assert memory.describe("laser_monitor") == OTHER
    assert memory.describe("printer") == usual_look("printer") and memory.describe("apple") == ""


def test_a_question_tells_that_a_description_did_not_work() -> None:
    memory = DescriptionMemory("ada")
    asked = turn(STATE, LabAction("Speak", "What does it look like?"))
    assert [each.value for each in memory.listen([said(MONITOR), asked])] == [-1.0]
    assert memory.listen([said(MONITOR), turn(STATE, LabAction("Speak", "OK."))]) == []


def test_the_newest_note_about_a_description_counts_and_other_notes_do_not() -> None:
    first, second = DescriptionMemory("ada"), DescriptionMemory("ada")
    worked = first.listen([said(THIRD), acted("laser_monitor")])
    failed = second.listen([said(THIRD), acted("freeze_ray_monitor")])
    other = [worked[0].model_copy(update={"about": worked[0].about.model_copy(update={"task": "breakfast"}), "id": ""})]
    assert DescriptionMemory("ada", worked).describe("laser_monitor") == THIRD
    assert DescriptionMemory("ada", [*worked, *failed]).describe("laser_monitor") == MONITOR
    assert DescriptionMemory("ada", other).describe("laser_monitor") == MONITOR


def test_cards_of_a_model_have_the_description_that_worked() -> None:
    memory = DescriptionMemory("ada")
    memory.listen([said(OTHER), acted("laser_monitor")])
    named = (turn(STATE, LabAction("Speak", "Where is the laser monitor?")),)
    cards = select_knowledge(STATE, SPACE, named, ALL_KNOWLEDGE, True, memory.describe).cards
    assert OTHER in cards and MONITOR not in cards


def test_a_person_recognises_their_own_words() -> None:
    own = OwnWords({MONITOR: all_descriptions("laser_monitor")}, seed=1)
    monitor = SeenThing("computer_1", "computer", "red", f"{MONITOR} on")
    fits = []
    for text in all_descriptions("laser_monitor"):
        own.listen(f"Look for the {text}.")
        fits.append(own.fit(monitor))
    assert sum(fits) == 1
    assert not own.fit(SeenThing("computer_2", "computer", "blue", usual_look("freeze_ray_monitor")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lazer_cannon: [big thing]", "did you mean laser_cannon"),
        ("apple: [red thing]", "field apple: is known to everybody"),
        ("lever: ['']", "field lever: a description is empty"),
    ],
)
def test_a_file_that_contradicts_the_lab_is_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "descriptions.yaml"
    file.write_text(text)
    with pytest.raises(UserError, match=message):
        load_descriptions(file)
