"""Former names of modules, classes and functions that docs/extending.md gave to authors of plugins.

They stay importable with a ``DeprecationWarning``. A former name in a module that still exists is found by that
module's ``__getattr__``; a former module is made when it is imported. Former ``python -m`` commands work too.
"""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

FORMER_NAMES = {
    "housewise.agent.base.Past": "housewise.agent.base.History",
    "housewise.agent.base.usage_of": "housewise.agent.base.total_usage",
    "housewise.agent.personalize.parser.ParsedPlan": "housewise.agent.personalize.plan_parser.ParsedPlan",
    "housewise.agent.personalize.parser.ParsedStep": "housewise.agent.personalize.plan_parser.ParsedStep",
    "housewise.agent.personalize.parser.parse_plan": "housewise.agent.personalize.plan_normalizer.parse_any_plan",
    "housewise.report.house.HouseView": "housewise.report.views.house.HouseView",
    "housewise.rollout.notes.NoteEvent": "housewise.rollout.note_events.NoteEvent",
    "housewise.rollout.notes.notes_of": "housewise.rollout.note_events.learned_notes",
    "housewise.rollout.records.read_records": "housewise.rollout.record_reader.read_records",
    "housewise.rollout.system.Opened": "housewise.rollout.legacy_systems.Opened",
    "housewise.selftrain.personalize.pairs.Pair": "housewise.selftrain.examples.EpisodeDemonstration",
    "housewise.selftrain.trainers.LearnsPreferences": "housewise.selftrain.trainers.Trainer",
    "housewise.selftrain.trainers.Start": "housewise.selftrain.trainers.ModelReference",
    "housewise.systems.personalize.planners.Situation": "housewise.systems.personalize.planner_context.PlannerContext",
}


FORMER_COMMANDS = {
    "housewise.selftrain.prefer": "housewise.selftrain.train_on_preferences",
    "housewise.selftrain.ship": "housewise.selftrain.publish_adapter",
}
"""Current modules by those that were documented as commands ``python -m``."""


def find_former_name(module: str, name: str) -> Any:
    """Return what a former name of a module stands for; for the module's ``__getattr__``.

    Raises:
        AttributeError: The module has no such former name.

    Warns:
        DeprecationWarning: It has.
    """
    former = f"{module}.{name}"
    if former not in FORMER_NAMES:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    current = FORMER_NAMES[former]
    warnings.warn(f"{former} is now {current}", DeprecationWarning, stacklevel=3)
    home, _, attribute = current.rpartition(".")
    return getattr(importlib.import_module(home), attribute)


def find_former_attribute(owner: object, current: Mapping[str, str], name: str) -> Any:
    """Return what a former attribute of an object stands for; for the ``__getattr__`` of its class.

    Args:
        owner: The object.
        current: Current name of each former name.
        name: Name of the attribute that the object lacks.

    Raises:
        AttributeError: It is no former name.

    Warns:
        DeprecationWarning: It is one.
    """
    kind = type(owner).__name__
    if name not in current:
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")
    warnings.warn(f"{kind}.{name} is now {current[name]}", DeprecationWarning, stacklevel=3)
    return getattr(owner, current[name])


def rename_arguments(**current: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let a function take keyword arguments by their former names too.

    Args:
        current: Current name of each former name.
    """

    def wrap(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            for former in current.keys() & kwargs.keys():
                warnings.warn(
                    f"{function.__qualname__}: {former} is now {current[former]}", DeprecationWarning, stacklevel=2
                )
                kwargs[current[former]] = kwargs.pop(former)
            return function(*args, **kwargs)

        return call

    return wrap


class FormerModuleFinder(MetaPathFinder, Loader):
    """Makes modules that have moved, when all other finders have found none."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """See MetaPathFinder.find_spec."""
        moved = name in FORMER_COMMANDS or any(former.rpartition(".")[0] == name for former in FORMER_NAMES)
        return ModuleSpec(name, self) if moved else None

    def exec_module(self, module: ModuleType) -> None:
        """See Loader.exec_module."""
        name = module.__name__
        module.__dict__["__getattr__"] = lambda attribute: find_former_name(name, attribute)

    def get_code(self, name: str) -> CodeType:
        """Return code that runs the current module of a command, for ``python -m``."""
        code = f"import runpy\nrunpy.run_module({FORMER_COMMANDS[name]!r}, run_name='__main__', alter_sys=True)"
        return compile(code, f"<{name}>", "exec")


def install_former_modules() -> None:
    """Let former modules be imported."""
    sys.meta_path.append(FormerModuleFinder())
