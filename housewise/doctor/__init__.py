"""What is on this machine to simulate, think and learn with, what is missing, and the command that fixes it.

    housewise doctor [--data HOUSEKEEP] [--json FILE] [--base-url URL] [--model NAME] [--timeout SECONDS]

``python -m housewise.doctor`` says the same where the command line itself does not start: nothing that may be broken
is imported before the check that tells of it. Nothing is asked of the network but the server that is named.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path

from rich.console import Console

from housewise.core.provenance import describe_machine
from housewise.core.render_devices import ANY, GpuSetting
from housewise.doctor.accelerators import cpu
from housewise.doctor.accelerators import gpu as cards
from housewise.doctor.apart import LIMIT, answered, started
from housewise.doctor.chat_server import ServerChoice, chat_server
from housewise.doctor.data import GET_DATA, housekeep
from housewise.doctor.findings import (
    ACCELERATORS,
    CORE,
    DATA,
    MACHINES,
    MODELS,
    SERVER,
    SIMULATORS,
    Check,
    Finding,
    tried,
)
from housewise.doctor.models import adapters, server, smollm2
from housewise.doctor.packages import GET_CORE, packages, python
from housewise.doctor.show import show
from housewise.doctor.simulators import (
    GET_DRIVER,
    GET_ENCODER,
    GET_LAB,
    egl_drivers,
    films,
    habitat,
    habitat_lab,
    raycast,
)

__all__ = ["Finding", "checks", "examine", "run_doctor", "works"]


def run_doctor(
    data: Path | None,
    json_file: Path | None,
    console: Console,
    gpu: GpuSetting = ANY,
    asked: ServerChoice | None = None,
) -> bool:
    """Look at everything and show it.

    Args:
        data: the Housekeep folder, None where none is named.
        json_file: where the findings go as well.
        console: to show them on.
        gpu: CUDA devices that habitat-sim is tried on.
        asked: a chat server that is asked what it can; None asks none.

    Returns:
        Whether the embedded simulator works, and the server that is asked can be used.

    Raises:
        UserError: when the file cannot be written.
    """
    with console.status("looking around"):
        findings = examine(data, gpu=gpu, asked=asked)
    show(findings, works(findings), console)
    if json_file is not None:
        from housewise.core.files import write_json

        content = {"works": works(findings), "findings": [asdict(finding) for finding in findings]}
        write_json(json_file, {**content, "machine": describe_machine()})
    return works(findings) and not any(found.topic == SERVER and found.state == "broken" for found in findings)


def examine(
    data: Path | None, limit: float = LIMIT, gpu: GpuSetting = ANY, asked: ServerChoice | None = None
) -> list[Finding]:
    """Look at everything; what is broken is told of and never raised.

    Args:
        data: the Housekeep folder, None where none is named.
        limit: seconds for a check that runs in a process of its own.
        gpu: CUDA devices that habitat-sim is tried on.
        asked: a chat server that is asked what it can; None asks none.
    """
    everything = checks(data, gpu, asked)
    with ExitStack() as stack:
        apart = {check.what: stack.enter_context(started(check, data, gpu)) for check in everything if check.apart}
        found = [answered(check, apart[check.what], limit) if check.apart else tried(check) for check in everything]
    return [finding for findings in found for finding in findings]


def works(findings: Iterable[Finding]) -> bool:
    """Whether the embedded simulator can be played in."""
    return all(found.state == "ok" for found in findings if found.topic == CORE or found.what == "raycast")


def checks(data: Path | None, gpu: GpuSetting = ANY, asked: ServerChoice | None = None) -> tuple[Check, ...]:
    """Everything that is looked at, in the order in which it is shown.

    Args:
        data: the Housekeep folder, None where none is named.
        gpu: CUDA devices that habitat-sim is tried on.
        asked: a chat server that is asked what it can; None asks none.
    """
    again = "pip install --force-reinstall"
    return (
        Check(CORE, "Python", python),
        Check(CORE, "packages", partial(packages, CORE, "packages", "", GET_CORE), GET_CORE),
        Check(SIMULATORS, "raycast", raycast, f"{again} embreex", apart=True),
        Check(SIMULATORS, "habitat", partial(habitat, gpu), GET_DRIVER, apart=True),
        Check(SIMULATORS, "EGL drivers", egl_drivers, GET_DRIVER),
        Check(SIMULATORS, "habitat-lab", habitat_lab, GET_LAB, apart=True),
        Check(SIMULATORS, "films", films, GET_ENCODER),
        Check(ACCELERATORS, "CPU", cpu),
        Check(ACCELERATORS, "GPU", cards, f"{again} torch", apart=True),
        *(_extra(MODELS, extra) for extra in ("grounded", "local", "train")),
        Check(MODELS, "SmolLM2", smollm2),
        Check(MODELS, "adapters", adapters),
        Check(MODELS, "server", server),
        *([] if asked is None else [Check(SERVER, "server", partial(chat_server, asked))]),
        _extra(MACHINES, "distributed"),
        Check(DATA, "Housekeep", partial(housekeep, data), GET_DATA, apart=True),
    )


def _extra(topic: str, extra: str) -> Check:
    what = f"housewise[{extra}]"
    remedy = f"pip install '{what}'"
    return Check(topic, what, partial(packages, topic, what, extra, remedy), remedy)
