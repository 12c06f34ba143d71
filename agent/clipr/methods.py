"""CLIPR and Adaptive CLIPR as methods (arXiv 2605.12682, section 3), and the interface of all methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from housewise.agent.clipr.action_choice import Inference, ScoredChoice
from housewise.agent.clipr.adaptive import AdaptiveClipr, CriticSettings, Review
from housewise.agent.clipr.elicitation import learn_rules
from housewise.agent.clipr.language_steps import DialogueTurn, Guidance, LabelledExample, LanguageSteps
from housewise.agent.clipr.rules import Rule
from housewise.language.embedder import Embedder
from housewise.people.respondent import Respondent
from housewise.worlds.choices.scenario import Scenario, Situation


@dataclass(frozen=True)
class MethodInputs:
    """The inputs of one run of one method on one data set.

    Attributes:
        language: Performs the language steps and counts their calls. Each run gets a new one.
        person: Answers the questions.
        examples: Examples of the data set. A method uses their labels only if the paper gives it labels.
        test: Scenarios to be scored, in order.
        knowledge: Labelled scenarios for retrieval.
        embedder: Sentence embeddings for methods that retrieve by meaning.
        budget: Maximum number of questions of an interview.
        batch: Scenarios per call.
        seed: Seed for shuffling candidates.
        critic: Settings of Adaptive CLIPR.
    """

    language: LanguageSteps
    person: Respondent
    examples: tuple[Scenario, ...]
    test: tuple[Scenario, ...]
    knowledge: tuple[Scenario, ...]
    embedder: Embedder
    max_questions: int = 10
    batch: int = 10
    seed: int = 0
    critic: CriticSettings = field(default_factory=CriticSettings)

    @property
    def inference(self) -> Inference:
        """Inference with this run's language steps, batch size and seed."""
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
    """The result of a run.

    Attributes:
        decisions: Scored choice of each test scenario, in order.
        rules: Rules at the end of the run; empty for methods without rules.
        dialogue: Questions and answers before the test.
        reviews: Reviews of Adaptive CLIPR.
        training_calls: Calls of the language model before the first test scenario.
    """

    decisions: Sequence[ScoredChoice]
    rules: tuple[Rule, ...] = ()
    dialogue: tuple[DialogueTurn, ...] = ()
    reviews: tuple[Review, ...] = ()
    training_calls: int = 0


Method = Callable[[MethodInputs], MethodResult]


def clipr(setup: MethodInputs) -> MethodResult:
    """Run CLIPR: ask questions, write rules and choose by them."""
    elicited, rules = learn_rules(setup.language, setup.person, setup.unlabelled_examples, setup.max_questions)
    training = setup.language.usage.calls
    decisions = setup.inference.decide(setup.test, Guidance(rules=rules))
    return MethodResult(decisions, rules, elicited.dialogue, (), training)


def adaptive_clipr(setup: MethodInputs) -> MethodResult:
    """Run Adaptive CLIPR: as CLIPR, but revise the rules when accuracy drops."""
    elicited, rules = learn_rules(setup.language, setup.person, setup.unlabelled_examples, setup.max_questions)
    training = setup.language.usage.calls
    run = AdaptiveClipr(setup.inference, setup.person, setup.critic).run(setup.test, rules)
    return MethodResult(run.decisions, run.versions[-1], elicited.dialogue, tuple(run.reviews), training)
