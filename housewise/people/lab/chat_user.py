"""A person in the lab who is played by a chat model (paper, section 4.3 and appendix A.1, Lists 5 to 7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from housewise.core.configs import CONFIGS
from housewise.core.template_text import Template, template_text
from housewise.core.validation import read_model
from housewise.language.base import ChatModel, ChatRequest, Message, Sampling
from housewise.language.gbnf import REPLY, literal, one_of, rule
from housewise.language.history_fitting import complete_with_history
from housewise.language.words import one_line
from housewise.people.lab.reply_tags import read_tag, remove_ids, tagged_rule, unquote
from housewise.people.lab.verb_spotting import take_room
from housewise.people.lab.views import UserTurn, UserView
from housewise.people.lab.vocabulary import load_vocabulary, tokenize
from housewise.worlds.lab.actions import AMOUNTS, ARGUMENTS, LabAction, Verb
from housewise.worlds.lab.history import OPENING, LabTurn, Naming, clip_speech, describe_turn
from housewise.worlds.lab.state import ROOMS
from housewise.worlds.lab.texts import history_text

PromptSize = Literal["full", "compact"]
"""Prompts for any server, and for the bundled small model."""
PAPER_SAMPLING = Sampling(temperature=0.7, top_p=0.95, max_tokens=512)
UNREADABLE = LabAction("GotoObject", "(unreadable)")
"""What stands for a reply that is no action. It fails, as nothing has that name."""
ANTI_LOOP_TURNS = 3
"""Consecutive rotations or movements after which the search note is added."""

_MOVES = ("MoveForward", "MoveBackward", "RotateLeft", "RotateRight", "LookUp", "LookDown")
_VERBS: dict[str, Verb] = {verb.lower(): verb for verb in ARGUMENTS} | {
    "placeto": "Place", "pourto": "Pour", "throwto": "Throw", "say": "Speak", "pickupobject": "Pickup",
}  # fmt: skip
_THING_ID = re.compile(r"[A-Za-z][\w']*_\d+")
_SPEECH = r'"\"" [^"\n<>]{1,300} "\""'


class UserPrompts(Template):
    """Prompt templates of the person."""

    system: str = template_text("name", "persona", "names")
    interaction: str = template_text(
        "goal", "history", "last_message", "last_action", "state", "speech", "observation", "search_note"
    )
    search_note: str = template_text()
    personas: dict[str, str]
    names: dict[Naming, str]


@lru_cache(maxsize=2)
def load_user_prompts(size: PromptSize) -> UserPrompts:
    """Load the bundled prompts.

    Raises:
        DataError: The file is malformed.
    """
    name = "user" if size == "full" else "user_compact"
    return read_model(CONFIGS / "basis" / "prompts" / f"{name}.yaml", UserPrompts)


class ChatUser:
    """A ``LabUser`` played by a chat model.

    Args:
        model: The chat model. The caller closes it.
        name: Persona, Alice or Bob.
        size: Which prompts to use.
        sampling: How replies are sampled; the default is the paper's.
        uses_grammar: Whether the reply is held to a grammar of the actions that are possible by what is in view.
    """

    def __init__(
        self,
        model: ChatModel,
        name: str = "Bob",
        size: PromptSize = "full",
        sampling: Sampling = PAPER_SAMPLING,
        uses_grammar: bool = False,
    ) -> None:
        self.name = name
        self._model, self._sampling, self._uses_grammar = model, sampling, uses_grammar
        self._prompts = load_user_prompts(size)

    def act(self, view: UserView) -> UserTurn:
        """See ``LabUser.act``."""
        grammar = action_grammar(view) if self._uses_grammar else None

        def build(history: str) -> ChatRequest:
            return ChatRequest(self.messages(view, history), self._sampling, grammar=grammar)

        reply = complete_with_history(self._model, _history(view), build)
        action = read_action(read_tag(reply, "Action") or "")
        return UserTurn(reply.thoughts.strip(), action or UNREADABLE, action is not None, reply.usage)

    def messages(self, view: UserView, history: str | None = None) -> tuple[Message, ...]:
        """Return the prompt of a turn.

        Args:
            view: What the person knows.
            history: What has happened before the last action. None for all of it.
        """
        prompts, last = self._prompts, view.history[-1] if view.history else None
        spoken = [turn.action.argument for turn in view.history if turn.action.verb == "Speak"]
        persona, names = prompts.personas[self.name].strip(), prompts.names[view.naming].strip()
        system = prompts.system.format(name=self.name, persona=persona, names=names)
        interaction = prompts.interaction.format(
            goal=view.goal,
            history=_history(view) if history is None else history,
            last_message=clip_speech(spoken[-1]) if spoken else "(none)",
            last_action=describe_turn(last, view.naming) if last else "(none)",
            state=view.state_text,
            speech=clip_speech(view.speech) if view.speech else "(silent)" if last else OPENING,
            observation=view.metadata,
            search_note=prompts.search_note if is_looping(view.history) else "",
        )
        return (Message("system", system.strip()), Message("user", interaction.strip()))


def _history(view: UserView) -> str:
    return history_text(view.history[:-1], view.naming)


def is_looping(history: Sequence[LabTurn]) -> bool:
    """Whether the last actions were rotations or movements only."""
    last = history[-ANTI_LOOP_TURNS:]
    return len(last) == ANTI_LOOP_TURNS and all(turn.action.verb in _MOVES for turn in last)


def read_action(text: str) -> LabAction | None:
    """Return the action that a text such as ``Pickup mug_1234`` names. None if it names none."""
    line = one_line(text)
    found = re.match(r"\W*([A-Za-z]+)\W*(.*?)\W*$", line)
    verb = _VERBS.get(found[1].lower()) if found else None
    if found is None or verb is None:
        return None
    argument = found[2]
    if verb == "Speak":
        argument = clip_speech(remove_ids(unquote(line[found.end(1) :].lstrip(" :(*\"'"))))
    elif ARGUMENTS[verb] == "room":
        argument = _read_room(argument) or argument
    elif ARGUMENTS[verb] in ("metres", "degrees"):
        number = re.match(r"\d+", argument)
        argument = number[0] if number else str(AMOUNTS[verb][0])
    elif (thing := _THING_ID.search(argument)) is not None:
        # Models copy the number or the name that stands beside an id in lists and in the history.
        argument = thing[0]
    return LabAction(verb, argument) if argument else None


def action_grammar(view: UserView) -> str:
    """Return a grammar of a thought and an action on what is in view or was named before."""
    known = [each.id for each in view.things]
    known += [turn.action.argument for turn in view.history if ARGUMENTS[turn.action.verb] == "thing"]
    ids = one_of(literal(id) for id in dict.fromkeys(known)) if known else ""
    kinds: dict[str, list[str]] = {}
    for verb in ARGUMENTS:
        kinds.setdefault(ARGUMENTS[verb], []).append(verb)
    actions = [f'{one_of(map(literal, kinds["room"]))} " " {one_of(map(literal, ROOMS))}', f'"Speak " {_SPEECH}']
    actions += [f'{literal(verb)} " " {one_of(literal(str(each)) for each in AMOUNTS[verb])}' for verb in AMOUNTS]
    if ids:
        actions.append(f'{one_of(map(literal, kinds["thing"]))} " " {ids}')
    return rule(REPLY, tagged_rule("Action", one_of(actions)))


def _read_room(text: str) -> str | None:
    _, room, _ = take_room(tokenize(text.replace("_", " ")), load_vocabulary())
    return room if room in ROOMS else None
