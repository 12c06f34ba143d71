"""What a search tree costs beside its first completion.

Processor time of the process is measured, so that other programs on the machine do not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from housewise.agent.stars.data_files import load_task
from housewise.agent.stars.model_usage import ModelUsage
from housewise.agent.stars.prompts import load_prompts
from housewise.agent.stars.responses import RetrievedTexts
from housewise.agent.stars.search_tree import SearchTree, construct_goal_prompt
from housewise.experiments.measured_values import MeasuredValue
from housewise.language.completion import GenerationLimits
from housewise.language.local.completion import LocalCompletionModel
from housewise.language.local.model import LocalChatModel
from housewise.language.local.smollm2 import SMOLLM2


def measure_tree_cost(reuse_prefix: bool, objects: int, model: str = SMOLLM2) -> Iterator[MeasuredValue]:
    """Measure the first completion, a token and the whole tree for objects of the kitchen, each from an empty cache.

    Args:
        reuse_prefix: Whether what prompts share is read once.
        objects: Number of objects.
        model: Local model.
    """
    task, _ = load_task("tidy kitchen")
    prompts = load_prompts()
    bounds = GenerationLimits(stop=prompts.stop)
    opened = LocalChatModel(model, reuse_prefix=reuse_prefix)
    completion = LocalCompletionModel(opened)
    completion.extend("Warm up.", [()], bounds)
    for about in task.objects[:objects]:
        lead = f"the goal is that the {about.thing.noun} {'are' if about.plural else 'is'}"
        prompt = f"{construct_goal_prompt(prompts, task, about)} {lead}"
        for name, value in _measure_object(opened, completion, prompt, lead, about.thing.noun, bounds):
            yield MeasuredValue(about.thing.name, 0, name, value)


def _measure_object(
    opened: LocalChatModel,
    model: LocalCompletionModel,
    prompt: str,
    lead: str,
    noun: str,
    bounds: GenerationLimits,
) -> Iterator[tuple[str, float]]:
    opened.clear_cache()
    first = _seconds(lambda: model.extend(prompt, [()], bounds))
    # The same again with the prompt in the cache: what is left is writing.
    opened.clear_cache()
    [reply] = model.extend(prompt, [()], bounds)
    token = _seconds(lambda: model.extend(prompt, [()], bounds)) / max(1, reply.completion_tokens)
    opened.clear_cache()
    usage, tree = ModelUsage(), SearchTree(model, bounds)
    whole = _seconds(lambda: tree.grow(prompt, RetrievedTexts(noun, lead=lead), usage))
    tokens = sum(usage.completion_tokens.values())
    yield from {"first": first, "token": token, "tree": whole}.items()
    yield from {"calls": sum(usage.calls.values()), "tokens": tokens}.items()
    yield "bound", 2 * (first + (tokens - reply.completion_tokens) * token)


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
