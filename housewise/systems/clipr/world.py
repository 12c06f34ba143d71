"""The world of CLIPR: a person answers questions, and choices are scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from housewise.agent.clipr.actions import (
    AskCorrection,
    AskPerson,
    ChooseActions,
    CliprAction,
    CliprObservation,
    ReplayChoices,
    ScoredChoice,
    accuracy,
)
from housewise.agent.clipr.conversation import ask_person
from housewise.agent.clipr.language_steps import ActionChoice, MethodUsage
from housewise.agent.clipr.methods import Method
from housewise.people.respondent import Respondent
from housewise.systems.clipr.record import CliprAnswerEvent, CorrectionEvent, DecisionEvent
from housewise.worlds.base import Step
from housewise.worlds.choices.scenario import Scenario, Situation


class ChoiceWorld:
    """Plays scenarios in batches, with a person who answers questions.

    Description:
        The single decisions of CLIPR (sections 3 and 4). A scenario is a request with several possible actions.

    Mission space:
        Choose the action that the person prefers in every scenario.

    Action space:
        ``AskPerson``, ``ChooseActions`` for the observed batch, ``ReplayChoices`` in earlier scenarios, or
        ``AskCorrection`` of an earlier choice.

    Observation space:
        ``CliprObservation``: examples, the next batch, the answer to the last question, scores of the last choices and
        a correction, the last two only for methods that learn from them.

    Rewards:
        None. ``scores`` has the accuracy by tier and over all tests, calls and questions.

    Termination:
        The agent declares the task complete when the batch is empty.

    Args:
        examples: Situations that the agent may read beforehand.
        batches: Batches of scenarios in order.
        person: Answers questions.
        usage: Counts of the agent's calls.
        method: The method, which says whether it is shown scores and corrections.
        reviewer: Answers the questions of reviews, if it is somebody else.
    """

    def __init__(
        self,
        examples: Sequence[Situation],
        batches: Sequence[Sequence[Scenario]],
        person: Respondent,
        usage: MethodUsage,
        method: Method,
        reviewer: Respondent | None = None,
    ) -> None:
        self._examples, self._batches, self._person, self._usage = tuple(examples), batches, person, usage
        self._method, self._reviewer = method, reviewer or person
        self._over: list[Scenario] = []
        self._decisions: list[ScoredChoice] = []
        self._next = self._questions = self._corrections = self._calls_before_choices = 0

    def reset(self) -> CliprObservation:
        """See World.reset."""
        return self._observation()

    def step(self, action: CliprAction) -> Step[CliprObservation]:
        """See World.step."""
        if isinstance(action, AskPerson):
            return self._ask(action)
        if isinstance(action, AskCorrection):
            return self._correct(action)
        if isinstance(action, ReplayChoices):
            again = [self._over[place] for place in action.places]
            return Step(self._observation(decisions=_score_choices(again, action.choices)))
        return self._choose(action)

    def scores(self) -> dict[str, float]:
        """See World.scores. Returns the accuracy by tier, by origin of the label and over all, and the calls."""
        tiers: dict[str, list[ScoredChoice]] = {}
        for scenario, decision in zip(self._over, self._decisions, strict=True):
            tiers.setdefault(scenario.tier, []).append(decision)
        tests = [decision for tier, some in tiers.items() if tier != "training" for decision in some]
        found: dict[str, float] = {f"accuracy_{tier.replace(' ', '_')}": accuracy(some) for tier, some in tiers.items()}
        if tests:
            satisfied = sum(decision.satisfies for decision in tests) / len(tests)
            found |= {"accuracy": accuracy(tests), "satisfied": satisfied, "tests": len(tests)}
        return found | {
            **self._accuracy_by_origin(),
            "calls": self._usage.calls,
            "calls_before_choices": self._calls_before_choices,
            "questions": self._questions,
            "corrections": self._corrections,
            "unreadable": self._usage.unreadable,
        }

    def _accuracy_by_origin(self) -> dict[str, float]:
        """Return the accuracy over the tests by origin of their labels, for data sets with two origins."""
        origins: dict[str, list[ScoredChoice]] = {}
        for scenario, decision in zip(self._over, self._decisions, strict=True):
            if scenario.label_from and scenario.tier != "training":
                origins.setdefault(scenario.label_from, []).append(decision)
        return {f"accuracy_{origin.replace(' ', '_')}": accuracy(some) for origin, some in origins.items()}

    def final(self) -> Mapping[str, Any]:
        """See World.final."""
        return {"chosen": len(self._decisions)}

    def _choose(self, action: ChooseActions) -> Step[CliprObservation]:
        if not self._decisions:
            self._calls_before_choices = self._usage.calls - action.calls
        batch = self._batches[self._next]
        decisions = _score_choices(batch, action.choices)
        self._next += 1
        self._over += batch
        self._decisions += decisions
        made = zip(batch, decisions, action.deciding, strict=True)
        events = tuple(
            DecisionEvent.from_decision(each, decision, action.version, rule) for each, decision, rule in made
        )
        return Step(self._observation(decisions=decisions), events)

    def _ask(self, action: AskPerson) -> Step[CliprObservation]:
        self._questions += 1
        answer = ask_person(self._person if action.during == "interview" else self._reviewer, action.question)
        return Step(self._observation(answer), (CliprAnswerEvent(text=answer or "", left=answer is None),))

    def _correct(self, action: AskCorrection) -> Step[CliprObservation]:
        if not self._method.has_corrections:
            raise ValueError("only methods with corrections may ask for one")
        self._questions += 1
        self._corrections += 1
        scenario = self._over[action.place]
        event = CorrectionEvent(scenario=scenario.id, preferred=scenario.preferred)
        return Step(self._observation(correction=scenario.preferred), (event,))

    def _observation(
        self, answer: str | None = None, decisions: tuple[ScoredChoice, ...] = (), correction: int | None = None
    ) -> CliprObservation:
        batch = self._batches[self._next] if self._next < len(self._batches) else ()
        situations = tuple(scenario.situation for scenario in batch)
        shown = decisions if self._method.has_scores else ()
        return CliprObservation(self._examples, situations, answer, shown, correction)


def _score_choices(scenarios: Sequence[Scenario], choices: Sequence[ActionChoice]) -> tuple[ScoredChoice, ...]:
    return tuple(score_choice(scenario, choice) for scenario, choice in zip(scenarios, choices, strict=True))


def score_choice(scenario: Scenario, choice: ActionChoice) -> ScoredChoice:
    """Score a choice. An index outside the candidates is neither right nor satisfying."""
    return ScoredChoice(
        scenario.id,
        choice.action,
        choice.action == scenario.preferred,
        choice.action in scenario.satisfying,
        choice.reasoning,
        choice.confidence,
    )
