"""Run checks in parallel, each in its own process, so that a crash or hang of a driver does not stop the others."""

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
from housewise.doctor.findings import Check, Finding, run_check

TIME_LIMIT = 120.0
"""Seconds after which a check without an answer counts as broken."""

_PROGRAM = "import sys; from housewise.doctor.isolated_checks import run_isolated; run_isolated(*sys.argv[1:])"
# Marks the line of the answer, because drivers and simulators write to the same stream.
_MARK = "findings: "


@contextmanager
def start_check(check: Check, data: Path | None, gpu: GpuSetting = ANY) -> Iterator[subprocess.Popen[str]]:
    """Start a process that runs a check. At the end it is killed with all its children if it still runs.

    Args:
        check: A check of list_checks.
        data: Folder of the Housekeep data, or None if none is named.
        gpu: CUDA devices that habitat-sim is tested on.
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


def run_isolated(what: str, data: str, gpu: str) -> None:
    """Run a check and print its findings. This is the main function of the started process.

    Args:
        what: What is checked.
        data: Folder of the Housekeep data, or an empty text if none is named.
        gpu: CUDA devices that habitat-sim is tested on, as JSON.
    """
    from housewise.doctor.check_list import list_checks

    checks = list_checks(Path(data) if data else None, parse_gpu_setting(json.loads(gpu)))
    check = next(check for check in checks if check.what == what)
    print("\n" + _MARK + json.dumps([asdict(finding) for finding in run_check(check)]), flush=True)


def collect_findings(check: Check, process: subprocess.Popen[str], limit: float = TIME_LIMIT) -> list[Finding]:
    """Return the findings of a started check. A process that ends without an answer is a finding as well.

    Args:
        check: The check.
        process: The process of start_check.
        limit: Time limit in seconds.
    """
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return [Finding(check.topic, check.what, "broken", f"no answer within {limit:g} s", check.remedy)]
    answers = [text.removeprefix(_MARK) for text in output.splitlines() if text.startswith(_MARK)]
    if answers:
        return [Finding(**found) for found in json.loads(answers[-1])]
    last_words = errors.strip().splitlines()[-1:]
    details = ": ".join([f"the check ended with exit code {process.returncode}", *last_words])
    return [Finding(check.topic, check.what, "broken", details, check.remedy)]
