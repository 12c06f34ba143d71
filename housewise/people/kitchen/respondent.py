"""A respondent of the kitchen without a language model: matches questions with preferences by meaning.

A question is compared with all known questions (``question_topics.py``). If the most similar ones are about preferences
of the person, the answer is the text of these preferences. Otherwise the person is flexible.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from housewise.language.embedder import Embedder
from housewise.language.words import one_line
from housewise.people.kitchen.conditions import Predicate
from housewise.people.kitchen.consistency import TooManyCases, expand_cases
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profiles import KitchenPreference, KitchenProfile
from housewise.people.kitchen.question_topics import QuestionTopic, default_topics, topic_of_preference
from housewise.people.respondent import Answer, Question
from housewise.worlds.kitchen.trace import Trace

FLEXIBLE_ANSWER = "I am flexible about that."
NO_LOCATION_ANSWER = "I will not tell you where things are; please look around."
UNAVAILABLE_REMARK = "That is, when there is what it takes; today there is not."
PARAPHRASES = {
    FLEXIBLE_ANSWER: (
        "Oh, I really don't mind.",
        "Up to you, either way is fine.",
        "No strong feelings there.",
        "Surprise me!",
    ),
    NO_LOCATION_ANSWER: ("You'll have to have a look around for that.", "No idea where that is, go and see."),
    UNAVAILABLE_REMARK: ("But I think we've run out.",),
}
"""Other wordings of the fixed answers. The question alone decides which of several is used."""
MAX_QUESTION_CHARACTERS = 1000
"""Characters of a question that are considered."""
MAX_ANSWERED_PREFERENCES = 3

_PLACES = re.compile(
    r"\b(where|which|what|in which|in what)\b.{0,40}"
    r"\b(is|are|find|kept?|keep|stor(e|ed)|put|have|has|hidden|located|leave|left|drawer|shelf|cupboard|cabinet)\b",
    re.IGNORECASE,
)
_WHERE = re.compile(r"\b(where|drawers?|shelf|shelves|cupboards?|cabinets?)\b", re.IGNORECASE)
_STORED = re.compile(
    r"\blocation of\b|\bwhere can (i|we) get\b"
    r"|\bwhere('s| is| are) the\b(?! (best|table|place|spot|meal|food|breakfast))"
    r"|\bwhere\b.{0,40}\b(find|keep|kept|stor(e|ed)|located|hidden)\b",
    re.IGNORECASE,
)
_WHETHER = re.compile(
    r"^((is|are)|(do|have) (you|we))\b.{0,40}\b(left|at home|in the (fridge|freezer|house|kitchen|pantry))\b"
    r"|\bhave (you|we) got any\b(?! (preference|wish|favou?rite|idea|request))"
    r"|\bhow (many|much)\b.{0,30}\b(are there|is there|do (you|we) have)\b",
    re.IGNORECASE,
)
_DINING = re.compile(
    r"\b(eat\w*|serv\w*|s(i|ea)t\w*|din(e|ing)|breakfast|hav(e it|ing)|bring\w*|carry|take (it|this)|lay|enjoy\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class AnswerThresholds:
    """Cosine thresholds of the matching. Cross-validation on the development questions chose the defaults.

    Attributes:
        min_similarity: Least similarity to a question about a preference for it to be meant.
        no_topic_margin: How much more similar a question about no preference may be.
        together_margin: Greatest difference between the scores of preferences that are answered together.
        name_bonus: Bonus for a topic that the question names.
    """

    min_similarity: float = 0.55
    no_topic_margin: float = 0.05
    together_margin: float = 0.1
    name_bonus: float = 0.3


DEFAULT_THRESHOLDS = AnswerThresholds()


@dataclass(frozen=True)
class QuestionMatch:
    """What a question is about.

    Attributes:
        preferences: The matching preferences, best match first; empty if there is none.
        asks_for_location: Whether the question asks where something is.
    """

    preferences: tuple[KitchenPreference, ...] = ()
    asks_for_location: bool = False


class KitchenRespondent:
    """A ``Respondent`` for one breakfast. Equal questions get equal answers.

    Args:
        profile: The person, whose preferences are the answers.
        judge: The judge of the task.
        start: A trace at the start of the episode, which shows what is available. Without it everything is.
        embedder: Sentence embeddings.
        paraphrasing: Whether to answer with paraphrases instead of the texts of the profile.
    """

    def __init__(
        self,
        profile: KitchenProfile,
        judge: PreferenceJudge,
        start: Trace | None,
        embedder: Embedder,
        paraphrasing: bool = False,
    ) -> None:
        self.name = profile.name
        self._judge, self._start, self._embedder = judge, start, embedder
        self._paraphrasing = paraphrasing
        self._preferences = [preference for preference in profile.preferences if judge.task in preference.tasks]
        self._known = [
            (topic, question, [each for each in self._preferences if topic.is_answered_by(each, dish)])
            for topic in default_topics()
            for question, dish in topic.questions_about(judge.dishes)
        ]
        covered = {preference.id for *_, about in self._known for preference in about}
        # A preference without a topic is matched by its own words.
        for preference in self._preferences:
            if preference.id not in covered:
                topic = topic_of_preference(preference, judge.dishes)
                self._known += [(topic, question, [preference]) for question in topic.questions]

    def answer(self, question: Question) -> Answer:
        """Answer with the preferences that the question is about, or say that the person is flexible."""
        match = self.match_question(question.text)
        if match.asks_for_location:
            return Answer(self._fixed_answer(NO_LOCATION_ANSWER, question.text))
        if not match.preferences:
            return Answer(self._fixed_answer(FLEXIBLE_ANSWER, question.text))
        return Answer(" ".join(self._tell(preference, question.text) for preference in match.preferences))

    def match_question(self, question: str, thresholds: AnswerThresholds = DEFAULT_THRESHOLDS) -> QuestionMatch:
        """Find the preferences that a question in free words is about."""
        text = one_line(question[:MAX_QUESTION_CHARACTERS])
        if asks_for_location(text):
            return QuestionMatch(asks_for_location=True)
        if not text or not self._preferences:
            return QuestionMatch()
        vector = self._embedder.embed([text])[0]
        named = {topic.name for topic in self._topics if topic.is_named_in(text)}
        similarities = self._vectors @ vector + [
            thresholds.name_bonus * (topic.name in named) for topic, *_ in self._known
        ]
        text_similarities = self._preference_vectors @ vector
        return QuestionMatch(self._best_matches(similarities.tolist(), text_similarities.tolist(), thresholds))

    @cached_property
    def _topics(self) -> frozenset[QuestionTopic]:
        return frozenset(topic for topic, *_ in self._known)

    @cached_property
    def _vectors(self) -> np.ndarray:
        return self._embedder.embed([question for _, question, _ in self._known])

    @cached_property
    def _preference_vectors(self) -> np.ndarray:
        return self._embedder.embed([preference.text for preference in self._preferences])

    def _best_matches(
        self, similarities: list[float], text_similarities: list[float], thresholds: AnswerThresholds
    ) -> tuple[KitchenPreference, ...]:
        """Return the preferences that are meant.

        Args:
            similarities: Similarity of the question to each known question: cosine, plus the bonus for named topics.
            text_similarities: Cosine of the question with the text of each preference.
            thresholds: When a preference is meant.
        """
        ids = [preference.id for preference in self._preferences]
        topical = dict.fromkeys(ids, -1.0)
        other = -1.0
        for similarity, (*_, about) in zip(similarities, self._known, strict=True):
            for preference in about:
                topical[preference.id] = max(topical[preference.id], similarity)
            other = other if about else max(other, similarity)
        scores = np.array([topical[id] + text for id, text in zip(ids, text_similarities, strict=True)])
        best = int(scores.argmax())
        if topical[ids[best]] < max(thresholds.min_similarity, other - thresholds.no_topic_margin):
            return ()
        order = [int(index) for index in np.argsort(-scores, kind="stable")]
        close = [index for index in order if scores[index] >= scores[best] - thresholds.together_margin]
        return tuple(self._preferences[index] for index in close[:MAX_ANSWERED_PREFERENCES])

    def _tell(self, preference: KitchenPreference, question: str) -> str:
        text = (self._paraphrasing and preference.paraphrase) or preference.text
        return text if self._may_apply(preference) else f"{text} {self._fixed_answer(UNAVAILABLE_REMARK, question)}"

    def _fixed_answer(self, text: str, question: str) -> str:
        return random.Random(question).choice(PARAPHRASES[text]) if self._paraphrasing else text

    def _may_apply(self, preference: KitchenPreference) -> bool:
        """Whether the condition of a preference can become true in this scene."""
        if preference.condition is None or self._start is None:
            return True
        start = self._start

        def decide(predicate: Predicate) -> bool | None:
            return self._judge.holds(predicate, start) if predicate.name in ("available", "task_says") else None

        try:
            return bool(expand_cases(preference.condition, decide))
        except TooManyCases:
            return True


def asks_for_location(question: str) -> bool:
    """Whether a question asks where something is or whether it is there, and not where to eat."""
    where = _WHERE.search(question) and _PLACES.search(question)
    return bool(_STORED.search(question) or ((where or _WHETHER.search(question)) and not _DINING.search(question)))
