"""CLIPR as an agent: it asks questions, writes rules, chooses by them, and revises them when accuracy drops."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

from housewise.agent.base import Decision as Decided
from housewise.agent.base import History
from housewise.agent.clipr.action_choice import Inference, ScoredChoice, accuracy, judged_choices
from housewise.agent.clipr.adaptive import Critic, Review, ReviewOutcome, apply_accuracy_gate
from housewise.agent.clipr.elicitation import MAX_UNANSWERED
from housewise.agent.clipr.language_steps import ActionChoice, DialogueTurn, Guidance
from housewise.agent.clipr.memory_notes import (
    answer_note,
    answers_without_rules,
    recall_answers,
    recall_rules,
    rule_notes,
    rules_written_note,
    source_answers,
    turn_from_note,
)
from housewise.agent.clipr.rules import Rule, add_newer_rules
from housewise.core.record import Event, Usage
from housewise.people.memory import About, Memory, Note
from housewise.people.respondent import Question
from housewise.rollout.note_events import NoteEvent
from housewise.systems.clipr.record import CliprQuestionEvent, Origin, ReviewEvent, RulesEvent
from housewise.systems.clipr.world import AskPerson, ChooseActions, CliprAction, CliprObservation, ReplayChoices
from housewise.worlds.choices.scenario import Situation

_RULE = re.compile(r"\brules?\s+#?(\d{1,3})\b", re.IGNORECASE)


@dataclass
class _NextAction:
    """The next action and the events to record before it. Without an action the episode is over."""

    act: CliprAction | None = None
    events: list[Event] = field(default_factory=list)


_Play = Generator[_NextAction, CliprObservation, None]


class CliprAgent:
    """Learns rules from a conversation and follows them; see Agent.

    Args:
        inference: Makes the choices. Its language steps perform all other steps as well.
        critic: Decides about revisions of the rules. None keeps the rules as they were written.
        max_questions: Maximum number of questions before the first choice, including remembered ones.
        topic: Topic of the choices in notes.
        memory: Memory of the person, whose conversation is continued. None to remember nothing.
    """

    name = "clipr"

    def __init__(
        self, inference: Inference, critic: Critic | None, max_questions: int, topic: str, memory: Memory | None
    ) -> None:
        self._inference, self._critic, self._max_questions = inference, critic, max_questions
        self._topic, self._memory = topic, memory
        self._rules: tuple[Rule, ...] = recall_rules(memory, topic) if memory else ()
        self._version, self._known = 0, {rule.text for rule in self._rules}
        self._origins: dict[str, tuple[str, ...]] = {}
        self._learned: list[Note] = []  # answers that rules have been written from
        self._play: _Play | None = None
        self._history: list[float] = []
        self._over: list[Situation] = []
        self._current: list[ScoredChoice] = []  # choices with the current rules
        self._since = 0

    def decide(self, observation: CliprObservation, history: History[CliprObservation]) -> Decided[CliprAction]:
        """See Agent.decide."""
        usage, began = self._inference.language.usage, time.perf_counter()
        read, written, ended = usage.prompt_tokens, usage.completion_tokens, usage.finish_reasons.copy()
        if self._play is None:
            self._play = self._play_episode(observation)
            move = next(self._play)
        else:
            move = self._play.send(observation)
        took = Usage(
            prompt_tokens=usage.prompt_tokens - read,
            completion_tokens=usage.completion_tokens - written,
            model_seconds=time.perf_counter() - began,
            finish_reasons=dict(usage.finish_reasons - ended),
        )
        return Decided([] if move.act is None else [move.act], tuple(move.events), move.act is None, took)

    def _play_episode(self, seen: CliprObservation) -> _Play:
        """Yield the actions of a whole episode. Receives the observation after each."""
        events: list[Event] = []
        if self._rules:
            events.append(self._rules_event("memory"))
        events = yield from self._interview(seen.examples, events)
        while seen.batch:
            batch = seen.batch
            choices = self._inference.choose(batch, Guidance(rules=self._rules))
            deciding = tuple(find_cited_rule(choice, self._rules) for choice in choices)
            seen = yield _NextAction(ChooseActions(tuple(choices), self._version, deciding), events)
            self._over += batch
            self._current += seen.decisions
            self._since += len(batch)
            events = []
            if self._critic and self._since >= self._critic.settings.feedback_interval:
                self._since = 0
                events = yield from self._review(self._critic, seen.decisions)
            self._history.append(accuracy(seen.decisions))
        yield _NextAction(events=[*events, *self._rule_notes()])

    def _interview(
        self, examples: Sequence[Situation], events: list[Event]
    ) -> Generator[_NextAction, CliprObservation, list[Event]]:
        """Run Algorithm 1, continuing a remembered conversation. Returns the events that remain to be recorded."""
        language, silences = self._inference.language, 0
        said = [turn_from_note(note) for note in recall_answers(self._memory, self._topic)] if self._memory else []
        notes = answers_without_rules(self._memory, self._topic) if self._memory else []
        new = [turn_from_note(note) for note in notes]
        while len(said) < self._max_questions and silences < MAX_UNANSWERED:
            inquiry = language.inquire(examples, said, self._max_questions - len(said))
            if inquiry.question is None:
                break
            language.usage.questions += 1
            unresolved = tuple(f"{each.name}: {', '.join(each.values)}" for each in inquiry.unresolved)
            asked = CliprQuestionEvent(text=inquiry.question, unresolved=unresolved)
            seen = yield _NextAction(self._ask(inquiry.question), [*events, asked])
            events = []
            if seen.answer is None:
                break
            exchange = DialogueTurn(inquiry.question, seen.answer)
            said.append(exchange)
            silences = 0 if exchange.answer else silences + 1
            if exchange.answer:
                new.append(exchange)
                events = self._answer_notes(exchange, notes)
        if new:
            written = language.synthesize(examples, new)
            self._origins |= source_answers(written, notes)
            self._learned = list(notes)
            self._rules = add_newer_rules(self._rules, written)
            events.append(self._rules_event("interview"))
        return events

    def _review(
        self, critic: Critic, batch: Sequence[ScoredChoice]
    ) -> Generator[_NextAction, CliprObservation, list[Event]]:
        """Run a review of Algorithm 2. Returns the events that remain to be recorded."""
        judged = judged_choices(self._over, self._current)
        review = Review(len(self._over), accuracy(batch), "left")
        question, outcome = critic.choose_question(batch, self._history, self._rules, judged)
        if question is None:
            return [_review_event(review, outcome=outcome)]
        seen = yield _NextAction(self._ask(question), [CliprQuestionEvent(text=question, during="review")])
        if seen.answer is None:
            return [ReviewEvent.from_review(review)]
        exchange, notes = DialogueTurn(question, seen.answer), list[Note]()
        events = self._answer_notes(exchange, notes) if exchange.answer else []
        proposed, outcome = critic.propose_rules(exchange, self._rules, judged)
        if not proposed:
            return [*events, _review_event(review, outcome=outcome)]
        review = Review(review.processed, review.accuracy, outcome, exchange, proposed)
        if critic.settings.accuracy_gate:
            places = tuple(critic.replay_positions(len(self._over)))
            choices = self._inference.choose([self._over[place] for place in places], Guidance(rules=proposed))
            seen = yield _NextAction(ReplayChoices(places, tuple(choices)), events)
            events = []
            review = apply_accuracy_gate(review, [self._current[place] for place in places], seen.decisions)
            if review.outcome == "accepted":
                for place, decision in zip(places, seen.decisions, strict=True):
                    self._current[place] = decision
        events.append(ReviewEvent.from_review(review))
        if review.outcome == "accepted":
            texts = {rule.text for rule in self._rules}
            self._origins |= {
                rule.text: tuple(note.id for note in notes) for rule in proposed if rule.text not in texts
            }
            self._rules = proposed
            events.append(self._rules_event("review"))
        return events

    def _ask(self, question: str) -> AskPerson:
        return AskPerson(Question(question, about=About(task=self._topic)))

    def _rules_event(self, origin: Origin) -> RulesEvent:
        self._version += 1
        return RulesEvent.from_rules(self._version, origin, self._rules)

    def _answer_notes(self, exchange: DialogueTurn, notes: list[Note]) -> list[Event]:
        if self._memory is None:
            return []
        notes.append(answer_note(self._memory.person, self._topic, exchange))
        self._learned.append(notes[-1])
        return [NoteEvent(note=notes[-1])]

    def _rule_notes(self) -> list[Event]:
        """Return note events of the rules at the end of the episode, except those that were remembered."""
        if self._memory is None or not self._learned:
            return []
        person, new = self._memory.person, [rule for rule in self._rules if rule.text not in self._known]
        notes = rule_notes(person, self._topic, new, self._origins)
        ended = rules_written_note(person, self._topic, notes[-1].time if notes else self._learned[-1].time)
        return [NoteEvent(note=note) for note in (*notes, ended)]


def find_cited_rule(choice: ActionChoice, rules: Sequence[Rule]) -> int | None:
    """Return the number of the rule that a choice cites, from 1, or None without a citation.

    A choice cites a rule by its text or as in "rule 3".
    """
    for number, rule in enumerate(rules, 1):
        if rule.text in choice.reasoning:
            return number
    found = _RULE.search(choice.reasoning)
    return int(found[1]) if found and 1 <= int(found[1]) <= len(rules) else None


def _review_event(review: Review, outcome: ReviewOutcome) -> ReviewEvent:
    return ReviewEvent.from_review(replace(review, outcome=outcome))
