"""Who answers in an episode of CLIPR: a simulated person, by phrases or by a chat model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from housewise.agent.clipr.chat import Prompts
from housewise.agent.clipr.elicitation import ask
from housewise.language.base import ChatModel, ChatRequest, Message, Sampling
from housewise.people.base import Answer, Question
from housewise.worlds.choices.person import Person, Profile


class Answering:
    """A person of housewise.worlds.choices as one who can be asked; see housewise.people.base.Person.

    Args:
        speaker: answers in words.
    """

    def __init__(self, speaker: Person) -> None:
        self.name, self._speaker = speaker.name, speaker

    def answer(self, question: Question) -> Answer:
        """What they say, cut to what anybody says in one turn.

        Raises:
            PersonLeft: they ended the conversation.
        """
        return Answer(ask(self._speaker, question.text))

    def judge(self, record: Any) -> Mapping[str, float]:
        """They judge no episode: labels say what each choice is worth."""
        return {}


class ChatPerson:
    """A chat model that speaks for a person with a profile, and sees the questions alone (CLIPR, appendix D.7).

    Args:
        model: speaks.
        profile: what the person thinks.
        adversarial: whether the person misleads.
        sampling: how answers are drawn.
    """

    def __init__(self, model: ChatModel, profile: Profile, adversarial: bool, sampling: Sampling) -> None:
        self.name = f"{profile.name}{' (adversarial)' if adversarial else ''}"
        manner = "adversarial" if adversarial else "cooperative"
        self._system = Message("system", Prompts().fill("person", manner, topics=profile.topics))
        self._model, self._sampling = model, sampling
        self._said: list[Message] = []

    def answer(self, question: str) -> str:
        """One or two sentences."""
        asked = Message("user", question)
        reply = self._model.complete([ChatRequest((self._system, *self._said, asked), self._sampling)])[0][0].text
        self._said += [asked, Message("assistant", reply)]
        return reply
