"""Measures the local model's engine beside others with the same model, in the same run on the same machine.

Run ``python -m housewise.experiments.bench.engines --help``. All engines get the same tokens to read and as many to
write, with the same number of threads; they take turns, so that whatever else the machine does slows all, and each
round's speeds are compared with ours of the same round.

* *reading*: prompts of random tokens that nobody has read before;
* *writing*: replies behind short prompts;
* *plans*: what a planner asked in a run that was played, with replies as long as they were; one conversation at a time
  asks the plans of an episode one after another, as a run does, several at once ask one plan each.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from housewise.core.console import Console
from housewise.core.errors import UserError
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.core.tables import table
from housewise.experiments.bench.peers import (
    CONTINUOUS,
    PLAIN,
    SERVER,
    Continuous,
    Engine,
    LlamaServer,
    Own,
    Plain,
    closing_engines,
    tell_apart,
)
from housewise.experiments.quick import QuickOption, say_left_out

OURS = "housewise"
_QUICK_TOKENS = 64
SHORT = 16
"""Tokens of the prompts behind which replies are written."""

_Ask = tuple[list[list[int]], list[int]]


@dataclass(frozen=True)
class Sizes:
    """What every engine has to do.

    Attributes:
        read: tokens of a prompt that is only read.
        written: tokens of a reply that is written behind a short one.
        plans: plans that are asked one after another where one conversation is held.
    """

    read: int = 256
    written: int = 32
    plans: int = 3


@dataclass(frozen=True)
class TimedTask:
    """What is timed: calls one after another, and how much they are.

    Attributes:
        measure: reading, writing or plans.
        conversations: at once.
        calls: prompts and lengths of replies.
        amount: tokens read, tokens written, or plans.
    """

    measure: str
    conversations: int
    calls: tuple[_Ask, ...]
    amount: int


def tasks(
    conversations: Sequence[int], sizes: Sizes, vocabulary: int, episodes: Sequence[Sequence[_Ask]], number: int
) -> list[TimedTask]:
    """What is done in a round; another round reads other tokens and asks other plans.

    Args:
        conversations: how many are held at once.
        sizes: of prompts and replies.
        vocabulary: how many tokens there are.
        episodes: each with its plans, one prompt and one length; may be none.
        number: of the round.
    """
    chance = random.Random(number)

    def prompts(count: int, length: int) -> list[list[int]]:
        return [[chance.randrange(vocabulary) for _ in range(length)] for _ in range(count)]

    found = []
    for count in conversations:
        found.append(TimedTask("reading", count, ((prompts(count, sizes.read), [1] * count),), count * sizes.read))
        written = [sizes.written] * count
        found.append(TimedTask("writing", count, ((prompts(count, SHORT), written),), count * sizes.written))
        if episodes:
            calls = _plans(episodes, count, sizes.plans, number)
            found.append(TimedTask("plans", count, calls, sum(len(lengths) for _, lengths in calls)))
    return found


def _plans(episodes: Sequence[Sequence[_Ask]], count: int, most: int, number: int) -> tuple[_Ask, ...]:
    """Plans of one episode one after another, or one plan each of several."""
    if count == 1:
        return tuple(episodes[number % len(episodes)][:most])
    asked = [episodes[index % len(episodes)] for index in range(count)]
    # Later plans of the same episodes in later rounds, as those of a run follow each other.
    chosen = [plans[(most + number + index // len(episodes)) % len(plans)] for index, plans in enumerate(asked)]
    prompts = [prompt for call, _ in chosen for prompt in call]
    return ((prompts, [length for _, lengths in chosen for length in lengths]),)


def read_plans(run: Path, tokenizer: Any) -> list[list[_Ask]]:
    """The plans of each episode of a run, as tokens, with the lengths of the replies.

    Raises:
        UserError: when there are none, or a record is damaged.
    """
    from housewise.language.base import Message
    from housewise.language.local.tokens import prompt_tokens
    from housewise.systems.personalize.record import PlanEvent, read_house_records

    def ask(plan: PlanEvent) -> _Ask:
        messages = [Message(**turn) for turn in plan.prompt]  # type: ignore[arg-type]
        return [prompt_tokens(tokenizer, messages, "", run.name)], [plan.completion_tokens]

    records = read_house_records(run / "episodes")
    events = ([plan for plan in record.record.of_type(PlanEvent) if _is_repeatable(plan)] for record in records)
    found = [[ask(plan) for plan in plans] for plans in events if plans]
    if not found:
        raise UserError(f"--run {run}: holds no plans of a language model; name a run that one has played")
    return found


def _is_repeatable(plan: Any) -> bool:
    return bool(plan.prompt and plan.completion_tokens and not plan.earlier)


def rate(engine: Engine, task: TimedTask) -> float:
    """How much an engine does in a second.

    Raises:
        UserError: when it did not write what was asked for.
    """
    begun = time.perf_counter()
    written = sum(engine.write(prompts, lengths) for prompts, lengths in task.calls)
    seconds = time.perf_counter() - begun
    wanted = sum(sum(lengths) for _, lengths in task.calls)
    if written != wanted:
        raise UserError(f"an engine wrote {written} tokens where {wanted} were asked for; its speed means nothing")
    return task.amount / seconds


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, least and most of some values."""
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def rows(rates: dict[tuple[str, int], dict[str, list[float]]]) -> list[dict[str, Any]]:
    """A row for each measure, number of conversations and engine.

    Args:
        rates: by measure and conversations, then by engine: one of each round, in the same order.
    """
    return [
        {
            "measure": measure,
            "conversations": conversations,
            "engine": engine,
            "n": len(values),
            "per_second": spread(values),
            "ratio": spread([theirs / ours for theirs, ours in zip(values, by_engine[OURS], strict=False)]),
            "rounds": values,
        }
        for (measure, conversations), by_engine in rates.items()
        for engine, values in by_engine.items()
    ]


