"""A memory keeps by which descriptions a person found things, from session to session."""

from pathlib import Path

import pytest

from housewise.agent.basis.descriptions import SUBTASK, TASK, all_descriptions
from housewise.core.errors import UserError
from housewise.people.memory import About, Memory, Note
from housewise.rollout.note_events import learned_notes
from housewise.rollout.record_reader import read_records
from housewise.rollout.run import Run
from housewise.systems.basis.record import GuidanceEvent
from housewise.systems.basis.settings import BasisSettings, BasisTaskSettings
from housewise.systems.basis.system import Basis
from tests.commands import housewise
from tests.systems.basis.sessions import play, with_tasks

LASER = "fire_laser__none__disinfect_computer"
TASKS = BasisTaskSettings(variant=(LASER,), scenarios=2, recognition_seed=3)
SETTINGS = BasisSettings(tasks=TASKS).with_changes(remembers_descriptions=True)


def test_notes_of_a_session_are_used_in_the_next_one(tmp_path: Path) -> None:
    Run(Basis(SETTINGS), tmp_path / "run").play()
    first, second = read_records(tmp_path / "run")
    notes = list(learned_notes(first))
    assert notes and all(each.about.subtask == SUBTASK and each.value in (1.0, -1.0) for each in notes)
    assert first.header.memory != second.header.memory


def test_what_has_not_worked_is_not_said_first() -> None:
    usual, other, _ = all_descriptions("laser_monitor")
    about = About(things=("laser monitor",), task=TASK, subtask=SUBTASK, situation=usual)
    worked, failed = (
        spoken(Note(person="bob", kind="reaction", text="-", value=value, about=about)) for value in (1.0, -1.0)
    )
    assert usual in worked and other not in worked
    assert other in failed and usual not in failed


def spoken(note: Note) -> str:
    """What the oracle says in a session with a careful person of whom there is a note."""
    _, events = play(with_tasks().with_changes(remembers_descriptions=True, variant=LASER), None, Memory("bob", [note]))
    return " ".join(each.speech for each in events if isinstance(each, GuidanceEvent))


def test_without_the_setting_nothing_is_remembered(tmp_path: Path) -> None:
    Run(Basis(BasisSettings(tasks=TASKS)), tmp_path / "run").play()
    assert not [note for each in read_records(tmp_path / "run") for note in learned_notes(each)]
    assert not (tmp_path / "run" / "memory").exists()


def test_planners_that_do_not_describe_are_refused() -> None:
    with pytest.raises(UserError, match="planner=silent does not choose descriptions; choose one of oracle, limited"):
        Basis(SETTINGS.with_changes(planner="silent")).check()


@pytest.mark.slow
def test_the_experiment_keeps_the_memory_between_sessions(tmp_path: Path) -> None:
    housewise("experiment", "descriptions", "--quick", "--out", tmp_path, code=0)
    first, second = read_records(next(path.parent for path in tmp_path.glob("**/*with a memory*/**/episodes")))
    assert first.header.memory != second.header.memory


def test_a_user_reads_what_was_learned_of_a_person(tmp_path: Path) -> None:
    memories = tmp_path / "memories"
    housewise(
        "run", "--system", "basis", "--memory", "bob", "--out", tmp_path / "run", "memory.new=true",
        "remembers_descriptions=true", f"variant={LASER}",
        HOUSEWISE_MEMORY=str(memories), code=0,
    )  # fmt: skip
    assert ' by "' in housewise("memory", "show", "bob", HOUSEWISE_MEMORY=str(memories)).stdout
