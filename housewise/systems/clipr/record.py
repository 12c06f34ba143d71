"""Events and states in records of CLIPR episodes."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from housewise.agent.clipr.actions import Origin, Review, ScoredChoice
from housewise.agent.clipr.rules import Rule
from housewise.core.record import Count, Event, Figure, Frozen, Words
from housewise.worlds.choices.scenario import ChoiceSet, Scenario


class CliprQuestionEvent(Event):
    """The robot asks a question.

    Attributes:
        text: The question.
        during: Whether it is asked in the interview or in a review of the rules.
        unresolved: Open dimensions in words.
    """

    type: ClassVar[str] = "question"
    text: Words
    during: Literal["interview", "review"] = "interview"
    unresolved: tuple[Words, ...] = ()


class CliprAnswerEvent(Event):
    """The person answers. ``left`` means that they end the conversation."""

    type: ClassVar[str] = "answer"
    text: Words = ""
    left: bool = False


class RuleLine(Frozen):
    """A rule; see housewise.agent.clipr.rules.Rule."""

    text: Words
    typed: bool = False
    source: int | None = None


class RulesEvent(Event):
    """New rules come into force.

    Attributes:
        version: Version of the rules, from 1.
        origin: Memory, interview or review; labelled examples (TidyBot), or contradiction of the rules before.
        rules: The rules in order.
    """

    type: ClassVar[str] = "rules"
    version: Count
    origin: Origin
    rules: tuple[RuleLine, ...]

    @classmethod
    def from_rules(cls, version: int, origin: Origin, rules: tuple[Rule, ...]) -> RulesEvent:
        """Create the event of a version of the rules."""
        return cls.model_validate({"version": version, "origin": origin, "rules": rules}, from_attributes=True)


class DecisionEvent(Event):
    """A choice and its score.

    Attributes:
        scenario: Id of the scenario.
        tier: Training, in distribution or out of distribution.
        request: The person's request.
        actions: Candidate actions.
        action: Index of the chosen action, from 0. None if no reply could be parsed.
        preferred: Index of the action that the person prefers.
        right: Whether the two are equal.
        satisfies: Whether the chosen action does what the request says.
        reasoning: Reason that the model gave.
        confidence: Confidence that the model stated, from 1 to 10, or None.
        version: Version of the rules.
        rule: Number of the rule that decided, from 1. None if the reasoning does not say.
    """

    type: ClassVar[str] = "decision"
    scenario: Words
    tier: str
    request: Words
    actions: tuple[Words, ...]
    action: int | None
    preferred: int
    right: bool
    satisfies: bool
    reasoning: Words = ""
    confidence: int | None = None
    version: Count = 0
    rule: int | None = None

    @classmethod
    def from_decision(cls, scenario: Scenario, decision: ScoredChoice, version: int, rule: int | None) -> DecisionEvent:
        """Create the event of a scored choice."""
        situation = scenario.situation
        return cls(
            scenario=scenario.id,
            tier=scenario.tier,
            request=situation.request,
            actions=situation.actions,
            action=decision.action,
            preferred=scenario.preferred,
            right=decision.right,
            satisfies=decision.satisfies,
            reasoning=decision.reasoning,
            confidence=decision.confidence,
            version=version,
            rule=rule,
        )


class CorrectionEvent(Event):
    """The person says which action they had preferred.

    Attributes:
        scenario: Id of the scenario.
        preferred: Index of the action that the person prefers.
    """

    type: ClassVar[str] = "correction"
    scenario: Words
    preferred: int


class ReviewEvent(Event):
    """Feedback was considered; see housewise.agent.clipr.actions.Review."""

    type: ClassVar[str] = "review"
    processed: Count
    accuracy: Figure
    outcome: str
    proposed: tuple[RuleLine, ...] = ()
    before: Figure | None = None
    after: Figure | None = None

    @classmethod
    def from_review(cls, review: Review) -> ReviewEvent:
        """Create the event of a review."""
        return cls.model_validate(review, from_attributes=True)


class ChoiceInitialState(Frozen):
    """The initial state of an episode.

    Attributes:
        data: Name of the set of choices.
        scenarios: Number of scenarios by tier.
        left_out: Number of rows of the source that were left out, by reason.
        person: Person whose preferences are scored, for choices in houses.
        order: Ids of the tests in order.
        remembered_answers: Number of answers that were remembered.
        remembered_rules: Number of rules that were remembered.
    """

    data: str
    scenarios: dict[str, int]
    left_out: dict[str, int] = Field(default_factory=dict)
    person: str = ""
    order: tuple[str, ...] = ()
    remembered_answers: Count = 0
    remembered_rules: Count = 0

    @classmethod
    def from_choices(
        cls,
        choices: ChoiceSet,
        training: tuple[Scenario, ...],
        test: tuple[Scenario, ...],
        answered: int,
        known: int,
    ) -> ChoiceInitialState:
        """Create the initial state of a set of choices."""
        tiers = [scenario.tier for scenario in (*training, *test)]
        return cls(
            data=choices.name,
            scenarios={tier: tiers.count(tier) for tier in dict.fromkeys(tiers)},
            left_out=dict(choices.left_out),
            person=choices.person.name if choices.person else "",
            order=tuple(scenario.id for scenario in test),
            remembered_answers=answered,
            remembered_rules=known,
        )
