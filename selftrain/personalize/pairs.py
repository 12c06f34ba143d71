"""What a model learns from: prompts with replies, and what the replies did to the house."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from housewise.agent.personalize.placement_judgement import split_judgements
from housewise.agent.personalize.step_phrasing import strip_numbering
from housewise.language.base import ended_at_limit
from housewise.selftrain.datasets import Prompted, read_dataset, write_dataset
from housewise.systems.personalize.record import AlternativeReply, HouseRecord, PlanEvent, displaced_objects

Wording = Literal["said", "done", "proven", "corrected"]
"""Which words are learned: the reply as it was said; the steps of it that were done; these and, of its judgements, only
those that the steps put to the test; or its judgements as they should have been, see
selftrain.personalize.hindsight."""

_CARRIED = re.compile(r"place (.+) on (.+)")


class Pair(Prompted):
    """A prompt with one reply.

    Attributes:
        reply: what came after the prefix.
        given: parts of the reply, from one character up to another, that are read and not learned.
        turns: whether what the assistant says in the prompt, each turn behind the prefix, is learned as well.
        reward: the sum over the plan's actions, for the person whom the episode was played for.
        scene, episode, run, plan: where in the records it is.
        moved: objects that the plan put somewhere else.
        discovered: how many things the plan brought to light.
        mistaken: how many of its judgements had been others before they were corrected; see
            selftrain.personalize.hindsight.
        complete: whether the reply takes the task as done, and was carried out so far.
        cut: Whether the reply was cut at a limit, so that it does not teach where a turn ends.
    """

    columns: ClassVar[Mapping[str, str]] = {"reply": "completion"}
    added: ClassVar[frozenset[str]] = frozenset({"cut"})
    reply: str
    given: tuple[tuple[int, int], ...] = ()
    turns: bool = False
    reward: float = 0.0
    scene: str = ""
    episode: int = 0
    run: int = 0
    plan: int = 0
    moved: tuple[str, ...] = ()
    discovered: int = 0
    mistaken: int = 0
    complete: bool = False
    cut: bool = False


def pairs_of(record: HouseRecord, prefix: str, wording: Wording = "said") -> Iterator[Pair]:
    """Every reply of an episode as a pair: those that were followed, and others that were tried in their place.

    Args:
        record: of a planner that asks a language model, or of the demonstrator.
        prefix: that the model's turns began with; records do not hold it.
        wording: see Wording. Replies of which nothing was done make no pair when only what was done is learned.
    """
    for plan in record.plans:
        for tried in (followed(record, plan), *plan.tried):
            reply = tried.reply if wording == "said" else _done(tried, prefix)
            if plan.prompt and reply.strip():
                pair = pair_of(record, plan, tried, prefix, reply)
                yield pair.model_copy(update={"given": _untested(tried, reply)}) if wording == "proven" else pair


def followed(record: HouseRecord, plan: PlanEvent) -> AlternativeReply:
    """The reply that was followed, and what came of it."""
    actions = [action for action in record.actions if action.plan == plan.plan]
    return AlternativeReply(
        reply=plan.reply,
        finish_reason=plan.finish_reason,
        # Only an episode's last plan can have been carried out to its end and have been taken as the end of the task.
        complete=plan.complete and record.result.ended == "complete" and plan is record.plans[-1],
        reward=sum(action.reward for action in actions),
        done=[action.raw for action in actions if action.status == "succeeded"],
        moved=displaced_objects(actions),
        discovered=sum(len(action.discovered) for action in actions),
    )


def pair_of(record: HouseRecord, plan: PlanEvent, tried: AlternativeReply, prefix: str, reply: str) -> Pair:
    """A reply to a plan's prompt as a pair.

    Args:
        record, plan: where it was given.
        tried: what came of it.
        prefix: that it began with.
        reply: the words to learn.
    """
    return Pair(
        prompt=tuple(plan.prompt),
        prefix=prefix,
        reply=reply,
        reward=tried.reward,
        scene=record.setting.scene,
        episode=record.setting.episode,
        run=record.header.run,
        plan=plan.plan,
        moved=tuple(tried.moved),
        discovered=tried.discovered,
        complete=tried.complete,
        cut=ended_at_limit(tried.finish_reason),
    )


def drawn(pairs: Sequence[Pair], most: int, seed: int) -> list[Pair]:
    """So many pairs of each episode at most, drawn at random, in their order."""
    rng, episodes = np.random.default_rng(seed), defaultdict(list)
    for index, pair in enumerate(pairs):
        episodes[pair.scene, pair.episode, pair.run].append(index)
    kept = [index for found in episodes.values() for index in rng.permutation(found)[:most]]
    return [pairs[index] for index in sorted(kept)]


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    """Write pairs; see write_dataset."""
    write_dataset(path, pairs)


def read_pairs(path: Path) -> list[Pair]:
    """Pairs of a file; see read_dataset."""
    return read_dataset(path, Pair)


def _done(tried: AlternativeReply, prefix: str) -> str:
    """The steps that worked, numbered anew, after the judgements where there are any."""
    judged = "" if "step" in prefix else split_judgements(tried.reply)[0]
    steps = [*map(strip_numbering, tried.done), *(["mission complete"] if tried.complete else [])]
    if not steps:
        return ""
    numbered = "\n".join(f"step {number}: {step}" for number, step in enumerate(steps, start=1))
    return judged + numbered.removeprefix(prefix)


def judged_lines(reply: str) -> Iterator[tuple[int, int]]:
    """From and up to which character the judgements of a reply are, each on its line."""
    start = 0
    for line in split_judgements(reply)[0].splitlines(keepends=True):
        end = start + len(line.rstrip("\n"))
        if end > start:
            yield start, end
        start += len(line)


def _untested(tried: AlternativeReply, reply: str) -> tuple[tuple[int, int], ...]:
    """Where the judgements are that no step acted upon."""
    carried = [step.group(1, 2) for done in tried.done if (step := _CARRIED.fullmatch(strip_numbering(done)))]

    def tested(said: str) -> bool:
        return any(said.startswith(f"{thing} ") and said.endswith(f": {place}") for thing, place in carried)

    return tuple((start, end) for start, end in judged_lines(reply) if not tested(reply[start:end]))
