"""A chat server that plays the assistant and the person of a session with the turns of a recorded one."""

import re
from collections.abc import Sequence

from housewise.core.record import Event
from housewise.systems.basis.record import GuidanceEvent, LabActionEvent
from housewise.worlds.lab.history import thing_id
from housewise.worlds.lab.state import LabState
from tests.language.conftest import Answer, Body, Handler, completion

PERSON = "p"
"""Name of the model that plays the person; every other name plays the assistant."""


def recorded_pair(events: Sequence[Event], start: LabState) -> Answer:
    """Answer with the turn that was recorded after as many actions as the prompt tells of.

    Args:
        events: Events of the recorded session, of one attempt.
        start: State at its beginning.
    """
    actions = [_action(event, start) for event in events if isinstance(event, LabActionEvent)]
    speeches = [_speech(event) for event in events if isinstance(event, GuidanceEvent)]

    def answer(handler: Handler, body: Body) -> None:
        prompt = body["messages"][-1]["content"]
        told = max(map(int, re.findall(r"\[\w+ Action (\d+)\]", prompt)), default=0)
        if body["model"] != PERSON:
            return handler.reply(200, completion(speeches[told - 1]))
        # The last action stands apart from the numbered ones.
        done = 0 if "[Last User Action] (none)" in prompt else told + 1
        handler.reply(200, completion(actions[done]))

    return answer


def _action(event: LabActionEvent, start: LabState) -> str:
    argument = f'"{event.argument}"' if event.verb == "Speak" else event.argument
    if event.argument in start.by_id:
        argument = thing_id(start[event.argument], "fuzzy")
    return f"<Think>{event.thought}</Think>\n<Action>{event.verb} {argument}</Action>"


def _speech(event: GuidanceEvent) -> str:
    speech = f'"{event.speech}"' if event.speech else "N/A"
    return f"<Think>{event.thought}</Think>\n<Speak>{speech}</Speak>"
