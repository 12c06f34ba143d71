"""A Gymnasium wrapper that stores ``info`` as one JSON text, for tools that need infos of one shape."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, SupportsFloat

import gymnasium
from gymnasium.utils import RecordConstructorArgs


class JsonInfo(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Replaces ``info`` by ``{"json": text}``, with all of ``info`` in one JSON text.

    The environments of this package return an ``info`` of another shape in every step. Tools that store steps as
    arrays, such as Minari's ``DataCollector``, need infos of one shape.

    Args:
        env: An environment of houses or of the text kitchen.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """See gymnasium.Env.reset."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, _as_text(info)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """See gymnasium.Env.step."""
        *seen, info = self.env.step(action)
        observation, reward, terminated, truncated = seen
        return observation, reward, terminated, truncated, _as_text(info)


def _as_text(info: dict[str, Any]) -> dict[str, str]:
    return {"json": json.dumps(info, default=_plain)}


def _plain(value: Any) -> Any:
    """Convert a value that ``json`` cannot write."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return value.tolist()  # a numpy array or number
