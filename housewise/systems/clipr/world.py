"""The dialogue and the choices as a world: a person answers questions, and choices turn out right or wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from housewise.agent.clipr.elicitation import ask
from housewise.agent.clipr.inference import Decision, accuracy, scored
from housewise.agent.clipr.language_steps import Choice, Usage
from housewise.people.respondent import Person, PersonLeft, Question
from housewise.systems.clipr.record import AnswerEvent, DecisionEvent
from housewise.worlds.base import Step
from housewise.worlds.choices.scenario import Scenario, Situation


@dataclass(frozen=True)
class Ask:
    """Ask the person something."""

    question: Question


@dataclass(frozen=True)
class Choose:
    """Choose in the batch that is shown.

    Attributes:
        choices: one for each situation.
        version: of the rules that they follow.
        deciding: for each the number of the rule that decided, from 1; None where the reasoning does not tell.
    """

    choices: tuple[Choice, ...]
    version: int
    deciding: tuple[int | None, ...]


@dataclass(frozen=True)
class Rehearse:
    """Choose once more in situations that are over, to see what other rules are worth; nothing of it counts.

    Attributes:
        places: of the situations, from 0.
        choices: one for each.
    """

    places: tuple[int, ...]
    choices: tuple[Choice, ...]


Act = Ask | Choose | Rehearse


@dataclass(frozen=True)
class Seen:
    """What an agent knows: never what the person prefers.

    Attributes:
        examples: what the agent may look at beforehand.
        batch: to choose in next; () when all are over.
        answer: to the question that was asked last; None where the person has left, or nothing was asked.
        decisions: what the last choices, or rehearsed ones, were worth.
    """

    examples: tuple[Situation, ...]
    batch: tuple[Situation, ...]
    answer: str | None = None
    decisions: tuple[Decision, ...] = ()


class ChoiceWorld:
    """Scenarios in batches, and somebody who answers.

    Args:
        examples: what the agent may look at beforehand.
        batches: of scenarios, in the order in which they come.
        person: answers.
        usage: what the agent counts of its calls and questions.
    """

    def __init__(
        self,
        examples: Sequence[Situation],
        batches: Sequence[Sequence[Scenario]],
        person: Person[Any],
        usage: Usage,
    ) -> None:
        self._examples, self._batches, self._person, self._usage = tuple(examples), batches, person, usage
        self._over: list[Scenario] = []
        self._decisions: list[Decision] = []
        self._next = 0

    def reset(self) -> Seen:
        """See World.reset."""
        return self._seen()

    def step(self, action: Act) -> Step[Seen]:
        """See World.step."""
        if isinstance(action, Ask):
            return self._asked(action.question)
        if isinstance(action, Rehearse):
            again = [self._over[place] for place in action.places]
            return Step(self._seen(decisions=_scored(again, action.choices)))
        batch = self._batches[self._next]
        decisions = _scored(batch, action.choices)
        self._next += 1
        self._over += batch
        self._decisions += decisions
        told = zip(batch, decisions, action.deciding, strict=True)
        events = tuple(DecisionEvent.of(each, decision, action.version, rule) for each, decision, rule in told)
        return Step(self._seen(decisions=decisions), events)

    def scores(self) -> dict[str, float]:
        """See World.scores: accuracy by tier, of those that there are; of the tests alone where it says no tier."""
        tiers: dict[str, list[Decision]] = {}
        for scenario, decision in zip(self._over, self._decisions, strict=True):
            tiers.setdefault(scenario.tier, []).append(decision)
        tests = [decision for tier, some in tiers.items() if tier != "training" for decision in some]
        found: dict[str, float] = {f"accuracy_{tier.replace(' ', '_')}": accuracy(some) for tier, some in tiers.items()}
        if tests:
            satisfied = sum(decision.satisfies for decision in tests) / len(tests)
            found |= {"accuracy": accuracy(tests), "satisfied": satisfied, "tests": len(tests)}
        used = self._usage
        return found | {"calls": used.calls, "questions": used.questions, "unreadable": used.unreadable}

    def final(self) -> Mapping[str, Any]:
        """See World.final."""
        return {"chosen": len(self._decisions)}

    def _asked(self, question: Question) -> Step[Seen]:
        try:
            answer = ask(self._person, question)
        except PersonLeft:
            return Step(self._seen(), (AnswerEvent(left=True),))
        return Step(self._seen(answer=answer), (AnswerEvent(text=answer),))

    def _seen(self, answer: str | None = None, decisions: tuple[Decision, ...] = ()) -> Seen:
        batch = self._batches[self._next] if self._next < len(self._batches) else ()
        return Seen(self._examples, tuple(scenario.situation for scenario in batch), answer, decisions)


def _scored(scenarios: Sequence[Scenario], choices: Sequence[Choice]) -> tuple[Decision, ...]:
    return tuple(scored(scenario, choice) for scenario, choice in zip(scenarios, choices, strict=True))
