"""Housewise: household agents in simulation that learn what their people want.

The functions of housewise.api can be imported from here. Nothing heavy is imported before one of them is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from housewise.core.migrations.code_names import install_former_modules
from housewise.worlds.registration import register_environments

if TYPE_CHECKING:
    from housewise.api import compare, episodes, events, generated_task, load_run, make_env, play, read_records, runs

    __version__: str

__all__ = [
    "__version__",
    "compare",
    "episodes",
    "events",
    "generated_task",
    "load_run",
    "make_env",
    "play",
    "read_records",
    "runs",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("housewise")
    if name not in __all__:
        raise AttributeError(f"module 'housewise' has no attribute {name!r}")
    return getattr(import_module("housewise.api"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


install_former_modules()
register_environments()
