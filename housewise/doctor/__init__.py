"""Check what is installed to simulate, plan and learn with, and name the commands that install what is missing.

    housewise doctor --help

``python -m housewise.doctor`` runs the same checks if the command line itself does not start: nothing that may be
broken is imported before its check. The network is not used, except for the chat server that is named.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from housewise.core.hardware import describe_machine
from housewise.core.render_devices import ANY, GpuSetting
from housewise.doctor.chat_server import ServerChoice
from housewise.doctor.check_list import list_checks
from housewise.doctor.findings import CORE, SERVER, Finding, run_check
from housewise.doctor.findings_table import print_findings
from housewise.doctor.isolated_checks import collect_findings, start_check

__all__ = ["Finding", "is_simulator_working", "run_checks", "run_doctor"]


def run_doctor(
    data: Path | None,
    json_file: Path | None,
    console: Console,
    gpu: GpuSetting = ANY,
    server: ServerChoice | None = None,
) -> bool:
    """Run all checks and print what they find.

    Args:
        data: Folder of the Housekeep data, or None if none is named.
        json_file: File that the findings are also written to.
        console: Where they are printed.
        gpu: CUDA devices that habitat-sim is tested on.
        server: Chat server to test, or None to test none.

    Returns:
        Whether the embedded simulator works and the tested server can be used.

    Raises:
        UserError: The file cannot be written.
    """
    with console.status("running checks"):
        findings = run_checks(data, gpu=gpu, server=server)
    is_working = is_simulator_working(findings)
    print_findings(findings, is_working, console)
    if json_file is not None:
        from housewise.core.files import write_json

        content = {"is_working": is_working, "findings": [asdict(finding) for finding in findings]}
        write_json(json_file, {**content, "machine": describe_machine()})
    return is_working and not any(found.topic == SERVER and found.state == "broken" for found in findings)


def run_checks(data: Path | None, gpu: GpuSetting = ANY, server: ServerChoice | None = None) -> list[Finding]:
    """Run all checks. An error in a check is one of its findings, and is not raised.

    Args:
        data: Folder of the Housekeep data, or None if none is named.
        gpu: CUDA devices that habitat-sim is tested on.
        server: Chat server to test, or None to test none.
    """
    checks = list_checks(data, gpu, server)
    with ExitStack() as stack:
        started = {
            check.what: stack.enter_context(start_check(check, data, gpu)) for check in checks if check.is_isolated
        }
        return [
            finding
            for check in checks
            for finding in (collect_findings(check, started[check.what]) if check.is_isolated else run_check(check))
        ]


def is_simulator_working(findings: Iterable[Finding]) -> bool:
    """Whether the embedded simulator can be used."""
    return all(found.state == "ok" for found in findings if found.topic == CORE or found.what == "raycast")
