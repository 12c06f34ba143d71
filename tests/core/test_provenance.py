"""What figure files say of how they were made."""

import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from housewise.core import hardware, provenance
from tests.commands import run_module

WHO = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", folder, *WHO, *words], capture_output=True, text=True, check=True
    ).stdout.strip()


def made(file: Path) -> dict[str, Any]:
    """What the function says where its module lies in this place."""
    found: dict[str, Any] = runpy.run_path(str(file))["provenance"]()
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the module in it."""
    file = tmp_path / "project" / "core" / "machine.py"
    file.parent.mkdir(parents=True)
    shutil.copy(provenance.__file__, file)
    git(file.parent, "init", "--quiet", str(tmp_path / "project"))
    git(file.parent, "add", "machine.py")
    git(file.parent, "commit", "--quiet", "--message", "Begin")
    return file


def test_a_commit_says_whether_its_code_was_changed(checkout: Path) -> None:
    root = checkout.parents[1]
    head = git(root, "rev-parse", "HEAD")
    assert (made(checkout)["commit"], made(checkout)["changed"]) == (head, False)
    (root / "results").mkdir()
    (root / "results" / "figures.json").write_text("{}")
    (root / "README.md").write_text("figures")
    assert made(checkout)["changed"] is False
    (root / "new.py").write_text("")
    assert (made(checkout)["commit"], made(checkout)["changed"]) == (head, True)


def test_there_is_no_commit_outside_of_a_checkout_nor_in_that_of_something_else(checkout: Path, tmp_path: Path) -> None:
    installed = [tmp_path / "machine.py", checkout.parents[1] / "env" / "machine.py"]
    for file in installed:
        file.parent.mkdir(exist_ok=True)
        shutil.copy(checkout, file)
        assert (made(file)["commit"], made(file)["changed"]) == (None, None)


def test_a_benchmark_tells_its_command_without_folders_of_this_machine(tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="the extra housewise[experiments] is not installed")
    words = [
        "experiment",
        "recall_speed",
        "--only=search=by key",
        "notes=20",
        "questions=2",
        f"--out={tmp_path / 'out'}",
    ]
    run_module("housewise", words, code=0)
    text = (tmp_path / "out" / "recall_speed.json").read_text()
    made = json.loads(text)["made"]
    assert made["command"].endswith("experiment recall_speed '--only=search=by key' notes=20 questions=2 --out=out")
    assert {"commit", "changed", "date", "software", "machine"} <= set(made)
    assert str(tmp_path) not in text


def test_paths_and_passwords_in_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [
        "tool",
        "/a/b c/d/",
        "~/housekeep",
        "../x",
        "runs/a",
        "key=/a/b",
        "http://me:pw@host/v1",
        "--people=a,/b/c",
    ]
    monkeypatch.setattr("sys.argv", words)
    told = provenance.provenance()["command"]
    assert told.endswith("d/ housekeep x runs/a key=b 'http://***@host/v1' --people=a,c")


class TwoGPUs:
    """Torch on a machine with two GPUs."""

    class cuda:
        device_count = staticmethod(lambda: 2)
        get_device_name = staticmethod(lambda number: f"Card {number}")


def test_figures_name_the_gpus_that_made_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", TwoGPUs)
    assert hardware.describe_machine()["gpus"] == "Card 0, Card 1"


def test_where_there_is_no_card_torch_is_not_imported() -> None:
    program = (
        "import sys; from housewise.core.hardware import describe_machine; found = describe_machine(); "
        "from pathlib import Path; cards = any(Path('/dev').glob('nvidia[0-9]*')); "
        "assert cards or ('torch' not in sys.modules and 'gpus' not in found)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
