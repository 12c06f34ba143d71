"""The language steps of CLIPR for the question where things belong in a house. There are no example scenarios."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from housewise.agent.clipr.answer_phrases import is_indifferent
from housewise.agent.clipr.house_groups import GroupChoice, ThingGroup, asked_groups, split_by_group, thing_groups
from housewise.agent.clipr.language_steps import DialogueTurn, Dimension, Inquiry, MethodUsage
from housewise.agent.clipr.local_steps.answer_meaning import split_wanted_refused
from housewise.agent.clipr.rules import MAX_RULE_CHARACTERS, Rule, make_rule
from housewise.language.embedder import Embedder
from housewise.worlds.choices.scenario import Situation
from housewise.worlds.house.place_kinds import PlaceKind, find_place_kinds
from housewise.worlds.house.preferences import RECEPTACLE_KINDS, ROOM_KINDS

_PLACES = " ".join((*RECEPTACLE_KINDS, *ROOM_KINDS))
_OPTION = re.compile(r"\((\d+)\) ([^,.()]+)")
_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+|\S")
_JOINTS = frozenset({",", ";", ".", "&", "!", "and", "or", "then"})
_MAX_DIGITS = 6


@dataclass(frozen=True)
class _GroupAnswer:
    """What an answer says about one group.

    Attributes:
        group: The group.
        text: The part of the answer, in the person's words.
        wanted: Places that are wanted, best first.
        unwanted: Places that are refused.
    """

    group: ThingGroup
    text: str
    wanted: tuple[PlaceKind, ...]
    unwanted: tuple[PlaceKind, ...]


def house_question(groups: Sequence[ThingGroup]) -> str:
    """Return the question where some groups of things belong. Their usual places are numbered through."""
    parts, number = [], 1
    for group in groups:
        listed = ", ".join(f"({place}) {spot.phrase}" for place, spot in enumerate(group.options, number))
        parts.append(f"{group.name.capitalize()} ({group.examples}): usual are {listed}.")
        number += len(group.options)
    return f"Where should each of these be, and where not? {' '.join(parts)}"


class HouseInterview:
    """Asks where groups of things belong; see Interviewer. Each step counts as the call that a model would take.

    Args:
        embedder: Sentence embeddings that tell what an answer refuses, and which groups are alike.
        excluded_person: Bundled person who is being asked and must not influence the questions; see thing_groups.
    """

    name = "local components"

    def __init__(self, embedder: Embedder, excluded_person: str = "") -> None:
        self.usage = MethodUsage()
        self._embedder = embedder
        self._groups = thing_groups(excluded_person)
        self._choice = GroupChoice(self._groups, embedder)

    def inquire(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn], left: int) -> Inquiry:
        """Ask about the groups whose answers are expected to say most."""
        self.usage.calls += 1
        answers = [answer for said in dialogue for answer in self._parse_turn(said)]
        answered = {answer.group.name: answer.group.differs(answer.wanted) for answer in answers if answer.wanted}
        asked = {group.name for said in dialogue for group in asked_groups(said.question, self._groups)}
        open_ = [group for group in self._groups if group.name not in asked]
        unresolved = tuple(Dimension(each.name, tuple(spot.phrase for spot in each.options)) for each in open_)
        groups = self._choice.choose(answered, asked)
        return Inquiry(unresolved, house_question(groups) if groups else None)

    def synthesize(self, examples: Sequence[Situation], dialogue: Sequence[DialogueTurn]) -> tuple[Rule, ...]:
        """Write a rule for each group that is answered.

        What names no place becomes an untyped rule in the person's words.
        """
        self.usage.calls += 1
        rules = []
        for turn, said in enumerate(dialogue, 1):
            for answer in self._parse_turn(said):
                if answer.wanted or answer.unwanted:
                    liked, disliked = ([spot.phrase for spot in some] for some in (answer.wanted, answer.unwanted))
                    rules.append(make_rule(answer.group.name, liked, disliked, source=turn))
                elif not is_indifferent(answer.text):
                    text = f"For {answer.group.name}: {answer.text}"[:MAX_RULE_CHARACTERS]
                    rules.append(Rule(text=text, source=turn))
        return tuple(rules)

    def _parse_turn(self, said: DialogueTurn) -> list[_GroupAnswer]:
        """Return what a turn says about each group that it is about."""
        groups = asked_groups(said.question, self._groups)
        if not said.answer or not groups:
            return []
        if numbers := _parse_numbers(said.answer):
            options = _numbered_options(said.question, groups)
            named = [options[number] for number in dict.fromkeys(numbers) if number in options]
            chosen = {group.name: tuple(spot for owner, spot in named if owner == group.name) for group in groups}
            return [_GroupAnswer(group, said.answer, chosen[group.name], ()) for group in groups if chosen[group.name]]
        parts = split_by_group(said.answer, groups)
        return [self._parse_part(group, parts[group.name]) for group in groups if group.name in parts]

    def _parse_part(self, group: ThingGroup, text: str) -> _GroupAnswer:
        wanted, refused = (find_place_kinds(part) or () for part in split_wanted_refused(self._embedder, text, _PLACES))
        return _GroupAnswer(group, text, wanted, refused)


def _numbered_options(question: str, groups: Sequence[ThingGroup]) -> dict[int, tuple[str, PlaceKind]]:
    """Return the places that a question numbers, each with the group that is named before it."""
    starts = {question.find(f"({group.examples})"): group.name for group in groups}
    found: dict[int, tuple[str, PlaceKind]] = {}
    for option in _OPTION.finditer(question):
        owner = starts[max(start for start in starts if start < option.start())]
        found |= {int(option[1]): (owner, place) for place in find_place_kinds(option[2]) or ()}
    return found


def _parse_numbers(text: str) -> list[int]:
    """Return the numbers of an answer that consists of numbers only, as in "1, 3 and 4"; otherwise []."""
    words = _TOKEN.findall(text.lower())
    numbers = [word for word in words if word.isdecimal()]
    alone = all(word in _JOINTS for word in words if not word.isdecimal())
    return [int(number[:_MAX_DIGITS]) for number in numbers] if alone else []
