"""Every language step without a language model: contrasts between options, MiniLM embeddings and typed rules.

An addition of this project. Result tables call it "local components". A step counts as one call if it would be one call
of a chat model, and uses no tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from housewise.agent.clipr.language_steps import (
    ActionChoice,
    DialogueTurn,
    Dimension,
    Guidance,
    Inquiry,
    JudgedChoice,
    LabelledExample,
    MethodUsage,
)
from housewise.agent.clipr.local_steps.action_ranking import REQUEST_WEIGHT, ActionRanker, Scores
from housewise.agent.clipr.local_steps.answer_meaning import expresses_no_wish, find_meant_options, split_wanted_refused
from housewise.agent.clipr.local_steps.contrasts import Contrast, merge_contrasts
from housewise.agent.clipr.rules import Rule, make_rule
from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError
from housewise.core.yaml_files import read_yaml
from housewise.language.embedder import Embedder, cosine
from housewise.language.words import STOP_WORDS, content_words
from housewise.worlds.choices.scenario import Situation

OPEN_QUESTIONS = CONFIGS / "clipr" / "open_questions.yaml"

_SAME = 0.75
"""Cosine similarity from which two contrasts belong to the same dimension."""
_SETTLED = 0.7
"""Cosine similarity between a question and a contrast from which an answer that names a value settles the contrast."""
_CLEARLY = 0.03
"""Minimum lead of the best-fitting value over the second best for a phrase to mean that value."""
_ENOUGH = 0.95
"""Accuracy of a batch from which the critic does not investigate."""
_JOINT = re.compile(
    r"[.;:!?,]|\b(?:then|after that|afterwards|followed by|failing that|otherwise|or else|before|or|but|and then)\b"
)
_FILLERS = """first second last order best favourite favorite mostly ideally happy happier happiest thank thanks day oh
    well any all most only there least love enjoy fond fan friend really honestly maybe perhaps guess think thing things
    something anything one ones i'd i'm it's that's don't no not never without except avoid hate dislike skip over than
    instead rather go going if can"""
_EDGES = STOP_WORDS | frozenset(_FILLERS.split())
"""Words without meaning at the beginning or end of a wish."""


class LocalSteps:
    """Performs the language steps of CLIPR and its baselines without a language model.

    Args:
        embedder: Sentence embeddings.
        open_questions: File of GATE's questions, one per topic.
    """

    def __init__(self, embedder: Embedder, open_questions: Path = OPEN_QUESTIONS) -> None:
        self.name = "local components"
        self.usage = MethodUsage()
        self._embedder = embedder
        self._ranker = ActionRanker(embedder)
        self._open_questions = _load_open_questions(open_questions)

    def inquire(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn], left: int) -> Inquiry:
        """Ask about the open dimension in which most examples vary. Enough is known if no dimension is open."""
        self.usage.calls += 1
        asked = {said.question for said in dialogue}
        opened = [
            whole
            for group in self._dimensions(examples)
            if _contrast_question(whole := merge_contrasts(group)) not in asked
            and not all(self._is_settled(each, dialogue) for each in group)
        ]
        dimensions = tuple(Dimension(whole.condition, whole.distinct_values) for whole in opened)
        return Inquiry(dimensions, _contrast_question(opened[0]) if opened else None)

    def synthesize(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn]) -> tuple[Rule, ...]:
        """Write one typed rule for each answer that is understood, in the examples' words where they match."""
        self.usage.calls += 1
        known = {_contrast_question(whole): whole for whole in map(merge_contrasts, self._dimensions(examples))}
        rules = []
        for turn, said in enumerate(dialogue, 1):
            rule = self._rule_from_answer(said, known.get(said.question), turn)
            if rule is not None:
                rules.append(rule)
        return tuple(rules)

    def choose(self, situations: Sequence[Situation], guidance: Guidance) -> list[ActionChoice]:
        """Choose the action with the highest score, and the first one of equal scores."""
        self.usage.calls += 1
        rules = guidance.all_rules
        return [self._choose_one(situation, guidance, rules) for situation in situations]

    def investigate(self, correct: int, total: int) -> bool:
        """Return whether less than 95 % of the choices were right."""
        self.usage.calls += 1
        return correct < _ENOUGH * total

    def feedback_question(self, rules: Sequence[Rule], decisions: Sequence[JudgedChoice]) -> str | None:
        """Ask about what most failures have in common, unless a rule has the same condition."""
        self.usage.calls += 1
        ruled = {rule.condition for rule in rules}
        failed = [each.situation for each in decisions if not each.right]
        opened = [
            whole for whole in map(merge_contrasts, self._dimensions(failed)) if _rule_condition(whole) not in ruled
        ]
        return _feedback_question(opened[0]) if opened else None

    def should_update(self, rules: Sequence[Rule], exchange: DialogueTurn) -> bool:
        """Return whether the answer names something wanted or refused."""
        self.usage.calls += 1
        wanted, refused = self._wanted_and_refused(exchange.answer)
        return bool(wanted or refused)

    def update(
        self, rules: Sequence[Rule], exchange: DialogueTurn, decisions: Sequence[JudgedChoice]
    ) -> tuple[Rule, ...]:
        """Add a rule from the answer and remove the rule with the same condition."""
        self.usage.calls += 1
        failed = [each.situation for each in decisions if not each.right]
        about = {_feedback_question(each): each for each in map(merge_contrasts, self._dimensions(failed))}.get(
            exchange.question
        )
        rule = self._rule_from_answer(exchange, about, None)
        if rule is None:
            return tuple(rules)
        return (*(other for other in rules if other.condition != rule.condition), rule)

    def open_question(self, dialogue: Sequence[DialogueTurn], left: int) -> str | None:
        """Return the next prepared open question."""
        self.usage.calls += 1
        place = len(dialogue)
        return self._open_questions[place] if place < len(self._open_questions) else None

    def summarize(self, answers: Sequence[LabelledExample]) -> tuple[Rule, ...]:
        """Write one rule for each dimension of the examples: prefer correct values, avoid the others."""
        self.usage.calls += 1
        right = {each.situation.id: each.action for each in answers}
        rules = []
        for group in self._dimensions([each.situation for each in answers]):
            wanted = [each.values[right[each.example]] for each in group]
            others = [value for each in group for value in each.distinct_values]
            rules.append(make_rule(group[0].condition, wanted, [value for value in others if value not in wanted]))
        return tuple(rules)

    def aggregate(self, preferences: Sequence[str]) -> str:
        """Join the preferences without repetitions."""
        self.usage.calls += 1
        return "\n".join(dict.fromkeys(preferences))

    def induce(self, situation: Situation, chosen: int | None, right: int) -> str:
        """Return a typed rule that prefers the correct value and avoids the chosen one."""
        self.usage.calls += 1
        contrast = self._ranker.contrasts(situation)[0]
        avoided = () if chosen is None else (contrast.values[chosen],)
        return make_rule(contrast.condition, [contrast.values[right]], avoided).text

    def rationalize(self, example: LabelledExample) -> str:
        """Return a typed rule in place of a rationale. Counts as the two calls that a model would take."""
        self.usage.calls += 2
        contrast = self._ranker.contrasts(example.situation)[0]
        right = contrast.values[example.action]
        return make_rule(contrast.condition, [right], [each for each in contrast.distinct_values if each != right]).text

    def _choose_one(self, situation: Situation, guidance: Guidance, rules: Sequence[Rule]) -> ActionChoice:
        ranker = self._ranker
        scores: Scores = REQUEST_WEIGHT * ranker.score_by_request(situation, self._query(situation, guidance))
        scores = scores + ranker.score_by_rules(situation, rules)
        scores = scores + ranker.score_by_examples(situation, guidance.answers)
        scores = scores + ranker.score_by_transcript(situation, guidance.transcript)
        best = int(scores.argmax())
        ordered = np.sort(scores)
        confidence = 1 + min(9, int(20 * float(ordered[-1] - ordered[-2])))
        rule = ranker.deciding_rule(situation, rules)
        return ActionChoice(best, rule.text if rule else "closest to the request", confidence)

    def _query(self, situation: Situation, guidance: Guidance) -> str:
        """Return the request, extended by the most similar example if only unlabelled examples are given."""
        if not guidance.examples:
            return situation.request
        requests = [example.request for example in guidance.examples]
        nearest = int(cosine(self._embedder, [situation.request], requests)[0].argmax())
        return f"{situation.request} {' or '.join(guidance.examples[nearest].actions)}"

    def _dimensions(self, examples: Sequence[Situation]) -> list[list[Contrast]]:
        """Group contrasts about the same thing, largest group first."""
        groups: list[list[Contrast]] = []
        for contrast in (each for example in examples for each in self._ranker.contrasts(example)):
            close = [float(self._similarity(_contrast_text(contrast), _contrast_text(group[0]))) for group in groups]
            if close and max(close) >= _SAME:
                groups[int(np.argmax(close))].append(contrast)
            else:
                groups.append([contrast])
        return sorted(groups, key=lambda group: -len(group))

    def _is_settled(self, contrast: Contrast, dialogue: Sequence[DialogueTurn]) -> bool:
        return any(
            self._similarity(_contrast_text(contrast), said.question) >= _SETTLED
            and find_meant_options(self._embedder, said.answer, contrast.distinct_values)
            for said in dialogue
        )

    def _rule_from_answer(self, said: DialogueTurn, contrast: Contrast | None, turn: int | None) -> Rule | None:
        wanted, refused = self._wanted_and_refused(said.answer, () if contrast is None else contrast.distinct_values)
        if not wanted and not refused:
            return None
        if contrast is None:
            return make_rule(said.question.rstrip("?"), wanted, refused, source=turn)
        preferred, named = self._match_values(contrast, wanted, refused)
        unnamed = [value for value in contrast.distinct_values if value not in named] if named else []
        return make_rule(_rule_condition(contrast), preferred, [*refused, *unnamed], source=turn)

    def _match_values(
        self, contrast: Contrast, wanted: Sequence[str], refused: Sequence[str]
    ) -> tuple[list[str], set[str]]:
        """Return what is wanted, preceded by the value that a single phrase means, and the meant values."""
        named = {value for phrase in wanted for value in contrast.distinct_values if _names_value(phrase, value)}
        if not named and len(wanted) == 1:
            fit = self._ranker.score_values(wanted, refused, contrast.distinct_values)
            order = np.argsort(-fit, kind="stable")
            if len(order) > 1 and fit[order[0]] - fit[order[1]] >= _CLEARLY:
                value = contrast.distinct_values[int(order[0])]
                return [value, *wanted], {value}
        return list(wanted), named

    def _wanted_and_refused(self, answer: str, named: Sequence[str] = ()) -> tuple[list[str], list[str]]:
        """Return the phrases that an answer wants, best first, and those it refuses. Both are empty without a wish."""
        mentioned = set(content_words(answer)) & set(content_words(" ".join(named)))
        if not mentioned and expresses_no_wish(self._embedder, answer):
            return [], []
        wanted, refused = split_wanted_refused(self._embedder, answer, " ".join(named))
        return _split_phrases(wanted), _split_phrases(refused)

    def _similarity(self, one: str, other: str) -> float:
        return float(cosine(self._embedder, [one], [other])[0, 0])


