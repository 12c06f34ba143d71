"""Plays a method of CLIPR as an agent: translates its questions, rules and reviews to events and notes of a memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from housewise.agent.base import Decision as Decided
from housewise.agent.base import History
from housewise.agent.clipr.actions import (
    AskPerson,
    ChooseActions,
    CliprAction,
    CliprObservation,
    NewRules,
    Play,
    Report,
    Review,
)
from housewise.agent.clipr.language_steps import ActionChoice, DialogueTurn
from housewise.agent.clipr.memory_notes import (
    answer_note,
    answers_without_rules,
    rule_notes,
    rules_written_note,
    source_answers,
    topic_rule_notes,
)
from housewise.agent.clipr.method_inputs import MethodFunction, MethodInputs
from housewise.agent.clipr.rules import Rule, parse_rule
from housewise.core.record import Event, Usage
from housewise.language.model_timer import ModelTimer
from housewise.people.memory import About, Memory, Note
from housewise.people.memory.note import later_time
from housewise.rollout.note_events import NoteEvent, NoteForgottenEvent
from housewise.systems.clipr.record import CliprQuestionEvent, ReviewEvent, RulesEvent

_RULE = re.compile(r"\brules?\s+#?(\d{1,3})\b", re.IGNORECASE)


class CliprAgent:
    """Plays a method; see Agent.

    Args:
        method: The method.
        inputs: What the method is given.
        topic: Topic of the choices in notes.
        memory: Memory of the person, whose conversation is continued. None to remember nothing.
        timer: Times the method's model. None counts no time.
    """

    def __init__(
        self,
        method: MethodFunction,
        inputs: MethodInputs,
        topic: str,
        memory: Memory | None,
        timer: ModelTimer | None = None,
    ) -> None:
        self._timer = timer or ModelTimer()
        self._method, self._inputs, self._topic, self._memory = method, inputs, topic, memory
        self._play: Play[None] | None = None
        self._question: str | None = None  # the last action, if it was a question
        self._rules: tuple[Rule, ...] = ()
        self._version, self._known = 0, {rule.text for rule in inputs.known.rules}
        self._answers = answers_without_rules(memory, topic) if memory else []
        self._origins: dict[str, tuple[str, ...]] = {}
        self._dropped: set[str] = set()  # texts of rules that reviews took out of force

    def decide(self, observation: CliprObservation, history: History[CliprObservation]) -> Decided[CliprAction]:
        """See Agent.decide."""
        usage, before = self._inputs.inference.language.usage, self._timer.seconds
        usage.tokens = Usage()  # of this decision
        events = self._answer_events(observation)
        said = self._advance(observation)
        while isinstance(said, NewRules | Review):
            events.append(self._rules_event(said) if isinstance(said, NewRules) else ReviewEvent.from_review(said))
            said = self._advance(observation)
        took = usage.tokens.model_copy(update={"model_seconds": self._timer.seconds - before})
        if said is None:
            return Decided([], (*events, *self._rule_notes()), True, took)
        return Decided([self._translate(said, events)], tuple(events), False, took)

    def _advance(self, observation: CliprObservation) -> CliprAction | Report | None:
        """Return what the method does or reports next, or None at its end."""
        try:
            if self._play is None:
                self._play = self._method(self._inputs, observation)
                return next(self._play)
            return self._play.send(observation)
        except StopIteration:
            return None

    def _translate(self, action: CliprAction, events: list[Event]) -> CliprAction:
        """Return an action with what its record needs, and add the events that precede it."""
        if isinstance(action, ChooseActions):
            deciding = tuple(find_cited_rule(choice, self._rules) for choice in action.choices)
            return replace(action, version=self._version, deciding=deciding)
        if not isinstance(action, AskPerson):
            return action
        self._question = action.question.text
        unresolved = tuple(f"{each.name}: {', '.join(each.values)}" for each in action.unresolved)
        events.append(CliprQuestionEvent(text=self._question, during=action.during, unresolved=unresolved))
        return replace(action, question=replace(action.question, about=About(task=self._topic)))

    def _answer_events(self, observation: CliprObservation) -> list[Event]:
        """Return the note event of an answer, if the last action was a question."""
        question, self._question = self._question, None
        if self._memory is None or question is None or not observation.answer:
            return []
        exchange = DialogueTurn(question, observation.answer)
        time = later_time(self._answers[-1].time if self._answers else None)
        self._answers.append(answer_note(self._memory.person, self._topic, exchange, time=time))
        return [NoteEvent(note=self._answers[-1])]

    def _rules_event(self, new: NewRules) -> RulesEvent:
        if new.origin == "interview":
            self._origins |= source_answers(new.rules, self._answers)
        elif new.origin == "review":
            texts = {rule.text for rule in self._rules}
            answer = tuple(note.id for note in self._answers[-1:])
            self._origins |= {rule.text: answer for rule in new.rules if rule.text not in texts}
            self._dropped = (self._dropped | texts) - {rule.text for rule in new.rules}
        self._rules = new.rules
        self._version += 1
        return RulesEvent.from_rules(self._version, new.origin, new.rules)

    def _rule_notes(self) -> list[Event]:
        """Return the events that bring the memory to the rules at the end of the episode.

        Remembered rules that a review dropped or reworded are forgotten. Otherwise they would be in force in the next
        episode, beside the rules that replaced them.
        """
        if self._memory is None or not self._answers:
            return []
        person, new = self._memory.person, [rule for rule in self._rules if rule.text not in self._known]
        notes: list[Note] = rule_notes(person, self._topic, new, self._origins)
        ended = rules_written_note(person, self._topic, notes[-1].time if notes else self._answers[-1].time)
        old = topic_rule_notes(self._memory, self._topic)
        gone = [note for note in old if parse_rule(note.text).text in self._dropped]
        return [*(NoteForgottenEvent(note=note) for note in gone), *(NoteEvent(note=note) for note in (*notes, ended))]


def find_cited_rule(choice: ActionChoice, rules: Sequence[Rule]) -> int | None:
    """Return the number of the rule that a choice cites, from 1, or None without a citation.

    A choice cites a rule by its text or as in "rule 3".
    """
    for number, rule in enumerate(rules, 1):
        if rule.text in choice.reasoning:
            return number
    found = _RULE.search(choice.reasoning)
    return int(found[1]) if found and 1 <= int(found[1]) <= len(rules) else None
