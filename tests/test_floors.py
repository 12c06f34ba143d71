"""The floors of the house: modules import from their own floor or from below, and nothing goes round in circles."""

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
@pytest.mark.parametrize(
    ("module", "line", "complaint"),
    [
        (
            "core/tables.py",
            "from housewise.rollout.scores import Score",
            "housewise.core.tables -> housewise.rollout.scores",
        ),
        ("core/errors.py", "import housewise.core.files", "No cycles are allowed in housewise.core."),
        ("language/base.py", "import housewise.language.local.model", "No cycles are allowed in housewise.language."),
    ],
)
def test_arrows_that_point_up_and_circles_are_found(tmp_path: Path, module: str, line: str, complaint: str) -> None:
    kept = lint(ROOT)
    assert kept.returncode == 0, kept.stdout
    shutil.copytree(ROOT / "housewise", tmp_path / "housewise")
    guilty = tmp_path / "housewise" / module
    guilty.write_text(f"{guilty.read_text()}\n{line}  # noqa\n")
    broken = lint(tmp_path)
    assert broken.returncode == 1 and complaint in broken.stdout
