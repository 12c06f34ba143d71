"""A run that goes on from a memory: where it writes what it learns, also after it could not."""

import shutil
from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.core.record import Result
from housewise.people.memory import About, Memory, MemoryFolder, Note
from housewise.rollout.executor import RunCallback
from housewise.rollout.run import Run
from housewise.rollout.run_memory import continued_memory_settings
from housewise.rollout.settings import MemorySettings
from housewise.rollout.system import Job
from housewise.systems.basis.system import Basis
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize


def test_what_a_run_learns_is_in_its_own_folder(tmp_path: Path) -> None:
    source, folder = MemoryFolder(tmp_path / "source"), tmp_path / "run"
    source.save(Memory("ada", [Note(person="ada", kind="rule", text="No mugs.", about=About(things=("mug",)))]))
    before = source.load("ada")
    memory = continued_memory_settings(MemorySettings(start="ada", folder=str(source.root)), folder)
    # What becomes of the memory meanwhile is all the same.
    source.save(Memory("ada", [Note(person="ada", kind="rule", text="No cups.", about=About(things=("cup",)))]))
    later = source.load("ada").digest
    assert continued_memory_settings(MemorySettings(start="ada", folder=str(source.root)), folder) == memory
    task = {"planner": "demonstrator", "person": "ada", "houses": 1, "seed": 1000, "max_steps": 400}
    Run(Personalize(house_settings(settings=task).with_changes(memory=memory)), folder).play()
    assert MemoryFolder(folder / "memory_at_start").load("ada").digest == before.digest
    learned = MemoryFolder(folder / "memory").load("ada")
    assert set(before.notes) < set(learned.notes) and source.load("ada").digest == later


def test_a_memory_that_is_not_there_is_begun_where_it_may_be(tmp_path: Path) -> None:
    nothing = MemorySettings(start="ada", folder=str(tmp_path / "nothing"))
    with pytest.raises(UserError, match="no memory of ada"):
        continued_memory_settings(nothing, tmp_path / "run")
    assert continued_memory_settings(nothing.model_copy(update={"new": True}), tmp_path / "run")["start"] == "ada"
    assert len(MemoryFolder(tmp_path / "run" / "memory_at_start").load("ada")) == 0


class DamagedMemory(RunCallback):
    """Damages the memory that a run starts from, while the run plays."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_episode_end(self, job: Job, result: Result) -> None:
        """See RunCallback.on_episode_end."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("{")


def test_notes_that_could_not_be_saved_are_saved_when_the_run_is_repeated(tmp_path: Path) -> None:
    source, folder = MemoryFolder(tmp_path / "source"), tmp_path / "run"
    memory = {"start": "alice", "new": True, "folder": str(source.root)}
    words = ["remembers_descriptions=true", "variant=fire_laser__none__disinfect_computer"]
    system = Basis(Basis.load(None, {"memory": memory}, words))
    path = source.notes_path("alice")
    for callback in (DamagedMemory(path), None):
        with pytest.raises(UserError, match=r"notes\.jsonl: line 1 is damaged"):
            Run(system, folder).play(callback)
    path.unlink()
    source.save(Memory("alice", [Note(person="alice", kind="rule", text="No mugs.", about=About(things=("mug",)))]))
    Run(system, folder).play()
    learned, now = MemoryFolder(folder / "memory").load("alice"), source.load("alice")
    assert len(learned) and set(now.notes) > set(learned.notes)
    # A kill between the two writes leaves the notes in the source alone. What is forgotten there stays forgotten.
    shutil.rmtree(folder / "memory")
    with source.edit_memory("alice") as changed:
        changed.forget(learned.notes[0].id)
    Run(system, folder).play()
    assert MemoryFolder(folder / "memory").load("alice").digest == learned.digest
    assert source.load("alice").digest == changed.digest
