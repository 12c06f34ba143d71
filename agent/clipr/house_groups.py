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
from housewise.agent.clipr.house_place_words import place_words
from housewise.language.embedder import Embedder, cosine
from housewise.worlds.house.place_kinds import PlaceKind, to_place_kinds
from housewise.worlds.house.preferences import RECEPTACLE_KINDS, bundled_people, default_groups, load_preferences
from housewise.worlds.house.spoken_names import spoken_name

MAX_GROUPS = 3
"""Maximum number of groups in a question."""
_MAX_OPTIONS = 4
_MAX_NAMED = 6
_BOUNDARY = re.compile(r"[,.;:!?]|\b(?:and|but)\b")
_JOINING = re.compile(r"\b(?:and|or|both|also|the|my|our|all)\b|[\s,;:&]")
"""Matches what may stand between names that share what is said after them."""


@dataclass(frozen=True)
class ThingGroup:
    """Things that are asked about together.

    Attributes:
        name: Name in everyday words.
        things: Kinds of things.
        usual: Places where most people want them.
        options: Places to choose from, those that most people want first.
        unusual_share: Probability that somebody wants one of its things in none of the usual places, estimated from the
            bundled people.
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
        """Return whether none of some wanted places is usual. A place without a room may be in any room."""
        return not any(usual.is_at(spot) for spot in wanted for usual in self.usual)


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
        unusual = sum(set(usual).isdisjoint(home) for home in homes) / len(group.things)
        # Laplace's rule of succession, with people as observations.
        share = (unusual + 1) / (len(everybody) + 2)
        things = tuple(map(spoken_name, group.things))
        found.append(ThingGroup(spoken_name(name), things, frozenset(usual), options, share))
    return tuple(sorted(found, key=lambda group: group.name))


class GroupChoice:
    """Chooses the groups to ask about next.

    Whether the person wants a group elsewhere than usual (1) or not (0) is predicted by a Gaussian process over the
    groups. Its mean before any answer is the bundled people's share. Groups correlate as far as their words are alike.

    Args:
        groups: All groups.
        embedder: Sentence embeddings, which tell how similar two groups are.
    """

    def __init__(self, groups: Sequence[ThingGroup], embedder: Embedder) -> None:
        self._groups = tuple(groups)
        texts = [f"{group.name}: {group.examples}" for group in groups]
        self._prior = np.array([group.unusual_share for group in groups])
        deviation = np.sqrt(self._prior * (1 - self._prior))
        similarity = cosine(embedder, texts, texts).astype(np.float64)
        self._covariance = similarity * np.outer(deviation, deviation)
        self._things = np.array([len(group.things) for group in groups], dtype=np.float64)

    def choose(self, answered: Mapping[str, bool], skipped: Collection[str] = ()) -> tuple[ThingGroup, ...]:
        """Return the groups of the next question, the most informative first; none if nothing is left to ask.

        Args:
            answered: For each group with an answer, by name, whether the person wants it elsewhere than usual.
            skipped: Names of other groups that must not be asked about.
        """
        names = [group.name for group in self._groups]
        mean, covariance = self._prior, self._covariance
        for name, differs in answered.items():
            mean, covariance = _update(mean, covariance, names.index(name), float(differs))
        is_open = np.array([name not in answered and name not in skipped for name in names])
        chosen: list[int] = []
        while len(chosen) < MAX_GROUPS and is_open.any():
            information = self.expected_information(mean, covariance, is_open).sum(axis=1)
            best = int(np.argmax(np.where(is_open, information, -np.inf)))
            chosen.append(best)
            is_open[best] = False
            # The answer is not known yet: what is expected of other groups stays, and becomes more certain.
            mean, covariance = _update(mean, covariance, best, mean[best])
        return tuple(self._groups[index] for index in chosen)

    def expected_information(
        self, mean: NDArray[np.float64], covariance: NDArray[np.float64], is_open: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the expected information of an answer about one group (rows) about each other open one, in bits.

        Args:
            mean: Probability that each group is wanted elsewhere than usual; shape (groups,).
            covariance: Covariance of the groups; shape (groups, groups).
            is_open: Whether nothing is known of a group yet; shape (groups,).

        Returns:
            An array of shape (groups, groups). On the diagonal is what the answer says about its own group.
        """
        probability = np.clip(mean, 0, 1)
        bits = self._things * _uncertainty(probability)
        remaining = np.zeros_like(covariance)
        for differs, share in ((1.0, probability), (0.0, 1 - probability)):
            gain = covariance / np.maximum(np.diag(covariance), 1e-9)[:, None]
            moved = np.clip(probability + gain * (differs - probability)[:, None], 0, 1)
            remaining += share[:, None] * self._things * _uncertainty(moved)
        np.fill_diagonal(remaining, 0.0)
        return np.where(is_open, np.maximum(bits - remaining, 0.0), 0.0)


