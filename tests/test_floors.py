"""The floors of the house: modules import from their own floor or from below, and nothing goes round in circles."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter")

ROOT = Path(__file__).parents[1]


def installed(tmp_path: Path) -> Path:
    """The package as it is installed, for the linter to look at."""
    target = tmp_path / "installed"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return target


def lint(target: Path) -> subprocess.CompletedProcess[str]:
    command = [shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or "lint-imports", "--no-cache"]
    config = ["--config", str(ROOT / "pyproject.toml")]
    env = {"PYTHONPATH": str(target), "PATH": "/usr/bin:/bin"}
    return subprocess.run([*command, *config], cwd=target, env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_a_module_that_imports_from_above_is_found(tmp_path: Path) -> None:
    target = installed(tmp_path)
    kept = lint(target)
    assert kept.returncode == 0, kept.stdout
    guilty = target / "housewise" / "core" / "tables.py"
    guilty.write_text(guilty.read_text() + "\nfrom housewise.rollout.scores import Score  # noqa\n")
    broken = lint(target)
    assert broken.returncode == 1 and "housewise.core.tables -> housewise.rollout.scores" in broken.stdout
