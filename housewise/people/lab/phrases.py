"""What a scripted person in the lab says."""

from __future__ import annotations

import random
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError
from housewise.core.template_text import Template, template_text
from housewise.core.validation import read_model

WORDINGS = CONFIGS / "basis" / "wordings"

BUNDLED_WORDINGS = ("training", "held_out")
"""The held-out wording was written after what has to understand it. One rule was added after its first use: verbs in
-ing inside descriptions."""
Occasion = Literal["goal", "goal_again", "where", "look", "which", "next", "hand", "acknowledgement"]


_Templates = Annotated[tuple[str, ...], Field(min_length=1)]


def _sentences() -> Any:
    return template_text("goal", "thing", "room")


class UserPhrases(Template):
    """Sentence templates of a person, by occasion."""

    goal: _Templates = _sentences()
    goal_again: _Templates = _sentences()
    where: _Templates = _sentences()
    look: _Templates = _sentences()
    which: _Templates = _sentences()
    next: _Templates = _sentences()
    hand: _Templates = _sentences()
    acknowledgement: _Templates = _sentences()

    def say(self, occasion: Occasion, generator: random.Random, **slots: str) -> str:
        """Fill a randomly drawn template."""
        templates: tuple[str, ...] = getattr(self, occasion)
        text = generator.choice(templates).format(**({"goal": "", "thing": "thing", "room": ""} | slots))
        return text[:1].upper() + text[1:]


def find_wording(role: str, wording: str) -> Path:
    """Return the file of a wording of a role (user, assistant).

    Args:
        role: Who speaks.
        wording: Name of a bundled wording, or a path to a file of the same form.

    Raises:
        UserError: If there is none.
    """
    if wording in BUNDLED_WORDINGS:
        return WORDINGS / f"{role}_{wording}.yaml"
    path = Path(wording)
    if path.suffix != ".yaml":
        raise UserError(f"{role} wording {wording!r}: unknown; use {', '.join(BUNDLED_WORDINGS)} or a .yaml file")
    return path


@lru_cache(maxsize=16)
def load_user_phrases(wording: str) -> UserPhrases:
    """Load a wording; see ``find_wording``.

    Raises:
        DataError: The file cannot be read or is malformed.
        UserError: There is no such wording.
    """
    return read_model(find_wording("user", wording), UserPhrases)
