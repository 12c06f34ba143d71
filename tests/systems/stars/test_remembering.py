"""What STARS remembers: goals that need no model the second time, and places that hold in houses."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("openai")

from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.people.memory import MemoryFolder
from housewise.systems.stars.record import ManipulationEvent
from housewise.worlds.house.spoken_names import SpokenPlace
from tests.commands import run_module
from tests.language.conftest import ChatServer, fails
from tests.servers import serving
from tests.systems.command_runs import ATTIC, GOAL, NEVER, asking, environment, record_of, stars
from tests.systems.stars.housekeeper_server import housekeeper


def test_trial_2_in_another_process_asks_no_model_and_nobody(server: ChatServer, tmp_path: Path) -> None:
    kept = ("--memory", "ann", f"memory.folder={tmp_path / 'kept'}")
    stars(*asking(server, *kept, "memory.new=true", "--out", tmp_path / "first"))
    asked = len(server.requests)
    server.play(fails(500, "nobody was to ask"))
    stars(*asking(server, *kept, "tasks.person=terminal", "--out", tmp_path / "second"))
    # A model that there is not is not opened either, local or behind a server.
    stars(*kept, "--model", tmp_path / "none", "--base-url", NEVER, "--out", tmp_path / "third")
    stars(*kept, "--model", f"local:{tmp_path / 'none'}", "--out", tmp_path / "fourth")
    assert len(server.requests) == asked
    for name in ("second", "third", "fourth"):
        record = record_of(tmp_path / name)
        scores, types = record.result.scores, Counter(event.type for event in record.events)
        assert (scores["completion_percent"], scores["recalled"], scores["calls"], scores["words"]) == (100, 12, 0, 2)
        assert record.result.usage.prompt_tokens == 0 and set(types) == {"object", "recalled", "goal", "plan", "action"}


def test_a_second_run_of_the_same_command_recalls_and_a_third_plays_nothing(server: ChatServer, tmp_path: Path) -> None:
    words = asking(server, "condition=STARS+O", "repeats=2", "--out", tmp_path / "run")
    stars(*words)
    asked = len(server.requests)
    first, second = (record_of(tmp_path / "run", f"organize-office-run{run}") for run in range(2))
    assert first.result.scores["calls"] == asked and second.result.scores["recalled"] == 12
    stars(*words)
    assert len(server.requests) == asked


def test_a_goal_whose_fixture_is_gone_is_asked_for_again(server: ChatServer, tmp_path: Path, attic: Path) -> None:
    kept = ("--memory", "ann", f"memory.folder={tmp_path / 'kept'}")
    stars(*asking(server, f"task={attic}", *kept, "memory.new=true", "--out", tmp_path / "first"))
    attic.write_text(ATTIC.replace("desk, drawer, bookshelf", "desk, drawer").replace("[bookshelf]", "[drawer]"))
    asked = len(server.requests)
    stars(*asking(server, f"task={attic}", *kept, "--out", tmp_path / "second"))
    scores = record_of(tmp_path / "second", "tidy-attic-run0").result.scores
    assert (scores["completion_percent"], scores["recalled"]) == (100, 1) and scores["instructions"] > 1
    assert all("novel" in json.dumps(body["messages"]) for body in server.requests[asked:])


KITCHEN = """
name: clear up
room: kitchen
fixtures: [table, dish rack, cupboard, pantry]
closed: [cupboard, pantry]
places:
  - place: table
    relation: "on"
    subtask: clear
    objects:
      - {name: cereal-box, kind: snack, wanted: [pantry]}
      - {name: mug, kind: vessel, wanted: [dish rack]}
  - place: dish rack
    relation: in
    subtask: unload
    objects:
      - {name: mug, kind: vessel, wanted: [cupboard]}
