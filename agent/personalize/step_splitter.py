"""The step splitter: splits a reply into lines with one step each, in whatever form models write plans.

Plans come in code fences, tags, tables, JSON, lists of all kinds, and in sentences with several steps. Each resulting
line is read by step_phrasing. Replies are untrusted: every pattern takes time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from housewise.agent.personalize.json_steps import JSON_START, json_step_lines
from housewise.agent.personalize.plan_parser import LONGEST_LINE
from housewise.agent.personalize.step_phrasing import (
    CONDITION,
    NUMBER_WORDS,
    count_arguments,
    is_step,
    strip_numbering,
)
from housewise.language.markup import strip_markup

_REASON_TAG = re.compile(r"<(reason\w*|rationale|explanation|why|comment|notes?)\b[^<>]*>[^<>]*</\1>", re.IGNORECASE)
_ELEMENT = re.compile(r"<([a-z][\w-]{1,24})>([^<>]{1,200})</\1>", re.IGNORECASE)
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-z][\w:-]{0,30})(?P<rest>(?:[\s/][^<>]{0,200})?)>", re.IGNORECASE)
_VALUE = re.compile(r"=\s*(?:\"([^\"]*)\"|'([^']*)')")
_INLINE = frozenset(["b", "i", "u", "em", "strong", "code", "span", "mark", "kbd", "font", "small", "tt"])
_BLOCK = re.compile(r"(?:br|p|li|ul|ol|div|hr|tr|h\d|steps?|actions?|plans?|answer|item|output|response|final)[_-]?\d*")

_STEP_INSIDE = re.compile(rf"(?<=\S)\s+(?=step\s*(?:\d+|{NUMBER_WORDS})\s*[:.)])", re.IGNORECASE)
_BLANK_CHARACTERS = " \t-*`>#"
_TABLE_RULE = re.compile(r"[\s|:+=-]+")
_REASON_LINE = re.compile(r"\W*(?:reason\w*|rationale|explanation|why)\W{0,3}:", re.IGNORECASE)
_DONE = re.compile(r"\W*(?:done|finish|mission_complete)\s*[\[(]\s*[\])]\W*", re.IGNORECASE)
# PARTNR (Chang et al. 2024): go to an object, pick it up, go elsewhere, place it there.
_REARRANGE = re.compile(r"\W*(?:\d+\W+)?rearrange\s*[\[(]([^,\[\]()]+),([^,\[\]()]+),([^,\[\]()]+)", re.IGNORECASE)

_LONGEST_OPENING = 80  # characters that tell whether a step begins
# Characters between two steps of a line.
_BETWEEN = re.compile(r"[\s,;|&→⇒➔➜。、.>=–—-]+")
_SEPARATOR = re.compile(r"[,;|&→⇒➔➜。、]|[=-]>|\.\s|\s[–—-]+\s")
_CONNECTIVE = re.compile(rf"(?:and|then|next|finally|after\sthat|step\s*(?:\d+|{NUMBER_WORDS}))\b", re.IGNORECASE)
_FIRST_NUMBER = re.compile(r"[\W_]*(?:step\s*)?(\d{1,3})(?!\d)", re.IGNORECASE)
_NUMBER = re.compile(r"[(\[]?(\d{1,3})[.):\]]+\s")
# Not "to see if the mug is there".
_CONDITION = re.compile(rf"(?<!\bsee\s)(?<!\bcheck\s)(?<!\bverify\s){CONDITION}", re.IGNORECASE)


def split_into_steps(reply: str) -> list[str]:
    """Split a reply into lines that hold at most one step.

    Args:
        reply: Any text.

    Returns:
        The nonempty lines as written, without marks of structure.
    """
    text, lines, start = _replace_tags(strip_markup(reply)), list[str](), 0
    while start < len(text):
        found = JSON_START.search(text, start)
        end = found.start() if found else len(text)
        lines += _split_prose(text[start:end])
        if found is None:
            break
        structured, start = json_step_lines(text, end)
        lines += [line for said in structured for line in _split_prose(said)]
    return lines


def _split_prose(text: str) -> list[str]:
    """Return the lines of a text without structure, split where one holds several steps."""
    lines = list[str]()
    for line in _STEP_INSIDE.sub("\n", text).splitlines():
        if "|" in line and "-" in line and _TABLE_RULE.fullmatch(line):
            if lines and not is_step(lines[-1]):
                lines.pop()  # the header of the table
        elif line.strip(_BLANK_CHARACTERS) and not _REASON_LINE.match(line):
            lines += _split_line(_step_in_row(line))
    return list(_join_names(lines))


def _step_in_row(line: str) -> str:
    """Return the step in a row of a table. Other lines are returned unchanged."""
    cells = [cell.strip() for cell in line.strip(" |").split("|")]
    if line.lstrip().startswith("|") or (len(cells) > 1 and not is_step(cells[0])):
        for number, cell in enumerate(cells, start=1):
            if is_step(cell):
                return cell
            if count_arguments(cell):
                return f"{cell}({', '.join(cells[number:])})"
    return line


def _split_line(line: str) -> Iterator[str]:
    """Yield the steps of a line. Lines that do not start with a step, and text after a condition, are not split."""
    if _DONE.fullmatch(line):
        yield "mission complete"
        return
    if moved := _REARRANGE.match(line):
        thing, place = moved[1].strip(), moved[3].strip()
        yield from (f"go to {thing}", f"pick up {thing}", f"go to {place}", f"place {thing} on {place}")
        return
    start, first = 0, _FIRST_NUMBER.match(line)
    number = int(first[1]) if first else 1
    for between in _BETWEEN.finditer(line) if is_step(line) else ():
        end = between.end()
        counted = _NUMBER.match(line, end)
        # In "kitchen 0. go to" the number belongs to the kitchen.
        follows = counted and int(counted[1]) == number + 1 and (first or line[between.start() - 1].isdigit())
        if not (follows or _SEPARATOR.search(between[0]) or _CONNECTIVE.match(line, end)):
            continue
        if not (is_step(line[start : between.start()][:LONGEST_LINE]) and is_step(line[end : end + _LONGEST_OPENING])):
            continue
        if _CONDITION.search(line, start, between.start()):
            break
        yield line[start : between.start()]
        start, number = end, number + 1
    yield line[start:]


def _join_names(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines, and join a line that is only a verb with the names on the lines after it."""
    index = 0
    while index < len(lines):
        line, behind = lines[index], index + 1
        needed = count_arguments(line)
        names = list(takewhile(lambda name: not is_step(name), lines[behind : behind + needed]))
        yield f"{line}({', '.join(map(strip_numbering, names))})" if names else line
        index = behind + len(names)


