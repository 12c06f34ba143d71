"""Simulated people who answer questions about their preferences, offline and by meaning.

A profile is a list of topics with what is liked and disliked in its own words. It is neither the rules that scoring
uses nor do questions reach it by name: MiniLM finds the topic that a question is about. The person sees the question
alone, never a scenario. What it says is put together from phrases and ways of speaking that no learner has seen.
Source: CLIPR, appendix D.7 (there a large language model plays the person).
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated

from pydantic import Field

from housewise.core.configs import CONFIGS
from housewise.language.embedder import Embedder, cosine
from housewise.language.words import content_words
from housewise.people.respondent import Answer, Question
from housewise.worlds.choices.files import StrictSettings, read_yaml_settings

PROFILES_FOLDER = CONFIGS / "clipr" / "profiles"
SPEECH_FILE = CONFIGS / "clipr" / "speech.yaml"
UNSEEN_SPEECH_FILE = SPEECH_FILE.with_name("speech_unseen.yaml")

_REFUSED = re.compile(r"\b(?:not|least|dislike|avoid)\b")
"""Of a question that asks for what is disliked as well."""
_NEAR = 0.33
"""Mean of two cosines from which a question is about a topic."""
_NAMED = 0.1
"""What it adds to that when the question names something that is liked there."""
_ALSO = 0.01
"""A second topic is spoken of where it is as close as this to the first."""


class NamedItem(StrictSettings):
    """Something that a question may name: how the person speaks of it, and what it is called, by its kind first."""

    phrase: str
    called: Annotated[tuple[str, ...], Field(min_length=1)]

    def match_names(self, words: set[str]) -> tuple[bool, ...]:
        """Which of its names are among the words of a question."""
        return tuple(set(content_words(name)) <= words for name in self.called)


class ProfileTopic(StrictSettings):
    """What a person thinks of one thing.

    Attributes:
        about: it, in some wordings.
        likes, dislikes: what they say of it, best first.
        liked, disliked: all that a question may name: what it does is spoken of first, and in place of ``dislikes``.
    """

    about: Annotated[tuple[str, ...], Field(min_length=1)]
    likes: Annotated[tuple[str, ...], Field(min_length=1)]
    dislikes: Annotated[tuple[str, ...], Field(min_length=1)]
    liked: tuple[NamedItem, ...] = ()
    disliked: tuple[NamedItem, ...] = ()

    def adapt_to_question(self, question: str) -> ProfileTopic:
        """The same for somebody who was asked this: as many likes, those that the question names before others."""
        words = set(content_words(question))
        likes, dislikes = (_heard(named, words) for named in (self.liked, self.disliked))
        said = tuple(dict.fromkeys((*likes, *self.likes)))[: len(self.likes)]
        return self.model_copy(update={"likes": said, "dislikes": dislikes or self.dislikes})


def _heard(named: Sequence[NamedItem], words: set[str]) -> tuple[str, ...]:
    """How the person speaks of what is named best: by all names, or, where nothing is, by its kind alone."""
    heard = {each.phrase: each.match_names(words) for each in named}
    wholly = tuple(phrase for phrase, names in heard.items() if all(names))
    return wholly or tuple(phrase for phrase, names in heard.items() if names[0])


class Profile(StrictSettings):
    """All that a person thinks."""

    name: str
    topics: Annotated[tuple[ProfileTopic, ...], Field(min_length=1)]


class Speech(StrictSettings):
    """Ways of speaking; ``{likes}`` and ``{dislikes}`` are filled in."""

    one: Annotated[tuple[str, ...], Field(min_length=1)]
    several: Annotated[tuple[str, ...], Field(min_length=1)]
    joints: Annotated[tuple[str, ...], Field(min_length=1)]
    indifferent: Annotated[tuple[str, ...], Field(min_length=1)]
    vague: Annotated[tuple[str, ...], Field(min_length=1)]

    def sentence(
        self, likes: Sequence[str], dislikes: Sequence[str], generator: random.Random, refusing: bool = False
    ) -> str:
        """What is liked, best first.

        Args:
            likes, dislikes: at least one liking.
            generator: draws the way of speaking.
            refusing: whether what is disliked was asked for as well; else it is said in some ways of speaking only.
        """
        frames = self.one if len(likes) == 1 else self.several
        if not dislikes:
            frames = tuple(frame for frame in frames if "{dislikes}" not in frame) or frames
        elif refusing:
            frames = tuple(frame for frame in frames if "{dislikes}" in frame) or frames
        liked = generator.choice(self.joints).join(likes)
        return generator.choice(frames).format(likes=liked, dislikes=generator.choice(dislikes) if dislikes else "")


def read_profile(name: str) -> Profile:
    """A profile that comes along, by its file's name.

    Raises:
        DataError: there is none, or it is wrong.
    """
    return read_yaml_settings(PROFILES_FOLDER / f"{name}.yaml", Profile)


def respondent_name(profile: Profile, adversarial: bool) -> str:
    """What a person is called who has a profile, or misleads about it."""
    return f"{profile.name}{' (adversarial)' if adversarial else ''}"


@dataclass
class ChoicesRespondent:
    """Answers from a profile; see Person.

    Cooperative: speaks of the topic that the question is about, says that it does not care about anything else, never
    invents. Adversarial: says the opposite of what it likes, changes from turn to turn, is now and then vague or
    confidently wrong, never says what it likes.

    Args:
        profile: what the person thinks.
        embedder: finds what a question is about.
        seed: of the ways of speaking.
        adversarial: whether the person misleads.
        speech: ways of speaking; those of ``speech_unseen.yaml`` were written after the local components, which were
            not changed for them.
    """

    profile: Profile
    embedder: Embedder
    seed: int = 0
    adversarial: bool = False
    speech: Path = SPEECH_FILE

    def __post_init__(self) -> None:
        self.name = respondent_name(self.profile, self.adversarial)
        self._speech = read_yaml_settings(self.speech, Speech)
        self._turn = 0

    def answer(self, question: Question) -> Answer:
        """One or two sentences, which name no option by number."""
        return Answer(self._said(question.text))

    def _said(self, question: str) -> str:
        self._turn += 1
        digest = sha256(f"{self.seed}\0{self._turn}\0{question}".encode()).digest()
        generator = random.Random(int.from_bytes(digest[:8], "big"))
        topics = [topic.adapt_to_question(question) for topic in self._topics(question)]
        both = bool(_REFUSED.search(question))
        if self.adversarial:
            return self._mislead(topics, generator, both)
        if not topics:
            return generator.choice(self._speech.indifferent)
        return " ".join(self._speech.sentence(topic.likes, topic.dislikes, generator, both) for topic in topics)

    def _topics(self, question: str) -> list[ProfileTopic]:
        """At most two, nearest first: by their subject and by what is liked and disliked there."""
        topics = self.profile.topics
        about = cosine(self.embedder, [question], [about for topic in topics for about in topic.about])[0]
        things = cosine(self.embedder, [question], [", ".join((*topic.likes, *topic.dislikes)) for topic in topics])[0]
        heard = set(content_words(question))
        scores, start = [], 0
        for topic, near in zip(topics, things, strict=True):
            named = any(set(content_words(like)) <= heard for like in topic.likes)
            scores.append((float(about[start : start + len(topic.about)].max()) + float(near)) / 2 + _NAMED * named)
            start += len(topic.about)
        order = sorted(range(len(topics)), key=lambda number: -scores[number])[:2]
        return [topics[number] for number in order if scores[number] >= max(_NEAR, scores[order[0]] - _ALSO)]

    def _mislead(self, topics: list[ProfileTopic], generator: random.Random, both: bool) -> str:
        if not topics or generator.random() < 0.2:
            return generator.choice(self._speech.vague)
        topic = topics[0]
        liked = list(topic.dislikes)
        generator.shuffle(liked)
        return self._speech.sentence(liked, topic.likes, generator, both)
