"""Settings that tell experiments apart, and their names in tables."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any

from housewise.core.errors import UserError
from housewise.core.plugins import SYSTEMS, plugin_names
from housewise.core.record import Header
from housewise.core.setting_effects import compared_settings
from housewise.core.setting_keys import short_key
from housewise.core.settings import flatten_settings
from housewise.rollout.saved_settings import parse_saved_settings

Experiment = tuple[tuple[str, str], ...]
"""Setting names and formatted values in a fixed order. Settings without effect on the planner are left out."""

AGENT = ("planner", "model", "adapter", "prompt")
"""Settings that name the agent, which experiments usually compare."""

NONE = "none"

_FIRST = (*AGENT, "person", "simulator", "grounded", "sampling.temperature", "sampling.top_p", "sampling.max_tokens")
_LABELS = {"person": "preferences of"}
_LONGEST = 120


def identify_experiment(header: Header) -> Experiment:
    """Return the experiment that an episode belongs to."""
    settings = json.dumps(header.settings, sort_keys=True)
    facts = {**_settings_of_experiment(header.system, settings, bool(header.models)), "planner": header.agent}
    if "agent" in header.models:
        facts["model"] = header.models["agent"]
    order = [key for key in _FIRST if key in facts] + [key for key in facts if key not in _FIRST]
    return tuple((key, _format_value(facts[key])) for key in order)


def find_varying_settings(experiments: Iterable[Experiment]) -> list[str]:
    """Return the settings in which experiments differ. An experiment without a setting differs in none."""
    values: dict[str, set[str]] = {}
    for experiment in experiments:
        for key, value in experiment:
            values.setdefault(key, set()).add(value)
    found = [key for key, several in values.items() if len(several) > 1]
    return sorted(found, key=lambda key: _FIRST.index(key) if key in _FIRST else len(_FIRST))


def setting_label(key: str) -> str:
    """Return the name of a setting in tables."""
    return _LABELS.get(key, key.removeprefix("sampling."))


def experiment_names(experiments: Sequence[Experiment]) -> dict[Experiment, str]:
    """Return a name for each experiment: planner and model, and the other settings that differ if these are equal."""
    distinct = list(dict.fromkeys(experiments))
    agents = {one: _agent_label(dict(one)) for one in distinct}
    more = [key for key in find_varying_settings(distinct) if key not in ("planner", "model", "adapter")]
    return {
        one: name
        if list(agents.values()).count(name) == 1
        else ", ".join([name, *(f"{setting_label(key)} {value}" for key, value in one if key in more)])
        for one, name in agents.items()
    }


def planner_label(header: Header) -> str:
    """Return the planner with its model and adapter, if it has any."""
    return _agent_label(dict(identify_experiment(header)))


def _agent_label(facts: Mapping[str, str | None]) -> str:
    planner, model, adapter = (facts.get(key) or "" for key in ("planner", "model", "adapter"))
    if not model:
        return planner
    return f"{planner} ({model}{f' with {adapter}' if adapter and adapter != NONE else ''})"


@lru_cache(maxsize=256)
def _settings_of_experiment(system: str, settings: str, asks: bool) -> Mapping[str, Any]:
    """Return the settings that affect results by key; unique keys stand without their section."""
    content = json.loads(settings)
    whole = {key: value for key, value in flatten_settings(content).items() if asks or not key.startswith("models.")}
    # Settings that are invalid in this version are shown unchanged.
    with contextlib.suppress(UserError):
        if system in plugin_names(SYSTEMS):
            saved = parse_saved_settings(system, content, "a record", strict=False, trust_code=True)
            whole = compared_settings(saved, has_model=asks)
    short = [short_key(key) for key in whole]
    return {
        name if short.count(name) == 1 else key: value for name, (key, value) in zip(short, whole.items(), strict=True)
    }


def _format_value(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        is_range = len(value) == 2 and all(isinstance(each, (int, float)) for each in value)
        text = (" to " if is_range else ", ").join(map(_format_value, value)) or NONE
        # The digest tells long lists of equal length apart.
        return text if len(text) <= _LONGEST else f"{len(value)} ({sha256(text.encode()).hexdigest()[:6]})"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    # The end of a long path is more informative than its start.
    return text if len(text) <= _LONGEST else f"…{text[-_LONGEST:]}"
