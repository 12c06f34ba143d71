"""The local model's engine beside others that get the same tokens to read, and as many to write, in turns."""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from housewise.core.errors import UserError
from housewise.experiments.bench.peers import CONTINUOUS, GENERATE, Engine, TokenPrompt, open_engines
from housewise.experiments.measured_values import MeasuredValue

_SHORT = 16
"""Number of tokens of the prompts before replies."""


class TimedCalls(NamedTuple):
    """Calls that are timed together.

    Attributes:
        calls: Prompts that are continued at once, call by call.
        amount: Number of tokens that are read or written, or of plans.
    """

    calls: list[list[TokenPrompt]]
    amount: int


def compare_engines(
    work: Literal["reading", "writing", "plans"],
    conversations: int,
    rounds: int,
    model: str = "smollm2",
    peers: Collection[str] = (GENERATE, CONTINUOUS),
    server: str | None = None,
    threads: int = 1,
    run: str | None = None,
    **sizes: int,
) -> Iterator[MeasuredValue]:
    """Yield the speed of the local model's engine, and that of others in its multiples, round by round.

    Args:
        work: ``reading`` prompts of random tokens that nobody has read before, ``writing`` replies to short prompts, or
            ``plans`` that were asked for in a run, with replies as long as they were. One conversation asks for plans
            of an episode one after another, as a run does; several ask for one plan each.
        conversations: Number of conversations at once.
        rounds: Number of times that each engine is timed. Every round has other tokens, or other plans.
        model: ``smollm2``, a folder or a Hugging Face name.
        peers: Engines of transformers: ``generate`` and ``continuous_batching``.
        server: Address of a llama.cpp server with the same model.
        threads: Number of threads of this process. Start a server with as many.
        run: Folder of a run that a language model has played, which ``plans`` are taken from.
        **sizes: Numbers of tokens or plans, by the work.

    Raises:
        UserError: There is no run to take plans from, or an engine does not do its work.
    """
    if work == "plans" and run is None:
        raise UserError("work=plans: needs a run to take plans from; set run=FOLDER to one that a model has played")
    import torch

    from housewise.language.local.weights import load_model

    torch.set_num_threads(threads)
    _, tokenizer = load_model(model, None, "cpu", "auto")
    episodes = read_plans(Path(run), tokenizer) if run else []
    timed = [make_calls(work, conversations, sizes[work], len(tokenizer), episodes, number) for number in range(rounds)]
    longest = max(len(each.tokens) + each.reply for calls, _ in timed for call in calls for each in call)
    unit = "plans_per_second" if work == "plans" else "tokens_per_second"
    with open_engines(model, peers, server, conversations, max(longest, 2 * _SHORT)) as engines:
        for engine in engines.values():
            engine.write([TokenPrompt(list(range(_SHORT)), 2)])
        for number, calls in enumerate(timed):
            ours, *others = [(name, time_calls(engine, calls)) for name, engine in engines.items()]
            yield MeasuredValue(work, number, unit, ours[1])
            yield from (MeasuredValue(work, number, name, speed / ours[1]) for name, speed in others)


def make_calls(
    work: str, conversations: int, size: int, vocabulary: int, episodes: Sequence[Sequence[TokenPrompt]], number: int
) -> TimedCalls:
    """Return the calls of a round.

    Args:
        work: See ``compare_engines``.
        conversations: Number of conversations at once.
        size: Number of tokens, or of plans that are asked for one after another.
        vocabulary: Number of different tokens.
        episodes: Plans of each episode.
        number: Number of the round.
    """
    if work == "plans":
        if conversations == 1:
            plans = episodes[number % len(episodes)][:size]
            return TimedCalls([[plan] for plan in plans], len(plans))
        # Later plans of the same episodes in later rounds, as those of a run follow each other.
        chosen = [(episodes[n % len(episodes)], size + number + n // len(episodes)) for n in range(conversations)]
        return TimedCalls([[plans[place % len(plans)] for plans, place in chosen]], conversations)
    rng = random.Random(number)
    length, reply = (size, 1) if work == "reading" else (_SHORT, size)
    call = [TokenPrompt([rng.randrange(vocabulary) for _ in range(length)], reply) for _ in range(conversations)]
    return TimedCalls([call], conversations * size)


def read_plans(run: Path, tokenizer: Any) -> list[list[TokenPrompt]]:
    """Return the plans of each episode of a run, with the lengths of their replies.

    Raises:
        UserError: There are none, or a record is damaged.
    """
    from housewise.language.base import Message
    from housewise.language.local.tokens import prompt_tokens
    from housewise.systems.personalize.record import PlanEvent, read_house_records

    def read(plan: PlanEvent) -> TokenPrompt:
        messages = [Message(**turn) for turn in plan.prompt]  # type: ignore[arg-type]
        return TokenPrompt(prompt_tokens(tokenizer, messages, "", run.name), plan.completion_tokens)

    plans = [record.record.of_type(PlanEvent) for record in read_house_records(run / "episodes")]
    asked = [
        [plan for plan in each if plan.prompt and plan.completion_tokens and not plan.prior_calls] for each in plans
    ]
    found = [[read(plan) for plan in each] for each in asked if each]
    if not found:
        raise UserError(f"{run}: holds no plans of a language model; name a run that one has played")
    return found


def time_calls(engine: Engine, timed: TimedCalls) -> float:
    """Return how much an engine does in a second.

    Raises:
        UserError: It did not write as much as asked.
    """
    start = time.perf_counter()
    written = sum(engine.write(call) for call in timed.calls)
    seconds = time.perf_counter() - start
    wanted = sum(prompt.reply for call in timed.calls for prompt in call)
    if written != wanted:
        raise UserError(f"an engine wrote {written} tokens in place of {wanted}; its speed means nothing")
    return timed.amount / seconds
