"""``housewise report``: one page that shows a run, with everything in it."""

from experiments.report.page import Progress, write_report

__all__ = ["Progress", "write_report"]
