"""The language in which people's files say what has to be true of a breakfast.

A condition is one line: predicates joined by ``and``, ``or``, ``not`` and brackets.

============================  ========================================================================================
used(G)                       something of G was moved, poured from, heated, made into something, or had food put into
                              it; ``used(G, kinds=2)``: of at least two kinds
together(G, H)                something of G came together with something of H, in one container or on one food,
                              whatever became of them; one thing that is of both is not together with itself
before(G, H)                  they came together, and something of G went in before anything of H did;
                              ``before(G, H, on_top=True)``: leaving aside what the task's dish is made of (the cereal
                              of a bowl of cereal), so that only what comes on top is compared
made("omelet", of=G)          something made of G has one of the words in its name, or was made by that verb; without
                              ``of`` something made of anything
done("scramble", of=G)        something made of G was made by one of the verbs, whatever it is called
cooked(G)                     something of G was heated, or cooked in some way
in_container(G)               food of G was in a container
on_appliance(G)               food of G was on or in a cooking appliance
served_at(P)                  at the end everything that was prepared and still exists stands at P
served_before(G, H)           something of G came to a dining place before anything of H, which came too
available(G)                  something of G was there at the start; ``available(G, kinds=2)``
task_says("omelet")           the words of the task hold one of the words
============================  ========================================================================================

G, H and P are names of groups (``housekeep_configs/kitchen/groups.yaml``, or the file's own) or of things, or several
of them with ``|`` between: ``together(milk | whipped_cream, coffee)``. "Not with" is ``not together(G, H)``.

A line is parsed by Python's grammar, checked name by name, and never executed.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

MAX_CHARACTERS = 2000  # characters of a condition
MAX_DEPTH = 20  # brackets within brackets


class ConditionError(ValueError):
    """A condition is not of the language; the message says what is wrong and what would be right."""


@dataclass(frozen=True)
class AllOf:
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class AnyOf:
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    part: Condition


@dataclass(frozen=True)
class Predicate:
    """One predicate.

    Attributes:
        name: of the table above.
        groups: for each group argument the names that ``|`` joined.
        ids: for each group argument the things that it stands for.
        words: the words of ``made``, ``done`` and ``task_says``, as they are compared.
        kinds: of at least how many kinds.
        on_top: of ``before``.
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

GroupLookup = Callable[[str], "frozenset[str] | None"]


def parse_condition(text: str, lookup: GroupLookup) -> Condition:
    """The condition that a line says.

    Args:
        lookup: gives the ids of a group or a thing by its name, None for what is neither.

    Raises:
        ConditionError: it is none.
    """
    if len(text) > MAX_CHARACTERS:
        raise ConditionError(f"has {len(text)} characters; at most {MAX_CHARACTERS} are read")
    try:
        tree = ast.parse(" ".join(text.split()), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        where = f" near character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        raise ConditionError(f"cannot be read{where}: {text[:80]!r}") from error
    try:
        return _condition(tree.body, lookup, 0)
    except RecursionError:
        raise ConditionError(f"has too much within each other: {text[:80]!r}") from None


def _condition(node: ast.expr, lookup: GroupLookup, depth: int) -> Condition:
    if depth > MAX_DEPTH:
        raise ConditionError(f"has more than {MAX_DEPTH} brackets within each other")
    if isinstance(node, ast.BoolOp):
        parts = tuple(_condition(value, lookup, depth + 1) for value in node.values)
        return AllOf(parts) if isinstance(node.op, ast.And) else AnyOf(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return Not(_condition(node.operand, lookup, depth + 1))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _predicate(node, node.func.id, lookup)
    raise ConditionError(f"{ast.unparse(node)[:80]!r} is no predicate; write one such as used(milk)")


def _predicate(node: ast.Call, name: str, lookup: GroupLookup) -> Predicate:
    form = PREDICATE_FORMS.get(name)
    if form is None:
        raise ConditionError(f"unknown predicate {name!r}; use one of {', '.join(PREDICATE_FORMS)}")
    options = {keyword.arg: keyword.value for keyword in node.keywords}
    for option in options:
        if option not in form.options:
            raise ConditionError(f"{name} has no {option}=")
    words: tuple[str, ...] = ()
    arguments = list(node.args)
    if form.words:
        words = tuple(_word(argument, name) for argument in arguments)
        if not words:
            raise ConditionError(f'{name} needs words, such as {name}("omelet")')
        arguments = [options["of"]] if "of" in options else []
    elif len(arguments) != form.groups:
        raise ConditionError(f"{name} needs {form.groups} of groups or things, not {len(arguments)}")
    groups = tuple(tuple(_names(argument, name)) for argument in arguments)
    return Predicate(
        name,
        groups,
        tuple(_ids(names, lookup) for names in groups),
        words,
        _number(options.get("kinds"), f"{name}: kinds"),
        _truth(options.get("on_top"), f"{name}: on_top"),
    )


def _names(node: ast.expr, predicate: str) -> Iterator[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _names(node.left, predicate)
        yield from _names(node.right, predicate)
    elif isinstance(node, ast.Name):
        yield node.id
    else:
        raise ConditionError(f"{ast.unparse(node)[:80]!r} in {predicate} is no name of a group or a thing")


def _ids(names: tuple[str, ...], lookup: GroupLookup) -> frozenset[str]:
    found: set[str] = set()
    for name in names:
        ids = lookup(name)
        if ids is None:
            raise ConditionError(f"{name!r} is neither a group nor a thing of the kitchen")
        found |= ids
    return frozenset(found)


def _word(node: ast.expr, predicate: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and normalize_words(node.value):
        return stem(normalize_words(node.value))
    raise ConditionError(f'{predicate} needs words in quotes, such as {predicate}("omelet")')


def _number(node: ast.expr | None, what: str) -> int:
    value = node.value if isinstance(node, ast.Constant) else None
    if node is None:
        return 1
    if type(value) is int and value > 0:
        return value
    raise ConditionError(f"{what} has to be a number from 1")


def _truth(node: ast.expr | None, what: str) -> bool:
    if node is None:
        return False
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return node.value
    raise ConditionError(f"{what} has to be True or False")


def normalize_words(text: str) -> str:
    """Names as they are compared: lower case, blanks between, no accents; omelette is spelt omelet."""
    letters = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(re.split(r"[\W_]+", plain)).strip().replace("omelette", "omelet")


def stem(word: str) -> str:
    """A word without its ending, so that poached finds a poached_egg and what was made by the verb poach."""
    return re.sub(r"(?<=\w{4})(ing|ed|es|s|e)$", "", word)


def iter_predicates(condition: Condition) -> Iterator[Predicate]:
    """All predicates of a condition, from left to right."""
    if isinstance(condition, Predicate):
        yield condition
    elif isinstance(condition, Not):
        yield from iter_predicates(condition.part)
    else:
        for part in condition.parts:
            yield from iter_predicates(part)
