"""A small model that is fine-tuned to choose by rules, measured on people and scenarios that are new to it.

People are invented over AmbiK, IntroPlan and the kitchen's examples (housewise.selftrain.clipr.invented_choices). A
share of the scenarios is held out.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from housewise.agent.clipr.action_choice import split_batches
from housewise.agent.clipr.finetuned_chooser import choice_request, parse_choice_reply
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.local_steps.local_steps import LocalSteps
from housewise.agent.clipr.prompt_templates import CliprPrompts
from housewise.agent.clipr.rules import parse_rule
from housewise.core.errors import UserError
from housewise.experiments.measured_values import MeasuredValue
from housewise.language import open_model
from housewise.language.adapters import adapter_fingerprint
from housewise.language.cached_chat_model import CachedChatModel
from housewise.language.embedder import shared_minilm
from housewise.rollout.models import LazyChatModel
from housewise.selftrain.clipr.invented_choices import (
    RECIPE,
    ChoiceGenerator,
    Recipe,
    RuledChoice,
    read_recipe,
    split_scenarios,
)
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.trainers import ModelReference
from housewise.selftrain.training_folder import PAIRS, TrainingFolder, load_or_make_examples
from housewise.terminal.selftrain_progress import TrainingDisplay
from housewise.worlds.choices.choice_sets import KITCHEN_SET, load_choices
from housewise.worlds.choices.scenario import Scenario

_AT_ONCE = 16
_EXAMPLES = 10

Answer = Callable[[Sequence[RuledChoice]], list[int | None]]
"""Returns the option that is chosen in each, from 0, or None if no reply could be parsed."""


@dataclass(frozen=True)
class Test:
    """A choice of a new person in a new scenario.

    Attributes:
        own: Choice by the person's own rules.
        others: The same options with another person's rules.
        satisfying: Number of options that satisfy the request.
    """

    own: RuledChoice
    others: RuledChoice
    satisfying: int


def measure_rule_following(
    chooser: str,
    ambik: str,
    introplan: str,
    folder: str,
    steps: int,
    tests: int,
    rules: str = "right",
    model: str = "local",
    recipe: str = str(RECIPE),
    seed: int = 0,
) -> Iterator[MeasuredValue]:
    """Measure how often choices are as the rules' owner wants them.

    Args:
        chooser: ``trained`` (fine-tuned to follow rules), ``untrained``, ``local components``, or a control: ``chance``
            or ``chance among satisfying``.
        ambik: File of AmbiK's tasks.
        introplan: File of IntroPlan's scenes.
        folder: Folder of the training and of replies; the same call resumes there.
        steps: Number of training steps.
        tests: Number of choices.
        rules: Whose rules are read: the ``right`` ones or ``another's``. A model that follows rules is no better with
            the latter than chance among what satisfies the request.
        model: Model that is trained.
        recipe: File that says how people are invented and how the model is trained.
        seed: Seed of all draws.

    Raises:
        UserError: A file cannot be read, or the folder holds other training data.
    """
    chosen_recipe = read_recipe(Path(recipe))
    known, held = split_scenarios(_scenarios(ambik, introplan), chosen_recipe.held)
    some = make_tests(held, chosen_recipe, tests, seed)
    start = ModelReference(model=model)
    if chooser.startswith("chance"):
        right = [1 / (t.satisfying if chooser.endswith("satisfying") else len(t.own.situation.actions)) for t in some]
    else:
        if chooser == "trained":
            start = _train(known, chosen_recipe, steps, seed, start, Path(folder))
        answer = choose_by_components if chooser == "local components" else choose_by_model(start, Path(folder))
        chosen = answer([test.own if rules == "right" else test.others for test in some])
        right = [float(one == test.own.action) for one, test in zip(chosen, some, strict=True)]
    repeats: dict[str, int] = {}
    for value, test in zip(right, some, strict=True):
        name = test.own.situation.id
        repeats[name] = repeats.get(name, -1) + 1
        yield MeasuredValue(name, repeats[name], "as_wanted", value)


def _train(
    known: Sequence[Scenario], recipe: Recipe, steps: int, seed: int, start: ModelReference, folder: Path
) -> ModelReference:
    training = load_selftraining(settings={"training": recipe.training}).training
    examples = make_examples(known, recipe, steps * training.batch, seed)
    kept = load_or_make_examples(folder / PAIRS, lambda: examples, EpisodeDemonstration)
    if kept != list(examples):
        raise UserError(f"{folder / PAIRS}: was made of other data or with other settings; delete the folder")
    phases = TrainingFolder(folder, start, TrainingDisplay(Console()), seed)
    trained = phases.train("learning to choose by rules", "training", examples, training, store=False)
    return ModelReference(model=trained.model, adapter=trained.adapter)


def _scenarios(ambik: str, introplan: str) -> list[Scenario]:
    """Return the scenarios over which people are invented; of the kitchen, the examples only."""
    found: list[Scenario] = []
    for data in (ambik, introplan):
        choices = load_choices(data, _EXAMPLES, 0)
        found += [*choices.examples, *choices.test, *choices.knowledge]
    found += load_choices(KITCHEN_SET, _EXAMPLES, 0).examples
    return list({scenario.id: scenario for scenario in found}.values())


def make_examples(known: Sequence[Scenario], recipe: Recipe, number: int, seed: int) -> list[EpisodeDemonstration]:
    """Return training examples, each of another invented person."""
    choices, prompts = ChoiceGenerator(known, recipe), CliprPrompts()
    drawn = (choices.draw(f"learned {seed}/{each}", f"{seed}/{each}")[1] for each in range(number))
    return [ruled.demonstration(prompts, each) for each, ruled in enumerate(drawn)]


def make_tests(known: Sequence[Scenario], recipe: Recipe, number: int, seed: int) -> list[Test]:
    """Return choices of invented people that the training examples lack."""
    choices, found = ChoiceGenerator(known, recipe), []
    for each in range(number):
        scenario, own = choices.draw(f"tested {seed}/{each}", f"tests {seed}/{each}")
        rng = random.Random(f"tests {seed}/{each}")
        rng.choice(choices.scenarios)  # as when the scenario was drawn, so that its options come in the same order
        others = choices.apply_rules(scenario, f"somebody else {seed}/{each}", rng)
        found.append(Test(own, others, len(scenario.satisfying)))
    return found


def choose_by_model(start: ModelReference, folder: Path) -> Answer:
    """Return the choices of a language model, which is opened when it is first asked. Its replies are stored."""
    deferred = LazyChatModel(start.model, lambda: open_model(start.model, adapter=start.adapter))
    trained = json.dumps(adapter_fingerprint(start.adapter)) if start.adapter else ""
    model, prompts = CachedChatModel(deferred, trained, folder / "replies.jsonl"), CliprPrompts()

    def answer(some: Sequence[RuledChoice]) -> list[int | None]:
        chosen: list[int | None] = []
        for each in split_batches(some, _AT_ONCE):
            asked = [choice_request(prompts, ruled.situation, ruled.rules) for ruled in each]
            replies = [reply for [reply] in model.complete(asked)]
            pairs = zip(replies, each, strict=True)
            chosen += [parse_choice_reply(reply, ruled.situation, ruled.rules).action for reply, ruled in pairs]
        return chosen

    return answer


def choose_by_components(some: Sequence[RuledChoice]) -> list[int | None]:
    """Return the choices of the local components."""
    language = LocalSteps(shared_minilm())
    given = [Guidance(rules=tuple(map(parse_rule, ruled.rules))) for ruled in some]
    return [language.choose([each.situation], guidance)[0].action for each, guidance in zip(some, given, strict=True)]
