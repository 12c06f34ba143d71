"""What results depend on beside their settings."""

from __future__ import annotations

from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version

_LIBRARIES = (
    "numpy",
    "networkx",
    "gymnasium",
    "embreex",
    "habitat_sim",
    "trimesh",
    "torch",
    "transformers",
    "llguidance",
    "openai",
)


def software_versions() -> dict[str, str]:
    """Versions of what results depend on, of those installed."""
    found = {}
    for package in ("housewise", *_LIBRARIES):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def now() -> str:
    """This moment, UTC, ISO 8601 to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
