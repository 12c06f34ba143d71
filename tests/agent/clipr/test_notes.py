"""Answers and rules in a memory: in order, the newest of those that contradict each other, and not without end."""

from __future__ import annotations

from housewise.agent.clipr.language_steps import Exchange
from housewise.agent.clipr.memory_notes import (
    answer_note,
    answers_in,
    exchange_of,
    origins_of,
    overruled,
    rule_notes,
    rules_in,
    topic_of,
    unwritten_in,
    written_note,
)
from housewise.agent.clipr.rules import MAX_RULES, Rule, read_rule, with_newer
from housewise.people.memory import Memory
from housewise.people.memory.note import just_after

TEA = Exchange("Which tea?", "Green, not black.")
GREEN, BLACK, MILK = map(read_rule, ("For tea: prefer green.", "For tea: prefer black.", "For tea: prefer milk in it."))


def test_answers_are_kept_with_their_questions_until_rules_are_written() -> None:
    notes = [answer_note("ada", "kitchen", TEA), answer_note("ada", "garden", Exchange("A rose?", "No."))]
    memory = Memory("ada", notes)
    assert [exchange_of(note) for note in unwritten_in(memory, "kitchen")] == [TEA]
    memory.add(written_note("ada", "kitchen", notes[0].time))
    assert not unwritten_in(memory, "kitchen") and len(unwritten_in(memory, "garden")) == 1
    assert [exchange_of(note) for note in answers_in(memory, "kitchen")] == [TEA]


def test_many_words_are_cut_to_what_a_note_holds() -> None:
    note = answer_note("ada", topic_of("Kitchen " * 100), Exchange("Why? " * 1000, "Because " * 1000))
    assert max(len(note.text), len(note.about.situation or "")) <= 2000 and len(note.about.task or "") <= 200


def test_rules_keep_their_order_and_a_newer_one_overrules_an_older() -> None:
    first = rule_notes("ada", "kitchen", [Rule(text=f"Rule {n}.") for n in range(30)] + [GREEN])
    memory = Memory("ada", first)
    assert [rule.text for rule in rules_in(memory, "kitchen")] == [note.text for note in first]
    for note in rule_notes("ada", "kitchen", [BLACK], time=just_after(first[-1].time)):
        memory.add(note)
    texts = [rule.text for rule in rules_in(memory, "kitchen")]
    assert len(texts) == 31 and texts[-1] == BLACK.text and not rules_in(memory, "garden")


def test_what_was_concluded_together_holds_together() -> None:
    origins = {GREEN.text: ("0" * 12,), MILK.text: ("0" * 12,)}
    together = rule_notes("ada", "kitchen", [GREEN, MILK], origins)
    assert overruled(together) == {} and overruled(rule_notes("ada", "kitchen", [GREEN, MILK])) == {0: 1}
    assert with_newer([GREEN], [BLACK, MILK]) == (BLACK, MILK), "only what was there before gives way"


def test_a_rule_is_concluded_from_its_turn_or_from_all() -> None:
    answers = [answer_note("ada", "kitchen", Exchange(f"{n}?", f"{n}.")) for n in range(3)]
    ids = tuple(note.id for note in answers)
    rules = [Rule(text="a", source=2), Rule(text="b"), Rule(text="c", source=9)]
    assert origins_of(rules, answers) == {"a": ids[1:2], "b": ids, "c": ()}


def test_no_more_rules_are_gone_by_than_anybody_agreed_to() -> None:
    notes = rule_notes("ada", "kitchen", [Rule(text=f"Rule {n}.") for n in range(1000)])
    found = rules_in(Memory("ada", notes), "kitchen")
    assert len(found) == MAX_RULES and found[-1].text == "Rule 999."
