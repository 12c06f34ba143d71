"""A memory keeps by which descriptions a person found things, from session to session."""

from pathlib import Path

from housewise.agent.basis.descriptions import SUBTASK
from housewise.people.memory import Note
from housewise.rollout.note_events import learned_notes
from housewise.rollout.record_reader import read_records
from housewise.rollout.run import Run
from housewise.systems.basis.settings import BasisSettings, BasisTaskSettings
from housewise.systems.basis.system import Basis
from tests.commands import housewise

TASKS = BasisTaskSettings(variant=("fire_laser__none__disinfect_computer",), scenarios=2, own_words=3)


def test_notes_of_a_session_are_used_in_the_next_one(tmp_path: Path) -> None:
    settings = BasisSettings(tasks=TASKS).with_changes(remembers_descriptions=True)
    Run(Basis(settings), tmp_path / "run").play()
    first, second = read_records(tmp_path / "run")
    notes = list(learned_notes(first))
    assert notes and all(each.about.subtask == SUBTASK and each.value in (1.0, -1.0) for each in notes)
    assert first.header.memory != second.header.memory


def test_without_the_setting_nothing_is_remembered(tmp_path: Path) -> None:
    Run(Basis(BasisSettings(tasks=TASKS)), tmp_path / "run").play()
    assert not any(isinstance(note, Note) for each in read_records(tmp_path / "run") for note in learned_notes(each))
    assert not (tmp_path / "run" / "memory").exists()


def test_a_user_reads_what_was_learned_of_them(tmp_path: Path) -> None:
    memories = tmp_path / "memories"
    played = housewise(
        "run", "--system", "basis", "--memory", "ada", "--out", tmp_path / "run", "memory.new=true",
        "remembers_descriptions=true", "own_words=3", "variant=fire_laser__none__disinfect_computer",
        HOUSEWISE_MEMORY=str(memories),
    )  # fmt: skip
    assert played.returncode == 0, played.stderr
    shown = housewise("memory", "show", "ada", HOUSEWISE_MEMORY=str(memories)).stdout
    assert "ound the" in shown or "not find the" in shown
