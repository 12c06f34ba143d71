"""Recall (compared with a slow reference), editing, forgetting and merging of a memory."""

import itertools
import pickle
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.core.errors import UserError
from housewise.language.embedder import Vectors
from housewise.people.memory import About, Memory, Note, RecalledNote
from tests.people.memory.notes import KINDS, TIMES, abouts, notes, reaction

FIELDS = tuple(About.model_fields)


class Letters:
    """An embedder that counts letters."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> Vectors:
        counts = np.array([[text.count(chr(letter)) for letter in range(97, 123)] for text in texts], np.float32)
        return (counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def slow_recall(memory: Memory, about: About, most: int, kinds: Sequence[str] | None) -> list[RecalledNote]:
    claims: dict[tuple[object, ...], list[Note]] = {}
    for note in sorted(memory.notes, key=lambda note: note.sort_key):
        claims.setdefault((note.kind, note.about, note.text if note.value is None else None), []).append(note)
    found = []
    for claim in claims.values():
        said = claim[0].about
        agree, left_open, disagree = 0, 0, 0
        for field in FIELDS:
            mine, asked = getattr(said, field), getattr(about, field)
            same = bool(set(mine) & set(asked)) if field == "things" else mine == asked
            agree += bool(mine and asked and same)
            disagree += bool(mine and asked and not same)
            left_open += bool(mine and not asked)
        if disagree or (kinds is not None and claim[0].kind not in kinds):
            continue
        if agree or said == About() or about == About():
            found.append((-agree, left_open, claim))
    found.sort(key=lambda each: [note.sort_key for note in each[2]][-1], reverse=True)
    found.sort(key=lambda each: each[:2])
    return [resolve_claim(claim) for _, _, claim in found[:most]]


def resolve_claim(claim: list[Note]) -> RecalledNote:
    said = Counter(note.value for note in claim)
    latest = [note for note in claim if note.time == claim[-1].time]
    loudest = max(said[note.value] for note in latest)
    right = [note for note in latest if said[note.value] == loudest][-1]
    others = [note for note in claim[::-1] if note.value != right.value]
    return RecalledNote(right, right.value, said[right.value], tuple(others), 1.0)


@given(st.lists(notes, max_size=40), abouts, st.integers(0, 50), st.none() | st.lists(st.sampled_from(KINDS)))
def test_recall_by_key_equals_the_reference(
    given_notes: list[Note], about: About, most: int, kinds: list[str] | None
) -> None:
    memory = Memory("ada")
    half = len(given_notes) // 2
    for note in given_notes[:half]:
        memory.add(note)
    memory.recall(about, most)
    # Notes that are added or forgotten after the index was built.
    for note in given_notes[half:]:
        memory.add(note)
    assert memory.recall(about, most, kinds) == slow_recall(memory, about, most, kinds)  # type: ignore[arg-type]
    if memory.notes:
        memory.forget(memory.notes[0].id)
        assert memory.recall(about, most, kinds) == slow_recall(memory, about, most, kinds)  # type: ignore[arg-type]


def test_the_newest_note_wins_and_contradictions_are_returned() -> None:
    old = [reaction("mug", "sink", 1.0, TIMES[0], text=str(number)) for number in range(5)]
    new = reaction("mug", "sink", -1.0, TIMES[1])
    [found] = Memory("ada", [new, *old]).recall(About(things=("mug",)), 10)
    assert (found.note, found.value, found.count, len(found.contradicted)) == (new, -1.0, 1, 5)
    assert set(found.contradicted) == set(old)


def test_of_equally_new_notes_the_more_frequent_value_wins() -> None:
    liked = [reaction("mug", "sink", 1.0, time) for time in TIMES[:3]]
    disliked = reaction("mug", "sink", -1.0, TIMES[2])
    [found] = Memory("ada", [*liked, disliked]).recall(About(things=("mug",)), 10)
    assert (found.value, found.count, found.contradicted) == (1.0, 3, (disliked,))


def test_rules_with_different_texts_do_not_contradict_each_other() -> None:
    rules = [Note(person="ada", kind="rule", text=text, about=About(room="hall")) for text in ("no mugs", "no shoes")]
    assert {found.note for found in Memory("ada", rules).recall(About(room="hall"), 9)} == set(rules)


@given(st.lists(notes, max_size=30), abouts, st.integers(0, 10), st.floats(-1, 1))
def test_similar_notes_follow_those_found_by_key(
    given_notes: list[Note], about: About, most: int, least: float
) -> None:
    memory = Memory("ada", given_notes)
    known = memory.recall(about, most)
    found = memory.recall(about, most, embedder=Letters(), min_similarity=least)
    assert found[: len(known)] == known and len(found) <= most
    rest = found[len(known) :]
    assert all(each.similarity >= least for each in rest)
    assert [each.similarity for each in rest] == sorted((each.similarity for each in rest), reverse=True)
    if about and len(found) < most:
        left_out = {each.note for each in memory.recall(About(), 99)} - {each.note for each in found}
        embed = Letters().embed
        for note in left_out:
            words = f"{note.about.phrase}: {note.text}" if note.about else note.text
            assert float(embed([words])[0] @ embed([about.phrase])[0]) < least + 1e-5


@given(*[st.lists(notes, max_size=9)] * 3, abouts, st.booleans())
def test_a_copy_is_independent(
    shared: list[Note], mine: list[Note], others: list[Note], about: About, asked_before: bool
) -> None:
    memory = Memory("ada", shared)
    if asked_before:
        memory.recall(about, 9, embedder=Letters())
    copy = memory.copy()
    copy.recall(about, 9, embedder=Letters())
    for one, more in ((memory, mine), (copy, others)):
        for note in more:
            one.add(note)
    if shared and memory.notes:
        copy.forget(copy.notes[0].id)
    for one in (memory, copy):
        assert one.recall(about, 9) == slow_recall(one, about, 9, None)
        anew = Memory("ada", one.notes).recall(about, 9, embedder=Letters())
        assert [each.note for each in one.recall(about, 9, embedder=Letters())] == [each.note for each in anew]


def test_a_copy_shares_the_vectors() -> None:
    class Counting(Letters):
        read = 0

        def embed(self, texts: Sequence[str]) -> Vectors:
            self.read += len(texts)
            return super().embed(texts)

    embedder, asked = Counting(), About(things=("cupp",))
    memory = Memory("ada", [reaction("cup", place, 1.0) for place in ("sink", "bed", "shelf")])
    first = memory.copy()
    first.recall(asked, 9, embedder=embedder)
    assert embedder.read == 3 + 1, "all notes, and the question"
    first.add(reaction("cuppa", "bed", 1.0, TIMES[1]))
    first.recall(asked, 9, embedder=embedder)
    assert embedder.read == 4 + 2, "the new note, and the question once more"
    memory.recall(asked, 9, embedder=embedder)
    assert embedder.read == 6 + 1, "what the copy has made serves the memory that it is of"


def test_notes_are_embedded_once_where_several_recall_at_once() -> None:
    read: list[str] = []

    class Slow(Letters):
        def embed(self, texts: Sequence[str]) -> Vectors:
            read.extend(texts)
            time.sleep(0.2)
            return super().embed(texts)

    memory = Memory("ada", [reaction("cup", place, 1.0) for place in ("sink", "bed", "shelf")])
    memory.recall(About(things=("cup",)), 9)
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda _: memory.recall(About(things=("cupp",)), 9, embedder=Slow()), range(2)))
    assert found[0] == found[1] and len(found[0]) == 3
    assert len(read) == 3 + 2, "all notes, and the question twice"


def test_search_by_similarity_follows_changes() -> None:
    memory = Memory("ada", [reaction("cup", "sink", 1.0)])
    asked = About(things=("cupp",))
    assert [each.note.about.things for each in memory.recall(asked, 9, embedder=Letters())] == [("cup",)]
    memory.add(reaction("cuppa", "bed", 1.0, TIMES[1]))
    assert [each.note.about.things for each in memory.recall(asked, 9, embedder=Letters())] == [("cuppa",), ("cup",)]
    memory.forget(About(things=("cup",)))
    assert [each.note.about.things for each in memory.recall(asked, 9, embedder=Letters())] == [("cuppa",)]


def test_an_edited_note_is_the_newest() -> None:
    memory = Memory("ada", [reaction("mug", "sink", 1.0, f"21{year}-01-01") for year in range(10, 30)])
    new = memory.edit(memory.notes[0].id[:6], value=-1)
    [found] = memory.recall(About(things=("mug",)), 1)
    assert found.note == new and found.value == -1.0 and len(found.contradicted) == 19
    assert new.source is None and len(memory) == 20


def test_an_edit_can_be_reverted() -> None:
    note = reaction("mug", "sink", 1.0)
    memory = Memory("ada", [note])
    back = memory.edit(memory.edit(note.id, value=-1.0).id, value=1.0)
    assert memory.notes == (back,) and back.value == 1.0 and len(memory.forgotten_ids) == 2


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=5))
def test_the_original_id_survives_edits_and_files(values: list[float]) -> None:
    note = reaction("mug", "sink", 0.5)
    memory = Memory("ada", [note])
    for value in values:
        edited = memory.edit(note.id[:6], value=value)
        assert memory[note.id] is edited and edited.original_id == note.id
    again = Memory("ada", [Note.model_validate(edited.fields())])
    assert again[note.id[:4]] == edited and again.forget(note.id) == [edited]


def test_a_note_edited_in_two_places_is_identified_by_its_versions() -> None:
    note = reaction("mug", "sink", 0.5)
    here, there = Memory("ada", [note]), Memory("ada", [note])
    versions = [here.edit(note.id, value=1.0), there.edit(note.id, value=-1.0)]
    both = here.merge(there)
    with pytest.raises(UserError, match=f"several places; name one .*{versions[1].id}"):
        both.forget(note.id)
    assert both.forget(versions[0].id) == [versions[0]]


def test_an_edit_that_changes_nothing_changes_nothing() -> None:
    note = reaction("mug", "sink", 1.0)
    memory = Memory("ada", [note])
    assert memory.edit(note.id, time=note.time, value=1) == note
    assert memory.notes == (note,) and not memory.forgotten_ids


@pytest.mark.parametrize(
    "changes", [{"kind": "order"}, {"person": "bruno"}, {"id": "x"}, {"text": "x" * 3000}, {"text": "", "value": None}]
)
def test_an_invalid_edit_changes_nothing(changes: dict[str, object]) -> None:
    note = reaction("mug", "sink", 1.0)
    memory = Memory("ada", [note])
    with pytest.raises(UserError, match=f"^note {note.id}: "):
        memory.edit(note.id, **changes)
    assert memory.notes == (note,)


def test_derived_notes_are_forgotten_too() -> None:
    seen = [reaction("mug", place, -1.0) for place in ("sink", "bed")]
    rule = Note(person="ada", kind="rule", text="mugs in the cupboard", derived_from=tuple(note.id for note in seen))
    goal = Note(person="ada", kind="goal", text="the mug is in the cupboard", derived_from=(rule.id,))
    memory = Memory("ada", [*seen, rule, goal])
    memory.recall(About(things=("mug",)), 3, embedder=Letters())
    assert set(memory.forget(seen[0].id)) == {seen[0], rule, goal}
    assert memory.notes == (seen[1],)
    assert {found.note for found in memory.recall(About(), 9)} == {seen[1]}
    kept = pickle.dumps(memory)
    assert all(word.encode() not in kept for word in ("cupboard", "mug on sink"))
    # A forgotten note does not come back, and nothing can be derived from it later.
    late = Note(person="ada", kind="rule", text="mugs are hers", derived_from=(rule.id,))
    assert memory.add(seen[0]) == seen[0] and memory.add(late) == late
    assert memory.notes == (seen[1],)


def test_an_edited_note_is_not_derived_from_others() -> None:
    seen = reaction("mug", "sink", -1.0)
    rule = Note(person="ada", kind="rule", text="mugs in the cupboard", derived_from=(seen.id,))
    memory = Memory("ada", [seen, rule])
    corrected = memory.edit(rule.id, text="mugs on the shelf")
    assert memory.forget(seen.id) == [seen] and memory.notes == (corrected,)


def test_notes_can_be_forgotten_by_subject() -> None:
    everywhere = Note(person="ada", kind="rule", text="keep it tidy")
    all_notes = [reaction("mug", "sink", 1.0), reaction("mug", "bed", 1.0), reaction("shoe", "bed", 1.0), everywhere]
    memory = Memory("ada", all_notes)
    assert set(memory.forget(About(things=("mug",)))) == set(all_notes[:2])
    assert memory.forget(About(things=("lamp",))) == []
    assert set(memory.forget(About())) == set(all_notes[2:]) and not memory.notes


@pytest.mark.parametrize("id", ["", "abc", "ffffffffffff", "../x"])
def test_an_unknown_id_is_reported_in_one_line(id: str) -> None:
    memory = Memory("ada", [reaction("mug", "sink", 1.0)])
    for change in (memory.forget, memory.edit):
        with pytest.raises(UserError, match=r"no note .*housewise memory show ada"):
            change(id)


def test_a_note_about_another_person_is_refused() -> None:
    with pytest.raises(UserError, match="is about bruno, but this is the memory of ada"):
        Memory("ada").add(Note(person="bruno", kind="rule", text="x"))


memories = st.builds(
    lambda kept, gone, rules: _memory_with_derived_notes(kept, gone, rules),
    st.lists(notes, max_size=8),
    st.lists(notes, max_size=3),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["a", "b"])), max_size=3),
)


def _memory_with_derived_notes(kept: list[Note], gone: list[Note], rules: list[tuple[int, str]]) -> Memory:
    """Return a memory in which some notes are derived from others, and some are forgotten."""
    everything = [*kept]
    for number, text in rules:
        if everything:
            origin = everything[number % len(everything)].id
            rule = Note(person="ada", kind="rule", text=text, time=TIMES[0], derived_from=(origin,))
            everything.append(rule)
    return Memory("ada", everything, [note.id for note in gone])


def _state(memory: Memory) -> tuple[object, ...]:
    return memory.notes, memory.forgotten_ids, memory.digest


@given(st.lists(memories, min_size=3, max_size=3))
def test_memories_merge_in_any_order(several: list[Memory]) -> None:
    states = []
    for a, b, c in itertools.permutations(several):
        states += [_state(a.merge(b).merge(c)), _state(a.merge(b.merge(c))), _state(a.merge(b).merge(c).merge(b))]
    assert all(state == states[0] for state in states)


@given(memories, memories)
def test_merging_loses_only_forgotten_notes(one: Memory, other: Memory) -> None:
    merged = one.merge(other)
    assert {note.id for note in (*one.notes, *other.notes)} <= {note.id for note in merged.notes} | merged.forgotten_ids
    gone = {note.id for note in (*one.notes, *other.notes)} - {note.id for note in merged.notes}
    known = {note.id: note for note in (*one.notes, *other.notes)}
    for id in gone:
        assert id in one.forgotten_ids | other.forgotten_ids or set(known[id].derived_from) & merged.forgotten_ids
    assert one.forgotten_ids | other.forgotten_ids <= merged.forgotten_ids


@given(st.lists(notes, max_size=12), st.randoms())
def test_notes_may_be_added_in_any_order_and_twice(given_notes: list[Note], random: object) -> None:
    shuffled = given_notes + given_notes[:3]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    memory = Memory("ada")
    for note in shuffled:
        assert memory.add(note) == note
    assert _state(memory) == _state(Memory("ada", given_notes))
    assert _state(pickle.loads(pickle.dumps(memory))) == _state(memory) == _state(memory.copy())


def test_the_digest_is_stable() -> None:
    """Digests stand in records: what they are taken over must not change with a version."""
    memory = Memory("ada", [reaction("mug", "sink", -1.0, text="no mugs – ever")])
    assert memory.digest == "ae63a626921867880b8909e281fca98044916189afda78a3dbb026f5c4594333"
    assert memory.notes[0].id == "88bf6d7db9ff"
    assert memory.digest != Memory("ada").digest
