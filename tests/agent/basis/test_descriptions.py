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
from housewise.people.lab.lapses import Lapses
from housewise.people.lab.recognized_descriptions import RecognizedDescriptions
from housewise.people.lab.understanding import understand
from housewise.people.lab.views import SeenThing, build_user_view
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


def spoke(text: str) -> LabTurn:
    return turn(STATE, LabAction("Speak", text))


def tell(text: str) -> DescriptionMemory:
    """A memory of a person who has just heard a description of the laser monitor."""
    memory = DescriptionMemory("ada")
    memory.listen(f"Look for the computer: {text}.")
    return memory


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
    memory = tell(MONITOR)
    (note,) = memory.learn(acted("freeze_ray_monitor"))
    assert (note.value, note.about.situation, note.about.things) == (-1.0, MONITOR, ("laser monitor",))
    assert memory.describe("laser_monitor") == OTHER
    memory.listen(f"Look for the {OTHER}.")
    assert memory.learn(acted("printer")) == [], "a machine is no computer"
    assert memory.learn(acted("laser_monitor", "GotoObject")) == [], "what was reached may still be mistaken"
    (note,) = memory.learn(acted("laser_monitor"))
    assert (note.value, note.text) == (1.0, f'Found the laser monitor by "{OTHER}".')
    assert memory.describe("laser_monitor") == OTHER
    assert memory.learn(acted("laser_monitor")) == [], "nothing was said since"
    assert memory.describe("printer") == usual_look("printer") and memory.describe("apple") == ""


def test_going_to_another_thing_of_its_category_tells_that_a_description_did_not_work() -> None:
    assert [each.value for each in tell(MONITOR).learn(acted("freeze_ray_monitor", "GotoObject"))] == [-1.0]


def test_of_two_described_things_neither_refutes_the_other() -> None:
    memory = tell(MONITOR)
    memory.listen(f"Do not touch it; take the {usual_look('freeze_ray_monitor')}.")
    assert [(each.about.things, each.value) for each in memory.learn(acted("freeze_ray_monitor"))] == [
        (("freeze ray monitor",), 1.0)
    ]


def test_a_failed_action_tells_nothing() -> None:
    done = acted("laser_monitor")
    failed = replace(done, outcome=replace(done.outcome, status="ObjectUnpowered"))
    assert tell(MONITOR).learn(failed) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("What does the computer look like?", [-1.0]),
        ("Where is the laser?", [-1.0]),
        ("Where is the yellow coffee mug?", []),
        ("What now?", []),
        ("OK, the computer.", []),
    ],
)
def test_a_question_about_a_thing_tells_that_its_description_did_not_work(text: str, values: list[float]) -> None:
    assert [each.value for each in tell(MONITOR).learn(spoke(text))] == values


@pytest.mark.parametrize(
    ("described", "text", "refuted"),
    [
        (("laser_cannon", "laser_monitor"), "What does the laser monitor look like?", ["laser monitor"]),
        (("freeze_ray", "freeze_ray_monitor"), "Which computer is the freeze ray monitor?", ["freeze ray monitor"]),
        (("time_machine", "fuse_box"), "Is it time to open the fuse box?", ["fuse box"]),
        (("laser_cannon", "laser_monitor"), "Which machine is it?", ["laser cannon"]),
        (("embiggenator", "embiggenator_monitor"), "Where is the embiggenator computer?", ["embiggenator monitor"]),
        (("embiggenator",), "Where is the embiggenator computer?", []),
        (("laser_cannon", "laser_monitor"), "What is this laser?", ["laser cannon", "laser monitor"]),
    ],
)  # fmt: skip
def test_a_question_is_about_the_things_that_it_names(
    described: tuple[str, ...], text: str, refuted: list[str]
) -> None:
    memory = DescriptionMemory("ada")
    for kind in described:
        memory.listen(f"It is the {usual_look(kind)}.")
    assert sorted(name for note in memory.learn(spoke(text)) for name in note.about.things) == refuted


def test_a_new_attempt_begins_without_descriptions() -> None:
    memory = tell(MONITOR)
    memory.begin()
    assert memory.learn(acted("laser_monitor")) == []


def test_the_newest_note_about_a_description_counts_and_other_notes_do_not() -> None:
    worked = tell(THIRD).learn(acted("laser_monitor"))
    failed = tell(THIRD).learn(acted("freeze_ray_monitor"))
    other = [worked[0].model_copy(update={"about": worked[0].about.model_copy(update={"task": "breakfast"}), "id": ""})]
    assert DescriptionMemory("ada", worked).describe("laser_monitor") == THIRD
    assert DescriptionMemory("ada", [*worked, *failed]).describe("laser_monitor") == MONITOR
    assert DescriptionMemory("ada", other).describe("laser_monitor") == MONITOR


def test_cards_of_a_model_have_the_description_that_worked() -> None:
    memory = tell(OTHER)
    memory.learn(acted("laser_monitor"))
    cards = select_knowledge(
        STATE, SPACE, (spoke("Where is the laser monitor?"),), ALL_KNOWLEDGE, True, memory.describe
    ).cards
    assert OTHER in cards and MONITOR not in cards


def test_a_person_recognises_a_thing_in_one_description_until_it_is_described_otherwise() -> None:
    texts = all_descriptions("laser_monitor")
    own = RecognizedDescriptions({MONITOR: texts}, seed=1)
    monitor = SeenThing("computer_1", "computer", "red", f"{MONITOR} on")
    recognized = {}
    for text in texts:
        own.listen(f"Look for the {text}.")
        own.listen("There it is, in front of you.")
        recognized[text] = own.is_recognized(monitor)
    assert sum(recognized.values()) == 1
    assert not own.is_recognized(SeenThing("computer_2", "computer", "blue", usual_look("freeze_ray_monitor")))


def test_what_is_recognised_is_neither_overlooked_nor_mistaken() -> None:
    (text,) = texts = ("the red screen",)
    heard = turn(STATE, LabAction("RotateLeft", "90")).with_speech(f"Look for {text}.")
    view = build_user_view(STATE, SPACE, "goal", [heard])
    thing = view.things[0]
    lapses = Lapses(1.0, 0, RecognizedDescriptions({thing.look: texts}, 0))
    same = [each.id for each in view.things if each.look == thing.look]
    assert [each.id for each in lapses.glance(view).things] == same
    assert not lapses.forgets(thing, view)
    assert all(lapses.forgets(each, view) for each in view.things if each.id not in same)
    assert Lapses(1.0, 0).glance(view).things == () and Lapses(1.0, 0).forgets(thing, view)


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