def _replace_tags(text: str) -> str:
    """Return a text without tags such as those of HTML: blocks become lines, ``<go_to>X</go_to>`` a call."""
    text = _ELEMENT.sub(lambda tag: f"\n{tag[1]}({tag[2]})\n" if count_arguments(tag[1]) else tag[0], text)
    closed = {tag["name"].lower() for tag in _TAG.finditer(text) if tag["end"]}
    return _TAG.sub(lambda tag: _tag_replacement(tag, closed), _REASON_TAG.sub("", text))


def _tag_replacement(tag: re.Match[str], closed: set[str]) -> str:
    """Return the replacement of a tag. ``<kitchen>`` in "go to <kitchen>" is kept."""
    name, rest = tag["name"].lower(), tag["rest"]
    values = [double or single for double, single in _VALUE.findall(rest)] if rest.endswith("/") else []
    said = [*([name] if count_arguments(name) else []), *(value for value in values if not value.isdigit())]
    if values and said:
        return f"\n{said[0]}({', '.join(said[1:])})\n" if said[1:] else f"\n{said[0]}\n"
    if name in _INLINE:
        return ""
    if _BLOCK.fullmatch(name):
        return "\n"
    if not (tag["end"] or rest.endswith("/") or name in closed):
        return tag[0]
    beside = tag.string[tag.end() : tag.end() + 1] if tag["end"] else tag.string[max(tag.start() - 1, 0) : tag.start()]
    return "\n" if beside in ("", "\n", "<", ">") else " "
