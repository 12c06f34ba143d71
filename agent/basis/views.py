"""What an assistant in the lab knows, and what it says. A view holds nothing that its role may not know."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from housewise.agent.basis.descriptions import DescriptionOf, usual_look
from housewise.agent.basis.knowledge import NO_KNOWLEDGE, Knowledge, KnowledgeSwitches, select_knowledge
from housewise.core.formatting import plural
from housewise.core.record import Usage
from housewise.worlds.lab.history import LabTurn
from housewise.worlds.lab.state import LabState
from housewise.worlds.lab.surroundings import Surroundings
from housewise.worlds.lab.texts import brief_history, brief_state, full_metadata, history_text, state_line, view_words

Perception = Literal["words", "truth"]
"""How an assistant perceives what is in view: what a picture shows, in words, or the simulator's metadata."""


@dataclass(frozen=True)
class AssistantView:
    """What an assistant knows at a turn, after an action of the person.

    Attributes:
        state_text: Where the person is and what they hold.
        observation: Text of what is in view, by the assistant's perception.
        history_text: Actions and speech so far.
        last_verb: Verb of the last action; empty at the beginning.
        last_succeeded: Whether the last action was carried out.
        knowledge: See ``knowledge.select_knowledge``.
    """

    state_text: str
    observation: str
    history_text: str
    last_verb: str
    last_succeeded: bool
    knowledge: Knowledge = field(default_factory=Knowledge)


@dataclass(frozen=True, kw_only=True)
class OracleView(AssistantView):
    """What the scripted oracle knows: everything but the person's goal and thoughts.

    Attributes:
        state: State of the lab.
        surroundings: Its space.
        turns: Turns so far.
    """

    state: LabState
    surroundings: Surroundings
    turns: tuple[LabTurn, ...]


@dataclass(frozen=True)
class AssistantTurn:
    """What an assistant thinks and says.

    Attributes:
        thought: Why.
        speech: What it says. None if it is silent.
        is_parsed: False if a model's reply could not be read, so that silence stands for it.
        usage: Tokens of a model.
    """

    thought: str
    speech: str | None = None
    is_parsed: bool = True
    usage: Usage = field(default_factory=Usage)


_View = TypeVar("_View", bound=AssistantView, contravariant=True)


class Assistant(Protocol[_View]):
    """Guides a person by speech. One object plays one attempt at a scenario."""

    def turn(self, view: _View) -> AssistantTurn:
        """Choose what to say, if anything.

        Raises:
            ChatModelError: If a model cannot be asked.
        """
        ...


def build_assistant_view(
    state: LabState,
    surroundings: Surroundings,
    turns: Sequence[LabTurn],
    perception: Perception,
    knowledge: KnowledgeSwitches = NO_KNOWLEDGE,
    is_brief: bool = False,
    describe: DescriptionOf = usual_look,
) -> AssistantView:
    """Return what a chat model or a trained assistant knows.

    Args:
        state: State of the lab, after the last action.
        surroundings: Its space.
        turns: Turns so far, as recorded by ``record_turn``; the last one has no speech yet.
        perception: How the assistant perceives what is in view.
        knowledge: Cards that it is given.
        is_brief: Whether texts are short, for small models: without ids, coordinates and numbers.
        describe: Returns the description of a kind of thing.
    """
    has_ids = perception == "truth" and not is_brief
    return AssistantView(
        state_text=f"{brief_state(state)}{_silence(turns)}" if is_brief else state_line(state, "full", has_ids),
        observation=full_metadata(state, surroundings)
        if has_ids
        else view_words(state, surroundings, perception == "truth", is_brief),
        history_text=brief_history(turns) if is_brief else history_text(turns, "full", "User", "You", has_ids),
        knowledge=select_knowledge(state, surroundings, turns, knowledge, is_brief, describe),
        **_last_action(turns),
    )


def build_oracle_view(state: LabState, surroundings: Surroundings, turns: Sequence[LabTurn]) -> OracleView:
    """Return what the scripted oracle knows; see ``build_assistant_view``."""
    return OracleView(
        state_text=state_line(state, "full"),
        observation=full_metadata(state, surroundings),
        history_text=history_text(turns, "full", "User", "You"),
        state=state,
        surroundings=surroundings,
        turns=tuple(turns),
        **_last_action(turns),
    )


def turn_generator(seed: int, view: OracleView) -> random.Random:
    """Return the random number generator of a scripted assistant's turn.

    Its name differs from that of the scripted person, who has the same seed. Otherwise what the person draws would
    depend on what the assistant has drawn.
    """
    return random.Random(f"assistant:{seed}:{len(view.turns)}")


def _silence(turns: Sequence[LabTurn]) -> str:
    """Return for how many turns the assistant has been silent. A small model cannot count them in the history."""
    count = 0
    for turn in reversed(turns[:-1]):
        if turn.speech is not None:
            break
        count += 1
    return f" Silent for {plural(count, 'turn')}." if count else ""


def _last_action(turns: Sequence[LabTurn]) -> dict[str, Any]:
    """Return the last action's verb, and what became of it."""
    return {
        "last_verb": turns[-1].action.verb if turns else "",
        "last_succeeded": turns[-1].outcome.succeeded if turns else True,
    }