def _update(
    mean: NDArray[np.float64], covariance: NDArray[np.float64], index: int, value: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and covariance after one value is observed."""
    gain = covariance[index] / max(covariance[index, index], 1e-9)
    return mean + gain * (value - mean[index]), covariance - np.outer(gain, covariance[index])


def _uncertainty(unusual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy of where a thing is wanted, in bits: in the usual places, or in any other one."""
    return np.asarray((entr(unusual) + entr(1 - unusual)) / np.log(2) + unusual * np.log2(len(RECEPTACLE_KINDS)))


def asked_groups(question: str, groups: Sequence[ThingGroup]) -> list[ThingGroup]:
    """Return the groups whose examples a question to a simulated person has, in its order."""
    found = [(question.find(f"({group.examples})"), group) for group in groups]
    return [group for start, group in sorted(found, key=lambda each: each[0]) if start >= 0]


def names_group(text: str, groups: Sequence[ThingGroup]) -> bool:
    """Return whether a text names a group, or one of its things."""
    return bool(named_groups(text, groups))


def named_groups(text: str, groups: Sequence[ThingGroup]) -> list[ThingGroup]:
    """Return the groups that a text names, also by one of their things, in their own order."""
    names = {name for *_, name in _find_mentions(normalize_line(text), groups)}
    return [group for group in groups if group.name in names]


def split_by_group(text: str, groups: Sequence[ThingGroup]) -> dict[str, str]:
    """Split an answer about several groups into what it says about each, by the group's name.

    Names that are joined share what comes after them. What is said before the first name, up to a comma or the like, is
    about the groups that are not named; an answer that names none is about all. Names before a colon are left out.
    """
    line = normalize_line(text)
    mentions = _find_mentions(line, groups)
    if len(groups) == 1:
        return {groups[0].name: re.sub(rf"^\s*{re.escape(groups[0].name)}:\s*", "", text, flags=re.IGNORECASE)}
    if not mentions:
        return {group.name: text for group in groups}
    first = [found.end() for found in _BOUNDARY.finditer(line, 0, mentions[0][0])]
    start = first[-1] if first and _JOINING.sub("", line[: first[-1]]).strip(".") not in ("", "but") else 0
    named = {name for *_, name in mentions}
    parts = {group.name: line[:start] for group in groups if group.name not in named}
    first_name, end_of_name, owners = mentions[0][0], mentions[0][1], [mentions[0][2]]
    said: list[tuple[list[str], str]] = []
    for begin, end, name in mentions[1:]:
        joint = line[end_of_name:begin]
        # "As usual for cookware, vases on the bed": a comma ends what began before the name.
        begins_anew = joint.lstrip().startswith(",") and _JOINING.sub("", line[start:first_name])
        if not _JOINING.sub("", joint) and not begins_anew:
            owners.append(name)
        elif name not in owners or begins_anew:
            ends = [found.end() for found in _BOUNDARY.finditer(line, end_of_name, begin)]
            cut = ends[-1] if ends else begin
            said.append((owners, line[start:cut]))
            owners, start, first_name = [name], cut, begin
        end_of_name = end
    said.append((owners, line[start:]))
    for names, part in said:
        for name in dict.fromkeys(names):
            parts[name] = f"{parts.get(name, '')} {part}"
    label = re.compile(rf"\b(?:{'|'.join(re.escape(group.name.lower()) for group in groups)}):")
    return {name: label.sub(" ", part).strip() for name, part in parts.items() if part.strip()}


def split_off_names(text: str, group: ThingGroup) -> tuple[str, list[str]]:
    """Return an answer without the names of a group and of its things, and the names."""
    line, rest, end, names = normalize_line(text), "", 0, []
    for start, stop, _ in _find_mentions(line, [group]):
        names.append(line[start:stop])
        rest, end = f"{rest}{line[end:start]} ", stop
    return (rest + line[end:]).strip(" :,;"), names


def _find_mentions(line: str, groups: Sequence[ThingGroup]) -> list[tuple[int, int, str]]:
    """Return where a line names which groups. The laundry room and the coffee table name places."""
    owners = {word.lower(): group.name for group in groups for word in (*group.other_names, *group.things, group.name)}
    places = [found.span(1) for found in phrase_pattern(place_words()).finditer(line)]
    return [
        (*found.span(), owners[found[1]])
        for found in phrase_pattern(owners).finditer(line)
        if not any(start <= found.start() < end and end - start > len(found[1]) for start, end in places)
    ]