"""


def test_a_confirmed_place_of_a_kind_is_known_to_the_robot_in_houses(server: ChatServer, tmp_path: Path) -> None:
    path = tmp_path / "kitchen.yaml"
    path.write_text(KITCHEN)
    server.play(housekeeper({"cereal-box": "pantry", "mug": "cupboard"}))
    stars(*asking(server, f"task={path}", "--out", tmp_path / "run"))
    memory = MemoryFolder(tmp_path / "run" / "memory").load("simulated")
    places = {
        "kitchen 0 pantry 1": SpokenPlace("pantry", "kitchen"),
        "kitchen 0 cupboard 2": SpokenPlace("cupboard", "kitchen"),
        "bathroom 0 pantry 3": SpokenPlace("pantry", "bathroom"),
    }
    known = PreferenceKnowledge(memory, places)
    assert known.wants("cereal box 1", "kitchen 0 pantry 1") is True
    assert known.wants("cereal box 1", "bathroom 0 pantry 3") is None
    # Where mugs belong depends on where they are found: that is for the task, not for the house.
    assert known.wants("mug 1", "kitchen 0 cupboard 2") is None
    assert len([note for note in memory.notes if note.about.things == ("mug",)]) == 2
    # Nothing that nobody confirmed is known.
    stars(*asking(server, f"task={path}", "condition=STARS", "--out", tmp_path / "alone"))
    alone = MemoryFolder(tmp_path / "alone" / "memory").load("simulated")
    assert len(alone) > 0 and all(note.text.startswith("Nobody confirmed: ") for note in alone.notes)
    assert all(note.about.task == "clear up" for note in alone.notes)


def test_a_confirmed_place_questions_a_rule_that_says_otherwise(server: ChatServer, tmp_path: Path) -> None:
    path, folder = tmp_path / "kitchen.yaml", tmp_path / "kept"
    path.write_text(KITCHEN.replace("cereal-box, kind: snack", "butter, kind: cold-food").replace("pantry", "fridge"))
    ruled = ("ann", "--memories", folder)
    for text in ("Never put butter in the fridge.", "Never put butter on the bed."):
        run_module("housewise", ["rules", "edit", *ruled, "--text", text], environment(), code=0)
    server.play(housekeeper({"butter": "fridge", "mug": "cupboard"}))
    stars(*asking(server, f"task={path}", "--memory", "ann", f"memory.folder={folder}", "--out", tmp_path / "run"))
    first, second = run_module("housewise", ["rules", "show", *ruled], environment()).stdout.splitlines()[-2:]
    assert "Never put butter in the fridge." in first and "questioned by 1 note" in first
    assert "questioned" not in second


def test_forgetting_a_goal_forgets_the_place_that_follows_from_it(server: ChatServer, tmp_path: Path) -> None:
    stars(*asking(server, "--out", tmp_path / "run"))
    memory = MemoryFolder(tmp_path / "run" / "memory").load("simulated")
    goal = next(note for note in memory.notes if note.about.things == ("pen",) and note.about.task)
    assert {note.about.receptacle for note in memory.forget(goal.id)} == {None, "drawer"}


def test_an_edited_goal_is_followed_and_nonsense_in_a_note_is_not(
    server: ChatServer, tmp_path: Path, attic: Path
) -> None:
    kept = ("--memory", "ann", f"memory.folder={tmp_path / 'kept'}")
    stars(*asking(server, f"task={attic}", *kept, "memory.new=true", "--out", tmp_path / "first"))
    with MemoryFolder(tmp_path / "kept").edit_memory("ann") as memory:
        pen, novel = (
            next(note for note in memory.notes if note.about.task and note.about.things == (kind,))
            for kind in ("pen", "novel")
        )
        memory.edit(pen.id, text=GOAL.format("pen", "bookshelf"))
        memory.edit(novel.id, text="rm -rf / ; go to bookshelf", value="explode bookshelf; put in on in on")
    server.play(fails(401, "only the novel may be asked about"))
    complaint = stars(*asking(server, f"task={attic}", *kept, "--out", tmp_path / "second"), code=2)
    assert "only the novel may be asked about" in complaint
    server.play(housekeeper())
    stars(*asking(server, f"task={attic}", *kept, "--out", tmp_path / "second"))
    record = record_of(tmp_path / "second", "tidy-attic-run0")
    assert record.result.final["places"] == {"pen": "bookshelf", "novel": "bookshelf"}
    assert record.result.scores["recalled"] == 1


SHED = """
name: tidy shed
room: kitchen
fixtures: [table, counter, fridge, cupboard]
closed: [fridge, cupboard]
places:
  - place: {}
    relation: "on"
    subtask: {}
    objects:
"""
MILK = "      - {name: milk, kind: drink, wanted: [fridge]}\n"
CIDER = "      - {name: cider, kind: drink, wanted: [fridge]}\n"


@pytest.fixture(scope="module")
def milk_is_known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a memory of where the milk on the table belongs."""
    folder = tmp_path_factory.mktemp("milk")
    (folder / "shed.yaml").write_text(SHED.format("table", "clear") + MILK)
    kept = ("--memory", "ann", f"memory.folder={folder / 'kept'}", "memory.new=true")
    with serving(ChatServer()) as server:
        server.play(housekeeper({"milk": "fridge"}))
        stars(*asking(server, f"task={folder / 'shed.yaml'}", *kept, "--out", folder / "first"))
    return folder / "kept"


@pytest.mark.parametrize(
    ("now", "settings", "known"),
    [
        (SHED.format("table", "clear") + MILK, (), True),
        # Another place: only where goals are carried over to other places.
        (SHED.format("counter", "store") + MILK, (), False),
        (SHED.format("counter", "store") + MILK, ("generalisation.other_places=true",), True),
        # Another thing of the kind, there or elsewhere.
        (SHED.format("table", "clear") + CIDER, (), False),
        (SHED.format("table", "clear") + CIDER, ("generalisation.max_kind_levels=1",), True),
        (SHED.format("counter", "store") + CIDER, ("generalisation.max_kind_levels=1",), False),
        (
            SHED.format("counter", "store") + CIDER,
            ("generalisation.max_kind_levels=1", "generalisation.other_places=true"),
            True,
        ),
        # A fixture that is gone: nothing impossible is tried, whatever is carried over.
        (
            SHED.format("table", "clear").replace("fridge, ", "") + MILK.replace("fridge", "cupboard"),
            ("generalisation.max_kind_levels=9", "generalisation.other_places=true"),
            False,
        ),
        # Open already: the policy does not fit any more, and another way is found.
        (SHED.format("table", "clear").replace("places:", "open: [fridge]\nplaces:") + MILK, (), True),
    ],
)
def test_trial_2_where_things_have_changed(
    server: ChatServer, milk_is_known: Path, tmp_path: Path, now: str, settings: tuple[str, ...], known: bool
) -> None:
    path, kept = tmp_path / "shed.yaml", ("--memory", "ann", f"memory.folder={tmp_path / 'kept'}")
    shutil.copytree(milk_is_known, tmp_path / "kept")
    path.write_text(now)
    server.play(fails(401, "nobody was to ask"))
    words = asking(server, f"task={path}", *kept, *settings, "--out", tmp_path / "second")
    if not known:
        complaint = stars(*words, code=2)
        assert "nobody was to ask" in complaint and complaint.count("\n") == 1
        return
    stars(*words)
    record = record_of(tmp_path / "second", "tidy-shed-run0")
    assert (record.result.scores["completion_percent"], record.result.scores["calls"]) == (100, 0)
    acts = record.of_type(ManipulationEvent)
    assert acts and all(act.done for act in acts)
