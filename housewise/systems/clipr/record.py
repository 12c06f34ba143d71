"""What happens in an episode of CLIPR, as records tell it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from housewise.agent.clipr.adaptive import Review
from housewise.agent.clipr.inference import ScoredChoice
from housewise.agent.clipr.rules import Rule
from housewise.core.record import Count, Event, Figure, Frozen, Words
from housewise.worlds.choices.scenario import ChoiceSet, Scenario

Origin = Literal["memory", "interview", "review"]
"""Where rules come from."""


class CliprQuestionEvent(Event):
    """The robot asks.

    Attributes:
        text: of the question.
        during: the interview, or a review of the rules.
        unresolved: what is open, in words.
    """

    type: ClassVar[str] = "question"
    text: Words
    during: Literal["interview", "review"] = "interview"
    unresolved: tuple[Words, ...] = ()


class CliprAnswerEvent(Event):
    """What the person says; ``left`` where they end the conversation."""

    type: ClassVar[str] = "answer"
    text: Words = ""
    left: bool = False


class RuleLine(Frozen):
    """A rule; see housewise.agent.clipr.rules.Rule."""

    text: Words
    typed: bool = False
    source: int | None = None


class RulesEvent(Event):
    """Rules come into force.

    Attributes:
        version: from 1.
        origin: a memory, the interview, or a review.
        rules: in order.
    """

    type: ClassVar[str] = "rules"
    version: Count
    origin: Origin
    rules: tuple[RuleLine, ...]

    @classmethod
    def from_rules(cls, version: int, origin: Origin, rules: tuple[Rule, ...]) -> RulesEvent:
        """A version of some rules."""
        lines = tuple(RuleLine(text=rule.text, typed=rule.typed, source=rule.source) for rule in rules)
        return cls(version=version, origin=origin, rules=lines)


class DecisionEvent(Event):
    """A choice, and what it is worth.

    Attributes:
        scenario: its id.
        tier: training, in or out of distribution.
        request: of the person.
        actions: the candidates.
        action: number of the chosen one, from 0; None where no reply could be read.
        preferred: number of the one that the person wants.
        right: whether they are the same.
        satisfies: whether the choice does what the request says.
        reasoning, confidence: the model's.
        version: of the rules.
        rule: number of the rule that decided, from 1, as far as the reasoning tells.
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
        """A decision on a scenario."""
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


class ReviewEvent(Event):
    """Feedback was considered; see housewise.agent.clipr.adaptive.Review."""

    type: ClassVar[str] = "review"
    processed: Count
    accuracy: Figure
    outcome: str
    proposed: tuple[RuleLine, ...] = ()
    before: Figure | None = None
    after: Figure | None = None

    @classmethod
    def from_review(cls, review: Review) -> ReviewEvent:
        """What came of a review."""
        return cls(
            processed=review.processed,
            accuracy=review.accuracy,
            outcome=review.outcome,
            proposed=tuple(RuleLine(text=rule.text, typed=rule.typed, source=rule.source) for rule in review.proposed),
            before=review.before,
            after=review.after,
        )


class ChoiceInitialState(Frozen):
    """What an episode begins with.

    Attributes:
        data: name of the set.
        scenarios: how many there are by tier.
        left_out: how many of the source's rows were not taken, by reason.
        person: whose idea of order is scored, in choices about places.
        order: ids of the tests as they come.
        answered: what the person had answered before.
        known: rules that were remembered.
    """

    data: str
    scenarios: dict[str, int]
    left_out: dict[str, int] = Field(default_factory=dict)
    person: str = ""
    order: tuple[str, ...] = ()
    answered: Count = 0
    known: Count = 0

    @classmethod
    def from_choices(
        cls,
        choices: ChoiceSet,
        training: tuple[Scenario, ...],
        test: tuple[Scenario, ...],
        answered: int,
        known: int,
    ) -> ChoiceInitialState:
        """Of a set of choices, in the order in which they come."""
        tiers = [scenario.tier for scenario in (*training, *test)]
        return cls(
            data=choices.name,
            scenarios={tier: tiers.count(tier) for tier in dict.fromkeys(tiers)},
            left_out=dict(choices.left_out),
            person=choices.person.name if choices.person else "",
            order=tuple(scenario.id for scenario in test),
            answered=answered,
            known=known,
        )
