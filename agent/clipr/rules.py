"""Rules that people can read, write and correct: one sentence each, with typed parts if the sentence is understood.

Source: CLIPR (arXiv 2605.12682), section 3, which stores a numbered list of short directives. The typed parts
(condition, order of preference, avoided things, source turn) are an addition of this project.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from housewise.core.validation import StrictModel
from housewise.language.words import content_words, flatten_if_broken, one_line

MAX_RULES = 200
"""Longer lists of rules are truncated."""
MAX_RULE_CHARACTERS = 400
"""Longer rules are truncated."""

_CHOOSE = (
    r"(?:(?P<prefers>(?:prefers?|likes?)(?! to\b))|prefers?|choose|pick|use|wants?|likes?|take|go for|serve|bring"
    r"|prioriti[sz]e|select|give)"
)
_WHEN = r"(?:for|when|if|with|whenever|in case of|regarding|when it comes to|on|at|in|after|before|during)"
_CONDITION_WORD = r"(?:for|when|if|whenever|in case of|regarding)"
_OVER = (
    r"(?:\bover\b|\brather than\b|\binstead of\b|;?,?\s*(?:and |but )?\bavoid\b|,?\s*\bnever\b|,\s*not\b"
    r"|,?\s*\b(?:and|but) not\b)"
)
# "Prefer A to B" refuses B, but "bring A to B" and "next to B" name a place. B is short, since "to" has other uses.
_TO = rf"(?<!\bnext )(?<!\bclose )\bto\b(?=(?: [\w'-]+){{1,3}}(?:$|,?\s+{_CONDITION_WORD}\b))"
_OVER_OR_TO = rf"(?:{_OVER}|(?(prefers){_TO}|(?!)))"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        # The text of typed rules. The condition may contain commas and colons. What is preferred may contain "over" if
        # something else is avoided ("prefer eggs over easy; avoid boiled eggs"), but no ", not", which make_rule does
        # not write.
        r"^for (?P<condition>.+): prefer (?P<preferred>(?:(?!,\s*(?:not|never)\b)[^:;])+?); avoid (?P<avoided>[^:;]+)$",
        # If nothing else is avoided, "over" and "to" refuse what follows, as people mean it. Therefore make_rule's "For
        # eggs: prefer eggs over easy." is not read back as it was made.
        rf"^for (?P<condition>.+): prefer (?P<preferred>[^:;]+?)(?:\s*(?:{_OVER}|{_TO})\s*(?P<avoided>[^:]+))?$",
        r"^for (?P<condition>.+): avoid (?P<avoided>[^:;]+)$",
        rf"^(?:{_WHEN}) (?P<condition>.+?)\s*[:,]\s*(?:always |please |i |they |the user )*{_CHOOSE} (?P<preferred>.+?)"
        rf"(?:\s*{_OVER_OR_TO}\s*(?P<avoided>.+?))?$",
        rf"^(?:{_WHEN}) (?P<condition>.+?)\s*[:,]\s*(?:avoid|never {_CHOOSE}) (?P<avoided>.+?)$",
        rf"^(?:always |please |the user |they |i )*{_CHOOSE} (?P<preferred>.+?)"
        rf"(?:\s*{_OVER_OR_TO}\s*(?P<avoided>.+?))?(?:,?\s+{_CONDITION_WORD} (?P<condition>.+?))?$",
        rf"^(?:avoid|never {_CHOOSE}) (?P<avoided>.+?)"
        rf"(?:,?\s+(?:for|when|if|whenever) (?P<condition>.+?))?$",
    )
)
_NUMBER = re.compile(r"^\s*(?:\d{1,4}\s*[.):]|[-*•])\s*(.*)$")
_JOINT = re.compile(r"\s*(?:,\s*(?:and\s+)?(?:then|after that|failing that|or)?\b|>|;|\bthen\b|\bor\b)\s*")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|system prompt|you are now|previous instructions|assistant)\b", re.IGNORECASE
)


class Rule(StrictModel):
    """One directive.

    Attributes:
        text: The sentence that people read and write, on one line.
        condition: When the rule applies, in words. "" means always.
        preferred: What is wanted, best first.
        avoided: What is not wanted.
        source: Number of the dialogue turn that the rule was written from, starting at 1, or None.
        typed: Whether the sentence was parsed into condition, preferred and avoided. Untyped rules influence choices
            only if a language model reads them.
    """

    text: Annotated[str, Field(min_length=1, max_length=MAX_RULE_CHARACTERS), AfterValidator(flatten_if_broken)]
    condition: str = ""
    preferred: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()
    source: int | None = None
    typed: bool = False


def make_rule(condition: str, preferred: Iterable[str], avoided: Iterable[str] = (), source: int | None = None) -> Rule:
    """Build a typed rule from its parts and write its text.

    Raises:
        ValueError: Both ``preferred`` and ``avoided`` are empty.
    """
    condition = _truncated_line(condition, 160).rstrip(" .!?:")
    wanted = tuple(dict.fromkeys(phrase for each in preferred if (phrase := _clean_phrase(each))))[:6]
    unwanted = tuple(dict.fromkeys(phrase for each in avoided if (phrase := _clean_phrase(each)) not in ("", *wanted)))[
        :6
    ]
    if not wanted and not unwanted:
        raise ValueError("a rule must prefer or avoid something")
    said = f"prefer {', then '.join(wanted)}" if wanted else ""
    shunned = f"avoid {', '.join(unwanted)}" if unwanted else ""
    directive = "; ".join(part for part in (said, shunned) if part)
    text = f"For {condition}: {directive}." if condition else f"{directive[0].upper()}{directive[1:]}."
    return Rule(
        text=_truncated_line(text, MAX_RULE_CHARACTERS),
        condition=condition,
        preferred=wanted,
        avoided=unwanted,
        source=source,
        typed=True,
    )


def parse_rule(text: str) -> Rule:
    """Parse a sentence into a rule. A sentence that is not understood, or that addresses the model, stays untyped.

    Raises:
        ValueError: The text is empty.
    """
    line = _truncated_line(text, MAX_RULE_CHARACTERS)
    if not line:
        raise ValueError("a rule must not be empty")
    body = line.rstrip(".! ")
    for form in () if _ORDERS.search(body) else _FORMS:
        if found := form.match(body):
            parts = found.groupdict()
            preferred, avoided = _split_phrases(parts.get("preferred")), _split_phrases(parts.get("avoided"))
            if preferred or avoided:
                return Rule(
                    text=line,
                    condition=_truncated_line(parts.get("condition") or "", 160),
                    preferred=preferred,
                    avoided=avoided,
                    typed=True,
                )
    return Rule(text=line)


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Parse a list with one numbered or dashed rule per line. Other lines and repeated rules are skipped.

    At most :data:`MAX_RULES` rules are read.
    """
    rules: dict[str, Rule] = {}
    for line in text.splitlines():
        found = _NUMBER.match(line)
        if found and _truncated_line(found.group(1), MAX_RULE_CHARACTERS):
            rule = parse_rule(found.group(1))
            rules.setdefault(rule.text.lower(), rule)
        if len(rules) == MAX_RULES:
            break
    return tuple(rules.values())


