"""The world of CLIPR: a person answers questions, and choices are scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from housewise.agent.clipr.action_choice import ScoredChoice, accuracy, score_choice
from housewise.agent.clipr.elicitation import ask_person
from housewise.agent.clipr.language_steps import ActionChoice, MethodUsage
from housewise.people.respondent import Question, Respondent, RespondentLeft
from housewise.systems.clipr.record import CliprAnswerEvent, DecisionEvent
from housewise.worlds.base import Step
from housewise.worlds.choices.scenario import Scenario, Situation


@dataclass(frozen=True)
class AskPerson:
    """Ask the person a question."""

    question: Question


@dataclass(frozen=True)
class ChooseActions:
    """Choose in the observed batch.

    Attributes:
        choices: One choice per situation.
        version: Version of the rules.
        deciding: Number of the rule that decided each choice, from 1, or None if the reasoning does not say.
    """

    choices: tuple[ActionChoice, ...]
    version: int
    deciding: tuple[int | None, ...]


@dataclass(frozen=True)
class ReplayChoices:
    """Choose again in past situations to evaluate other rules. These choices do not count in the scores.

    Attributes:
        places: Indices of the situations, from 0.
        choices: One choice per situation.
    """

    places: tuple[int, ...]
    choices: tuple[ActionChoice, ...]


CliprAction = AskPerson | ChooseActions | ReplayChoices


@dataclass(frozen=True)
class CliprObservation:
    """What the agent observes. The person's preferences are never included.

    Attributes:
        examples: Situations that the agent may read beforehand.
        batch: Situations to choose in next; empty at the end.
        answer: Answer to the last question. None if nothing was asked or the person has left.
        decisions: Scores of the last choices or replayed choices.
    """

    examples: tuple[Situation, ...]
    batch: tuple[Situation, ...]
    answer: str | None = None
    decisions: tuple[ScoredChoice, ...] = ()


class ChoiceWorld:
    """Plays scenarios in batches, with a person who answers questions.

    Description:
        The single decisions of CLIPR (sections 3 and 4). A scenario is a request with several possible actions.

    Mission space:
        Choose the action that the person prefers in every scenario.

    Action space:
        ``AskPerson``, ``ChooseActions`` for the observed batch, or ``ReplayChoices`` in earlier scenarios.

    Observation space:
        ``CliprObservation``: examples, the next batch, the answer to the last question, and scores of the last choices.

    Rewards:
        None. ``scores`` has the accuracy by tier and over all tests.

    Termination:
        The agent declares the task complete when the batch is empty.

    Args:
        examples: Situations that the agent may read beforehand.
        batches: Batches of scenarios in order.
        person: Answers questions.
        usage: Counts of the agent's calls and questions.
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
        """See World.scores. Returns the accuracy by tier and over all tests."""
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
