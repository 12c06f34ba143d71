"""Adaptive CLIPR, Algorithm 2: revise the rules when accuracy drops, and keep a revision only if it helps.

The labels that choices are scored with also drive the revisions (prequential evaluation). The score of a scenario is
therefore that of its first answer, which was given before any revision that used the scenario.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, pstdev
from typing import Annotated, Literal

from pydantic import Field, model_validator
from typing_extensions import Self

from housewise.agent.clipr.action_choice import Inference, ScoredChoice, accuracy, judged_choices, split_batches
from housewise.agent.clipr.elicitation import ask_person
from housewise.agent.clipr.language_steps import DialogueTurn, Guidance, JudgedChoice, LanguageSteps
from housewise.agent.clipr.rules import Rule
from housewise.core.setting_marks import Affects
from housewise.core.settings import MAX_COUNT, Settings
from housewise.people.respondent import Question, Respondent, RespondentLeft
from housewise.worlds.choices.scenario import Scenario

ReviewOutcome = Literal[
    "gate closed", "not worth it", "no question", "left", "no update", "unchanged", "rejected", "accepted"
]


_IF_ADAPTIVE = Affects(needs=("method", "adaptive"))


class CriticSettings(Settings):
    """Hyperparameters of the critic. The paper's text lacks most values; these follow from its efficiency scores."""

    batch: int = Field(default=10, ge=1, le=MAX_COUNT)
    """Number of scenarios per batch (B in the paper)."""
    feedback_interval: Annotated[int, _IF_ADAPTIVE] = Field(default=20, ge=1, le=MAX_COUNT)
    """Number of scenarios after which feedback is considered, a multiple of the batch size (F in the paper)."""
    sensitivity: Annotated[float, _IF_ADAPTIVE] = Field(default=1.0, ge=0)
    """Drop of accuracy that makes the critic consider feedback, in standard deviations of the accuracies so far (τ in
    the paper)."""
    recent_choices: Annotated[int, _IF_ADAPTIVE] = Field(default=10, ge=1, le=MAX_COUNT)
    """Number of recent choices that the critic reads when it words a question (K in the paper)."""
    accuracy_gate: Annotated[bool, _IF_ADAPTIVE] = True
    """Whether a revision must not lower the accuracy on the processed scenarios."""
    max_replayed: Annotated[int | None, _IF_ADAPTIVE] = Field(default=None, ge=1, le=MAX_COUNT)
    """Maximum number of processed scenarios that the accuracy gate replays, drawn by seed. null replays all of them:
    the number of calls grows with the square of the number of scenarios."""

    @model_validator(mode="after")
    def _check_interval(self) -> Self:
        if self.feedback_interval % self.batch:
            raise ValueError(
                f"feedback every {self.feedback_interval} scenarios: use a multiple of the batch size ({self.batch})"
            )
        return self


@dataclass(frozen=True)
class Review:
    """The result of considering feedback once.

    Attributes:
        processed: Scenarios processed so far.
        accuracy: Accuracy of the last batch.
        outcome: Step at which the review ended.
        exchange: Question and answer, if a question was asked.
        proposed: Proposed rules; empty if there were none.
        before: Accuracy on the replayed scenarios with the current rules, or None without a replay.
        after: Accuracy on the replayed scenarios with the proposed rules, or None without a replay.
    """

    processed: int
    accuracy: float
    outcome: ReviewOutcome
    exchange: DialogueTurn | None = None
    proposed: tuple[Rule, ...] = ()
    before: float | None = None
    after: float | None = None


@dataclass
class AdaptationResult:
    """A whole run: the first choice in each scenario, all reviews, and all versions of the rules, each in order."""

    decisions: list[ScoredChoice] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    versions: list[tuple[Rule, ...]] = field(default_factory=list)


def is_gate_open(batch: float, history: Sequence[float], sensitivity: float) -> bool:
    """Return whether fewer than two earlier batches are known, or 1 - acc > (1 - μ) + τσ. Takes no call.

    Args:
        batch: Accuracy of the current batch.
        history: Accuracies of the earlier batches. Their mean is μ and their standard deviation is σ.
        sensitivity: Threshold τ.
    """
    if len(history) < 2:
        return True
    # The tolerance ignores rounding errors: with σ = 0 any drop opens the gate, but equal accuracies do not.
    return mean(history) - sensitivity * pstdev(history) - batch > 1e-12


