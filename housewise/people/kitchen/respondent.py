"""A person of the kitchen who answers without a language model: by meaning, from the wishes in their file.

A question is compared with everything that can be asked (``people.topics``). Where what comes closest is about one of
the person's wishes, they say it in the words of their file; else they are flexible.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from housewise.language.embedder import Embedder
from housewise.language.words import one_line
from housewise.people.kitchen.conditions import Predicate
from housewise.people.kitchen.consistency import TooManyCases, expand_cases
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profile_files import KitchenProfile, KitchenPreference
from housewise.people.kitchen.question_topics import QuestionTopic, topic_of_preference, default_topics
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
"""How people say these where they paraphrase; which of several depends on the question alone."""
LONGEST = 1000  # characters of a question that are heard
MOST_TOLD = 3  # wishes in one answer

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
    """When a question is about a wish; chosen by cross-validation (``experiments.adapt.answers --choose``).

    Attributes:
        least: nearness to a question about the wish from which it may be meant.
        slack: by how much a question that no wish is about may come closer all the same.
        close: wishes told together differ by no more.
        named: how much closer a topic is where the question has one of its words.
    """

    least: float = 0.55
    slack: float = 0.05
    close: float = 0.1
    named: float = 0.3


THRESHOLDS = AnswerThresholds()


@dataclass(frozen=True)
class QuestionMatch:
    """What a question is about.

    Attributes:
        wishes: the one that is most likely meant first; () for none.
        places: whether it asks where something is.
    """

    preferences: tuple[KitchenPreference, ...] = ()
    asks_for_location: bool = False


class KitchenRespondent:
    """Answers about one breakfast, the same whenever the same is asked; see people.base.Person.

    Args:
        person: whose wishes.
        judge: of the task.
        start: how the scene is found; everything counts as there without it.
        embedder: compares meanings.
        paraphrasing: whether they answer in other words than those of their file.
    """

    def __init__(
        self,
        person: KitchenProfile,
        judge: PreferenceJudge,
        start: Trace | None,
        embedder: Embedder,
        paraphrasing: bool = False,
    ) -> None:
        self.name = person.name
        self._judge, self._start, self._embedder = judge, start, embedder
        self._paraphrasing = paraphrasing
        self._wishes = [wish for wish in person.preferences if judge.task in wish.tasks]
        self._asked = [
            (topic, question, [wish for wish in self._wishes if topic.is_answered_by(wish, dish)])
            for topic in default_topics()
            for question, dish in topic.questions_about(judge.dishes)
        ]
        known = {wish.id for *_, about in self._asked for wish in about}
        # What no topic is about is asked about in its own words.
        for wish in self._wishes:
            if wish.id not in known:
                topic = topic_of_preference(wish, judge.dishes)
                self._asked += [(topic, question, [wish]) for question in topic.questions]

    def answer(self, question: Question) -> Answer:
        """The wishes that the question is about, in the words of the person's file; or that they are flexible."""
        found = self.match_question(question.text)
        if found.asks_for_location:
            return Answer(self._worded(NO_LOCATION_ANSWER, question.text))
        if not found.preferences:
            return Answer(self._worded(FLEXIBLE_ANSWER, question.text))
        return Answer(" ".join(self._told(wish, question.text) for wish in found.preferences))

    def match_question(self, question: str, thresholds: AnswerThresholds = THRESHOLDS) -> QuestionMatch:
        """What is asked.

        Args:
            question: in anybody's words.
            thresholds: when it is about a wish.
        """
        heard = one_line(question[:LONGEST])
        if asks_for_location(heard):
            return QuestionMatch(asks_for_location=True)
        if not heard or not self._wishes:
            return QuestionMatch()
        vector = self._embedder.embed([heard])[0]
        named = {name for name, topic in self._topics.items() if topic.is_named_in(heard)}
        nearness = self._vectors @ vector + [thresholds.named * (topic.name in named) for topic, _, _ in self._asked]
        return QuestionMatch(self._meant(nearness.tolist(), (self._wish_vectors @ vector).tolist(), thresholds))

    @cached_property
    def _topics(self) -> Mapping[str, QuestionTopic]:
        return {topic.name: topic for topic, *_ in self._asked}

    @cached_property
    def _vectors(self) -> np.ndarray:
        """Of all that can be asked."""
        return self._embedder.embed([question for _, question, _ in self._asked])

    @cached_property
    def _wish_vectors(self) -> np.ndarray:
        return self._embedder.embed([wish.text for wish in self._wishes])

    def _meant(self, nearness: list[float], by_text: list[float], thresholds: AnswerThresholds) -> tuple[KitchenPreference, ...]:
        """The wishes that are meant.

        Args:
            nearness: cosine of the question to each that can be asked, more where it has its words.
            by_text: cosine of the question to each wish.
            thresholds: when one is meant.
        """
        ids = [wish.id for wish in self._wishes]
        topical = dict.fromkeys(ids, -1.0)
        other = -1.0
        for cosine, about in zip(nearness, (about for *_, about in self._asked), strict=True):
            for wish in about:
                topical[wish.id] = max(topical[wish.id], cosine)
            other = other if about else max(other, cosine)
        scores = np.array([topical[id] + text for id, text in zip(ids, by_text, strict=True)])
        best = int(scores.argmax())
        if topical[ids[best]] < max(thresholds.least, other - thresholds.slack):
            return ()
        order = [int(place) for place in np.argsort(-scores, kind="stable")]
        near = [place for place in order if scores[place] >= scores[best] - thresholds.close]
        return tuple(self._wishes[place] for place in near[:MOST_TOLD])

    def _told(self, wish: KitchenPreference, question: str) -> str:
        text = (self._paraphrasing and wish.paraphrase) or wish.text
        return text if self._may_apply(wish) else f"{text} {self._worded(UNAVAILABLE_REMARK, question)}"

    def _worded(self, said: str, question: str) -> str:
        return random.Random(question).choice(PARAPHRASES[said]) if self._paraphrasing else said

    def _may_apply(self, wish: KitchenPreference) -> bool:
        """Whether what the wish depends on can hold in this scene."""
        if wish.condition is None or self._start is None:
            return True
        start = self._start

        def decide(predicate: Predicate) -> bool | None:
            return self._judge.holds(predicate, start) if predicate.name in ("available", "task_says") else None

        try:
            return bool(expand_cases(wish.condition, decide))
        except TooManyCases:
            return True


def asks_for_location(question: str) -> bool:
    """Whether a question asks where something is, or whether it is there; not where to eat."""
    where = _WHERE.search(question) and _PLACES.search(question)
    return bool(_STORED.search(question) or ((where or _WHETHER.search(question)) and not _DINING.search(question)))
