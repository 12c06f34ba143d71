"""What every method is given for a run, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from housewise.agent.clipr.adaptive import CriticSettings, Review
from housewise.agent.clipr.inference import Inference, ScoredChoice
from housewise.agent.clipr.language_steps import DialogueTurn, LabelledExample, LanguageSteps
from housewise.agent.clipr.rules import Rule
from housewise.language.embedder import Embedder
from housewise.people.respondent import Respondent
from housewise.worlds.choices.scenario import Scenario, Situation


@dataclass(frozen=True)
class MethodInputs:
    """One run of one method on one data set.

    Attributes:
        language: does the language steps and counts its calls; fresh for each run.
        person: who answers questions.
        examples: of the data set; a method takes their labels only where the paper gives it these.
        test: what is scored, in the order in which it comes.
        knowledge: labelled scenarios to retrieve from.
        embedder: for methods that retrieve by meaning.
        budget: most questions of an interview.
        batch: scenarios a call.
        seed: of the shuffling of candidates.
        critic: settings of the adaptive method.
    """

    language: LanguageSteps
    person: Respondent
    examples: tuple[Scenario, ...]
    test: tuple[Scenario, ...]
    knowledge: tuple[Scenario, ...]
    embedder: Embedder
    budget: int = 10
    batch: int = 10
    seed: int = 0
    critic: CriticSettings = field(default_factory=CriticSettings)

    @property
    def inference(self) -> Inference:
        """Chooses with this run's language, batch and seed."""
        return Inference(self.language, self.batch, self.seed)

    @property
    def unlabelled_examples(self) -> tuple[Situation, ...]:
        """The examples without their labels."""
        return tuple(example.situation for example in self.examples)

    @property
    def answers(self) -> tuple[LabelledExample, ...]:
        """The examples with their labels."""
        return tuple(LabelledExample(example.situation, example.preferred) for example in self.examples)


@dataclass(frozen=True)
class MethodResult:
    """What came of a run.

    Attributes:
        decisions: one for each test scenario, in order.
        rules: with which the run ended, where the method has any.
        dialogue: what was asked and answered before the test.
        reviews: of the adaptive method.
        training_calls: of the language model, before the first test scenario.
    """

    decisions: Sequence[ScoredChoice]
    rules: tuple[Rule, ...] = ()
    dialogue: tuple[DialogueTurn, ...] = ()
    reviews: tuple[Review, ...] = ()
    training_calls: int = 0


Method = Callable[[MethodInputs], MethodResult]
