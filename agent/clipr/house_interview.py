"""The language steps of CLIPR for the question where things belong in a house. There are no example scenarios."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2

from housewise.agent.clipr.answer_phrases import NoSuchOption, replace_option_numbers
from housewise.agent.clipr.house_place_words import PlaceVocabulary
from housewise.agent.clipr.language_steps import DialogueTurn, Dimension, Inquiry, MethodUsage
from housewise.agent.clipr.local_steps.answer_meaning import split_wanted_refused
from housewise.agent.clipr.rules import MAX_RULE_CHARACTERS, Rule, make_rule
from housewise.language.embedder import Embedder
from housewise.language.words import normalize_letters
from housewise.worlds.choices.scenario import Situation
from housewise.worlds.house.place_kinds import PlaceKind, to_place_kinds
from housewise.worlds.house.preferences import (
    bundled_people,
    default_groups,
    load_preferences,
)
from housewise.worlds.house.spoken_names import spoken_name

_INDIFFERENT = re.compile(
    r"(?:\b(?:no (?:real |strong |particular )?preference|whatever(?= *(?:[.!,]|$))|any of (?:them|these)"
    r"|either (?:one )?is fine|up to you|not fussy|not picky|no idea|not sure|anything goes|all the same)\b"
    r"|\bdo(?:n'?t| not) (?:really |much )?(?:mind|care|know)\b|\bdoes(?:n'?t| not) (?:really )?matter\b)"
)
"""Matches answers without a wish. Any other answer without a place becomes a rule that is not understood."""
_MOST_OPTIONS = 6
_MOST_NAMED = 6


@dataclass(frozen=True)
class ThingGroup:
    """Things that are asked about together.

    Attributes:
        name: Name in everyday words.
        things: Kinds of things.
        options: Places where people usually want them, most frequent first.
        bits: Uncertainty before asking: the entropy of where people want each thing, summed over the things, in bits.
    """

    name: str
    things: tuple[str, ...]
    options: tuple[PlaceKind, ...]
    bits: float

    @property
    def question(self) -> str:
        """The question where these things belong."""
        few = ", ".join(self.things[:_MOST_NAMED]) + (" and the like" if len(self.things) > _MOST_NAMED else "")
        listed = ", ".join(f"({number}) {spot.phrase}" for number, spot in enumerate(self.options, 1))
        return f"Where should {self.name} be ({few}), and where not? Usual are {listed}."


@lru_cache(maxsize=8)
def thing_groups(excluded_person: str = "") -> tuple[ThingGroup, ...]:
    """Return the groups of things in houses, most uncertain first.

    The uncertainty is estimated from the bundled people.

    Args:
        excluded_person: Bundled person who is left out of the estimate.
    """
    everybody = [load_preferences(name) for name in bundled_people() if name != excluded_person]
    found = []
    for name, group in default_groups().items():
        wanted: Counter[PlaceKind] = Counter(to_place_kinds(group.wanted))
        bits = 0.0
        for thing in group.things:
            homes = [frozenset(to_place_kinds(person.places_for(thing))) for person in everybody]
            wanted.update(spot for home in homes for spot in sorted(home, key=lambda spot: spot.phrase))
            bits += _entropy(homes)
        options = tuple(spot for spot, _ in wanted.most_common(_MOST_OPTIONS))
        found.append(ThingGroup(spoken_name(name), tuple(map(spoken_name, group.things)), options, bits))
    return tuple(sorted(found, key=lambda group: (-group.bits, group.name)))


class HouseInterview:
    """Asks where groups of things belong; see Interviewer. Each step counts as the call that a model would take.

    Args:
        embedder: Sentence embeddings that tell what an answer refuses.
        excluded_person: Bundled person who is being asked and must not influence the questions; see thing_groups.
    """

    name = "local components"

    def __init__(self, embedder: Embedder, excluded_person: str = "") -> None:
        self.usage = MethodUsage()
        self._embedder = embedder
        self._groups = {group.question: group for group in thing_groups(excluded_person)}

    def inquire(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn], left: int) -> Inquiry:
        """Ask about the most uncertain group that has not been asked about."""
        self.usage.calls += 1
        asked = {said.question for said in dialogue}
        open_ = [group for question, group in self._groups.items() if question not in asked]
        unresolved = tuple(Dimension(each.name, tuple(spot.phrase for spot in each.options)) for each in open_)
        return Inquiry(unresolved, open_[0].question if open_ else None)

    def synthesize(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn]) -> tuple[Rule, ...]:
        """Write a rule for each answer. An answer that names no place becomes an untyped rule in the person's words."""
        self.usage.calls += 1
        rules = []
        for turn, said in enumerate(dialogue, 1):
            group = self._groups.get(said.question)
            if group is None or not said.answer or self._is_indifferent(said.answer):
                continue
            wanted, unwanted = self._parse_places(group, said.answer)
            if wanted or unwanted:
                liked, disliked = ([spot.phrase for spot in spots] for spots in (wanted, unwanted))
                rules.append(make_rule(group.name, liked, disliked, source=turn))
            else:
                rules.append(Rule(text=f"For {group.name}: {said.answer}"[:MAX_RULE_CHARACTERS], source=turn))
        return tuple(rules)

    def _parse_places(self, group: ThingGroup, answer: str) -> tuple[tuple[PlaceKind, ...], tuple[PlaceKind, ...]]:
        """Return the wanted and the unwanted places of an answer."""
        words = PlaceVocabulary(group.options)
        try:
            named = replace_option_numbers(answer, [spot.phrase for spot in group.options])
        except NoSuchOption:
            return (), ()
        wanted, refused = split_wanted_refused(self._embedder, words.mark_phrases(named), words.topic_words)
        return words.find_places(wanted, wanted=True), words.find_places(refused, wanted=False)

    def _is_indifferent(self, answer: str) -> bool:
        return bool(_INDIFFERENT.search(normalize_letters(answer[:MAX_RULE_CHARACTERS])))


def _entropy(homes: Sequence[frozenset[PlaceKind]]) -> float:
    """Return the entropy of where people want a thing, in bits."""
    shares = [count / len(homes) for count in Counter(homes).values()]
    return -sum(share * log2(share) for share in shares)
