"""A chat model whose replies a file fixes: for each step, in order, and a failure when there is none left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import yaml

from housewise.language.base import ChatModelError, ChatRequest, Reply

# A part of the system prompt or of the last line that only this step has.
STEPS = {
    "inquire": "You interview a person",
    "synthesize": "You turn an interview into rules",
    "choose": "You choose for a robot",
    "investigate": "should the failures be looked into",
    "feedback_question": "write the one short question that tells most",
    "should_update": "does the last answer say something",
    "update": "write the complete numbered list anew",
}


class ScriptedChatModel:
    """Plays a file's replies; remembers what it was asked."""

    def __init__(self, path: Path) -> None:
        self.name = "scripted"
        self.asked: list[tuple[str, str]] = []
        self._replies: dict[str, list[str]] = yaml.safe_load(path.read_text(encoding="utf-8"))

    @property
    def calls(self) -> Counter[str]:
        return Counter(step for step, _ in self.asked)

    def left(self) -> dict[str, list[str]]:
        return {step: replies for step, replies in self._replies.items() if replies}

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        return [[Reply(self._next(request), prompt_tokens=7, completion_tokens=3)] for request in requests]

    def _next(self, request: ChatRequest) -> str:
        prompt = "\n".join(message.content for message in request.messages)
        flat = " ".join(prompt.split()).lower()
        steps = [step for step, sign in STEPS.items() if " ".join(sign.split()).lower() in flat]
        assert len(steps) == 1, (steps, prompt)
        self.asked.append((steps[0], prompt))
        replies = self._replies.get(steps[0], [])
        if not replies:
            raise ChatModelError(f"scripted: no reply left for {steps[0]}")
        return replies.pop(0)

    def close(self) -> None:
        pass
