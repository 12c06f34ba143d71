"""A run that goes on from a memory and leaves it as it is."""

from pathlib import Path

import pytest

from housewise.core.errors import UserError
from housewise.people.memory import About, Memory, MemoryFolder, Note
from housewise.rollout.run import Run
from housewise.rollout.run_memory import continued_memory_settings
from housewise.rollout.settings import MemorySettings
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
