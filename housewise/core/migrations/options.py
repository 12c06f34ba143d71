"""Former names of options of the command line. They keep working, and are not shown in the help."""

from __future__ import annotations

FORMER_OPTIONS = {
    "run": {"--runs": "--repeats"},
    "selftrain": {"--runs": "--repeats"},
    "report": {"--most": "--max-episodes"},
    "memory show": {"--most": "--max-notes"},
    "learn": {"--about": "--topic", "--questions": "--max-questions"},
    "rules show": {"--about": "--topic"},
    "rules add": {"--about": "--topic"},
    "rules edit": {"--about": "--topic"},
    "play kitchen": {"--people": "--person"},
}
"""Current name by former name of an option, by command."""
