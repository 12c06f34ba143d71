"""``housewise report``: an index of a run, a page for each episode, and what became of every object."""

from housewise.report.report import MOST_IN_ONE, WORST, Progress, ReportOptions, write_report, write_single

__all__ = ["MOST_IN_ONE", "WORST", "Progress", "ReportOptions", "write_report", "write_single"]
