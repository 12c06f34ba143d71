"""Location of the bundled configuration: settings, prompts, people and task sets."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

CONFIGS = Path(str(resources.files("housewise.housekeep_configs"))).resolve()
