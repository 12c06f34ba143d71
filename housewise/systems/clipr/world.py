"""The dialogue and the choices as a world: a person answers questions, and choices turn out right or wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from housewise.agent.clipr.elicitation import ask_person
from housewise.agent.clipr.inference import ScoredChoice, accuracy, score_choice
from housewise.agent.clipr.language_steps import ActionChoice, MethodUsage
from housewise.people.respondent import Question, Respondent, RespondentLeft
from housewise.systems.clipr.record import CliprAnswerEvent, DecisionEvent
from housewise.worlds.base import Step
from housewise.worlds.choices.scenario import Scenario, Situation


@dataclass(frozen=True)
class AskPerson:
    """Ask the person something."""

    question: Question


@dataclass(frozen=True)
class ChooseActions:
    """Choose in the batch that is shown.

    Attributes:
        choices: one for each situation.
        version: of the rules that they follow.
        deciding: for each the number of the rule that decided, from 1; None where the reasoning does not tell.
    """

    choices: tuple[ActionChoice, ...]
    version: int
    deciding: tuple[int | None, ...]


@dataclass(frozen=True)
class ReplayChoices:
    """Choose once more in situations that are over, to see what other rules are worth; nothing of it counts.

    Attributes:
        places: of the situations, from 0.
        choices: one for each.
    """

    places: tuple[int, ...]
    choices: tuple[ActionChoice, ...]


CliprAction = AskPerson | ChooseActions | ReplayChoices


@dataclass(frozen=True)
class CliprObservation:
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
    decisions: tuple[ScoredChoice, ...] = ()


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
        person: Respondent,
        usage: MethodUsage,
    ) -> None:
        self._examples, self._batches, self._person, self._usage = tuple(examples), batches, person, usage
        self._over: list[Scenario] = []
        self._decisions: list[ScoredChoice] = []
        self._next = 0

    def reset(self) -> CliprObservation:
        """See World.reset."""
        return self._observation()

    def step(self, action: CliprAction) -> Step[CliprObservation]:
        """See World.step."""
        if isinstance(action, AskPerson):
            return self._ask(action.question)
        if isinstance(action, ReplayChoices):
            again = [self._over[place] for place in action.places]
            return Step(self._observation(decisions=_score_choices(again, action.choices)))
        batch = self._batches[self._next]
        decisions = _score_choices(batch, action.choices)
        self._next += 1
        self._over += batch
        self._decisions += decisions
        told = zip(batch, decisions, action.deciding, strict=True)
        events = tuple(
            DecisionEvent.from_decision(each, decision, action.version, rule) for each, decision, rule in told
        )
        return Step(self._observation(decisions=decisions), events)

    def scores(self) -> dict[str, float]:
        """See World.scores: accuracy by tier, of those that there are; of the tests alone where it says no tier."""
        tiers: dict[str, list[ScoredChoice]] = {}
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

    def _ask(self, question: Question) -> Step[CliprObservation]:
        try:
            answer = ask_person(self._person, question)
        except RespondentLeft:
            return Step(self._observation(), (CliprAnswerEvent(left=True),))
        return Step(self._observation(answer=answer), (CliprAnswerEvent(text=answer),))

    def _observation(self, answer: str | None = None, decisions: tuple[ScoredChoice, ...] = ()) -> CliprObservation:
        batch = self._batches[self._next] if self._next < len(self._batches) else ()
        return CliprObservation(self._examples, tuple(scenario.situation for scenario in batch), answer, decisions)


def _score_choices(scenarios: Sequence[Scenario], choices: Sequence[ActionChoice]) -> tuple[ScoredChoice, ...]:
    return tuple(score_choice(scenario, choice) for scenario, choice in zip(scenarios, choices, strict=True))
