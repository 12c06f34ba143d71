"""Algorithm 2 of CLIPR (arXiv 2605.12682, section 3.1): revise the rules when accuracy drops, and keep what helps.

In the paper's terms: B is the batch size, F the feedback interval, τ the sensitivity, μ and σ describe the history of
batch accuracies, K is the number of recent choices that the critic reads, P are the processed scenarios. The paper
calls σ both a standard deviation and a variance; here it is the former. The current batch is not part of the history,
so the first reviews have too little of it, and their gate is open.

The labels that choices are scored with also drive the revisions (prequential evaluation). The score of a scenario is
therefore that of its first answer, which was given before any revision that used the scenario.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, pstdev

from housewise.agent.clipr.action_choice import Inference
from housewise.agent.clipr.actions import (
    AskPerson,
    CliprAction,
    CliprObservation,
    NewRules,
    Play,
    ReplayChoices,
    Review,
    ScoredChoice,
    accuracy,
)
from housewise.agent.clipr.critic_settings import CriticSettings
from housewise.agent.clipr.language_steps import DialogueTurn, Guidance, JudgedChoice, LanguageSteps
from housewise.agent.clipr.rules import Rule
from housewise.people.respondent import Question
from housewise.worlds.choices.scenario import Situation


@dataclass
class Processed:
    """The scenarios processed so far (P), with the choices that they were last replayed with, or the first ones."""

    situations: list[Situation] = field(default_factory=list)
    choices: list[ScoredChoice] = field(default_factory=list)

    def recent(self, count: int) -> list[JudgedChoice]:
        """Return the last choices as the critic may see them, without the correct actions."""
        pairs = zip(self.situations[-count:], self.choices[-count:], strict=True)
        return [JudgedChoice(situation, each.action, each.right, each.reasoning) for situation, each in pairs]


def choose_adaptively(
    inference: Inference, settings: CriticSettings, seen: CliprObservation, rules: tuple[Rule, ...]
) -> Play[None]:
    """Run Algorithm 2: choose in every batch by the rules, and revise them.

    Args:
        inference: Makes the choices; its language steps are those of the critic as well.
        settings: B, F, τ, K and whether there is an accuracy gate.
        seen: The observation with the first batch, of at most B scenarios.
        rules: Rules to start with (Algorithm 1).
    """
    critic = Critic(inference, settings)
    accuracies: list[float] = []  # of the batches before this one
    processed, since = Processed(), 0
    while seen.batch:
        batch = seen.batch
        seen = yield inference.choose_actions(batch, Guidance(rules=rules))  # line 3
        decisions = seen.decisions
        processed.situations += batch  # line 6
        processed.choices += decisions
        since += len(batch)
        if since >= settings.feedback_interval:  # line 8
            since = 0
            review = yield from critic.review(decisions, accuracies, rules, processed)  # lines 9 to 17
            yield review
            if review.outcome == "accepted":
                rules = review.proposed
                yield NewRules(rules, "review")
        accuracies.append(accuracy(decisions))  # lines 4 and 5


def is_gate_open(batch: float, earlier: Sequence[float], sensitivity: float) -> bool:
    """Return whether the critic intervenes (line 9). Takes no call.

    It does if fewer than two earlier batches are known, or if 1 - acc > (1 - μ) + τσ.

    Args:
        batch: Accuracy of the current batch.
        earlier: Accuracies of the earlier batches. Their mean is μ and their standard deviation is σ.
        sensitivity: Threshold τ.
    """
    if len(earlier) < 2:
        return True
    # The tolerance ignores rounding errors: with σ = 0 any drop opens the gate, but equal accuracies do not.
    return mean(earlier) - sensitivity * pstdev(earlier) - batch > 1e-12


@dataclass(frozen=True)
class Critic:
    """The preference rule critic. Each of its judgements, in order, may end the review.

    Args:
        inference: Its language steps judge; it chooses again in the processed scenarios.
        settings: τ, K, whether there is an accuracy gate, and the accuracy that is low without a drop (ours).
    """

    inference: Inference
    settings: CriticSettings

    @property
    def language(self) -> LanguageSteps:
        """The language steps that judge."""
        return self.inference.language

    def review(
        self, batch: Sequence[ScoredChoice], earlier: Sequence[float], rules: tuple[Rule, ...], processed: Processed
    ) -> Generator[CliprAction, CliprObservation, Review]:
        """Consider feedback once (lines 9 to 17). The rules change if the outcome of the review is "accepted".

        Args:
            batch: The last choices.
            earlier: Accuracies of the batches before.
            rules: Rules in force.
            processed: All processed scenarios.
        """
        judged = processed.recent(self.settings.recent_choices)
        review = Review(len(processed.situations), accuracy(batch), "gate closed")
        is_low = self.settings.min_accuracy is not None and review.accuracy < self.settings.min_accuracy
        if not is_low and not is_gate_open(review.accuracy, earlier, self.settings.sensitivity):  # line 9
            return review
        if not self.language.investigate(sum(decision.right for decision in batch), len(batch)):  # line 11
            return replace(review, outcome="not worth it")
        question = self.language.feedback_question(rules, judged)  # line 12: whether to ask, and GenerateQuery
        if question is None:
            return replace(review, outcome="no question")
        seen = yield AskPerson(Question(question), "review")  # line 13
        if seen.answer is None:
            return replace(review, outcome="left")
        exchange = DialogueTurn(question, seen.answer)
        review = replace(review, exchange=exchange)
        if not exchange.answer or not self.language.should_update(rules, exchange):  # line 14, ShouldUpdateRules
            return replace(review, outcome="no update")
        proposed = self.language.update(rules, exchange, judged)  # line 15, UpdateRules
        if not proposed or proposed == rules:
            return replace(review, outcome="unchanged")
        review = replace(review, outcome="accepted", proposed=proposed)
        return (yield from self._verify(review, processed)) if self.settings.accuracy_gate else review

    def _verify(self, review: Review, processed: Processed) -> Generator[CliprAction, CliprObservation, Review]:
        """Choose again by the proposed rules, and accept them unless that lowers the accuracy (lines 16 and 17)."""
        places = self._replay_positions(len(processed.situations))
        again = self.inference.choose(
            [processed.situations[place] for place in places], Guidance(rules=review.proposed)
        )
        seen = yield ReplayChoices(places, tuple(again))
        was, now = accuracy([processed.choices[place] for place in places]), accuracy(seen.decisions)
        if now < was:
            return replace(review, outcome="rejected", before=was, after=now)
        for place, decision in zip(places, seen.decisions, strict=True):
            processed.choices[place] = decision
        return replace(review, before=was, after=now)

    def _replay_positions(self, count: int) -> tuple[int, ...]:
        """Return the indices of the scenarios that the accuracy gate replays, out of ``count`` processed ones."""
        most = self.settings.max_replayed
        if most is None or most >= count:
            return tuple(range(count))
        return tuple(sorted(random.Random(f"{self.inference.seed}/{count}").sample(range(count), most)))
