"""The report of a run: an index, a page per episode, and the outcome of every object."""

from housewise.report.report import MAX_IN_ONE, WORST, Progress, ReportOptions, write_report, write_single

__all__ = ["MAX_IN_ONE", "WORST", "Progress", "ReportOptions", "write_report", "write_single"]
