"""Handing an adapter on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from housewise.core.migrations.code_names import FORMER_COMMANDS

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file, save_file

from housewise.core.errors import UserError
from housewise.language.adapters import ADAPTER_CONFIG_FILE, adapter_defaults
from housewise.selftrain.publish_adapter import publish_adapter


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    folder = tmp_path / "adapter"
    folder.mkdir()
    save_file({"weight": torch.randn(64, 16)}, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text("{}")
    (folder / "README.md").write_text("# A card")
    (folder / ADAPTER_CONFIG_FILE).write_text(json.dumps({"prompt": "compact"}))
    (folder / "optimizer.pt").write_bytes(b"not needed")
    return folder


def test_weights_are_rounded_and_nothing_else_comes_along(adapter: Path, tmp_path: Path) -> None:
    size = publish_adapter(adapter, tmp_path / "shipped")
    files = {file.name: file.stat().st_size for file in (tmp_path / "shipped").iterdir()}
    assert set(files) == {"adapter_model.safetensors", "adapter_config.json", "README.md", ADAPTER_CONFIG_FILE}
    assert size == sum(files.values())
    before = load_file(adapter / "adapter_model.safetensors")["weight"]
    after = load_file(tmp_path / "shipped" / "adapter_model.safetensors")["weight"]
    assert after.dtype == torch.bfloat16 and torch.equal(after, before.bfloat16())
    assert adapter_defaults(tmp_path / "shipped") == {"prompt": "compact"}


@pytest.mark.parametrize(
    ("version", "success"),
    [
        pytest.param({"version": 2}, {"success_rate": 0.6126, "success_rate_stderr": 0.04}, id="shares"),
        pytest.param({"version": 2}, {"success_rate": 0.6126, "success_rate_stderr": None}, id="one task"),
        pytest.param({}, {"success_rate": 61.26, "success_rate_stderr": 4.0}, id="percent, as before version 2"),
    ],
)
def test_the_card_tells_how_good_it_is_and_how_it_was_made(
    adapter: Path, tmp_path: Path, version: dict[str, int], success: dict[str, float | None]
) -> None:
    row = {"episodes": 20, "executability": 0.987, **success}
    (tmp_path / "evaluation").mkdir()
    (tmp_path / "evaluation" / "metrics.json").write_text(json.dumps({**version, "evaluation": {"test": row}}))
    publish_adapter(adapter, tmp_path / "shipped", "make brain")
    card = (tmp_path / "shipped" / "README.md").read_text()
    error = "" if success["success_rate_stderr"] is None else " ± 4.0"
    assert card.startswith("# A card") and f"| test | 20 | 61.3{error} | 98.7 |" in card and "make brain" in card
    publish_adapter(adapter, tmp_path / "shipped", title=r"Cooks \1 # well")
    assert (tmp_path / "shipped" / "README.md").read_text().startswith("# Cooks \\1 # well\n")


def test_a_missing_file_is_named(adapter: Path, tmp_path: Path) -> None:
    (adapter / "README.md").unlink()
    with pytest.raises(UserError, match=r"README\.md"):
        publish_adapter(adapter, tmp_path / "shipped")
    assert not (tmp_path / "shipped").exists()


@pytest.mark.parametrize("former", ["ship", pytest.param("prefer", marks=pytest.mark.slow)])
def test_the_former_commands_still_run(former: str) -> None:
    command = [sys.executable, "-m", f"housewise.selftrain.{former}", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    current = FORMER_COMMANDS[f"housewise.selftrain.{former}"]
    assert (done.returncode, f"python -m {current}" in done.stdout) == (0, True), done.stderr
