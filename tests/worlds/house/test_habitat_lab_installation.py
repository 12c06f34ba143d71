"""Without habitat-lab the rest of the package works, and importing the task says what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("package", "told"),
    [
        ("raise ModuleNotFoundError(name='habitat')", "habitat-lab is not installed; run pip install"),
        ("import no_such_simulator", "(No module named 'no_such_simulator'); housewise doctor says"),
        ("", "the package habitat that is installed is not habitat-lab; uninstall it"),
        ("get_config, __version__ = None, '0.2.5'", "habitat-lab 0.2.5 is too old: 0.3.3 or later is needed; run pip"),
    ],
)
def test_an_unusable_habitat_lab_is_reported_in_one_line(tmp_path: Path, package: str, told: str) -> None:
    (tmp_path / "habitat.py").write_text(package)
    command = [sys.executable, "-c", "import housewise.worlds.house.habitat_lab"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": f"{tmp_path}:."}, capture_output=True, text=True, check=False
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith("housewise.core.errors.UserError: ") and told in last


def test_the_gymnasium_environment_does_not_need_habitat_lab() -> None:
    modules = "housewise.worlds.house.env, housewise.worlds.house.generated_env, housewise.cli.app"
    code = f"import sys, {modules}; print('habitat' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
