"""Questions of a conversation at a terminal about where things belong. Each covers several groups of things."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import ceil

from housewise.agent.clipr.answer_phrases import NoSuchOption, normalize_line, replace_option_numbers
from housewise.agent.clipr.house_groups import (
    MAX_GROUPS,
    GroupChoice,
    ThingGroup,
    names_group,
    split_by_group,
    thing_groups,
)
from housewise.agent.clipr.house_interview import house_question
from housewise.agent.clipr.house_place_words import PlaceVocabulary
from housewise.agent.clipr.house_rules import find_place_kinds
from housewise.agent.clipr.language_steps import DialogueTurn
from housewise.agent.clipr.terminal_interview import (
    QUESTIONS,
    AnswerNotUnderstood,
    InterviewQuestion,
    ParsedAnswer,
    QuestionFile,
    WrittenQuestion,
    example_answer,
)
from housewise.core.validation import read_model
from housewise.language.embedder import Embedder
from housewise.worlds.house.preferences import RECEPTACLE_KINDS, ROOM_KINDS

_USUAL = r"(?:as (?:usual|always|you say)|(?:in |at )?(?:the|their) usual(?: places?)?|like (?:that|everybody))\b"
_AS_USUAL = re.compile(rf"\b{_USUAL}")
_ALL_AS_USUAL = re.compile(rf"\W*(?:all |everything |they(?:'re)? all )?{_USUAL}[\s,.;]*")


@dataclass(frozen=True, kw_only=True)
class GroupsQuestion(InterviewQuestion):
    """A question about several groups of things, whose options are numbered through.

    Attributes:
        groups: The groups.
        parts: The question about each group alone, by the group's name.
    """

    groups: tuple[ThingGroup, ...]
    parts: dict[str, WrittenQuestion]

    @property
    def example_rule(self) -> str:
        """See InterviewQuestion.example_rule."""
        return self.parts[self.groups[0].name].example_rule

    def parse_answer(self, said: str, before: ParsedAnswer | None = None, adds: bool = False) -> ParsedAnswer:
        """See InterviewQuestion.parse_answer. A correction that names no group is about the only one with a rule."""
        try:
            text = said if names_group(said, self.groups) else replace_option_numbers(said, self.options)
        except NoSuchOption as problem:
            raise AnswerNotUnderstood(str(problem)) from problem
        found = dict(before.parts) if before else {}
        if usual := _ALL_AS_USUAL.match(normalize_line(text)):
            found = {group.name: self._parse_part(group, "as usual", None, False) for group in self.groups}
            text = normalize_line(text)[usual.end() :]
        elif before and not names_group(text, self.groups):
            ruled = [group for group in self.groups if group.name in found and found[group.name].rules]
            if len(ruled) > 1:
                raise AnswerNotUnderstood(f"Say for which: {', '.join(group.name for group in ruled)}.")
            text = f"{ruled[0].name}: {text}"
        if not usual or names_group(text, self.groups):
            for name, part in split_by_group(text, self.groups).items():
                group = next(each for each in self.groups if each.name == name)
                found[name] = self._parse_part(group, part, found.get(name), adds)
        return _combine([(group.name, found[group.name]) for group in self.groups if group.name in found])

    def _parse_part(self, group: ThingGroup, text: str, before: ParsedAnswer | None, adds: bool) -> ParsedAnswer:
        """Parse what is said about a group. Its options have their numbers of the whole question and those from 1."""
        part = self.parts[group.name]
        numbered = [option.removeprefix(f"{group.name}: ") for option in self.options]
        first = self.options.index(f"{group.name}: {part.options[0]}")
        last = first + len(part.options)
        known = [
            numbered[at] if at >= first else part.options[at] if at < len(part.options) else "" for at in range(last)
        ]
        if _AS_USUAL.search(normalize_line(text)):
            usual = [option for option, place in zip(part.options, group.options, strict=True) if place in group.usual]
            text = ", then ".join(usual or part.options)
        try:
            return part.parse_answer(
                replace_option_numbers(text, known), before if before and before.rules else None, adds
            )
        except (AnswerNotUnderstood, NoSuchOption) as problem:
            raise AnswerNotUnderstood(f"{group.name}: {problem}") from problem


def _combine(parts: Sequence[tuple[str, ParsedAnswer]]) -> ParsedAnswer:
    """Return the meaning of an answer about several groups."""
    return ParsedAnswer(
        "; ".join(f"{name}: {part.answer}" for name, part in parts),
        rules=tuple(rule for _, part in parts for rule in part.rules),
        left_out=tuple(dict.fromkeys(clause for _, part in parts for clause in part.left_out)),
        parts=dict(parts),
    )


def _other_names(group: ThingGroup, question: str) -> tuple[str, ...]:
    """Return words for a group beside its name, from the question: jam, honey and spreads for spreads and oils.

    Words of places are left out: somebody who speaks of the coffee table does not speak of coffee.
    """
    asked = re.sub(r"^.*where do (?:the )?| and other .*$| belong\?$", "", question.lower())
    places = {word for kind in (*RECEPTACLE_KINDS, *ROOM_KINDS) for word in kind.split()}
    names = (*re.split(r", | and (?:the |their )?", asked), *group.name.split(" and "))
    return tuple(name for name in names if name not in places)


class HouseConversation:
    """Asks where things belong, about the groups first whose answers are expected to say most; see Interview."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._texts = read_model(QUESTIONS, QuestionFile).house
        self._groups = tuple(
            replace(group, other_names=_other_names(group, self._texts[group.name])) for group in thing_groups()
        )
        self._choice = GroupChoice(self._groups, embedder)

    def next_question(
        self, dialogue: Sequence[DialogueTurn], skipped: Collection[str], left: int
    ) -> InterviewQuestion | None:
        """See Interview.next_question. Groups that were skipped are asked about again after the others."""
        answered: dict[str, bool] = {}
        for said in dialogue:
            groups = self._groups_of(said.question)
            for name, text in split_by_group(said.answer, groups).items() if said.answer and groups else ():
                group = next(each for each in groups if each.name == name)
                answered[name] = group.differs(find_place_kinds(text) or group.options)
            answered |= {group.name: answered.get(group.name, False) for group in groups}
        passed = {group.name for text in skipped for group in self._groups_of(text)}
        chosen = self._choice.choose(answered, passed)
        return self._question(chosen) if chosen else None

    def count_open_questions(self, dialogue: Sequence[DialogueTurn]) -> int | None:
        """See Interview.count_open_questions."""
        asked = {group.name for said in dialogue for group in self._groups_of(said.question)}
        return ceil((len(self._groups) - len(asked)) / MAX_GROUPS)

    def _groups_of(self, question: str) -> list[ThingGroup]:
        """Return the groups that a question is about, also one that a simulated person was asked."""
        return [
            group for group in self._groups if self._texts[group.name] in question or f"({group.examples})" in question
        ]

    def _question(self, groups: Sequence[ThingGroup]) -> GroupsQuestion:
        parts = {group.name: self._part(group) for group in groups}
        options = tuple(f"{name}: {option}" for name, part in parts.items() for option in part.options)
        return GroupsQuestion(
            text=" ".join(part.text for part in parts.values()),
            name=", ".join(parts),
            options=options,
            earlier=(house_question(groups),),
            example=f"as usual, but {groups[-1].name}: {parts[groups[-1].name].example}",
            groups=tuple(groups),
            parts=parts,
        )

    def _part(self, group: ThingGroup) -> WrittenQuestion:
        words = PlaceVocabulary(group.options)
        options = tuple(map(words.phrase, group.options))
        return WrittenQuestion(
            text=self._texts[group.name],
            name=group.name,
            options=options,
            example=example_answer(options),
            words=words,
            embedder=self._embedder,
            members=group.things,
        )
