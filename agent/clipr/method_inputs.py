"""The inputs of a method, and the interface of all methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from housewise.agent.clipr.action_choice import Inference
from housewise.agent.clipr.actions import CliprObservation, Play
from housewise.agent.clipr.critic_settings import CriticSettings
from housewise.agent.clipr.elicitation import RememberedConversation
from housewise.agent.clipr.language_steps import LabelledExample
from housewise.language.embedder import Embedder


@dataclass(frozen=True)
class MethodInputs:
    """What a method is given beside its observations. Labels are there only for methods to which the paper gives them.

    Attributes:
        inference: Makes the choices; its language steps perform all other steps as well.
        max_questions: Maximum number of questions before the first choice.
        critic: Settings of Adaptive CLIPR.
        known: Earlier conversations with the person, for methods that continue them.
        synthesize_from_examples: Whether CLIPR's rules are written from the examples beside the dialogue.
        contradict_rules: Whether CLIPR starts with the opposite of the rules that it has learned.
        labelled_examples: The examples with their correct actions.
        knowledge: Labelled scenarios for retrieval.
        max_corrections: Maximum number of corrections by the person. None allows one per mistake.
        embedder: Sentence embeddings, for methods that retrieve by meaning.
    """

    inference: Inference
    max_questions: int = 10
    critic: CriticSettings = field(default_factory=CriticSettings)
    known: RememberedConversation = field(default_factory=RememberedConversation)
    synthesize_from_examples: bool = True
    contradict_rules: bool = False
    labelled_examples: tuple[LabelledExample, ...] = ()
    knowledge: tuple[LabelledExample, ...] = ()
    max_corrections: int | None = None
    embedder: Embedder | None = None


MethodFunction = Callable[[MethodInputs, CliprObservation], Play[None]]
"""A method: plays a whole episode, from its first observation on."""