def format_rules(rules: Sequence[Rule]) -> str:
    """Format rules as a numbered list."""
    return "\n".join(f"{number}. {rule.text}" for number, rule in enumerate(rules, 1))


def find_contradictions(rules: Sequence[Rule]) -> list[tuple[int, int]]:
    """Return pairs ``(earlier, later)`` of indices of typed rules that share a condition and contradict each other.

    Two rules contradict each other if one avoids what the other wants most, or if both have a condition and want
    different things most.
    """
    alike: dict[frozenset[str], list[int]] = {}
    pairs = []
    for later, rule in enumerate(rules):
        if rule.typed:
            others = alike.setdefault(frozenset(content_words(rule.condition)), [])
            pairs += [(earlier, later) for earlier in others if _is_contradiction(rules[earlier], rule)]
            others.append(later)
    return sorted(pairs, key=lambda pair: (pair[1], pair[0]))


def find_overruling(rules: Sequence[Rule], may_overrule: Callable[[int, int], bool]) -> dict[int, int]:
    """Return, by the index of each overruled rule, the index of the latest rule that overrules it.

    This keeps no pairs, of which many rules with one condition have very many; see `find_contradictions`.

    Args:
        rules: Rules, oldest first.
        may_overrule: Whether the rule of the second index may overrule that of the first one, if they contradict each
            other.
    """
    newer: defaultdict[frozenset[str], list[int]] = defaultdict(list)
    found: dict[int, int] = {}
    for earlier in reversed(range(len(rules))):
        rule = rules[earlier]
        if rule.typed:
            others = newer[frozenset(content_words(rule.condition))]
            contradicting = (other for other in others if _is_contradiction(rule, rules[other]))
            latest = next((other for other in contradicting if may_overrule(earlier, other)), None)
            if latest is not None:
                found[earlier] = latest
            others.append(earlier)
    return found


def add_newer_rules(rules: Sequence[Rule], newer: Sequence[Rule]) -> tuple[Rule, ...]:
    """Append newer rules and drop the older rules that they contradict."""
    pairs = find_contradictions([*rules, *newer])
    gone = {earlier for earlier, later in pairs if earlier < len(rules) <= later}
    return (*(rule for number, rule in enumerate(rules) if number not in gone), *newer)


def contradict_rules(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the typed rules with what they prefer and avoid exchanged."""
    return tuple(make_rule(rule.condition, rule.avoided, rule.preferred, rule.source) for rule in rules if rule.typed)


def _is_contradiction(one: Rule, other: Rule) -> bool:
    first, second = one.preferred[:1], other.preferred[:1]
    if set(first) & set(other.avoided) or set(second) & set(one.avoided):
        return True
    return bool(one.condition and first and second and first != second)


def _split_phrases(text: str | None) -> tuple[str, ...]:
    return tuple(phrase for part in _JOINT.split(text or "") if (phrase := _clean_phrase(part)))


def _clean_phrase(text: str) -> str:
    return re.sub(r"\s+(?:then)\s+", " ", re.sub(r"[,;>]", " ", _truncated_line(text, 120))).strip(" .")


def _truncated_line(text: str, most: int) -> str:
    return one_line(text[: 4 * most])[:most].strip()
