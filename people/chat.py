"""A person who is played by a chat model: it is told who it is, and answers what is asked."""

from __future__ import annotations

from collections.abc import Mapping

from housewise.language.base import ChatModel, ChatRequest, Message, Sampling
from housewise.people.base import Answer, Question
from housewise.people.terminal import LONGEST, chosen

_MOST_TOKENS = 80


class ChatPerson:
    """Answers as a chat model does, the same whenever the same is asked.

    Args:
        model: plays the person; whoever opened it closes it.
        told: who it is and what it wants.
        name: whose memory the answers go into.
    """

    def __init__(self, model: ChatModel, told: str, name: str) -> None:
        self.name = name
        self._model, self._told = model, told

    def answer(self, question: Question) -> Answer:
        """The first line of what the model says; of options the one that it begins with.

        Raises:
            ChatModelError: when it does not answer.
        """
        options = f"\n({'/'.join(question.options)})" if question.options else ""
        messages = (Message("system", self._told), Message("user", f"{question.text}{options}"))
        [[reply]] = self._model.complete([ChatRequest(messages, Sampling(0.0, max_tokens=_MOST_TOKENS))])
        said = next((line.strip() for line in reply.text[:LONGEST].splitlines() if line.strip()), "")
        first = said.split()[0].strip(",;:") if said else ""
        return Answer(said, chosen(first, question.options))

    def judge(self, record: object) -> Mapping[str, float]:
        """See Person.judge; nothing is asked of a whole episode."""
        return {}
