"""Registers the environments with Gymnasium, so that ``import housewise`` makes ``gymnasium.make`` find their ids.

Gymnasium 1.0 removed the entry points by which installed packages announced environments. Importing Gymnasium takes
longer than printing the help of the command line, so nothing is imported here: if a program imports Gymnasium later
than Housewise, the ids are registered then.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ENVIRONMENTS = {
    "housewise/Rearrangement-v0": "housewise.worlds.house.generated_env:make_generated_env",
    "housewise/TextRearrangement-v0": "housewise.systems.personalize.text_env:generated_text_env",
    "housewise/TextKitchen-v0": "housewise.worlds.kitchen.env:TextKitchenEnv",
    "housewise/Lab-v0": "housewise.worlds.lab.env:LabEnv",
}


def register_environments() -> None:
    """Register all environments now, or as soon as Gymnasium is imported."""
    if "gymnasium" in sys.modules:
        _register(sys.modules["gymnasium"])
    else:
        sys.meta_path.insert(0, _GymnasiumFinder())


def _register(gymnasium: ModuleType) -> None:
    for name in ENVIRONMENTS.keys() - gymnasium.registry.keys():
        gymnasium.register(name, entry_point=ENVIRONMENTS[name])


class _GymnasiumFinder(MetaPathFinder):
    """Registers the environments after the first import of Gymnasium."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """See MetaPathFinder.find_spec; only Gymnasium is found."""
        if name != "gymnasium":
            return None
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, specs), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                # Not earlier, because a program may look for Gymnasium without importing it.
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                _register(module)

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
