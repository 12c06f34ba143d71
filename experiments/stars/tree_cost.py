"""What a search tree costs beside its first completion, with and without what prompts share being read once.

    python -m housewise.experiments.stars.tree_cost --json OUT [--objects 6]

Processor time of this process is measured, so that others on the machine do not count. The first completion of each
object is measured on an empty cache; ``bound`` is twice that plus twice the time of the tree's further tokens, written
one after the other.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer

from housewise.agent.stars.data_files import load_task
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.prompts import load_prompts
from housewise.agent.stars.responses import RetrievedTexts
from housewise.agent.stars.search_tree import SearchTree, TreeThresholds, construct_goal_prompt
from housewise.core.files import check_writable_file, write_json
from housewise.core.provenance import provenance
from housewise.language.completion import GenerationLimits
from housewise.language.local.completion import LocalCompletionModel
from housewise.language.local.model import LocalChatModel
from housewise.language.local.smollm2 import SMOLLM2


def cost(
    opened: LocalChatModel, prompt: str, lead: str, name: str, bounds: GenerationLimits, mean: float
) -> dict[str, float]:
    """Seconds of the first completion, of one token, and of the whole tree, each from an empty cache."""
    model = LocalCompletionModel(opened)
    opened.clear_cache()
    first = _seconds(lambda: model.extend(prompt, [()], bounds))
    # The same again with the prompt held: what is left is writing.
    opened.clear_cache()
    [reply] = model.extend(prompt, [()], bounds)
    token = _seconds(lambda: model.extend(prompt, [()], bounds)) / max(1, reply.completion_tokens)
    opened.clear_cache()
    usage = ModelUsage()
    tree = SearchTree(model, bounds, TreeThresholds(min_branch_mean=mean))
    whole = _seconds(lambda: tree.grow(prompt, RetrievedTexts(name, lead=lead), usage))
    tokens = sum(usage.completion_tokens.values())
    further = tokens - reply.completion_tokens
    return {
        "first": first,
        "token": token,
        "tree": whole,
        "calls": sum(usage.calls.values()),
        "tokens": tokens,
        "bound": 2 * (first + further * token),
    }


def _seconds(work: Any) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main(
    output: Annotated[Path, typer.Option("--json", callback=check_writable_file, help="file to write the figures to")],
    model: Annotated[str, typer.Option(help="local model")] = SMOLLM2,
    objects: Annotated[int, typer.Option(help="of the kitchen", min=1)] = 6,
    mean: Annotated[float, typer.Option(help="mean probability that a second recursion needs")] = 0.5,
) -> None:
    """Measure trees of some objects."""
    made = provenance()
    task, _ = load_task("tidy kitchen")
    prompts = load_prompts()
    bounds = GenerationLimits(stop=prompts.stop)
    found: dict[str, list[dict[str, float]]] = {}
    for reuse in (True, False):
        opened = LocalChatModel(model, reuse_prefix=reuse)
        LocalCompletionModel(opened).extend("Warm up.", [()], bounds)
        for about in task.objects[:objects]:
            lead = f"the goal is that the {about.thing.noun} {'are' if about.plural else 'is'}"
            prompt = f"{construct_goal_prompt(prompts, task, about)} {lead}"
            row = cost(opened, prompt, lead, about.thing.noun, bounds, mean)
            found.setdefault("shared" if reuse else "alone", []).append(row)
    figures = {way: {figure: fmean(row[figure] for row in rows) for figure in rows[0]} for way, rows in found.items()}
    write_json(output, {"model": model, "mean": figures, "objects": found, **made})
    for way, row in figures.items():
        typer.echo(
            f"{way}: first completion {row['first']:.2f} s, tree of {row['calls']:.1f} calls and {row['tokens']:.0f} "
            f"tokens {row['tree']:.2f} s, bound {row['bound']:.2f} s"
        )


if __name__ == "__main__":
    from housewise.core.exit_codes import run_cli

    run_cli(lambda: typer.run(main))