def _split_phrases(text: str) -> list[str]:
    phrases = []
    for part in _JOINT.split(text):
        words = part.split()
        while words and words[0] in _EDGES:
            del words[0]
        while words and words[-1] in _EDGES:
            del words[-1]
        if words:
            phrases.append(" ".join(words))
    return phrases


def _names_value(phrase: str, value: str) -> bool:
    said, there = set(content_words(phrase)), set(content_words(value))
    return said <= there or there <= said


def _contrast_text(contrast: Contrast) -> str:
    return f"{contrast.condition} {' or '.join(contrast.distinct_values)}"


def _contrast_question(contrast: Contrast) -> str:
    *most, last = contrast.distinct_values[:8]
    return f'About "{contrast.condition}": which do you like best, {", ".join(most)} or {last}, and what not?'


def _feedback_question(contrast: Contrast) -> str:
    return f'About "{contrast.condition}": what do you like best there, and what not?'


def _rule_condition(contrast: Contrast) -> str:
    return make_rule(contrast.condition, ["-"]).condition


def open_questions_file(data: str) -> Path:
    """Return the file of GATE's questions about a data set: its own, or the one about food and the kitchen."""
    own = OPEN_QUESTIONS.with_stem(f"{OPEN_QUESTIONS.stem}_{data}")
    return own if own.is_file() else OPEN_QUESTIONS


def _load_open_questions(path: Path) -> tuple[str, ...]:
    try:
        return tuple(str(question) for question in read_yaml(path)["questions"])
    except (KeyError, TypeError) as error:
        raise DataError(f"{path}: the file must have a list named questions ({error})") from error
