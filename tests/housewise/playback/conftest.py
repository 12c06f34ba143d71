"""The run folder of the report's tests."""

from tests.housewise.report.conftest import edited, run_folder

__all__ = ["edited", "run_folder"]
