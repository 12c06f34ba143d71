"""The grammar of actions in the text kitchen. It restricts actions to what the robot has seen.

Things are those that were seen, contents those of seen containers, verbs those that can be applied to food. The words
of a question and the name of a result are free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from housewise.language.gbnf import REPLY, literal, one_of, rule
from housewise.worlds.kitchen.action_parser import MAX_NAME_LETTERS
from housewise.worlds.kitchen.state import State

MAX_QUESTION_CHARACTERS = 120
_FREE_WORDS = rf"[A-Z] [a-zA-Z0-9 ',_.!/()-]{{3,{MAX_QUESTION_CHARACTERS}}}"
NO_QUESTION = "None"
_QUESTION = rule("question", rf'"\"" {_FREE_WORDS} "?\""')
_ACTIONS = ("Open", "Close", "Turn on", "Turn off", "Heat", "Search")


@dataclass(frozen=True)
class NameableThings:
    """What an action can name.

    Attributes:
        things: Everything seen, including rooms and furniture.
        portions: Content and holder of everything that can be poured.
        filled: Containers with something in them.
        foods: Food that can be worked on.
    """

    things: tuple[str, ...]
    portions: tuple[tuple[str, str], ...]
    filled: tuple[str, ...]
    foods: tuple[str, ...]

    @classmethod
    def from_state(cls, state: State, seen: Iterable[str]) -> NameableThings:
        """Return what can be named of the things that were seen and still exist."""
        things = [id for id in dict.fromkeys(seen) if id in state]
        packets = [(contents, id) for id in things if (contents := state[id].contents)]
        inside = [
            (thing, id) for id in things if not state[id].can("room") for thing in state.inside(id) if thing in things
        ]
        filled = [id for id in things if state[id].can("container") and state.inside(id)]
        foods = [id for id in things if state[id].can("edible")]
        return cls(tuple(things), (*packets, *inside), tuple(filled), tuple(foods))


def action_grammar(named: NameableThings, verbs: Sequence[str], asks: bool) -> str:
    """Return the grammar of one action.

    Args:
        named: Things that the action may name.
        verbs: Verbs that can be applied to food.
        asks: Whether a question is an action.

    Returns:
        GBNF rules; see housewise.language.gbnf.
    """
    return "\n".join(_grammar_rules(named, verbs, asks)) + "\n"


def question_grammar() -> str:
    """Return the grammar of a question as an action; see action_grammar."""
    return "\n".join((rule(REPLY, f"{literal(' Ask ')} question"), _QUESTION)) + "\n"


def reflection_grammar() -> str:
    """Return the grammar of a reflection: a question without quotes, or None."""
    return rule(REPLY, f"{literal(' ')} ({literal(NO_QUESTION)} | {_FREE_WORDS} {literal('?')})") + "\n"


def _grammar_rules(named: NameableThings, verbs: Sequence[str], asks: bool) -> Iterator[str]:
    forms = [literal("Declare Done"), "simple", f"{literal('Look for ')} word", f"{literal('Move ')} thing to"]
    forms.append(f"{literal('Serve the object ')} thing {literal(' at ')} thing")
    if named.portions:
        forms.append(f"{one_of([literal('Pour '), literal('Move ')])} portion to")
    if named.filled:
        forms += [
            f"{one_of([literal('Mix all'), literal('Cook')])} {literal(' items in ')} filled get",
            f"verb {literal(' items in ')} filled get",
        ]
    if named.foods:
        forms += [f"{literal('Chop ')} food get", f"verb {literal(' the object ')} food get"]
    if asks:
        forms.append(f"{literal('Ask ')} question")
    yield rule(REPLY, f"{literal(' ')} {one_of(forms)}")
    yield rule("simple", f"{one_of(literal(f'{action} ') for action in _ACTIONS)} thing")
    yield rule("to", f"{literal(' to ')} thing")
    yield rule("thing", one_of(map(literal, named.things)))
    yield rule("word", "[a-z]{1,21}")
    if named.portions:
        yield rule("portion", one_of(literal(f"{content} from {holder}") for content, holder in named.portions))
    if named.filled:
        yield rule("filled", one_of(map(literal, named.filled)))
    if named.foods:
        yield rule("food", one_of(map(literal, named.foods)))
    if named.filled or named.foods:
        yield rule("verb", one_of(literal(verb.capitalize()) for verb in verbs))
        yield rule("get", f"{literal(' to get ')} [a-z] [a-z_]{{0,{MAX_NAME_LETTERS - 1}}}")
    if asks:
        yield _QUESTION