@dataclass(frozen=True)
class Critic:
    """Makes the decisions of a review, in order. Each of them may end the review.

    Args:
        language: Language steps of the critic.
        settings: F, τ, K and whether there is an accuracy gate.
        seed: Seed for drawing the scenarios that the accuracy gate replays.
    """

    language: LanguageSteps
    settings: CriticSettings
    seed: int = 0

    def choose_question(
        self,
        batch: Sequence[ScoredChoice],
        history: Sequence[float],
        rules: Sequence[Rule],
        judged: Sequence[JudgedChoice],
    ) -> tuple[str | None, ReviewOutcome]:
        """What to ask the person, if anything, else where the review ends.

        Args:
            batch: the current decisions.
            history: accuracies of the batches before it.
            rules: in force.
            judged: what was processed with them.
        """
        if not is_gate_open(accuracy(batch), history, self.settings.sensitivity):
            return None, "gate closed"
        if not self.language.investigate(sum(decision.right for decision in batch), len(batch)):
            return None, "not worth it"
        question = self.language.feedback_question(rules, self._recent_choices(judged))
        if question is not None:
            self.language.usage.questions += 1
        return question, "no question"

    def propose_rules(
        self, exchange: DialogueTurn, rules: tuple[Rule, ...], judged: Sequence[JudgedChoice]
    ) -> tuple[tuple[Rule, ...], ReviewOutcome]:
        """Return new rules from an answer and "accepted", or no rules and the step at which the review ends."""
        if not exchange.answer or not self.language.should_update(rules, exchange):
            return (), "no update"
        proposed = self.language.update(rules, exchange, self._recent_choices(judged))
        return ((), "unchanged") if not proposed or proposed == rules else (proposed, "accepted")

    def replay_positions(self, count: int) -> list[int]:
        """Return the indices of the scenarios that the accuracy gate replays, out of ``count`` processed ones."""
        most = self.settings.max_replayed
        if most is None or most >= count:
            return list(range(count))
        return sorted(random.Random(f"{self.seed}/{count}").sample(range(count), most))

    def _recent_choices(self, judged: Sequence[JudgedChoice]) -> Sequence[JudgedChoice]:
        return judged[-self.settings.recent_choices :]


@dataclass
class AdaptiveClipr:
    """Chooses by rules and revises them.

    Args:
        inference: Makes the choices. Its batch size equals that of the settings.
        person: Answers the critic's questions.
        settings: B, F, τ, K and whether there is an accuracy gate.
    """

    inference: Inference
    person: Respondent
    settings: CriticSettings = field(default_factory=CriticSettings)

    def run(self, scenarios: Sequence[Scenario], rules: Sequence[Rule]) -> AdaptationResult:
        """Process scenarios in order, starting with the given rules."""
        run = AdaptationResult(versions=[tuple(rules)])
        history: list[float] = []
        processed: list[Scenario] = []
        current: list[ScoredChoice] = []  # choices with the current rules
        since = 0
        for batch in split_batches(scenarios, self.settings.batch):
            decisions = self.inference.decide(batch, Guidance(rules=run.versions[-1]))
            run.decisions += decisions
            processed += batch
            current += decisions
            since += len(batch)
            if since >= self.settings.feedback_interval:
                since = 0
                review, replayed = self._review(processed, current, history, decisions, run.versions[-1])
                run.reviews.append(review)
                if review.outcome == "accepted":
                    run.versions.append(review.proposed)
                    for place, decision in replayed.items():
                        current[place] = decision
            history.append(accuracy(decisions))
        return run

    def _review(
        self,
        processed: list[Scenario],
        current: list[ScoredChoice],
        history: list[float],
        batch: list[ScoredChoice],
        rules: tuple[Rule, ...],
    ) -> tuple[Review, dict[int, ScoredChoice]]:
        critic = Critic(self.inference.language, self.settings, self.inference.seed)
        review = Review(len(processed), accuracy(batch), "no question")
        seen = judged_choices([scenario.situation for scenario in processed], current)
        question, outcome = critic.choose_question(batch, history, rules, seen)
        if question is None:
            return replace(review, outcome=outcome), {}
        try:
            exchange = DialogueTurn(question, ask_person(self.person, Question(question)))
        except RespondentLeft:
            return replace(review, outcome="left"), {}
        proposed, outcome = critic.propose_rules(exchange, rules, seen)
        review = replace(review, outcome=outcome, exchange=exchange, proposed=proposed)
        if not proposed or not self.settings.accuracy_gate:
            return review, {}
        places = critic.replay_positions(len(processed))
        again = self.inference.decide([processed[place] for place in places], Guidance(rules=proposed))
        review = apply_accuracy_gate(review, [current[place] for place in places], again)
        return review, dict(zip(places, again, strict=True))


def apply_accuracy_gate(review: Review, before: Sequence[ScoredChoice], after: Sequence[ScoredChoice]) -> Review:
    """Accept proposed rules unless they lower the accuracy on the replayed scenarios.

    Args:
        review: Review with proposed rules.
        before: Choices in the replayed scenarios with the current rules.
        after: Choices in the same scenarios with the proposed rules.
    """
    was, now = accuracy(before), accuracy(after)
    return replace(review, outcome="accepted" if now >= was else "rejected", before=was, after=now)
