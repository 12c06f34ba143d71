"""Groups of things in houses, and the choice of those to ask a person about next.

A question covers several groups. Those are asked about first whose answers are expected to say most about where the
person wants things: about the groups themselves, and about groups of similar things, as people who want the cups
elsewhere than usual probably want the plates elsewhere, too. An addition of this project.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from housewise.agent.clipr.answer_phrases import normalize_line, phrase_pattern
from housewise.agent.clipr.house_rules import PlaceKind, to_place_kinds
from housewise.language.embedder import Embedder, cosine
from housewise.worlds.house.preferences import RECEPTACLE_KINDS, bundled_people, default_groups, load_preferences
from housewise.worlds.house.spoken_names import spoken_name

MAX_GROUPS = 3
"""Maximum number of groups in a question."""
_MAX_OPTIONS = 4
_MAX_NAMED = 6
_PRIOR_WEIGHT = 2.0
"""Weight of the bundled people's habits, in answers about the same group."""
_BOUNDARY = re.compile(r"[,.;:!?\n]|\b(?:and|but)\b")


@dataclass(frozen=True)
class ThingGroup:
    """Things that are asked about together.

    Attributes:
        name: Name in everyday words.
        things: Kinds of things.
        usual: Places where most people want them.
        options: Places to choose from, those that most people want first.
        unusual_share: Share of the bundled people's wishes for its things that name no usual place.
        other_names: What else people call some of the things.
    """

    name: str
    things: tuple[str, ...]
    usual: frozenset[PlaceKind]
    options: tuple[PlaceKind, ...]
    unusual_share: float
    other_names: tuple[str, ...] = ()

    @property
    def examples(self) -> str:
        """Some of the things, in words."""
        return ", ".join(self.things[:_MAX_NAMED]) + (" and the like" if len(self.things) > _MAX_NAMED else "")

    def differs(self, wanted: Sequence[PlaceKind]) -> bool:
        """Return whether none of some wanted places is usual."""
        return self.usual.isdisjoint(wanted)


@lru_cache(maxsize=8)
def thing_groups(excluded_person: str = "") -> tuple[ThingGroup, ...]:
    """Return the groups of things in houses, in the order of their names.

    Args:
        excluded_person: Bundled person whose wishes are not used.
    """
    everybody = [load_preferences(name) for name in bundled_people() if name != excluded_person]
    found = []
    for name, group in default_groups().items():
        usual = to_place_kinds(group.wanted)
        wanted: Counter[PlaceKind] = Counter(usual)
        homes = [to_place_kinds(person.places_for(thing)) for thing in group.things for person in everybody]
        for home in homes:
            wanted.update(home)
        options = tuple(place for place, _ in wanted.most_common(_MAX_OPTIONS))
        unusual = sum(set(usual).isdisjoint(home) for home in homes) / len(homes)
        things = tuple(map(spoken_name, group.things))
        found.append(ThingGroup(spoken_name(name), things, frozenset(usual), options, unusual))
    return tuple(sorted(found, key=lambda group: group.name))


class GroupChoice:
    """Chooses the groups to ask about next.

    The probability that the person wants a group elsewhere than usual is an average of the bundled people's habits and
    of the answers about other groups, weighted by the similarity of the groups.

    Args:
        groups: All groups.
        embedder: Sentence embeddings, which tell how similar two groups are.
    """

    def __init__(self, groups: Sequence[ThingGroup], embedder: Embedder) -> None:
        self._groups = tuple(groups)
        texts = [f"{group.name}: {group.examples}" for group in groups]
        self._similarity = np.clip(cosine(embedder, texts, texts), 0, 1).astype(np.float64)
        self._prior = np.array([group.unusual_share for group in groups])
        self._things = np.array([len(group.things) for group in groups], dtype=np.float64)

    def choose(self, answered: Mapping[str, bool], skipped: Collection[str] = ()) -> tuple[ThingGroup, ...]:
        """Return the groups of the next question, the most informative first; none if nothing is left to ask.

        Args:
            answered: For each group with an answer, by name, whether the person wants it elsewhere than usual.
            skipped: Names of groups that must not be asked about now.
        """
        names = [group.name for group in self._groups]
        weight = np.full(len(names), _PRIOR_WEIGHT)
        unusual = _PRIOR_WEIGHT * self._prior
        for name, differs in answered.items():
            weight += self._similarity[names.index(name)]
            unusual += self._similarity[names.index(name)] * differs
        is_open = np.array([name not in answered and name not in skipped for name in names])
        chosen: list[int] = []
        while len(chosen) < MAX_GROUPS and is_open.any():
            best = int(np.argmax(np.where(is_open, self._information(weight, unusual, is_open), -np.inf)))
            chosen.append(best)
            is_open[best] = False
            # The answer is not known yet: it counts as the one that is expected.
            expected = unusual[best] / weight[best]
            weight, unusual = weight + self._similarity[best], unusual + self._similarity[best] * expected
        return tuple(self._groups[index] for index in chosen)

    def _information(
        self, weight: NDArray[np.float64], unusual: NDArray[np.float64], is_open: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the expected information of an answer about each group, in bits; an array of shape (groups,)."""
        probability = unusual / weight
        bits = self._things * _uncertainty(probability)
        remaining = np.zeros_like(self._similarity)
        for differs, share in ((1.0, probability), (0.0, 1 - probability)):
            updated = (unusual + self._similarity * differs) / (weight + self._similarity)  # (asked, others)
            remaining += share[:, None] * self._things * _uncertainty(updated)
        np.fill_diagonal(remaining, 0.0)
        others = np.where(is_open, bits - remaining, 0.0)
        np.fill_diagonal(others, bits)
        return np.asarray(others.sum(axis=1))


def _uncertainty(unusual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy of where a thing is wanted, in bits. Unusual places are all as likely as each other."""
    return np.asarray((entr(unusual) + entr(1 - unusual)) / np.log(2) + unusual * np.log2(len(RECEPTACLE_KINDS)))


def names_group(text: str, groups: Sequence[ThingGroup]) -> bool:
    """Return whether a text names a group, or one of its things."""
    return phrase_pattern(_owners(groups)).search(normalize_line(text)) is not None


def split_by_group(text: str, groups: Sequence[ThingGroup]) -> dict[str, str]:
    """Split an answer about several groups into what it says about each, by the group's name.

    "Cups on the shelf, and books in the bedroom" is "cups on the shelf," for the group drinkware and "and books in the
    bedroom" for the group books. An answer that names no group is about all of them. Names before a colon are left out.
    """
    line, owners = normalize_line(text), _owners(groups)
    mentions = list(phrase_pattern(owners).finditer(line))
    if len(groups) == 1 or not mentions:
        return {group.name: text for group in groups}
    parts: dict[str, str] = {}
    owner, start = owners[mentions[0][1]], 0
    for mention in mentions:
        named = owners[mention[1]]
        if named != owner:
            ends = [found.end() for found in _BOUNDARY.finditer(line, start, mention.start())]
            end = ends[-1] if ends else mention.start()
            parts[owner] = f"{parts.get(owner, '')} {line[start:end]}"
            owner, start = named, end
    parts[owner] = f"{parts.get(owner, '')} {line[start:]}"
    label = re.compile(rf"\b(?:{'|'.join(re.escape(group.name.lower()) for group in groups)}):")
    return {name: label.sub(" ", part).strip() for name, part in parts.items()}


def _owners(groups: Sequence[ThingGroup]) -> dict[str, str]:
    """Return the name of the group of each thing and of each group, in lower case."""
    return {word.lower(): group.name for group in groups for word in (*group.other_names, *group.things, group.name)}
