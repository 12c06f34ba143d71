"""Housewise: household agents in simulation that learn what their people want.

What a program wants first is here; everything else is in the parts that docs and README name. Nothing heavy is imported
before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from housewise.worlds.registration import register_environments

if TYPE_CHECKING:
    from housewise.api import compare, generated_task, make_env, play
    from housewise.rollout.record_reader import read_records
    from housewise.rollout.run import load_run

    __version__: str

__all__ = ["__version__", "compare", "generated_task", "load_run", "make_env", "play", "read_records"]

_HOMES = {
    "play": "housewise.api",
    "make_env": "housewise.api",
    "generated_task": "housewise.api",
    "compare": "housewise.api",
    "read_records": "housewise.rollout.record_reader",
    "load_run": "housewise.rollout.run",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("housewise")
    if name not in _HOMES:
        raise AttributeError(f"module 'housewise' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


register_environments()
