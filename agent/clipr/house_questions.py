"""Questions of a conversation at a terminal about where things belong. Each covers several groups of things."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from housewise.agent.clipr.answer_phrases import NoSuchOption, normalize_line, replace_option_numbers
from housewise.agent.clipr.house_groups import (
    MAX_GROUPS,
    GroupChoice,
    ThingGroup,
    asked_groups,
    named_groups,
    names_group,
    split_by_group,
    split_off_names,
    thing_groups,
)
from housewise.agent.clipr.house_place_words import PlaceVocabulary
from housewise.agent.clipr.language_steps import DialogueTurn
from housewise.agent.clipr.rules import Rule, make_rule
from housewise.agent.clipr.terminal_interview import (
    QUESTIONS,
    AnswerNotUnderstood,
    Interview,
    InterviewQuestion,
    ParsedAnswer,
    QuestionFile,
    WrittenQuestion,
    example_answer,
    parse_whole_rule,
)
from housewise.core.validation import read_model
from housewise.language.embedder import Embedder
from housewise.worlds.house.place_kinds import find_place_kinds

_USUAL = r"(?:as (?:usual|always|you say)|(?:in |at )?(?:the|their) usual(?: places?)?)\b"
_USUAL_PART = re.compile(rf"(?<!not )(?<!n't )\b{_USUAL}")
_OTHERS_USUAL = re.compile(
    r"(?:^|[,.;:]|\band\b)\W*(?:(?:and|all|everything(?: else)?|(?:the|all) (?:rest|others?)|they|them|it(?:'s)?)\W+)*"
    rf"(?:(?:is|are|be|stays?|all|fine)\W+)*{_USUAL}\W*(?=$|[,.;:]|\b(?:but|except)\b)"
)
"""Matches a clause such as "all as usual" or "the rest stays as usual", which names no group."""
_BESIDE_NUMBERS = re.compile(r"\b(?:for|in|at|on|to|is|are|number|option)\b|:")


@dataclass(frozen=True, kw_only=True)
class GroupsQuestion(InterviewQuestion):
    """A question about several groups of things, whose options are numbered through.

    Attributes:
        groups: The groups.
        parts: The question about each group alone, by the group's name.
        others: Groups that are not asked about.
    """

    groups: tuple[ThingGroup, ...]
    parts: dict[str, WrittenQuestion]
    others: tuple[ThingGroup, ...] = ()

    @property
    def example_rule(self) -> str:
        """See InterviewQuestion.example_rule."""
        return self.parts[self.groups[0].name].example_rule

    def parse_answer(self, said: str, before: ParsedAnswer | None = None, adds: bool = False) -> ParsedAnswer:
        """See InterviewQuestion.parse_answer. A correction that names no group is about the only one with a rule."""
        if whole := parse_whole_rule(said):
            return replace(whole, parts=self._rule_parts(whole.rules[0]))
        try:
            text = said if names_group(said, self.groups) else replace_option_numbers(said, self.options)
        except NoSuchOption as problem:
            raise AnswerNotUnderstood(str(problem)) from problem
        text = normalize_line(text)
        rest = _OTHERS_USUAL.sub(" ", text)
        is_usual, has_rest = rest != text, any(letter.isalnum() for letter in rest.replace("but", ""))
        if is_usual and has_rest and not names_group(rest, self.groups):
            raise self._unclear(self.parts)
        found = dict(before.parts) if before else {}
        if before and not is_usual and not names_group(rest, self.groups):
            ruled = [name for name, part in found.items() if part.rules]
            if len(ruled) != 1:
                raise self._unclear(ruled or self.parts)
            rest = f"{ruled[0]}: {rest}"
        said_of = self._split(rest) if has_rest else {}
        for group in self.groups:
            earlier = found.get(group.name)
            if group.name in said_of:
                found[group.name] = self._parse_part(group, said_of[group.name], earlier, adds)
            elif is_usual and not (adds and earlier and earlier.rules):
                found[group.name] = self._parse_part(group, "as usual", None, False)
        return _combine([(group.name, found[group.name]) for group in self.groups if group.name in found])

    def _split(self, text: str) -> dict[str, str]:
        """Split an answer into what it says about each group of the question, by the group's name.

        Raises:
            AnswerNotUnderstood: It is about groups that were not asked about only.
        """
        # Of a name that two groups have, the one that is asked about counts.
        other = [group for group in named_groups(text, [*self.others, *self.groups]) if group.name not in self.parts]
        said_of = split_by_group(text, [*other, *self.groups])
        found = {name: part for name, part in said_of.items() if name in self.parts}
        if other and not found:
            names = ", ".join(group.name for group in other)
            raise AnswerNotUnderstood(f"That is about {names}; the question is about {', '.join(self.parts)}.")
        return found

    def _rule_parts(self, rule: Rule) -> dict[str, ParsedAnswer]:
        """Return what a whole rule says about each group that its condition names. The others stay open."""
        named = [group.name for group in named_groups(rule.condition, self.groups)]
        refused = f"not {', '.join(rule.avoided)}" if rule.avoided else ""
        answer = "; ".join(filter(None, (", then ".join(rule.preferred), refused)))
        return {
            name: ParsedAnswer(answer, (make_rule(name, rule.preferred, rule.avoided),), rule.preferred, rule.avoided)
            for name in named
        }

    def _unclear(self, names: Iterable[str]) -> AnswerNotUnderstood:
        return AnswerNotUnderstood(f"Say for which: {', '.join(names)}.", keeps_before=True)

    def _parse_part(self, group: ThingGroup, text: str, before: ParsedAnswer | None, adds: bool) -> ParsedAnswer:
        """Parse what is said about one group.

        The names in it are not read: beside them, the embedder often takes a refusal for a wish.
        """
        part, before = self.parts[group.name], before if before and before.rules else None
        bare, names = split_off_names(text, group)
        asked = f"{normalize_line(self.text)} {group.name}"
        single = tuple(dict.fromkeys(name for name in names if name not in asked))
        try:
            if _USUAL_PART.search(bare):
                parsed = _parse_usual(group, part, _USUAL_PART.sub(" ", bare))
            else:
                parsed = part.parse_answer(self._replace_numbers(group, bare), before, adds)
        except (AnswerNotUnderstood, NoSuchOption) as problem:
            raise AnswerNotUnderstood(f"{group.name}: {problem}") from problem
        return replace(parsed, left_out=(*parsed.left_out, *single))

    def _replace_numbers(self, group: ThingGroup, text: str) -> str:
        """Replace numbers of options in what is said about a group. "The second one" is the group's second one.

        Raises:
            NoSuchOption: A number is that of another group.
        """
        part = self.parts[group.name]
        first = self.options.index(f"{group.name}: {part.options[0]}") + 1
        bare = _BESIDE_NUMBERS.sub(" ", text)
        for number in map(int, re.findall(r"\b\d{1,6}\b", bare)):
            if not first <= number < first + len(part.options):
                raise NoSuchOption(f"{number} is not among its options, {first} to {first + len(part.options) - 1}.")
        local = re.sub(r"\b\d{1,6}\b", lambda found: str(int(found[0]) - first + 1), bare)
        replaced = replace_option_numbers(local, part.options)
        return text if replaced == local else replaced


def _parse_usual(group: ThingGroup, part: WrittenQuestion, rest: str) -> ParsedAnswer:
    """Parse an answer that takes the usual places of a group, less those that the rest of the answer refuses."""
    options = zip(part.options, group.options, strict=True)
    usual = [option for option, place in options if place in group.usual] or part.options
    understood = part.parse_answer(", then ".join(usual))
    if find_place_kinds(part.words.mark_phrases(rest)):
        return part.parse_answer(rest, understood, adds=True)
    return understood


def _combine(parts: Sequence[tuple[str, ParsedAnswer]]) -> ParsedAnswer:
    """Return the meaning of an answer about several groups."""
    answers = [part.answer for _, part in parts]
    is_same = len(answers) > 1 and len(set(answers)) == 1
    return ParsedAnswer(
        answers[0] if is_same else "; ".join(f"{name}: {part.answer}" for name, part in parts),
        rules=tuple(rule for _, part in parts for rule in part.rules),
        left_out=tuple(dict.fromkeys(clause for _, part in parts for clause in part.left_out)),
        parts=dict(parts),
    )


def _other_names(group: ThingGroup, question: str, heads: Mapping[str, str]) -> tuple[str, ...]:
    """Return words for a group beside its name: jam, honey and spreads for spreads and oils, pan for frying pan.

    Args:
        group: The group.
        question: The question about it in everyday words, as in "Where do jam and honey belong?".
        heads: Last words of names of things, with the only group that has them.
    """
    asked = re.sub(r"^.*where do (?:the )?| and other .*$| belong\?$", "", question.lower())
    names = (*re.split(r", | and (?:the |their )?", asked), *group.name.split(" and "))
    own = (head for head, owner in heads.items() if owner == group.name)
    return tuple(dict.fromkeys(name for name in (*names, *own) if name))


def _unique_heads(groups: Sequence[ThingGroup]) -> dict[str, str]:
    """Return the last words of names of things and groups that only one group has, with that group."""
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for group in groups:
        for name in (*group.things, group.name):
            owners[name.split()[-1]].add(group.name)
    return {head: names.pop() for head, names in owners.items() if len(names) == 1}


class HouseConversation(Interview):
    """Asks where things belong, about the groups first whose answers are expected to say most."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        texts = read_model(QUESTIONS, QuestionFile).house
        groups = thing_groups()
        heads = _unique_heads(groups)
        self._texts = {group.name: texts.get(group.name, f"Where do {group.name} belong?") for group in groups}
        self._groups = tuple(
            replace(group, other_names=_other_names(group, self._texts[group.name], heads)) for group in groups
        )
        self._choice = GroupChoice(self._groups, embedder)

    def next_question(
        self, dialogue: Sequence[DialogueTurn], skipped: Collection[str], left: int
    ) -> InterviewQuestion | None:
        """See Interview.next_question. A group that an answer left out is asked about again."""
        passed = {group.name for text in skipped for group in self._groups_of(text)}
        wishes = self._wishes(dialogue)
        answered = {name: differs for name, differs in wishes.items() if differs is not None}
        chosen = self._choice.choose(answered, passed | wishes.keys())
        return self._question(chosen) if chosen else None

    def count_open_questions(self, dialogue: Sequence[DialogueTurn]) -> int | None:
        """See Interview.count_open_questions."""
        return ceil((len(self._groups) - len(self._wishes(dialogue))) / MAX_GROUPS)

    def find_question(self, asked: str) -> InterviewQuestion | None:
        """See Interview.find_question."""
        groups = self._groups_of(asked)
        return replace(self._question(groups), earlier=(asked,)) if groups else None

    def _wishes(self, dialogue: Sequence[DialogueTurn]) -> dict[str, bool | None]:
        """Return the groups that answers are about, and whether the wish differs from usual; None without a wish."""
        wishes: dict[str, bool | None] = {}
        for said in dialogue:
            wishes |= self._read_answer(self._groups_of(said.question), said.answer)
        return wishes

    def _read_answer(self, groups: Sequence[ThingGroup], answer: str) -> dict[str, bool | None]:
        try:
            parts = self._question(groups).parse_answer(answer).parts if groups and answer else {}
        except AnswerNotUnderstood:
            parts = {}
        if not parts:
            return {group.name: None for group in groups}
        places = {
            group: find_place_kinds(", ".join(parts[group.name].wanted)) for group in groups if group.name in parts
        }
        return {group.name: group.differs(wanted) if wanted else None for group, wanted in places.items()}

    def _groups_of(self, question: str) -> list[ThingGroup]:
        """Return the groups that a question is about, also one that a simulated person was asked."""
        named = [group for group in self._groups if self._texts[group.name] in question]
        return named or asked_groups(question, self._groups)

    def _question(self, groups: Sequence[ThingGroup]) -> GroupsQuestion:
        parts = {group.name: self._part(group) for group in groups}
        options = tuple(f"{name}: {option}" for name, part in parts.items() for option in part.options)
        return GroupsQuestion(
            text=" ".join(part.text for part in parts.values()),
            name=", ".join(parts),
            options=options,
            example=f"as usual, but {groups[-1].name}: {parts[groups[-1].name].example}",
            groups=tuple(groups),
            parts=parts,
            others=tuple(group for group in self._groups if group not in groups),
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
        )
