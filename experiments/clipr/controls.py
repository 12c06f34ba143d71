"""Controls without a language model and without embeddings, for every table of CLIPR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean

from housewise.language.words import content_words
from housewise.worlds.choices.scenario import ChoiceSet, Scenario

Control = Callable[[Sequence[Scenario], Scenario], float]
"""Probability that the preferred action is chosen, given the examples and a test scenario."""


def chance(examples: Sequence[Scenario], scenario: Scenario) -> float:
    """Any action."""
    return 1 / len(scenario.situation.actions)


def chance_among_satisfying(examples: Sequence[Scenario], scenario: Scenario) -> float:
    """Any action that does what the request says: nobody tells a method which these are."""
    return 1 / len(scenario.satisfying)


def words_of_the_request(examples: Sequence[Scenario], scenario: Scenario) -> float:
    """The action with the most words of the request; one of several at random."""
    request = set(content_words(scenario.situation.request))
    return _one_of_the_best([len(request & _words(action)) for action in scenario.situation.actions], scenario)


def words_of_right_answers(examples: Sequence[Scenario], scenario: Scenario) -> float:
    """The action with the most words of what was right in the examples rather than of what was not."""
    right = {word for each in examples for word in _words(each.situation.actions[each.preferred])}
    every = {word for each in examples for action in each.situation.actions for word in _words(action)}
    wrong = every - right
    counts = [len(_words(action) & right) - len(_words(action) & wrong) for action in scenario.situation.actions]
    return _one_of_the_best(counts, scenario)


CONTROLS: dict[str, Control] = {
    "chance": chance,
    "chance among what satisfies": chance_among_satisfying,
    "words of the request": words_of_the_request,
    "words of right answers": words_of_right_answers,
}


def control_accuracies(choices: ChoiceSet) -> dict[str, float]:
    """Accuracy of every control on the tests of a data set."""
    return {name: mean(of(choices.examples, each) for each in choices.test) for name, of in CONTROLS.items()}


def _words(action: str) -> set[str]:
    return set(content_words(action))


def _one_of_the_best(counts: Sequence[int], scenario: Scenario) -> float:
    best = [number for number, count in enumerate(counts) if count == max(counts)]
    return float(scenario.preferred in best) / len(best)
