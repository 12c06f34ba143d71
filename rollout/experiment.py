"""What makes an experiment: the settings under which episodes were played, as far as they bear on what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from housewise.rollout.record import EpisodeLine
from housewise.systems.personalize.config import COMPUTED, load_config

Experiment = tuple[tuple[str, str], ...]
"""Settings and their values in words, in one order; a setting that has no bearing on a planner is not there."""

AGENT = ("planner", "model", "adapter", "prompt")
"""Settings that say who played: what experiments are made to compare."""

NONE = "none"

# Which episodes were played, what they were drawn from, and where the program found what it needed.
_ELSEWHERE = COMPUTED | {"runs", "houses", "episodes", "scenes", "seed", "series", "data", "base_url", "records"}
# What only planners go by that ask a model.
_OF_MODELS = {
    "model", "adapter", "prompt", "sampling", "grounded", "grammar_dialect", "second_look", "continue_prefix",
    "most_steps_per_plan",
}  # fmt: skip
_FIRST = (*AGENT, "person", "simulator", "grounded", "sampling.temperature", "sampling.top_p", "sampling.max_tokens")
_LABELS = {"person": "preferences of", "second_look": "second look", "max_steps": "most steps"}
_LONGEST = 120


def experiment_of(header: EpisodeLine) -> Experiment:
    """The experiment that an episode belongs to."""
    settings = {key: header.config.get(key, value) for key, value in defaults().items()}
    settings |= {"planner": header.planner, "model": header.model, "simulator": header.simulator}
    left_out = set(_ELSEWHERE)
    if header.model is None:
        left_out |= _OF_MODELS
    if header.planner != "demonstrator":
        left_out.add("demonstrator")
    flat = _flat({key: value for key, value in settings.items() if key not in left_out})
    order = [key for key in _FIRST if key in flat] + [key for key in flat if key not in _FIRST]
    return tuple((key, _words(flat[key])) for key in order)


def differing(experiments: Iterable[Experiment]) -> list[str]:
    """Settings in which experiments differ; who has no such setting differs in none."""
    values: dict[str, set[str]] = {}
    for experiment in experiments:
        for key, value in experiment:
            values.setdefault(key, set()).add(value)
    found = [key for key, several in values.items() if len(several) > 1]
    return sorted(found, key=lambda key: _FIRST.index(key) if key in _FIRST else len(_FIRST))


def label(key: str) -> str:
    """What a setting is called in a table."""
    return _LABELS.get(key, key.removeprefix("sampling."))


def names(experiments: Sequence[Experiment]) -> dict[Experiment, str]:
    """A name for each experiment: its planner and model, and where these are the same, whatever else differs."""
    distinct = list(dict.fromkeys(experiments))
    agents = {one: _agent(dict(one)) for one in distinct}
    more = [key for key in differing(distinct) if key not in ("planner", "model", "adapter")]
    return {
        one: name
        if list(agents.values()).count(name) == 1
        else ", ".join([name, *(f"{label(key)} {value}" for key, value in one if key in more)])
        for one, name in agents.items()
    }


def planner_of(header: EpisodeLine) -> str:
    """The planner, and the model and its adapter where it has any."""
    adapter = header.config.get("adapter")
    return _agent({"planner": header.planner, "model": header.model, "adapter": adapter and _words(adapter)})


def _agent(facts: Mapping[str, str | None]) -> str:
    planner, model, adapter = (facts.get(key) or "" for key in ("planner", "model", "adapter"))
    if not model:
        return planner
    return f"{planner} ({model}{f' with {adapter}' if adapter and adapter != NONE else ''})"


def defaults() -> dict[str, Any]:
    """The settings that a run has unless it is told otherwise: what older records leave out."""
    return dict(_packaged())


@lru_cache(maxsize=1)
def _packaged() -> dict[str, Any]:
    return load_config().model_dump()


def _flat(settings: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{key}.")
        else:
            found[f"{before}{key}"] = value
    return found


def _words(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return " to ".join(map(_words, value))
    text = f"{value:g}" if isinstance(value, float) else str(value)
    # Of a long path its end tells more than its beginning.
    return text if len(text) <= _LONGEST else f"…{text[-_LONGEST:]}"
