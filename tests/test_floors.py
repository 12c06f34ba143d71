"""The floors of the house: modules import from their own floor or from below, and nothing goes round in circles."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter")

ROOT = Path(__file__).parents[1]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or "lint-imports", "--no-cache"]
    config = ["--config", str(ROOT / "pyproject.toml")]
    env = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    return subprocess.run([*command, *config], cwd=folder, env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_a_module_that_imports_from_above_is_found(tmp_path: Path) -> None:
    kept = lint(ROOT)
    assert kept.returncode == 0, kept.stdout
    shutil.copytree(ROOT / "housewise", tmp_path / "housewise")
    guilty = tmp_path / "housewise" / "core" / "tables.py"
    guilty.write_text(guilty.read_text() + "\nfrom housewise.rollout.scores import Score  # noqa\n")
    broken = lint(tmp_path)
    assert broken.returncode == 1 and "housewise.core.tables -> housewise.rollout.scores" in broken.stdout
