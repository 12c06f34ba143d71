"""Preference profiles for single decisions: topics with what a person likes and dislikes, in the person's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from housewise.core.configs import CONFIGS
from housewise.core.validation import StrictModel, read_model
from housewise.language.words import content_words

PROFILES_FOLDER = CONFIGS / "clipr" / "profiles"

_Texts = Annotated[tuple[str, ...], Field(min_length=1)]


class NamedItem(StrictModel):
    """Something that a question may name.

    Attributes:
        phrase: How the person speaks of it.
        called: Its names, its kind first.
    """

    phrase: str
    called: _Texts


class ProfileTopic(StrictModel):
    """What a person thinks about one subject.

    Attributes:
        about: The subject in several wordings.
        likes: What the person likes, best first.
        dislikes: What the person dislikes, worst first.
        liked: All liked things that a question may name. Named ones are mentioned first.
        disliked: All disliked things that a question may name. Named ones are mentioned instead of ``dislikes``.
    """

    about: _Texts
    likes: _Texts
    dislikes: _Texts
    liked: tuple[NamedItem, ...] = ()
    disliked: tuple[NamedItem, ...] = ()

    def adapt_to_question(self, question: str) -> ProfileTopic:
        """Return a copy in which the things that a question names come first. The number of likes does not change."""
        words = set(content_words(question))
        likes, dislikes = (_named_phrases(items, words) for items in (self.liked, self.disliked))
        likes = tuple(dict.fromkeys((*likes, *self.likes)))[: len(self.likes)]
        return self.model_copy(update={"likes": likes, "dislikes": dislikes or self.dislikes})


def _named_phrases(items: Sequence[NamedItem], words: set[str]) -> tuple[str, ...]:
    """Return the phrases of the items that a question names by all their names, or else by their kind alone."""
    matches = {item.phrase: [set(content_words(name)) <= words for name in item.called] for item in items}
    complete = tuple(phrase for phrase, names in matches.items() if all(names))
    return complete or tuple(phrase for phrase, names in matches.items() if names[0])


class Profile(StrictModel):
    """All topics about which a person has an opinion."""

    name: str
    topics: Annotated[tuple[ProfileTopic, ...], Field(min_length=1)]


def read_profile(name: str) -> Profile:
    """Read a bundled profile by the name of its file.

    Raises:
        DataError: There is no such profile, or it is invalid.
    """
    return read_model(PROFILES_FOLDER / f"{name}.yaml", Profile)
