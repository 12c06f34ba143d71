"""A respondent played by a chat model."""

from __future__ import annotations

from dataclasses import replace

from housewise.language.base import ChatModel, ChatRequest, Message, Sampling
from housewise.language.settings import SamplingSettings
from housewise.people.respondent import Answer, Question
from housewise.people.terminal_respondent import MAX_ANSWER_CHARACTERS, match_option

_GREEDY = Sampling(0.0, max_tokens=80)
_CHOSEN = frozenset({"temperature", "top_p", "max_tokens"})


def respondent_sampling(chosen: SamplingSettings, seed: int) -> Sampling:
    """Return the sampling of a respondent: greedy and short, apart from what the user has set.

    Args:
        chosen: Settings of the model that plays the person.
        seed: Seed of sampled answers.
    """
    values = {name: getattr(chosen, name) for name in chosen.set_by_user & _CHOSEN}
    return replace(_GREEDY, seed=seed, **values) if values.get("temperature") else replace(_GREEDY, **values)


class ChatRespondent:
    """A ``Respondent`` played by a chat model, which sees its persona and the questions only.

    Args:
        model: The chat model. The caller closes it.
        persona: System message: who the person is and what they want.
        name: The person in whose memory the answers are stored.
        sampling: Sampling options. The default is greedy, so that equal questions get equal answers.
        keeps_history: Whether earlier questions and answers are part of each request.
    """

    def __init__(
        self, model: ChatModel, persona: str, name: str, sampling: Sampling = _GREEDY, keeps_history: bool = False
    ) -> None:
        self.name = name
        self._model, self._persona, self._sampling, self._keeps_history = model, persona, sampling, keeps_history
        self._history: list[Message] = []

    def answer(self, question: Question) -> Answer:
        """Return the first line of the model's reply. Its first word decides which option is chosen.

        Raises:
            ChatModelError: The model does not answer.
        """
        options = f"\n({'/'.join(question.options)})" if question.options else ""
        request = Message("user", f"{question.text}{options}")
        messages = (Message("system", self._persona), *self._history, request)
        [[reply]] = self._model.complete([ChatRequest(messages, self._sampling)])
        lines = reply.text[:MAX_ANSWER_CHARACTERS].splitlines()
        text = next((line.strip() for line in lines if line.strip()), "")
        if self._keeps_history:
            self._history += [request, Message("assistant", text)]
        first_word = text.split()[0].strip(",;:") if text else ""
        return Answer(text, match_option(first_word, question.options))
