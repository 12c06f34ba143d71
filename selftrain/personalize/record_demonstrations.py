"""Makes demonstrations from records: one for each reply of a planner, with what its plan achieved."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from housewise.agent.personalize.judgement_text import find_judged_kinds, split_judgements
from housewise.agent.personalize.step_phrasing import strip_numbering
from housewise.language.adapters import adapter_defaults
from housewise.language.base import ended_at_limit
from housewise.selftrain.examples import EpisodeDemonstration
from housewise.selftrain.trainers import ModelReference
from housewise.systems.personalize.record import AlternativeReply, HouseRecord, PlanEvent, displaced_objects

LearningTarget = Literal["raw", "executed", "verified", "relabelled"]
"""Which text of a reply is learned: ``raw``, the reply as it is; ``executed``, its judgements and its successful steps;
``verified``, the same without judgements that no step tested; ``relabelled``, relabelled judgements, see
selftrain.personalize.relabelling."""

_PLACEMENT = re.compile(r"place (.+) on (.+)")


def demonstrations_from_record(
    record: HouseRecord, prefix: str, target: LearningTarget = "raw"
) -> Iterator[EpisodeDemonstration]:
    """Yield every reply of an episode as a demonstration: executed replies, and alternatives that were tried.

    Args:
        record: Record of a planner that uses a language model, or of the demonstrator.
        prefix: Prefix of the model's turns, which records do not hold.
        target: See LearningTarget. Except for ``raw``, replies of which no step succeeded are left out.
    """
    for plan, tried in generated_replies(record):
        reply = tried.reply if target == "raw" else _executed_text(tried, prefix)
        if reply.strip():
            example = make_demonstration(record, plan, tried, prefix, reply)
            given = _untested_spans(tried, reply) if target == "verified" else ()
            yield example.model_copy(update={"given": given})


def generated_replies(record: HouseRecord) -> Iterator[tuple[PlanEvent, AlternativeReply]]:
    """Yield every reply to a prompt of an episode with its plan, also empty ones."""
    for plan in record.plans:
        if plan.prompt:
            yield from ((plan, tried) for tried in (executed_reply(record, plan), *plan.alternatives))


def describe_empty_replies(replies: Sequence[AlternativeReply], limit: str) -> str:
    """Return, in parentheses after a space, that all replies are empty and why; an empty text if they are not.

    Args:
        replies: The replies.
        limit: Key of the setting that limits their tokens.
    """
    if not replies or any(tried.reply.strip() for tried in replies):
        return ""
    is_cut = any(ended_at_limit(tried.finish_reason) for tried in replies)
    return f" (all replies were empty{f' and ended at the limit {limit}' if is_cut else ''})"


def executed_reply(record: HouseRecord, plan: PlanEvent) -> AlternativeReply:
    """Return the reply that was executed, and what it achieved."""
    actions = record.actions_of(plan)
    return AlternativeReply(
        reply=plan.reply,
        finish_reason=plan.finish_reason,
        # Only the last plan of an episode can have been executed to its end and have ended the task.
        complete=plan.complete and record.result.end_reason == "complete" and plan is record.plans[-1],
        reward=sum(action.reward for action in actions),
        succeeded_steps=[action.raw for action in actions if action.status == "succeeded"],
        moved_objects=displaced_objects(actions),
        discovered_count=sum(len(action.discovered) for action in actions),
    )


def make_demonstration(
    record: HouseRecord, plan: PlanEvent, tried: AlternativeReply, prefix: str, reply: str
) -> EpisodeDemonstration:
    """Return a reply to the prompt of a plan as a demonstration.

    Args:
        record: Episode in which the reply was given.
        plan: Plan of the episode for which it was given.
        tried: What it achieved.
        prefix: Prefix of the reply.
        reply: The text to learn.
    """
    return EpisodeDemonstration(
        prompt=tuple(plan.prompt),
        prefix=prefix,
        reply=reply,
        reward=tried.reward,
        scene=record.initial_state.scene,
        episode=record.initial_state.episode,
        run=record.header.repetition,
        plan=plan.plan,
        moved=tuple(tried.moved_objects),
        discovered=tried.discovered_count,
        complete=tried.complete,
        cut=ended_at_limit(tried.finish_reason),
    )


def sample_per_episode(
    examples: Sequence[EpisodeDemonstration], max_each: int, seed: int
) -> list[EpisodeDemonstration]:
    """Return at most ``max_each`` random demonstrations of each episode, in their order."""
    rng, episodes = np.random.default_rng(seed), defaultdict(list)
    for index, example in enumerate(examples):
        episodes[example.scene, example.episode, example.run].append(index)
    sampled = [index for indices in episodes.values() for index in rng.permutation(indices)[:max_each]]
    return [examples[index] for index in sorted(sampled)]


def _executed_text(tried: AlternativeReply, prefix: str) -> str:
    """Return the steps that succeeded, numbered again, after the judgements if there are any."""
    judgements = "" if "step" in prefix else split_judgements(tried.reply)[0]
    steps = [*map(strip_numbering, tried.succeeded_steps), *(["mission complete"] if tried.complete else [])]
    if not steps:
        return ""
    numbered = "\n".join(f"step {number}: {step}" for number, step in enumerate(steps, start=1))
    return judgements + numbered.removeprefix(prefix)


def judgement_spans(reply: str) -> Iterator[tuple[int, int]]:
    """Yield the character span (start, end) of each judgement of a reply; each is on its own line."""
    start = 0
    for line in split_judgements(reply)[0].splitlines(keepends=True):
        end = start + len(line.rstrip("\n"))
        if end > start:
            yield start, end
        start += len(line)


def _untested_spans(tried: AlternativeReply, reply: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the judgements that no step tested."""
    placements = [
        step.group(1, 2) for done in tried.succeeded_steps if (step := _PLACEMENT.fullmatch(strip_numbering(done)))
    ]

    def is_tested(line: str) -> bool:
        return any(line.startswith(f"{thing} ") and line.endswith(f": {place}") for thing, place in placements)

    return tuple((start, end) for start, end in judgement_spans(reply) if not is_tested(reply[start:end]))


def familiar_kinds(start: ModelReference, examples: Sequence[EpisodeDemonstration]) -> list[str] | None:
    """Return the kinds of objects that a model has learned to judge, including those of new examples."""
    kinds = set(adapter_defaults(start.adapter).get("familiar_kinds", ()))
    return sorted(kinds.union(*(find_judged_kinds(example.reply) for example in examples))) or None
