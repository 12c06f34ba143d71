"""The folder of configurations that comes with the package: settings, prompts, people, task sets."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

CONFIGS = Path(str(resources.files("housewise.housekeep_configs"))).resolve()
