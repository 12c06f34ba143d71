"""Answers and rules in a memory: in order, the newest of those that contradict each other, and not without end."""

from hypothesis import given
from hypothesis import strategies as st

from housewise.agent.clipr.language_steps import DialogueTurn
from housewise.agent.clipr.memory_notes import (
    answer_note,
    answers_without_rules,
    find_overruled,
    note_topic,
    recall_answers,
    recall_rules,
    rule_notes,
    rules_written_note,
    source_answers,
    turn_from_note,
)
from housewise.agent.clipr.rules import MAX_RULES, Rule, add_newer_rules, find_contradictions, parse_rule
from housewise.people.memory import Memory, Note
from housewise.people.memory.note import next_millisecond

TEA = DialogueTurn("Which tea?", "Green, not black.")
GREEN, BLACK, MILK = map(
    parse_rule, ("For tea: prefer green.", "For tea: prefer black.", "For tea: prefer milk in it.")
)


def test_answers_are_kept_with_their_questions_until_rules_are_written() -> None:
    notes = [answer_note("ada", "kitchen", TEA), answer_note("ada", "garden", DialogueTurn("A rose?", "No."))]
    memory = Memory("ada", notes)
    assert [turn_from_note(note) for note in answers_without_rules(memory, "kitchen")] == [TEA]
    memory.add(rules_written_note("ada", "kitchen", notes[0].time))
    assert not answers_without_rules(memory, "kitchen") and len(answers_without_rules(memory, "garden")) == 1
    assert [turn_from_note(note) for note in recall_answers(memory, "kitchen")] == [TEA]


def test_many_words_are_cut_to_what_a_note_holds() -> None:
    note = answer_note("ada", note_topic("Kitchen " * 100), DialogueTurn("Why? " * 1000, "Because " * 1000))
    assert max(len(note.text), len(note.about.situation or "")) <= 2000 and len(note.about.task or "") <= 200


def test_rules_keep_their_order_and_a_newer_one_overrules_an_older() -> None:
    first = rule_notes("ada", "kitchen", [Rule(text=f"Rule {n}.") for n in range(30)] + [GREEN])
    memory = Memory("ada", first)
    assert [rule.text for rule in recall_rules(memory, "kitchen")] == [note.text for note in first]
    for note in rule_notes("ada", "kitchen", [BLACK], time=next_millisecond(first[-1].time)):
        memory.add(note)
    texts = [rule.text for rule in recall_rules(memory, "kitchen")]
    assert len(texts) == 31 and texts[-1] == BLACK.text and not recall_rules(memory, "garden")


def test_what_was_concluded_together_holds_together() -> None:
    origins = {GREEN.text: ("0" * 12,), MILK.text: ("0" * 12,)}
    together = rule_notes("ada", "kitchen", [GREEN, MILK], origins)
    assert find_overruled(together) == {} and find_overruled(rule_notes("ada", "kitchen", [GREEN, MILK])) == {0: 1}
    assert add_newer_rules([GREEN], [BLACK, MILK]) == (BLACK, MILK), "only what was there before gives way"


RULE_TEXTS = st.builds(
    "{}refer {}{}.".format,
    st.sampled_from(["P", "For tea: p", "For a cup of tea: p", "For coffee: p"]),
    st.sampled_from(["green", "black", "milk", "sugar, then green"]),
    st.sampled_from(["", "; avoid green", "; avoid milk, sugar"]),
) | st.sampled_from(["For tea: avoid black.", "Avoid sugar.", "Who knows?"])


@given(said=st.lists(st.tuples(RULE_TEXTS, st.sampled_from([(), ("a" * 12,), ("b" * 12,)])), max_size=12))
def test_rules_are_overruled_by_the_latest_of_all_pairs(said: list[tuple[str, tuple[str, ...]]]) -> None:
    notes = [Note(person="ada", kind="rule", text=text, derived_from=origins) for text, origins in said]
    assert find_overruled(notes) == {
        earlier: later
        for earlier, later in find_contradictions([parse_rule(text) for text, _ in said])
        if not said[earlier][1] or said[earlier][1] != said[later][1]
    }


def test_a_rule_is_concluded_from_its_turn_or_from_all() -> None:
    answers = [answer_note("ada", "kitchen", DialogueTurn(f"{n}?", f"{n}.")) for n in range(3)]
    ids = tuple(note.id for note in answers)
    rules = [Rule(text="a", source=2), Rule(text="b"), Rule(text="c", source=9)]
    assert source_answers(rules, answers) == {"a": ids[1:2], "b": ids, "c": ()}


def test_no_more_rules_are_gone_by_than_anybody_agreed_to() -> None:
    notes = rule_notes("ada", "kitchen", [Rule(text=f"Rule {n}.") for n in range(1000)])
    found = recall_rules(Memory("ada", notes), "kitchen")
    assert len(found) == MAX_RULES and found[-1].text == "Rule 999."
