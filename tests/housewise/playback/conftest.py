"""The short run that the report's tests play, for playback."""

from __future__ import annotations

from tests.housewise.report.conftest import edited, run_folder

__all__ = ["edited", "run_folder"]
