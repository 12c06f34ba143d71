"""What a check finds, and how what it raises becomes something that it found."""

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
        topic: that it belongs to.
        what: was looked at.
        state: whether it can be used.
        details: for people to read.
        remedy: the command that fixes it; empty where nothing has to be fixed, or no command can.
    """

    topic: str
    what: str
    state: State
    details: str
    remedy: str = ""


@dataclass(frozen=True)
class Check:
    """Something to look at.

    Attributes:
        topic, what: as in its findings.
        look: looks, and may raise anything.
        remedy: for when it raises something that does not say what to do, or dies.
        apart: whether it takes long, or may take its process with it.
    """

    topic: str
    what: str
    look: Callable[[], Iterable[Finding]]
    remedy: str = ""
    apart: bool = False


def tried(check: Check) -> list[Finding]:
    """What a check finds; that it fails is a finding as well."""
    try:
        return list(check.look())
    except UserError as error:
        found = told(check.topic, check.what, "broken", error)
        return [found if found.remedy else replace(found, remedy=check.remedy)]
    except Exception as error:
        return [Finding(check.topic, check.what, "broken", line(error), check.remedy)]


def told(topic: str, what: str, state: State, error: UserError) -> Finding:
    """An error that says what is wrong, then what to do."""
    problem, mark, remedy = str(error).rpartition("; run ")
    if not mark:
        problem, _, remedy = str(error).partition("; ")
    return Finding(topic, what, state, problem, remedy)


def line(error: Exception) -> str:
    """The last line of what an error says, as that of a traceback is the one that matters."""
    lines = [text.strip() for text in str(error).splitlines() if text.strip()]
    return f"{type(error).__name__}: {lines[-1]}" if lines else type(error).__name__
