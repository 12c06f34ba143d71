"""Creates the assistants of BASIS by the planner that a run asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from housewise.agent.basis.chat_assistant import ChatAssistant, assistant_messages, load_assistant_prompts
from housewise.agent.basis.controls import FREQUENT_ADVICE, FixedSpeech, RandomSpeech
from housewise.agent.basis.descriptions import DescriptionOf, shuffled_kinds
from housewise.agent.basis.knowledge import KnowledgeSwitches
from housewise.agent.basis.learner_controls import NearestTurn, build_limited_view
from housewise.agent.basis.oracle_phrases import load_oracle_phrases
from housewise.agent.basis.scripted_oracle import OracleSettings, ScriptedOracle
from housewise.agent.basis.views import Assistant, AssistantView
from housewise.core.errors import UserError
from housewise.core.text_files import numbered_lines, read_text
from housewise.core.validation import validate_json
from housewise.language.adapters import EXAMPLES_FILE, IMITATE, adapter_folder
from housewise.language.base import ChatModel, Message
from housewise.language.embedder import shared_minilm
from housewise.people.lab.chat_user import PromptSize
from housewise.systems.basis.agents import BuildView, model_view, oracle_view
from housewise.systems.basis.settings import BasisAgentSettings, BasisSettings

CORRECTION_PREFIX = "correct"
"""Beginning of the names of the training phases after the imitation, such as correct-1."""


def phase_names(rounds: int) -> list[str]:
    """Return the phases of a training with some rounds of corrections; each learns from the model of the one before."""
    return [IMITATE, *(f"{CORRECTION_PREFIX}-{number}" for number in range(1, rounds + 1))]


def assistant_opener(
    settings: BasisSettings, models: Mapping[str, ChatModel], describe: DescriptionOf
) -> Callable[[int], Assistant[Any]]:
    """Return a function that creates the assistant of an attempt, by its seed.

    Args:
        settings: Settings of the run.
        models: Models by role.
        describe: Returns the description of a kind of thing, see ``usual_description``.
    """
    chosen = settings.agent
    match chosen.planner:
        case "llm":
            sampling = settings.models.agent.sampling
            return lambda seed: ChatAssistant(
                models["agent"],
                _size(chosen),
                sampling.with_seed(seed),
                chosen.grounded,
                chosen.reasoning,
            )
        case "nearest":
            return lambda seed: _nearest_turn(settings.models.agent.adapter, chosen)
        case "random":
            return lambda seed: RandomSpeech(chosen.wording, seed)
        case "frequent" | "silent":
            return lambda seed: FixedSpeech(FREQUENT_ADVICE if chosen.planner == "frequent" else None)
    return lambda seed: ScriptedOracle(OracleSettings(chosen.wording, chosen.planner == "shuffled"), seed, describe)


def usual_description(chosen: BasisAgentSettings) -> DescriptionOf:
    """Return a function from a kind of thing to its usual description: that of the wording, or else of the kind.

    Scripted assistants describe by it; models read it.
    """
    look_of = load_oracle_phrases(chosen.wording).look_of
    if chosen.planner not in ("llm", "nearest") or not chosen.shuffled_descriptions:
        return look_of
    others = shuffled_kinds(0)
    return lambda kind: look_of(others.get(kind, kind))


def view_builder(chosen: BasisAgentSettings, describe: DescriptionOf) -> BuildView:
    """Return a function that builds what the assistant may know; see ``assistant_opener``."""
    knowledge = KnowledgeSwitches(chosen.task_knowledge, chosen.object_knowledge, chosen.environment_knowledge)
    if chosen.planner in ("llm", "nearest"):
        return model_view(chosen.perception, knowledge, chosen.compact, describe)
    if chosen.planner == "limited":
        return lambda seen: build_limited_view(seen.state, seen.surroundings, seen.turns, chosen.perception, knowledge)
    return oracle_view


def prompt_builder(chosen: BasisAgentSettings) -> Callable[[AssistantView], tuple[Message, ...]]:
    """Return a function that builds the prompt of a chat model from what it may know."""
    return partial(assistant_messages, load_assistant_prompts(_size(chosen)), reasons=chosen.reasoning)


def check_assistant(settings: BasisSettings) -> None:
    """Check that everything is there that the assistant needs, before an episode is played.

    Raises:
        UserError: Something is missing or damaged.
    """
    if settings.agent.planner == "nearest":
        _examples_files(settings.models.agent.adapter)
        if not settings.agent.compact:
            raise UserError(
                "compact=false: planner=nearest compares short prompts only; leave it out, or name an adapter that was "
                "trained with run.compact=true"
            )


def _size(chosen: BasisAgentSettings) -> PromptSize:
    return "compact" if chosen.compact else "full"


def _examples_files(adapter: str | None) -> list[Path]:
    """Return the files with the turns that an adapter has learned, including those of earlier phases of its training.

    Raises:
        UserError: There is no such file.
    """
    remedy = "name one with --adapter FOLDER/imitate/adapter, from housewise selftrain --system basis"
    if adapter is None:
        raise UserError(f"planner=nearest: needs an adapter whose training turns it looks up; {remedy}")
    phase = adapter_folder(adapter).absolute().parent
    number = re.fullmatch(rf"{CORRECTION_PREFIX}-(\d+)", phase.name)
    names = [phase.name] if number is None else phase_names(int(number[1]))
    paths = [phase.with_name(name) / EXAMPLES_FILE for name in names]
    if missing := [path for path in paths if not path.is_file()]:
        raise UserError(f"planner=nearest: {missing[0]} is missing, with what the adapter was trained on; {remedy}")
    return paths


class _LearnedTurn(BaseModel):
    """A line of EXAMPLES_FILE; see ``selftrain.examples``."""

    prompt: tuple[dict[str, str], ...]
    completion: tuple[dict[str, str], ...]


@lru_cache(maxsize=2)
def _nearest_turn(adapter: str | None, chosen: BasisAgentSettings) -> NearestTurn:
    """Return the assistant, which holds no state, so that all sessions share it."""
    turns = [
        validate_json(_LearnedTurn, line, f"{path}: line {number}", "train the adapter again", "a training turn")
        for path in _examples_files(adapter)
        for number, line in numbered_lines(read_text(path))
    ]
    return NearestTurn(
        [[Message(turn["role"], turn["content"]) for turn in each.prompt] for each in turns],  # type: ignore[arg-type]
        [each.completion[-1]["content"] for each in turns],
        shared_minilm(),
        prompt_builder(chosen),
    )
