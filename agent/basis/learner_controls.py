"""Controls of a learner without a language model, which go by what it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from housewise.agent.basis.chat_assistant import read_speech
from housewise.agent.basis.goal_hearing import hear_task, names_in
from housewise.agent.basis.knowledge import KnowledgeSwitches, told_kinds
from housewise.agent.basis.views import AssistantTurn, AssistantView, OracleView, Perception, build_oracle_view
from housewise.language.base import Message, Reply
from housewise.language.embedder import Embedder
from housewise.people.lab.reply_tags import read_tag
from housewise.worlds.lab.history import LabTurn
from housewise.worlds.lab.kinds import KINDS
from housewise.worlds.lab.situation import BOX, LEVER
from housewise.worlds.lab.state import CIRCUITS, LabState, Thing
from housewise.worlds.lab.surroundings import Surroundings
from housewise.worlds.lab.texts import VISIBLE_FLAGS

_HISTORY_LINES = 4
"""Last lines of the history that situations are compared by."""
_SPOKEN, _ADVISED = 'User: "', 'You: "'
"""Beginnings of lines of the history in which the person and the assistant speak."""
VIEW_MARK = "---"
"""Line of the short prompts between the history and what is in view."""


def build_limited_view(
    state: LabState,
    surroundings: Surroundings,
    turns: Sequence[LabTurn],
    perception: Perception,
    knowledge: KnowledgeSwitches,
) -> OracleView:
    """Return a view for the scripted oracle whose state is limited to what a learner is told; see ``limit_state``."""
    known = limit_state(state, surroundings, turns, perception, knowledge)
    return replace(build_oracle_view(state, surroundings, turns), state=known)


def limit_state(
    state: LabState,
    surroundings: Surroundings,
    turns: Sequence[LabTurn],
    perception: Perception,
    knowledge: KnowledgeSwitches,
) -> LabState:
    """Return the part of a state that a learner is told, and a little more, which favours the control.

    That is what is in view and in the hand, with its visible states or with all; with object knowledge, the devices
    that stand in one room and the fuse boxes; with environment knowledge, the things of ``told_kinds``. Rooms have
    power and no box in the way unless it is known otherwise. More than a learner is told are the furniture on which
    things in view lie, with words, and devices that were not mentioned, where cards are brief.
    """
    in_view = {each.id for each in surroundings.glimpses(state)}
    mentioned = set(told_kinds(state, turns, knowledge))
    known: dict[str, Thing] = {}
    # Rooms of which it is known whether they have power, and whether a box stands in the way.
    told = {state.room}
    for thing in state.things:
        kind = KINDS[thing.kind]
        if knowledge.environment and mentioned.intersection({thing.kind, thing.original}):
            known[thing.id] = thing
            told.add(thing.room)
        elif thing.id in in_view or thing.id == state.held:
            visible = thing if perception == "truth" else replace(thing, flags=thing.flags.intersection(VISIBLE_FLAGS))
            known[thing.id] = visible
        elif knowledge.object and not kind.is_common and (kind.room or _is_wired(state, thing)):
            known[thing.id] = replace(thing, flags=frozenset())
    for thing in list(known.values()):
        # Furniture is named with what lies on it.
        if thing.container is not None and thing.container not in known:
            known[thing.container] = replace(state[thing.container], flags=frozenset())
    dark = {circuit for circuit, rooms in CIRCUITS.items() if circuit not in state.powered and told.intersection(rooms)}
    things = tuple(known[id] for id in sorted(known))
    return replace(state, things=things, powered=frozenset(CIRCUITS) - dark, blocked=state.blocked & told)


def _is_wired(state: LabState, thing: Thing) -> bool:
    """Return whether a thing is a fuse box or the lever in it. A learner sees in training in which rooms these are."""
    holder = state.by_id.get(thing.container or "")
    return thing.kind == BOX or (thing.kind == LEVER and holder is not None and holder.kind == BOX)


class NearestTurn:
    """Says what was said at the turn of the training sessions that is most similar, by the meaning of its prompt.

    Args:
        prompts: Prompts of the training turns.
        replies: What was replied at each of them.
        embedder: Compares the prompts.
        build_prompt: Builds the prompt of a turn, as for the learner.
    """

    def __init__(
        self,
        prompts: Sequence[Sequence[Message]],
        replies: Sequence[str],
        embedder: Embedder,
        build_prompt: Callable[[AssistantView], Sequence[Message]],
    ) -> None:
        self._replies, self._embedder, self._build_prompt = replies, embedder, build_prompt
        self._vectors = embedder.embed([situation_text(each) for each in prompts])

    def turn(self, view: AssistantView) -> AssistantTurn:
        """See ``Assistant.turn``."""
        [vector] = self._embedder.embed([situation_text(self._build_prompt(view))])
        reply = Reply(self._replies[int(np.argmax(self._vectors @ vector))])
        speech = read_speech(read_tag(reply, "Speak"))
        return AssistantTurn("The most similar turn.", speech or None, speech is not None)


def situation_text(prompt: Sequence[Message]) -> str:
    """Return what situations are compared by: what the person wants, the last lines of the history, and the view."""
    before, _, now = prompt[-1].content.partition(f"\n{VIEW_MARK}\n")
    lines = before.splitlines()
    return "\n".join([*_goal_line(lines[:-_HISTORY_LINES]), *lines[-_HISTORY_LINES:], now])


def _goal_line(lines: Sequence[str]) -> list[str]:
    """Return the last line in which the person names a task, as a list of one; empty if there is none."""
    goal: list[str] = []
    advised: frozenset[str] = frozenset()
    for line in lines:
        if line.startswith(_ADVISED):
            advised = names_in(line)
        elif line.startswith(_SPOKEN) and hear_task(line[len(_SPOKEN) :], advised if goal else ()):
            goal = [line]
    return goal
