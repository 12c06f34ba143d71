"""Measures of CLIPR's experiments: controls without an agent, efficiency, and what accepted updates changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import mean
from typing import Any

from housewise.agent.clipr.action_choice import Inference
from housewise.agent.clipr.language_steps import Guidance
from housewise.agent.clipr.local_steps.local_steps import LocalSteps
from housewise.agent.clipr.rules import parse_rule
from housewise.core.record import Record
from housewise.experiments.measured_values import MeasuredValue
from housewise.language.embedder import shared_minilm
from housewise.language.words import content_words
from housewise.systems.clipr.record import DecisionEvent, ReviewEvent, RulesEvent
from housewise.systems.clipr.system import Clipr
from housewise.worlds.choices.scenario import Scenario, Situation


def measure_control(control: str, **settings: Any) -> Iterator[MeasuredValue]:
    """Measure a control that chooses without an agent, on the choices of a run with the same settings.

    Args:
        control: Name of the control.
        settings: Settings of the run.
    """
    system, probability = Clipr(Clipr.load(settings=settings)), CONTROLS[control]
    for job in system.jobs():
        choices = system.job_data(job)
        right = [probability(choices.examples, each) for each in choices.test]
        yield MeasuredValue(job.task.name, job.run, "accuracy", mean(right))
        for tier in sorted({each.tier for each in choices.test}):
            some = [value for value, each in zip(right, choices.test, strict=True) if each.tier == tier]
            yield MeasuredValue(job.task.name, job.run, f"accuracy_{tier.replace(' ', '_')}", mean(some))


def chance(examples: Sequence[Scenario], scenario: Scenario) -> float:
    """Choose any action."""
    return 1 / len(scenario.situation.actions)


def chance_among_satisfying(examples: Sequence[Scenario], scenario: Scenario) -> float:
    """Choose any action that does what the request says. Methods are not told which these are."""
    return 1 / len(scenario.satisfying)


def words_of_request(examples: Sequence[Scenario], scenario: Scenario) -> float:
    """Choose the action with the most words of the request; one of several at random."""
    request = set(content_words(scenario.situation.request))
    return _share_of_best([len(request & _words(action)) for action in scenario.situation.actions], scenario)


def words_of_right_answers(examples: Sequence[Scenario], scenario: Scenario) -> float:
    """Choose the action with the most words that were right in the examples rather than wrong."""
    right = {word for each in examples for word in _words(each.situation.actions[each.preferred])}
    wrong = {word for each in examples for action in each.situation.actions for word in _words(action)} - right
    counts = [len(_words(action) & right) - len(_words(action) & wrong) for action in scenario.situation.actions]
    return _share_of_best(counts, scenario)


CONTROLS: dict[str, Callable[[Sequence[Scenario], Scenario], float]] = {
    "chance": chance,
    "chance_among_satisfying": chance_among_satisfying,
    "words_of_request": words_of_request,
    "words_of_right_answers": words_of_right_answers,
}
"""Probability that the preferred action is chosen, given the examples and a test scenario."""


def _words(action: str) -> set[str]:
    return set(content_words(action))


def _share_of_best(counts: Sequence[int], scenario: Scenario) -> float:
    best = [number for number, count in enumerate(counts) if count == max(counts)]
    return float(scenario.preferred in best) / len(best)


def right_choices_per_call(record: Record) -> float | None:
    """Return accuracy x choices / calls. Divided by that of the best method, it is the paper's efficiency."""
    scores = record.result.scores
    return scores["accuracy"] * scores["tests"] / scores["calls"] if scores["calls"] else None


def accepted_updates(record: Record) -> float | None:
    """Return the number of accepted updates; None for methods that do not revise rules."""
    reviews = record.of_type(ReviewEvent)
    return sum(review.outcome == "accepted" for review in reviews) if reviews else None


def harmful_updates(record: Record) -> float | None:
    """Return the number of accepted updates that lowered the accuracy on everything processed before."""
    return None if not record.of_type(ReviewEvent) else sum(change < 0 for change in accuracy_changes(record))


def worst_change(record: Record) -> float | None:
    """Return the lowest change of that accuracy by an accepted update; 0 without updates."""
    return None if not record.of_type(ReviewEvent) else min([0.0, *accuracy_changes(record)])


def accuracy_changes(record: Record) -> list[float]:
    """Return what each accepted update changed of the accuracy on everything processed before it.

    With the accuracy gate, reviews have measured it. Without, local components choose again.
    """
    changes, rules = [], {event.version: event for event in record.of_type(RulesEvent)}
    versions = sorted(version for version, event in rules.items() if event.origin == "review")
    accepted = [review for review in record.of_type(ReviewEvent) if review.outcome == "accepted"]
    for review, version in zip(accepted, versions, strict=True):
        if review.before is not None and review.after is not None:
            changes.append(review.after - review.before)
        else:
            processed = record.of_type(DecisionEvent)[: review.processed]
            before, after = (_choose_again(record, processed, rules.get(each)) for each in (version - 1, version))
            changes.append(after - before)
    return changes


def _choose_again(record: Record, decisions: Sequence[DecisionEvent], rules: RulesEvent | None) -> float:
    inference = Inference(LocalSteps(shared_minilm()), seed=record.header.seed)
    guidance = Guidance(rules=tuple(parse_rule(line.text) for line in rules.rules) if rules else ())
    situations = [Situation(each.scenario, (), each.request, each.actions) for each in decisions]
    chosen = inference.choose(situations, guidance)
    return mean(choice.action == each.preferred for choice, each in zip(chosen, decisions, strict=True))
