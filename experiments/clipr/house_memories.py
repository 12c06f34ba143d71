"""Memories for robots in houses, of what a person has said in ten questions, or of what they want."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from housewise.agent.clipr.conversation import converse
from housewise.agent.clipr.elicitation import learn_rules
from housewise.agent.clipr.house_interview import HouseInterview
from housewise.agent.clipr.house_notes import HOUSE_TOPIC, house_rule_notes
from housewise.agent.clipr.house_rules import parse_house_rule
from housewise.agent.clipr.language_steps import DialogueTurn
from housewise.agent.clipr.memory_notes import answer_note, rules_written_note
from housewise.agent.clipr.rule_editing import notes_from_rules, replace_contradicted
from housewise.agent.clipr.rules import Rule, parse_rule
from housewise.experiments.measured_values import MeasuredValue
from housewise.language.embedder import shared_minilm
from housewise.people.house.respondent import HouseRespondent
from housewise.people.memory import Memory, Note
from housewise.people.memory.note import later_time
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.worlds.house.place_kinds import to_place_kinds
from housewise.worlds.house.preferences import HousePreferences, Places, default_groups, load_preferences
from housewise.worlds.house.spoken_names import spoken_name

QUESTIONS = 10
"""Maximum number of questions of an interview."""

What = Literal["rules", "full preferences", "usual places", "usual places and rules"]


def make_memory(settings: PersonalizeSettings, what: What) -> Memory:
    """Make the memory of the person of a run.

    Args:
        settings: Settings of the run.
        what: What the memory says: the rules of an interview, all that the person wants, what most people agree on,
            or the last and the first.
    """
    person, seed = load_preferences(settings.tasks.person), settings.tasks.rng_stream
    if what == "full preferences":
        return _rules_memory(person.name, {name: person.places_for(name) for name in person.categories})
    memory = Memory(person.name)
    if what != "rules":
        memory = _rules_memory(person.name, {name: group.wanted for name, group in default_groups().items()})
    return memory if what == "usual places" else _interview(person, seed, memory)[0]


def measure_rules(person: str, rng_stream: int, **settings: Any) -> Iterator[MeasuredValue]:
    """Measure how many of the placements that a person wants the rules of an interview name."""
    who = load_preferences(person)
    rules = [rule for rule in map(parse_house_rule, _interview(who, rng_stream, Memory(person))[1]) if rule]
    said = {(thing, spot) for rule in rules for thing in rule.things for spot in rule.wanted}
    wanted = {(spoken_name(name), spot) for name in who.categories for spot in to_place_kinds(who.places_for(name))}
    counts = {"rules_understood": len(rules), "said": len(said), "said_rightly": len(said & wanted)}
    for name, count in {**counts, "wanted": len(wanted)}.items():
        yield MeasuredValue(person, 0, name, count)


def _interview(person: HousePreferences, seed: int, memory: Memory) -> tuple[Memory, Iterable[Rule]]:
    """Add what a person says in an interview to a memory, and return it with the new rules.

    The person does not take part in choosing the questions.
    """
    answers: list[Note] = []

    def keep_answer(turn: DialogueTurn) -> None:
        if turn.answer:
            time = later_time(answers[-1].time if answers else None)
            answers.append(memory.add(answer_note(person.name, HOUSE_TOPIC, turn, time=time)))

    interviewer = HouseInterview(shared_minilm(), excluded_person=person.name)
    rules = converse(learn_rules(interviewer, (), QUESTIONS), HouseRespondent(person, seed), keep_answer)
    if answers:
        notes = [memory.add(note) for note in notes_from_rules(person.name, HOUSE_TOPIC, rules, answers)]
        memory.add(rules_written_note(person.name, HOUSE_TOPIC, memory.notes[-1].time))
        replace_contradicted(memory, notes)
    return memory, rules


def _rules_memory(person: str, wanted: Mapping[str, Places]) -> Memory:
    """Return a memory of where groups of things, or kinds of them, are wanted, as rules."""
    memory = Memory(person)
    for name, places in wanted.items():
        phrases = ", then ".join(spot.phrase for spot in to_place_kinds(places))
        for note in house_rule_notes(person, parse_rule(f"For {spoken_name(name)}: prefer {phrases}.")):
            memory.add(note)
    return memory
