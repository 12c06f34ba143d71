"""Checks and their findings. An error that a check raises becomes a finding as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from housewise.core.errors import UserError

State = Literal["ok", "missing", "broken"]

CORE, SIMULATORS, ACCELERATORS = "core", "simulators", "accelerators"
MODELS, SERVER, MACHINES, DATA = "models", "chat server", "many machines", "data"


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes:
        topic: Heading in the table of findings.
        what: What was checked.
        state: Whether it can be used.
        details: Description for people.
        remedy: Command that fixes it, or an empty text if nothing is broken or no command can fix it.
    """

    topic: str
    what: str
    state: State
    details: str
    remedy: str = ""


@dataclass(frozen=True)
class Check:
    """A check.

    Attributes:
        topic: Topic of its findings.
        what: What is checked.
        run: Runs the check. It may raise any error.
        remedy: Remedy if the check crashes or raises an error without one.
        is_isolated: Whether it runs in its own process, because it is slow or may crash.
    """

    topic: str
    what: str
    run: Callable[[], Iterable[Finding]]
    remedy: str = ""
    is_isolated: bool = False


def run_check(check: Check) -> list[Finding]:
    """Run a check. Returns its findings, or its error as a finding."""
    try:
        return list(check.run())
    except UserError as error:
        found = finding_from_error(check.topic, check.what, "broken", error)
        return [found if found.remedy else replace(found, remedy=check.remedy)]
    except Exception as error:
        return [Finding(check.topic, check.what, "broken", summarize_error(error), check.remedy)]


def finding_from_error(topic: str, what: str, state: State, error: UserError) -> Finding:
    """Turn an error into a finding, whose remedy is what the message says to do."""
    problem, mark, remedy = str(error).rpartition("; run ")
    if not mark:
        problem, _, remedy = str(error).partition("; ")
    return Finding(topic, what, state, problem, remedy)


def summarize_error(error: Exception) -> str:
    """Return the type of an error and the last line of its message, which is the relevant one of a traceback."""
    lines = [text.strip() for text in str(error).splitlines() if text.strip()]
    return f"{type(error).__name__}: {lines[-1]}" if lines else type(error).__name__
