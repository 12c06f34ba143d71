"""Export and import of memories as files."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from housewise.core.errors import UserError
from housewise.people.memory import About, Memory, Note, Source
from housewise.people.memory.import_export import import_notes, read_memory_file, to_jsonl, to_yaml
from tests.people.memory.notes import notes, reaction

any_notes = st.builds(
    Note,
    person=st.just("ada"),
    kind=st.sampled_from(["rule", "answer"]),
    text=st.text(max_size=80),
    about=st.builds(About, situation=st.none() | st.text(max_size=20), room=st.none() | st.text(max_size=20)),
    value=st.just(1.0) | st.floats(-1e9, 1e9) | st.text(max_size=20).map(lambda text: f"x{text}"),
    source=st.none() | st.builds(Source, record=st.just("no"), line=st.none() | st.integers(0, 9)),
)


@pytest.mark.parametrize("style", ["yaml", "jsonl", "txt"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(kept=st.lists(notes | any_notes, max_size=8))
def test_an_exported_memory_can_be_imported(tmp_path: Path, style: str, kept: list[Note]) -> None:
    memory = Memory("ada", kept)
    path = tmp_path / f"ada.{style}"
    path.write_text(to_yaml(memory) if style == "yaml" else to_jsonl(memory), encoding="utf-8")
    again = Memory("ada")
    found = import_notes(again, read_memory_file(path))
    assert (again.notes, again.digest, len(found.added)) == (memory.notes, memory.digest, len(memory))
    assert import_notes(again, read_memory_file(path)).known == len(memory)


def test_edits_in_the_yaml_are_imported(tmp_path: Path) -> None:
    seen = [reaction(thing, "sink", 1.0) for thing in ("mug", "cup", "lamp")]
    rule = Note(person="ada", kind="rule", text="mugs in the sink", derived_from=(seen[0].id,))
    memory = Memory("ada", [*seen, rule])
    content = yaml.safe_load(to_yaml(memory))
    [mug] = [fields for fields in content["notes"] if fields["id"] == seen[0].id]
    mug["value"] = -1
    del mug["about"]["receptacle"]
    content["notes"].append({"kind": "goal", "text": "all lamps are off", "about": {"things": "lamp"}})
    path = tmp_path / "ada.yml"
    path.write_text(yaml.safe_dump(content))
    found = import_notes(memory, read_memory_file(path))
    [new], [edited] = found.added, found.edited
    assert new.about.things == ("lamp",) and new.person == "ada"
    assert (edited.value, edited.about) == (-1.0, About(things=("mug",))) and edited.time > seen[0].time
    assert set(memory.notes) == {*seen[1:], edited, new}, "what was concluded from the old one is gone as well"
    assert (found.known, found.forgotten) == (2, 1)


@pytest.mark.parametrize("style", ["yaml", "jsonl"])
@pytest.mark.parametrize("versions", [1, 2])
def test_an_edit_of_an_earlier_version_replaces_the_current_one(tmp_path: Path, style: str, versions: int) -> None:
    memory, path = Memory("ada", [reaction("mug", "sink", 1.0), reaction("cup", "sink", 1.0)]), tmp_path / f"a.{style}"
    first = memory.notes[0]
    for number in range(versions):
        path.write_text(to_yaml(memory) if style == "yaml" else to_jsonl(memory, forgotten=False))
        memory.edit(first.id, text=f"version {number}")
    before = memory.copy()
    assert import_notes(memory, read_memory_file(path)).forgotten == 1, "an earlier version is no edit"
    assert memory.digest == before.digest
    words = "mug on sink" if versions == 1 else "version 0"
    path.write_text(path.read_text().replace(words, "never there"))
    found = import_notes(memory, read_memory_file(path))
    assert [note.text for note in found.edited] == ["never there"] and (found.added, found.known) == ([], 1)
    assert found.edited[0].original_id == first.id and memory.notes[-1] == found.edited[0]
    after = memory.digest
    again = import_notes(memory, read_memory_file(path))
    assert (again.added, again.edited, again.known, memory.digest) == ([], [], 2, after)


def test_an_edit_of_a_forgotten_note_is_not_imported(tmp_path: Path) -> None:
    memory, path = Memory("ada", [reaction("mug", "sink", 1.0), reaction("cup", "sink", 1.0)]), tmp_path / "ada.yaml"
    path.write_text(to_yaml(memory).replace("mug on sink", "never there"))
    memory.forget(About(things=("mug",)))
    found = import_notes(memory, read_memory_file(path))
    assert (found.added, found.edited, found.known, found.forgotten, len(memory)) == ([], [], 1, 1, 1)


@pytest.mark.parametrize("time", ["2026-01-01", "2026-01-02"])
def test_notes_of_another_person_are_forgotten_with_their_origins(tmp_path: Path, time: str) -> None:
    rule = Note(person="ada", kind="rule", text="mugs in the sink", time="2026-01-01")
    implied = [
        Note(person="ada", kind="rule", text=f"mug {number}", time=time, derived_from=(rule.id,)) for number in range(8)
    ]
    last = Note(person="ada", kind="rule", text="all mugs", time=time, derived_from=tuple(note.id for note in implied))
    path = tmp_path / "bob.yaml"
    path.write_text(to_yaml(Memory("ada", [rule, *implied, last])).replace("person: ada", "person: bob"))
    memory = Memory("bob")
    assert len(import_notes(memory, read_memory_file(path)).added) == 10
    assert import_notes(memory, read_memory_file(path)).known == 10
    [root] = [note for note in memory.notes if note.text == rule.text]
    assert len(memory.forget(root.id)) == 10
    found = import_notes(memory, read_memory_file(path))
    assert (found.added, found.forgotten, len(memory)) == ([], 10, 0)


def test_notes_that_derive_from_each_other_are_imported_as_they_are(tmp_path: Path) -> None:
    ids = ("a" * 12, "b" * 12)
    notes = [{"kind": "rule", "text": one, "id": one, "derived_from": [other]} for one, other in (ids, ids[::-1])]
    path = tmp_path / "ada.yaml"
    path.write_text(HEADER + json.dumps({"notes": notes})[1:-1])
    memory = Memory("ada")
    assert len(import_notes(memory, read_memory_file(path)).added) == 2
    assert [note.derived_from for note in memory.notes] == [(ids[ids[0] == note.text],) for note in memory.notes]


def test_a_note_and_a_derived_one_can_be_edited_together(tmp_path: Path) -> None:
    seen = reaction("mug", "sink", 1.0)
    rule = Note(person="ada", kind="rule", text="mugs in the sink", derived_from=(seen.id,))
    memory = Memory("ada", [seen, rule])
    path = tmp_path / "ada.yaml"
    path.write_text(to_yaml(memory).replace("value: 1.0", "value: -1.0").replace("mugs in the sink", "no mugs there"))
    found = import_notes(memory, read_memory_file(path))
    assert {note.text for note in found.edited} == {"mug on sink", "no mugs there"}
    assert set(memory.notes) == set(found.edited) and not found.added


def test_an_edited_copy_is_another_note(tmp_path: Path) -> None:
    memory = Memory("ada", [reaction("mug", "sink", 1.0)])
    content = yaml.safe_load(to_yaml(memory))
    [mug] = content["notes"]
    path = tmp_path / "ada.yaml"
    path.write_text(json.dumps({**content, "notes": [mug, {**mug, "text": "cup"}]}))
    assert [note.text for note in import_notes(memory, read_memory_file(path)).added] == ["cup"] and len(memory) == 2
    path.write_text(json.dumps({**content, "notes": [{**mug, "text": "a"}, {**mug, "text": "b"}]}))
    found = import_notes(memory, read_memory_file(path))
    assert [note.text for note in found.edited] == ["a"] and [note.text for note in found.added] == ["b"]


def test_forgotten_notes_are_not_imported(tmp_path: Path) -> None:
    memory = Memory("ada", [reaction("mug", "sink", 1.0), reaction("cup", "sink", 1.0)])
    path = tmp_path / "ada.jsonl"
    path.write_text(to_jsonl(memory))
    memory.forget(About(things=("mug",)))
    found = import_notes(memory, read_memory_file(path))
    assert (found.added, found.known, found.forgotten, len(memory)) == ([], 1, 1, 1)


def test_notes_that_the_file_forgot_are_dropped(tmp_path: Path) -> None:
    here = Memory("ada", [reaction("mug", "sink", 1.0), reaction("cup", "sink", 1.0)])
    there = here.copy()
    gone = there.forget(About(things=("mug",)))
    path = tmp_path / "ada.jsonl"
    path.write_text(to_jsonl(there))
    assert import_notes(here, read_memory_file(path)).dropped == gone and here.digest == there.digest


def test_a_note_that_the_file_forgot_stays_out_if_it_comes_later(tmp_path: Path) -> None:
    mug, cup = reaction("mug", "sink", 1.0), reaction("cup", "sink", 1.0)
    there = Memory("ada", [mug, cup])
    there.forget(mug.id)
    path = tmp_path / "ada.jsonl"
    path.write_text(to_jsonl(there))
    here = Memory("ada")
    assert import_notes(here, read_memory_file(path)).dropped == []
    here.add(mug)
    assert here.notes == (cup,) and here.forgotten_ids == {mug.id} and here.digest == there.digest


def test_a_file_of_another_person_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bruno.yaml"
    path.write_text(to_yaml(Memory("bruno", [Note(person="bruno", kind="rule", text="x")])))
    with pytest.raises(UserError, match="has notes about bruno, not about ada; import them as bruno's"):
        import_notes(Memory("ada"), read_memory_file(path))


HEADER = "format: housewise-memory\nversion: 1\nperson: ada\n"
BOMB = "a: &a {x: 1}\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} {{<<: [*{chr(97 + n)}, *{chr(97 + n)}]}}\n" for n in range(24)
)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "no exported memory"),
        ("- 1", "no exported memory"),
        ("notes: 5", "no exported memory"),
        ("notes: []", "does not begin as a memory does"),
        (HEADER.replace("1", "9"), "is of version 9"),
        (HEADER.replace("ada", "a/b") + "notes: []", "ada.yaml: 'a/b' cannot be a person's name"),
        (HEADER + "notes: [5]", "note 1: not a note"),
        (HEADER + "notes: [{1: 2}]", "note 1: not a note"),
        (HEADER + "notes:\n- {kind: rule, text: x}\n- {kind: rule}", "note 2: says nothing"),
        (HEADER + "notes:\n- {kind: rule, text: x, person: bruno}", "is about bruno"),
        (HEADER + "notes:\n- {kind: rule, text: x, id: 123456789012}", "note 1: id: not a text"),
        (HEADER + f"notes:\n- {{kind: rule, text: {'x' * 10_000_000}}}", "note 1: field text: has 10000000 characters"),
        (HEADER + "notes: [", "not readable as YAML"),
        (HEADER + "notes: !!python/object/apply:os.system [touch here]", "not readable as YAML"),
        (HEADER + BOMB, "not readable as YAML .*refer"),
        (HEADER + "notes: " + "[" * 100_000, "not readable as YAML"),
        (HEADER + "notes: &n [*n]", "not readable as YAML .*refer"),
        (HEADER + 'notes: "\x00"', "not readable as YAML"),
    ],
)
def test_a_damaged_file_is_reported_in_one_line(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "ada.yaml"
    path.write_text(content)
    with pytest.raises(UserError, match=complaint) as raised:
        import_notes(Memory("ada"), read_memory_file(path))
    assert len(str(raised.value)) < 500 and "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["ada.yaml", "ada.jsonl", "ada"])
def test_unreadable_files_are_reported_in_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_memory_file(tmp_path / name)
    (tmp_path / name).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match=f"{name}: (line 1 is damaged|cannot be read|is no text)"):
        read_memory_file(tmp_path / name)
    with pytest.raises(UserError, match="not a regular file"):
        read_memory_file(tmp_path)


def test_dates_and_numbers_of_yaml_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "ada.yaml"
    path.write_text(HEADER + "notes:\n- {kind: answer, text: 7, value: yes, time: 2026-11-23}\n")
    memory = Memory("ada")
    [note] = import_notes(memory, read_memory_file(path)).added
    assert (note.text, note.value, note.time) == ("7", 1.0, "2026-11-23T00:00:00.000Z")
