"""A person who is played by a chat model: it is told who it is, and answers what is asked."""

from __future__ import annotations

from housewise.language.base import ChatModel, ChatRequest, Message, Sampling
from housewise.people.respondent import Answer, Question
from housewise.people.terminal_respondent import MAX_ANSWER_CHARACTERS, match_option

_LIKELIEST = Sampling(0.0, max_tokens=80)


class ChatRespondent:
    """Answers as a chat model does, and sees the questions alone; see Person.

    Args:
        model: plays the person; whoever opened it closes it.
        told: who it is and what it wants.
        name: whose memory the answers go into.
        sampling: how answers are drawn; as they come, they are the same whenever the same is asked.
        converses: whether it hears what was said before.
    """

    def __init__(
        self, model: ChatModel, told: str, name: str, sampling: Sampling = _LIKELIEST, converses: bool = False
    ) -> None:
        self.name = name
        self._model, self._told, self._sampling, self._converses = model, told, sampling, converses
        self._said: list[Message] = []

    def answer(self, question: Question) -> Answer:
        """The first line of what the model says; of options the one that it begins with.

        Raises:
            ChatModelError: when it does not answer.
        """
        options = f"\n({'/'.join(question.options)})" if question.options else ""
        asked = Message("user", f"{question.text}{options}")
        messages = (Message("system", self._told), *self._said, asked)
        [[reply]] = self._model.complete([ChatRequest(messages, self._sampling)])
        said = next((line.strip() for line in reply.text[:MAX_ANSWER_CHARACTERS].splitlines() if line.strip()), "")
        if self._converses:
            self._said += [asked, Message("assistant", said)]
        first = said.split()[0].strip(",;:") if said else ""
        return Answer(said, match_option(first, question.options))
