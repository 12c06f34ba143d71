"""Asks the doctor as a user does, and makes up what is broken."""

import json
import os
import subprocess
from pathlib import Path

from housewise.doctor.check_list import list_checks
from housewise.doctor.findings import Finding
from housewise.doctor.isolated_checks import collect_findings, start_check
from tests.commands import run_module

KEY = "sk-Zq8vKw3nX7Lp"
TOPICS = ["core", "simulators", "accelerators", "models", "many machines", "data"]

# As much of habitat-sim as is asked for before it opens a window.
HABITAT = """
import os
__version__, built_with_bullet, Simulator = "0.3.3", True, None
def SimulatorConfiguration():
    {end}
"""


def doctor(
    *arguments: str | Path, module: str = "housewise.cli", fakes: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own.

    Args:
        *arguments: of the command.
        module: that is run.
        fakes: folder of packages that come before the installed ones.
        **environment: more of it.
    """
    unset = ("HOUSEKEEP_DATA", "OPENAI_API_KEY", "OPENAI_BASE_URL")
    env = {key: value for key, value in os.environ.items() if key not in unset} | environment
    if fakes is not None:
        env["PYTHONPATH"] = str(fakes)
    return run_module(module, [*(["doctor"] if module == "housewise.cli" else []), *arguments], env)


def package(folder: Path, name: str, content: str, version: str | None = None, requires: tuple[str, ...] = ()) -> None:
    """Make up an installed package; without a version, it has no metadata."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name.replace('-', '_')}.py").write_text(content)
    if version is not None:
        home = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        home.mkdir()
        needs = "".join(f"Requires-Dist: {need}\n" for need in requires)
        (home / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")


def asked_alone(what: str, limit: float = 60) -> tuple[Finding, subprocess.Popen[str]]:
    """What a check finds, and the process that made it."""
    check = next(check for check in list_checks(None) if check.what == what)
    with start_check(check, None) as process:
        (found,) = collect_findings(check, process, limit)
    return found, process


def by_what(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.what: finding for finding in findings}


def read(file: Path) -> dict[str, Finding]:
    """Findings of a file that the command wrote."""
    return by_what([Finding(**found) for found in json.loads(file.read_text())["findings"]])
