"""Which action fits best: typed rules, labelled examples, transcripts and the request itself, weighed by MiniLM."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from housewise.agent.clipr.language_steps import DialogueTurn, LabelledExample
from housewise.agent.clipr.local_steps.answer_meaning import split_wanted_refused
from housewise.agent.clipr.local_steps.contrasts import (
    Contrast,
    common_stems,
    distinctive_words,
    find_contrasts,
    remove_stems,
)
from housewise.agent.clipr.rules import Rule
from housewise.language.embedder import Embedder, cosine
from housewise.language.words import content_words
from housewise.worlds.choices.scenario import Situation

Scores = NDArray[np.float64]

_UNKNOWN = 0.2
"""Weight of a word of a phrase that no value has: most of these are ways of speaking."""


@dataclass(frozen=True)
class RankingWeights:
    """Chosen on training examples alone (the kitchen set's and IntroPlan's knowledge scenes), never on tests.

    Attributes:
        request: of the cosine between request and action.
        sharpness: how much more a closer rule or example counts than one less close (inverse temperature).
        words: share of common words, beside meaning, in how well a phrase fits an action.
        rank: what each further place in an order of preference costs.
        condition: share of the condition, beside the values, in whether a rule is about a situation.
    """

    request: float = 0.1
    sharpness: float = 15.0
    words: float = 0.7
    rank: float = 0.1
    condition: float = 0.3


@dataclass(frozen=True)
class ActionRanker:
    """Scores actions; each method gives one number for each action of a situation."""

    embedder: Embedder
    weights: RankingWeights = field(default_factory=RankingWeights)
    _seen: dict[Situation, tuple[Contrast, ...]] = field(default_factory=dict, repr=False, compare=False)

    def contrasts(self, situation: Situation) -> tuple[Contrast, ...]:
        """In what the actions differ; found once."""
        if situation not in self._seen:
            self._seen[situation] = find_contrasts(self.embedder, situation)
        return self._seen[situation]

    def score_by_request(self, situation: Situation, query: str | None = None) -> Scores:
        """How close each action is to the request."""
        scores: Scores = self._similarity([query or situation.request], situation.actions)[0]
        return scores

    def score_by_rules(self, situation: Situation, rules: Sequence[Rule]) -> Scores:
        """How well each action keeps the typed rules that are about the situation; the others decide nothing."""
        total = np.zeros(len(situation.actions))
        typed = [rule for rule in rules if rule.typed]
        if typed:
            for contrast in self.contrasts(situation):
                fits = [self.score_values(rule.preferred, rule.avoided, contrast.values) for rule in typed]
                about = self._rule_relevance(typed, contrast)
                total += self._weighted_fit(about, [rule.strength * fit for rule, fit in zip(typed, fits, strict=True)])
        return total

    def deciding_rule(self, situation: Situation, rules: Sequence[Rule]) -> Rule | None:
        """The typed rule that is most about the situation."""
        typed = [rule for rule in rules if rule.typed]
        if not typed:
            return None
        about = np.array([self._rule_relevance(typed, contrast) for contrast in self.contrasts(situation)])
        return typed[int(about.max(axis=0).argmax())]

    def score_by_examples(self, situation: Situation, answers: Sequence[LabelledExample]) -> Scores:
        """How much closer each action is to what was right in similar examples than to what was not."""
        if not answers:
            return np.zeros(len(situation.actions))
        about = self._similarity([situation.request], [each.situation.request for each in answers])[0]
        values = distinctive_words(situation.actions)
        fits = []
        for each in answers:
            there = distinctive_words(each.situation.actions)
            close = self._similarity(there, values)
            wrong = np.delete(close, each.action, axis=0)
            fits.append(close[each.action] - wrong.mean(axis=0))
        return self._weighted_fit(about, fits)

    def score_by_transcript(self, situation: Situation, transcript: Sequence[DialogueTurn]) -> Scores:
        """How close each action is to what was said to questions that are about the situation, taken as it was said."""
        if not transcript:
            return np.zeros(len(situation.actions))
        values = distinctive_words(situation.actions)
        topic = f"{situation.request} {' or '.join(values)}"
        about = self._similarity([topic], [f"{said.question} {said.answer}" for said in transcript])[0]
        fits = []
        for said in transcript:
            wanted, refused = split_wanted_refused(self.embedder, said.answer, " ".join(values))
            liked = self._similarity([wanted], values)[0]
            fits.append(liked - self._similarity([refused], values)[0] if refused else liked)
        return self._weighted_fit(about, fits)

    def _weighted_fit(self, about: Scores, fits: Sequence[Scores]) -> Scores:
        """The fits, each without its mean, weighed by a softmax of how much they are about the situation."""
        weight = np.exp(self.weights.sharpness * (about - about.max()))
        weight /= weight.sum()
        centred = np.array([fit - fit.mean() for fit in fits])
        mixed: Scores = weight @ centred
        return mixed

    def _rule_relevance(self, rules: Sequence[Rule], contrast: Contrast) -> Scores:
        """How much each rule is about a contrast: its condition, and whether it speaks of things of that kind.

        What most conditions have in common ("put it where it belongs") tells no rule from another, and is left out.
        """
        spoken = [self._similarity([*rule.preferred, *rule.avoided], contrast.distinct_values) for rule in rules]
        kinds = np.array([near.max(axis=0).mean() for near in spoken])
        conditions = [rule.condition for rule in rules if rule.condition]
        common = common_stems(conditions)
        when = self._similarity(
            [remove_stems(contrast.condition, common)], [remove_stems(each, common) for each in conditions]
        )[0]
        about: Scores = kinds.copy()
        share = self.weights.condition
        places = [place for place, rule in enumerate(rules) if rule.condition]
        about[places] = share * when + (1 - share) * kinds[places]
        return about

    def score_values(self, preferred: Sequence[str], avoided: Sequence[str], values: Sequence[str]) -> Scores:
        """How well each value is what is preferred, the earlier the better, and not what is avoided."""
        scores = np.zeros(len(values))
        if preferred:
            wanted = self._phrase_fit(preferred, values)
            scores += (wanted - self.weights.rank * np.arange(len(preferred))[:, None]).max(axis=0)
        if avoided:
            scores -= self._phrase_fit(avoided, values).max(axis=0)
        return scores

    def _phrase_fit(self, phrases: Sequence[str], values: Sequence[str]) -> Scores:
        """How well phrases fit values, shape (phrases, values), by words and by meaning."""
        words = np.array([_word_overlap(phrase, values) for phrase in phrases])
        return self.weights.words * words + (1 - self.weights.words) * self._similarity(phrases, values)

    def _similarity(self, ones: Sequence[str], others: Sequence[str]) -> Scores:
        return cosine(self.embedder, ones, others).astype(np.float64)


def _word_overlap(phrase: str, values: Sequence[str]) -> list[float]:
    """How far a phrase and each value have words in common, from 0 to 1: F of the shares of either's words.

    A word counts the more the fewer values have it; little where none has.
    """
    own, there = set(content_words(phrase)), [set(content_words(value)) for value in values]
    seen = {word: sum(word in each for each in there) for word in own.union(*there)}
    weight = {word: math.log((len(values) + 0.2) / count) if count else _UNKNOWN for word, count in seen.items()}

    def total(words: set[str]) -> float:
        return sum(weight[word] for word in words)

    return [2 * total(own & each) / both if (both := total(own) + total(each)) > 0 else 0.0 for each in there]
