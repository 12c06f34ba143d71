"""Phrasings with which simulated people say what they like and dislike."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from housewise.core.configs import CONFIGS
from housewise.core.validation import StrictModel

SPEECH_FILE = CONFIGS / "clipr" / "speech.yaml"
UNSEEN_SPEECH_FILE = SPEECH_FILE.with_name("speech_unseen.yaml")
"""Phrasings that were written after the local components of CLIPR and never used to improve them."""

_Phrasings = Annotated[tuple[str, ...], Field(min_length=1)]


class Speech(StrictModel):
    """Sentence templates with the slots ``{likes}`` and ``{dislikes}``.

    Attributes:
        single: Templates for one liked thing.
        ranked: Templates for several liked things, best first.
        separators: Separators between liked things.
        indifferent: Sentences of somebody without an opinion.
        vague: Sentences of somebody who evades the question.
    """

    single: _Phrasings
    ranked: _Phrasings
    separators: _Phrasings
    indifferent: _Phrasings
    vague: _Phrasings

    def sentence(
        self, likes: Sequence[str], dislikes: Sequence[str], generator: random.Random, refusing: bool = False
    ) -> str:
        """Fill a randomly drawn template.

        Args:
            likes: Liked things, best first; at least one.
            dislikes: Disliked things, of which at most one is mentioned.
            generator: Draws the template, the separator and the disliked thing.
            refusing: Whether to draw a template that mentions a dislike, because the question asked for it.
        """
        frames = self.single if len(likes) == 1 else self.ranked
        if not dislikes:
            frames = tuple(frame for frame in frames if "{dislikes}" not in frame) or frames
        elif refusing:
            frames = tuple(frame for frame in frames if "{dislikes}" in frame) or frames
        liked = generator.choice(self.separators).join(likes)
        return generator.choice(frames).format(likes=liked, dislikes=generator.choice(dislikes) if dislikes else "")
