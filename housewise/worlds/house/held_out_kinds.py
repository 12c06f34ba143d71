"""Kinds of objects that can be held out of training, to measure what a model knows by itself.

`python -m housewise.worlds.house.held_out_kinds` draws them with MiniLM and prints them. They were drawn before any
adapter was trained without them. The bundled adapter has learned them.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import yaml

from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError, suggest_names
from housewise.core.yaml_files import read_yaml
from housewise.language.embedder import Embedder, cosine, shared_minilm
from housewise.worlds.house.preferences import Preferences, default_groups
from housewise.worlds.house.spoken_names import spoken_name

ObjectKinds = Literal["all", "learned", "held_out"]
"""Kinds of objects in generated houses: all, those that are not held out, or those that are."""

_FILE = CONFIGS / "people" / "_held_out_kinds.yaml"
_SHARE = 0.2
_NEAR_SYNONYM = 0.7


class KindFilter:
    """The preferences of a person about some kinds of objects alone; implements Preferences.

    Generated houses and lessons have no objects of kinds that are wanted nowhere.

    Args:
        preferences: What the person wants.
        held_out: Whether to keep the held-out kinds, or the others.
    """

    def __init__(self, preferences: Preferences, *, held_out: bool) -> None:
        self.name = preferences.name
        self._preferences, self._held_out = preferences, held_out

    def wants(self, category: str, room: str, receptacle: str) -> bool:
        """See Preferences.wants. Objects of other kinds are wanted nowhere."""
        kept = (category in held_out_kinds()) is self._held_out
        return kept and self._preferences.wants(category, room, receptacle)


def keep_kinds(preferences: Preferences, kinds: ObjectKinds) -> Preferences:
    """Return preferences about some kinds of objects alone; see ObjectKinds.

    Raises:
        UserError: ``kinds`` is none of ObjectKinds.
    """
    if kinds not in get_args(ObjectKinds):
        raise UserError(f"kinds: no {kinds!r}; {suggest_names(str(kinds), get_args(ObjectKinds))}")
    return preferences if kinds == "all" else KindFilter(preferences, held_out=kinds == "held_out")


@lru_cache(maxsize=1)
def held_out_kinds() -> frozenset[str]:
    """Return the held-out categories, such as ``"pot_lid"``."""
    return frozenset(read_yaml(_FILE))


def draw_held_out_kinds(embedder: Embedder) -> list[str]:
    """Draw a fifth of the kinds of each group of objects, at least one, in the order of a digest of their names.

    A kind with a near-synonym is not drawn: a model that has learned the other would know it.

    Args:
        embedder: Compares names.
    """
    kinds = [kind for group in default_groups().values() for kind in group.things]
    names = [spoken_name(kind) for kind in kinds]
    alike = cosine(embedder, names, names) - 2 * np.eye(len(names))
    distinct = {kind for kind, others in zip(kinds, alike, strict=True) if others.max() < _NEAR_SYNONYM}
    drawn: list[str] = []
    for group in default_groups().values():
        candidates = sorted(distinct.intersection(group.things), key=_digest)
        drawn += candidates[: max(1, round(_SHARE * len(group.things)))]
    return drawn


def _digest(kind: str) -> str:
    return hashlib.sha256(f"house/{kind}".encode()).hexdigest()


if __name__ == "__main__":
    print(yaml.safe_dump(draw_held_out_kinds(shared_minilm()), default_flow_style=True, width=110), end="")
