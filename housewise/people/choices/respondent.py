"""A simulated respondent for single decisions, which works offline and without a language model.

Sentence embeddings find the topic of its profile that a question is about. The respondent sees the question only, never
a scenario. Its profile has other words than the rules that scoring uses, and its phrasings are held out from training.
Source: CLIPR, appendix D.7 (where a large language model plays the person).
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

from housewise.core.validation import read_model
from housewise.language.embedder import Embedder, cosine
from housewise.language.words import content_words
from housewise.people.choices.profiles import Profile, ProfileTopic
from housewise.people.respondent import Answer, Question
from housewise.people.speech import SPEECH_FILE, Speech
from housewise.worlds.choices.scenario import random_from_text

_ASKS_FOR_DISLIKES = re.compile(r"\b(?:not|least|dislike|avoid)\b")
_MIN_SIMILARITY = 0.33
"""Least mean of two cosines for a question to be about a topic."""
_NAMED_BONUS = 0.1
"""Bonus for a topic if the question names something that is liked there."""
_SECOND_TOPIC_MARGIN = 0.01
"""A second topic is answered too if its score is lower by at most this."""


def respondent_name(profile: Profile, adversarial: bool) -> str:
    """Return the name of a cooperative or adversarial respondent with a profile."""
    return f"{profile.name}{' (adversarial)' if adversarial else ''}"


@dataclass
class ChoicesRespondent:
    """A ``Respondent`` that answers from a profile.

    A cooperative respondent speaks of the topic of the question, and is indifferent about everything else. An
    adversarial one says the opposite of what it likes, changes from turn to turn, is sometimes vague, and never says
    what it likes.

    Args:
        profile: What the person thinks.
        embedder: Sentence embeddings.
        seed: Seed of the phrasings.
        adversarial: Whether the person misleads.
        speech: YAML file of phrasings. Those of ``UNSEEN_SPEECH_FILE`` are held out.
    """

    profile: Profile
    embedder: Embedder
    seed: int = 0
    adversarial: bool = False
    speech: Path = SPEECH_FILE

    def __post_init__(self) -> None:
        self.name = respondent_name(self.profile, self.adversarial)
        self._speech = read_model(self.speech, Speech)
        self._turn = 0

    def answer(self, question: Question) -> Answer:
        """Answer in one or two sentences, without choosing an option."""
        return Answer(self._reply(question.text))

    def _reply(self, question: str) -> str:
        self._turn += 1
        generator = random_from_text(f"{self.seed}\0{self._turn}\0{question}")
        topics = [topic.adapt_to_question(question) for topic in self._find_topics(question)]
        refusing = bool(_ASKS_FOR_DISLIKES.search(question))
        if self.adversarial:
            return self._mislead(topics, generator, refusing)
        if not topics:
            return generator.choice(self._speech.indifferent)
        return " ".join(self._speech.sentence(topic.likes, topic.dislikes, generator, refusing) for topic in topics)

    def _find_topics(self, question: str) -> list[ProfileTopic]:
        """Return at most two topics, the most similar first."""
        topics = self.profile.topics
        by_subject = cosine(self.embedder, [question], [about for topic in topics for about in topic.about])[0]
        items = [", ".join((*topic.likes, *topic.dislikes)) for topic in topics]
        by_items = cosine(self.embedder, [question], items)[0]
        words = set(content_words(question))
        scores, start = [], 0
        for topic, similarity in zip(topics, by_items, strict=True):
            named = any(set(content_words(like)) <= words for like in topic.likes)
            subject = float(by_subject[start : start + len(topic.about)].max())
            scores.append((subject + float(similarity)) / 2 + _NAMED_BONUS * named)
            start += len(topic.about)
        best = sorted(range(len(topics)), key=lambda number: -scores[number])[:2]
        least = max(_MIN_SIMILARITY, scores[best[0]] - _SECOND_TOPIC_MARGIN)
        return [topics[number] for number in best if scores[number] >= least]

    def _mislead(self, topics: list[ProfileTopic], generator: random.Random, refusing: bool) -> str:
        if not topics or generator.random() < 0.2:
            return generator.choice(self._speech.vague)
        topic = topics[0]
        liked = list(topic.dislikes)
        generator.shuffle(liked)
        return self._speech.sentence(liked, topic.likes, generator, refusing)
