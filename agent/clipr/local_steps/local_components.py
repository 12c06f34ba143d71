"""Every language step without a language model: contrasts of options, MiniLM, typed rules.

Ours and not the paper's, and called "local components" wherever their results stand. A step counts as one call where a
chat model would take one, and takes no tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from housewise.agent.clipr.language_steps import Choice, Dimension, Exchange, Guidance, Inquiry, Judged, Labelled, Usage
from housewise.agent.clipr.local_steps.action_ranking import Ranker, Scores, Weights
from housewise.agent.clipr.local_steps.answer_meaning import meant, parts, says_nothing
from housewise.agent.clipr.local_steps.contrasts import Contrast, merged
from housewise.agent.clipr.rules import Rule, read_rule, typed_rule
from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError
from housewise.core.yaml_files import read_yaml
from housewise.language.embedder import Embedder, cosine
from housewise.language.words import STOP_WORDS, content_words
from housewise.worlds.choices.scenario import Situation

OPEN_QUESTIONS = CONFIGS / "clipr" / "open_questions.yaml"

_SAME = 0.75
"""Cosine from which two contrasts are one dimension."""
_SETTLED = 0.7
"""Cosine between an exchange and a contrast from which it settles the contrast, if its answer means a value."""
_CLEARLY = 0.03
"""How much better a value has to fit what is wanted than the next one to be what is meant."""
_ENOUGH = 0.95
"""Accuracy of a batch from which the critic does not look further."""
_JOINT = re.compile(
    r"[.;:!?,]|\b(?:then|after that|afterwards|followed by|failing that|otherwise|or else|before|or|but|and then)\b"
)
_FILLERS = """first second last order best favourite favorite mostly ideally happy happier happiest thank thanks day oh
    well any all most only there least love enjoy fond fan friend really honestly maybe perhaps guess think thing things
    something anything one ones i'd i'm it's that's don't no not never without except avoid hate dislike skip over than
    instead rather go going if can"""
_EDGES = STOP_WORDS | frozenset(_FILLERS.split())
"""Words without meaning of their own at the beginning or end of what somebody says they want."""


class LocalComponents:
    """The language steps of CLIPR and its baselines by components of ours.

    Args:
        embedder: compares meanings.
        weights: how the ranker weighs.
        open_questions: questions for GATE, one topic after the other.
    """

    def __init__(
        self, embedder: Embedder, weights: Weights | None = None, open_questions: Path = OPEN_QUESTIONS
    ) -> None:
        self.name = "local components"
        self.usage = Usage()
        self._embedder = embedder
        self._ranker = Ranker(embedder, weights or Weights())
        self._open_questions = _questions(open_questions)

    def inquire(self, examples: Sequence[Situation], dialogue: Sequence[Exchange], left: int) -> Inquiry:
        """Asks of the open dimension that most examples differ in; enough is known when none is open."""
        self.usage.calls += 1
        asked = {said.question for said in dialogue}
        opened = [
            (merged(group), group)
            for group in self._dimensions(examples)
            if _question(merged(group)) not in asked and not all(self._settled(each, dialogue) for each in group)
        ]
        dimensions = tuple(
            Dimension(whole.condition, whole.different, tuple(each.example for each in group))
            for whole, group in opened
        )
        return Inquiry(dimensions, _question(opened[0][0]) if opened else None)

    def synthesize(self, examples: Sequence[Situation], dialogue: Sequence[Exchange]) -> tuple[Rule, ...]:
        """One typed rule for each answer that is understood; what is wanted is told in words of the examples too."""
        self.usage.calls += 1
        known = {_question(merged(group)): merged(group) for group in self._dimensions(examples)}
        rules = []
        for turn, said in enumerate(dialogue, 1):
            rule = self._rule(said, known.get(said.question), turn)
            if rule is not None:
                rules.append(rule)
        return tuple(rules)

    def choose(self, situations: Sequence[Situation], guidance: Guidance) -> list[Choice]:
        """The action with the highest score; equal ones by their order."""
        self.usage.calls += 1
        notes = [line for note in guidance.notes for line in note.splitlines() if line.strip()]
        rules = [*guidance.rules, *map(read_rule, notes)]
        return [self._choice(situation, guidance, rules) for situation in situations]

    def investigate(self, correct: int, total: int) -> bool:
        """Whether less than nearly everything was right."""
        self.usage.calls += 1
        return correct < _ENOUGH * total

    def feedback_question(self, rules: Sequence[Rule], decisions: Sequence[Judged]) -> str | None:
        """Asks for what most of the failures are about, if no rule of the same condition has it."""
        self.usage.calls += 1
        ruled = {rule.condition for rule in rules}
        failed = [each.situation for each in decisions if not each.right]
        opened = [whole for whole in map(merged, self._dimensions(failed)) if _when(whole) not in ruled]
        return _feedback(opened[0]) if opened else None

    def should_update(self, rules: Sequence[Rule], exchange: Exchange) -> bool:
        """Whether the answer says what is wanted or not."""
        self.usage.calls += 1
        wanted, refused = self._phrases(exchange.answer)
        return bool(wanted or refused)

    def update(self, rules: Sequence[Rule], exchange: Exchange, decisions: Sequence[Judged]) -> tuple[Rule, ...]:
        """The rules with a new one, which takes the place of a rule of the same condition."""
        self.usage.calls += 1
        failed = [each.situation for each in decisions if not each.right]
        about = {_feedback(each): each for each in map(merged, self._dimensions(failed))}.get(exchange.question)
        rule = self._rule(exchange, about, None)
        if rule is None:
            return tuple(rules)
        return (*(other for other in rules if other.condition != rule.condition), rule)

    def open_question(self, dialogue: Sequence[Exchange], left: int) -> str | None:
        """The next of the prepared open questions."""
        self.usage.calls += 1
        place = len(dialogue)
        return self._open_questions[place] if place < len(self._open_questions) else None

    def summarize(self, answers: Sequence[Labelled]) -> tuple[Rule, ...]:
        """One rule for each dimension of the examples: what was right rather than what was not."""
        self.usage.calls += 1
        right = {each.situation.id: each.action for each in answers}
        rules = []
        for group in self._dimensions([each.situation for each in answers]):
            wanted = [each.values[right[each.example]] for each in group]
            others = [value for each in group for value in each.different]
            rules.append(typed_rule(group[0].condition, wanted, [value for value in others if value not in wanted]))
        return tuple(rules)

    def aggregate(self, preferences: Sequence[str]) -> str:
        """The preferences one after the other, repeats left out."""
        self.usage.calls += 1
        return "\n".join(dict.fromkeys(preferences))

    def induce(self, situation: Situation, chosen: int | None, right: int) -> str:
        """A typed rule: what was right rather than what was chosen."""
        self.usage.calls += 1
        contrast = self._ranker.contrasts(situation)[0]
        avoided = () if chosen is None else (contrast.values[chosen],)
        return typed_rule(contrast.condition, [contrast.values[right]], avoided).text

    def rationalize(self, example: Labelled) -> str:
        """A typed rule in place of a rationale; counts as the two calls that a model takes."""
        self.usage.calls += 2
        contrast = self._ranker.contrasts(example.situation)[0]
        right = contrast.values[example.action]
        return typed_rule(contrast.condition, [right], [each for each in contrast.different if each != right]).text

    def _choice(self, situation: Situation, guidance: Guidance, rules: Sequence[Rule]) -> Choice:
        ranker = self._ranker
        scores: Scores = ranker.weights.request * ranker.by_request(situation, self._query(situation, guidance))
        scores = scores + ranker.by_rules(situation, rules)
        scores = scores + ranker.by_answers(situation, guidance.answers)
        scores = scores + ranker.by_transcript(situation, guidance.transcript)
        best = int(scores.argmax())
        ordered = np.sort(scores)
        confidence = 1 + min(9, int(20 * float(ordered[-1] - ordered[-2])))
        rule = ranker.deciding_rule(situation, rules)
        return Choice(best, rule.text if rule else "closest to the request", confidence)

    def _query(self, situation: Situation, guidance: Guidance) -> str:
        """The request, behind the most similar example where examples without answers are all that there is."""
        if not guidance.examples:
            return situation.request
        requests = [example.request for example in guidance.examples]
        nearest = int(cosine(self._embedder, [situation.request], requests)[0].argmax())
        return f"{situation.request} {' or '.join(guidance.examples[nearest].actions)}"

    def _dimensions(self, examples: Sequence[Situation]) -> list[list[Contrast]]:
        """Contrasts that are about the same, those that most examples have first."""
        groups: list[list[Contrast]] = []
        for contrast in (each for example in examples for each in self._ranker.contrasts(example)):
            close = [float(self._near(_text(contrast), _text(group[0]))) for group in groups]
            if close and max(close) >= _SAME:
                groups[int(np.argmax(close))].append(contrast)
            else:
                groups.append([contrast])
        return sorted(groups, key=lambda group: -len(group))

    def _settled(self, contrast: Contrast, dialogue: Sequence[Exchange]) -> bool:
        return any(
            self._near(_text(contrast), said.question) >= _SETTLED
            and meant(self._embedder, said.answer, contrast.different).options
            for said in dialogue
        )

    def _rule(self, said: Exchange, contrast: Contrast | None, turn: int | None) -> Rule | None:
        wanted, refused = self._phrases(said.answer, () if contrast is None else contrast.different)
        if not wanted and not refused:
            return None
        if contrast is None:
            return typed_rule(said.question.rstrip("?"), wanted, refused, source=turn)
        preferred, named = self._in_words_of(contrast, wanted, refused)
        unnamed = [value for value in contrast.different if value not in named] if named else []
        return typed_rule(_when(contrast), preferred, [*refused, *unnamed], source=turn)

    def _in_words_of(
        self, contrast: Contrast, wanted: Sequence[str], refused: Sequence[str]
    ) -> tuple[list[str], set[str]]:
        """What is wanted, a single phrase behind the value that it means, and the values that are meant."""
        named = {value for phrase in wanted for value in contrast.different if _says(phrase, value)}
        if not named and len(wanted) == 1:
            fit = self._ranker.fit(wanted, refused, contrast.different)
            order = np.argsort(-fit)
            if len(order) > 1 and fit[order[0]] - fit[order[1]] >= _CLEARLY:
                value = contrast.different[int(order[0])]
                return [value, *wanted], {value}
        return list(wanted), named

    def _phrases(self, answer: str, named: Sequence[str] = ()) -> tuple[list[str], list[str]]:
        """What an answer, to what names some values, wants, best first, and refuses; nothing where it does not mind."""
        mentioned = set(content_words(answer)) & set(content_words(" ".join(named)))
        if not mentioned and says_nothing(self._embedder, answer):
            return [], []
        wanted, refused = parts(self._embedder, answer, " ".join(named))
        return _split(wanted), _split(refused)

    def _near(self, one: str, other: str) -> float:
        return float(cosine(self._embedder, [one], [other])[0, 0])


def _split(text: str) -> list[str]:
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


def _says(phrase: str, value: str) -> bool:
    said, there = set(content_words(phrase)), set(content_words(value))
    return said <= there or there <= said


def _text(contrast: Contrast) -> str:
    return f"{contrast.condition} {' or '.join(contrast.different)}"


def _question(contrast: Contrast) -> str:
    *most, last = contrast.different[:8]
    return f'About "{contrast.condition}": which do you like best, {", ".join(most)} or {last}, and what not?'


def _feedback(contrast: Contrast) -> str:
    return f'About "{contrast.condition}": what do you like best there, and what not?'


def _when(contrast: Contrast) -> str:
    return typed_rule(contrast.condition, ["-"]).condition


def _questions(path: Path) -> tuple[str, ...]:
    try:
        return tuple(str(question) for question in read_yaml(path)["questions"])
    except (KeyError, TypeError) as error:
        raise DataError(f"{path}: give a list of questions under questions ({error})") from error
