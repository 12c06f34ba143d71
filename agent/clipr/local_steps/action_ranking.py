"""Score actions by typed rules, labelled examples, transcripts and the request, using MiniLM embeddings."""

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
"""Weight of a phrase's word that occurs in no value. Most such words are figures of speech."""


# Chosen on training examples (kitchen set, IntroPlan knowledge scenes), never on tests.
REQUEST_WEIGHT = 0.1
"""Weight of the cosine between request and action."""
_SHARPNESS = 15.0
"""Inverse temperature of the softmax over rules or examples."""
_WORDS = 0.7
"""Share of word overlap, as opposed to meaning, in how well a phrase fits an action."""
_RANK = 0.1
"""Penalty per place in an order of preference."""
_CONDITION = 0.3
"""Share of the condition, as opposed to the values, in a rule's relevance to a situation."""


@dataclass(frozen=True)
class ActionRanker:
    """Scores actions. Each scoring method returns one number per action of a situation."""

    embedder: Embedder
    _seen: dict[Situation, tuple[Contrast, ...]] = field(default_factory=dict, repr=False, compare=False)

    def contrasts(self, situation: Situation) -> tuple[Contrast, ...]:
        """Return the contrasts of a situation; the result is cached."""
        if situation not in self._seen:
            self._seen[situation] = find_contrasts(self.embedder, situation)
        return self._seen[situation]

    def score_by_request(self, situation: Situation, query: str | None = None) -> Scores:
        """Score actions by their similarity to the request."""
        scores: Scores = self._similarity([query or situation.request], situation.actions)[0]
        return scores

    def score_by_rules(self, situation: Situation, rules: Sequence[Rule]) -> Scores:
        """Score how well actions follow the typed rules relevant to the situation. Untyped rules are ignored."""
        total = np.zeros(len(situation.actions))
        typed = [rule for rule in rules if rule.typed]
        if typed:
            for contrast in self.contrasts(situation):
                fits = [self.score_values(rule.preferred, rule.avoided, contrast.values) for rule in typed]
                about = self._rule_relevance(typed, contrast)
                total += self._weighted_fit(about, fits)
        return total

    def deciding_rule(self, situation: Situation, rules: Sequence[Rule]) -> Rule | None:
        """Return the typed rule that is most relevant to the situation, or None."""
        typed = [rule for rule in rules if rule.typed]
        if not typed:
            return None
        about = np.array([self._rule_relevance(typed, contrast) for contrast in self.contrasts(situation)])
        return typed[int(about.max(axis=0).argmax())]

    def score_by_examples(self, situation: Situation, answers: Sequence[LabelledExample]) -> Scores:
        """Score actions by how much closer they are to correct than to wrong actions of similar examples."""
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
        """Score actions by their similarity to answers to relevant questions."""
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
        """Average the centred fits, weighted by a softmax of their relevance."""
        weight = np.exp(_SHARPNESS * (about - about.max()))
        weight /= weight.sum()
        centred = np.array([fit - fit.mean() for fit in fits])
        mixed: Scores = weight @ centred
        return mixed

    def _rule_relevance(self, rules: Sequence[Rule], contrast: Contrast) -> Scores:
        """Return the relevance of each rule to a contrast, from its condition and the kind of things it names.

        Words that most conditions share ("put it where it belongs") do not distinguish rules and are ignored.
        """
        spoken = [self._similarity([*rule.preferred, *rule.avoided], contrast.distinct_values) for rule in rules]
        kinds = np.array([near.max(axis=0).mean() for near in spoken])
        conditions = [rule.condition for rule in rules if rule.condition]
        common = common_stems(conditions)
        when = self._similarity(
            [remove_stems(contrast.condition, common)], [remove_stems(each, common) for each in conditions]
        )[0]
        about: Scores = kinds.copy()
        places = [place for place, rule in enumerate(rules) if rule.condition]
        about[places] = _CONDITION * when + (1 - _CONDITION) * kinds[places]
        return about

    def score_values(self, preferred: Sequence[str], avoided: Sequence[str], values: Sequence[str]) -> Scores:
        """Score how well each value matches what is preferred, earlier preferences more, and not what is avoided."""
        scores = np.zeros(len(values))
        if preferred:
            wanted = self._phrase_fit(preferred, values)
            scores += (wanted - _RANK * np.arange(len(preferred))[:, None]).max(axis=0)
        if avoided:
            scores -= self._phrase_fit(avoided, values).max(axis=0)
        return scores

    def _phrase_fit(self, phrases: Sequence[str], values: Sequence[str]) -> Scores:
        """Return how well phrases fit values by words and meaning, shape (phrases, values)."""
        words = np.array([_word_overlap(phrase, values) for phrase in phrases])
        return _WORDS * words + (1 - _WORDS) * self._similarity(phrases, values)

    def _similarity(self, ones: Sequence[str], others: Sequence[str]) -> Scores:
        return cosine(self.embedder, ones, others).astype(np.float64)


def _word_overlap(phrase: str, values: Sequence[str]) -> list[float]:
    """Return the F-score of shared words between a phrase and each value, in [0, 1].

    A word has the more weight the fewer values contain it, and little weight if none does.
    """
    own, there = set(content_words(phrase)), [set(content_words(value)) for value in values]
    seen = {word: sum(word in each for each in there) for word in own.union(*there)}
    weight = {word: math.log((len(values) + 0.2) / count) if count else _UNKNOWN for word, count in seen.items()}

    def total(words: set[str]) -> float:
        return sum(weight[word] for word in words)

    return [2 * total(own & each) / both if (both := total(own) + total(each)) > 0 else 0.0 for each in there]
