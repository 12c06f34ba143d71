"""Checks in processes of their own, all at the same time: neither a crash nor a hang of a driver stops the others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from housewise.core.render_devices import ANY, GpuSetting, parse_gpu_setting
from housewise.doctor.findings import Check, Finding, tried

LIMIT = 120.0
"""Seconds after which a check that does not answer counts as broken."""

_PROGRAM = "import sys; from housewise.doctor.apart import answer; answer(*sys.argv[1:])"
# Drivers and simulators write to the same stream.
_MARK = "findings: "


@contextmanager
def started(check: Check, data: Path | None, gpu: GpuSetting = ANY) -> Iterator[subprocess.Popen[str]]:
    """A process that makes a check; it is ended with all its children if it still runs at the end.

    Args:
        check: one of housewise.doctor.checks.
        data: the Housekeep folder, None where none is named.
        gpu: CUDA devices that habitat-sim is tried on.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, check.what, "" if data is None else str(data), json.dumps(gpu)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def answer(what: str, data: str, gpu: str) -> None:
    """What such a process does: it prints what the check finds.

    Args:
        what: the check.
        data: the Housekeep folder, empty where none is named.
        gpu: CUDA devices that habitat-sim is tried on, as JSON.
    """
    from housewise.doctor import checks

    everything = checks(Path(data) if data else None, parse_gpu_setting(json.loads(gpu)))
    check = next(check for check in everything if check.what == what)
    print("\n" + _MARK + json.dumps([asdict(finding) for finding in tried(check)]), flush=True)


def answered(check: Check, process: subprocess.Popen[str], limit: float = LIMIT) -> list[Finding]:
    """What the check in a process found; that the process ended without an answer is a finding as well.

    Args:
        check: that it makes.
        process: see started.
        limit: seconds to wait.
    """
    try:
        said, complaint = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return [Finding(check.topic, check.what, "broken", f"no answer within {limit:g} s", check.remedy)]
    answers = [text.removeprefix(_MARK) for text in said.splitlines() if text.startswith(_MARK)]
    if answers:
        return [Finding(**found) for found in json.loads(answers[-1])]
    last_words = complaint.strip().splitlines()[-1:]
    details = ": ".join([f"the check ended with exit code {process.returncode}", *last_words])
    return [Finding(check.topic, check.what, "broken", details, check.remedy)]
