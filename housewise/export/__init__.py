"""Exports runs to the formats of other tools."""

from housewise.export.run import FORMATS, export_run

__all__ = ["FORMATS", "export_run"]