def open_engines(peers: dict[str, str], model: str, most: int, longest: int) -> dict[str, Engine]:
    """Ours, and the peers that were asked for, each with weights of its own.

    Raises:
        UserError: when one cannot be opened.
    """
    from housewise.language.local.weights import load_model

    def network() -> Any:
        return load_model(model, None, "cpu", "auto")[0]

    engines: dict[str, Engine] = {OURS: Own(network(), most)}
    for name, address in peers.items():
        if name == PLAIN:
            engines[name] = Plain(network())
        elif name == CONTINUOUS:
            engines[name] = Continuous(network(), most, longest)
        else:
            engines[name] = LlamaServer(address)
    return engines


def main(
    run: Annotated[
        Path | None, typer.Option(help="Folder of a run that a language model has played; its plans are asked again.")
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(help=f"{PLAIN}, {CONTINUOUS}, or {SERVER}=ADDRESS of a llama-server; may be repeated."),
    ] = None,
    model: Annotated[str, typer.Option(help="smollm2, a folder or a Hugging Face name.")] = "smollm2",
    conversations: Annotated[list[int] | None, typer.Option(min=1, help="At once; may be repeated.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Of this process's engines; start a server with as many.")] = 1,
    rounds: Annotated[int, typer.Option(min=1, help="How often everything is timed.")] = 3,
    read: Annotated[int, typer.Option(min=1, help="Tokens of a prompt that is read.")] = Sizes.read,
    written: Annotated[int, typer.Option(min=1, help="Tokens of a reply that is written.")] = Sizes.written,
    plans: Annotated[int, typer.Option(min=1, help="Plans asked one after another.")] = Sizes.plans,
    quick: QuickOption = False,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", callback=check_writable_file, help="Write the figures there, after every round."),
    ] = None,
) -> None:
    """Time the local model's engine beside transformers' own and a llama.cpp server.

    Examples:

      python -m housewise.experiments.bench.engines --run runs/local

      llama-server -m SmolLM2-135M-Instruct.Q4_1.gguf --threads 1 --threads-batch 1 --parallel 16 --ctx-size 32768

      python -m housewise.experiments.bench.engines --run runs/local --peer llama.cpp=http://127.0.0.1:8080
    """
    import torch

    from housewise.language.local.weights import load_model

    if quick:
        rounds, peer, conversations = 1, peer or [PLAIN], conversations or [1]
        read, written, plans = (min(each, _QUICK_TOKENS) for each in (read, written, plans))
    say_left_out(quick, f"one round, {PLAIN} alone unless others are named, {_QUICK_TOKENS} tokens and plans at most")
    torch.set_num_threads(threads)
    peers = tell_apart(peer or [PLAIN, CONTINUOUS])
    counts, sizes = conversations or [1, 16], Sizes(read, written, plans)
    network, tokenizer = load_model(model, None, "cpu", "auto")
    episodes = read_plans(run, tokenizer) if run else []
    longest = max(
        [read, SHORT + written, *(len(prompts[0]) + lengths[0] for one in episodes for prompts, lengths in one)]
    )
    console = Console()
    content = {
        "model": model,
        "dtype": str(network.dtype).removeprefix("torch."),
        "threads": threads,
        "sizes": asdict(sizes),
        "run": run.name if run else None,
        **provenance(),
    }
    rates: dict[tuple[str, int], dict[str, list[float]]] = {}
    loads = [os.getloadavg()[0]]
    with closing_engines(open_engines(peers, model, max(counts), longest)) as engines, console.status("") as status:
        content["servers"] = {name: one.facts for name, one in engines.items() if isinstance(one, LlamaServer)}
        for engine in engines.values():
            engine.write([list(range(SHORT))], [2])
        for number in range(rounds):
            for task in tasks(counts, sizes, len(tokenizer), episodes, number):
                for name, engine in engines.items():
                    status.update(f"round {number + 1} of {rounds}: {task.measure}, {task.conversations}, {name}")
                    speeds = rates.setdefault((task.measure, task.conversations), {})
                    speeds.setdefault(name, []).append(rate(engine, task))
            loads.append(os.getloadavg()[0])
            if json_file is not None:
                write_json(json_file, {**content, "rounds": number + 1, "load_average": loads, "rows": rows(rates)})
    _show(console, rows(rates), loads)


def _show(console: Console, lines: Sequence[dict[str, Any]], loads: Sequence[float]) -> None:
    units = {"reading": "tokens/s", "writing": "tokens/s", "plans": "plans/s"}
    columns = ("conversations", "engine", "per second", "least", "most", f"times {OURS}", "least", "most")

    def cells(line: dict[str, Any]) -> tuple[str, ...]:
        speeds = (f"{line['per_second'][key]:.3g}" for key in ("median", "least", "most"))
        ratios = (f"{line['ratio'][key]:.2f}" for key in ("median", "least", "most"))
        return (str(line["conversations"]), line["engine"], *speeds, *ratios)

    for measure in dict.fromkeys(line["measure"] for line in lines):
        of_it = [cells(line) for line in lines if line["measure"] == measure]
        console.print(table(f"{measure}, {units[measure]}", columns, of_it, left=("engine",)))
    console.print(f"median of {lines[0]['n']} rounds; load average {min(loads):.1f} to {max(loads):.1f}")


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
