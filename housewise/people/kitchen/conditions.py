"""The language of conditions in profile files: what has to be true of a breakfast.

A condition is one line of predicates, joined by ``and``, ``or``, ``not`` and brackets.

============================  ========================================================================================
used(G)                       something of G was moved, poured from, heated, made into something, or had food put into
                              it; ``used(G, kinds=2)``: things of at least two kinds
together(G, H)                something of G came together with something of H, in one container or on one food,
                              whatever became of them; a thing of both groups is not together with itself
before(G, H)                  they came together, and something of G was added before anything of H;
                              ``before(G, H, on_top=True)`` ignores what the task's dish is made of (the cereal of a
                              bowl of cereal), so that only what is added on top is compared
made("omelet", of=G)          food made of G has one of the words in its name, or was made by that verb; without ``of``
                              food made of anything
done("scramble", of=G)        food made of G was made by one of the verbs, whatever its name is
cooked(G)                     something of G was heated, or cooked in some way
in_container(G)               food of G was in a container
on_appliance(G)               food of G was on or in a cooking appliance
served_at(P)                  at the end all prepared food that still exists is at P
served_before(G, H)           something of G came to a dining place before anything of H, which came too
available(G)                  something of G was in the scene at the start; ``available(G, kinds=2)``
task_says("omelet")           the text of the task contains one of the words
============================  ========================================================================================

G, H and P are names of groups (``housekeep_configs/kitchen/groups.yaml``, or the file's own) or of things, or several
of them joined by ``|``: ``together(milk | whipped_cream, coffee)``. "Not with" is ``not together(G, H)``.

A line is parsed with Python's grammar and checked name by name. It is never executed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from housewise.core.errors import suggest_names
from housewise.language.words import normalize_letters

MAX_CHARACTERS = 2000
MAX_DEPTH = 20
"""Levels of nested brackets."""


class ConditionError(ValueError):
    """A text is not a condition. The message says what is wrong and how to correct it."""


@dataclass(frozen=True)
class AllOf:
    """A conjunction."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class AnyOf:
    """A disjunction."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    """A negation."""

    part: Condition


@dataclass(frozen=True)
class Predicate:
    """One predicate of a condition.

    Attributes:
        name: Its name in the table above.
        groups: The names that ``|`` joins, for each group argument.
        ids: The things that these names stand for, for each group argument.
        words: The normalized words of ``made``, ``done`` and ``task_says``.
        kinds: The least number of different kinds.
        on_top: The option of ``before``.
    """

    name: str
    groups: tuple[tuple[str, ...], ...] = ()
    ids: tuple[frozenset[str], ...] = ()
    words: tuple[str, ...] = ()
    kinds: int = 1
    on_top: bool = False

    def __str__(self) -> str:
        parts = [f'"{word}"' for word in self.words] + [" | ".join(names) for names in self.groups]
        if self.words and self.groups:
            parts[-1] = f"of={parts[-1]}"
        parts += [f"kinds={self.kinds}"] if self.kinds > 1 else []
        parts += ["on_top=True"] if self.on_top else []
        return f"{self.name}({', '.join(parts)})"


Condition = AllOf | AnyOf | Not | Predicate


@dataclass(frozen=True)
class _Form:
    groups: int = 1
    words: bool = False
    options: tuple[Literal["kinds", "on_top", "of"], ...] = ()


PREDICATE_FORMS: Mapping[str, _Form] = {
    "used": _Form(options=("kinds",)),
    "together": _Form(groups=2),
    "before": _Form(groups=2, options=("on_top",)),
    "made": _Form(groups=0, words=True, options=("of",)),
    "done": _Form(groups=0, words=True, options=("of",)),
    "cooked": _Form(),
    "in_container": _Form(),
    "on_appliance": _Form(),
    "served_at": _Form(),
    "served_before": _Form(groups=2),
    "available": _Form(options=("kinds",)),
    "task_says": _Form(groups=0, words=True),
}
"""The arguments of each predicate."""

_Option = TypeVar("_Option", int, bool)
GroupLookup = Callable[[str], "frozenset[str] | None"]
"""Returns the ids of a group or thing by name, or None for an unknown name."""


def parse_condition(text: str, lookup: GroupLookup) -> Condition:
    """Parse a condition.

    Args:
        text: The line.
        lookup: Resolves names of groups and things.

    Raises:
        ConditionError: The line is no condition, or names something unknown.
    """
    if len(text) > MAX_CHARACTERS:
        raise ConditionError(f"has {len(text)} characters; at most {MAX_CHARACTERS} are allowed")
    try:
        tree = ast.parse(" ".join(text.split()), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        where = f" near character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        raise ConditionError(f"cannot be read{where}: {text[:80]!r}") from error
    try:
        return _parse_node(tree.body, lookup, 0)
    except RecursionError:
        raise ConditionError(f"is nested too deeply: {text[:80]!r}") from None


def _parse_node(node: ast.expr, lookup: GroupLookup, depth: int) -> Condition:
    if depth > MAX_DEPTH:
        raise ConditionError(f"has more than {MAX_DEPTH} levels of nested brackets")
    if isinstance(node, ast.BoolOp):
        parts = tuple(_parse_node(value, lookup, depth + 1) for value in node.values)
        return AllOf(parts) if isinstance(node.op, ast.And) else AnyOf(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return Not(_parse_node(node.operand, lookup, depth + 1))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _parse_predicate(node, node.func.id, lookup)
    raise ConditionError(f"{ast.unparse(node)[:80]!r} is no predicate; write one such as used(milk)")


def _parse_predicate(node: ast.Call, name: str, lookup: GroupLookup) -> Predicate:
    form = PREDICATE_FORMS.get(name)
    if form is None:
        raise ConditionError(f"unknown predicate {name!r}; {suggest_names(name, PREDICATE_FORMS)}")
    options = {keyword.arg: keyword.value for keyword in node.keywords}
    for option in options:
        if option not in form.options:
            raise ConditionError(f"{name} has no {option}=")
    words: tuple[str, ...] = ()
    arguments = list(node.args)
    if form.words:
        words = tuple(_parse_word(argument, name) for argument in arguments)
        if not words:
            raise ConditionError(f'{name} needs words, such as {name}("omelet")')
        arguments = [options["of"]] if "of" in options else []
    elif len(arguments) != form.groups:
        raise ConditionError(f"{name} needs {form.groups} of groups or things, not {len(arguments)}")
    groups = tuple(tuple(_parse_names(argument, name)) for argument in arguments)
    return Predicate(
        name,
        groups,
        tuple(find_ids(names, lookup) for names in groups),
        words,
        _parse_option(options, "kinds", 1, name),
        _parse_option(options, "on_top", False, name),
    )


def _parse_names(node: ast.expr, predicate: str) -> Iterator[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _parse_names(node.left, predicate)
        yield from _parse_names(node.right, predicate)
    elif isinstance(node, ast.Name):
        yield node.id
    else:
        raise ConditionError(f"{ast.unparse(node)[:80]!r} in {predicate} is no name of a group or a thing")


def find_ids(names: tuple[str, ...], lookup: GroupLookup) -> frozenset[str]:
    """Return the things that names of groups and things stand for.

    Raises:
        ConditionError: A name is unknown.
    """
    found: set[str] = set()
    for name in names:
        ids = lookup(name)
        if ids is None:
            raise ConditionError(f"{name!r} is neither a group nor a thing of the kitchen")
        found |= ids
    return frozenset(found)


def _parse_word(node: ast.expr, predicate: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and normalize_words(node.value):
        return stem(normalize_words(node.value))
    raise ConditionError(f'{predicate} needs words in quotes, such as {predicate}("omelet")')


def _parse_option(options: Mapping[str | None, ast.expr], option: str, default: _Option, predicate: str) -> _Option:
    """Return the value of an option: a number from 1, or a truth value, as its default."""
    node = options.get(option)
    value = default if node is None else node.value if isinstance(node, ast.Constant) else None
    if type(value) is type(default) and (value is False or value > 0):
        return value
    kind = "True or False" if default is False else "a number from 1"
    raise ConditionError(f"{predicate}: {option} has to be {kind}")


def normalize_words(text: str) -> str:
    """Return a name in the form in which names are compared: lower case, spaces, no accents, omelet for omelette."""
    return " ".join(re.split(r"[\W_]+", normalize_letters(text))).strip().replace("omelette", "omelet")


def stem(word: str) -> str:
    """Return a word without its ending, so that "poached" finds poached_egg and food made by the verb poach."""
    return re.sub(r"(?<=\w{4})(ing|ed|es|s|e)$", "", word)


def iter_predicates(condition: Condition) -> Iterator[Predicate]:
    """Yield all predicates of a condition, from left to right."""
    if isinstance(condition, Predicate):
        yield condition
    else:
        for part in (condition.part,) if isinstance(condition, Not) else condition.parts:
            yield from iter_predicates(part)
