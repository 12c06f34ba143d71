"""Adapters by name and by folder, and the prompts they were trained with."""

from pathlib import Path

import pytest

from agent.adapters import WORDING, adapter_folder, packaged_adapters, trained_prompt
from agent.models import ChatModelError
from agent.prompt import PromptTemplate
from selftrain.config import load_config


@pytest.mark.parametrize("name", sorted(packaged_adapters()))
def test_what_comes_with_the_package_has_a_card_and_a_prompt(name: str) -> None:
    folder = adapter_folder(name)
    assert (folder / "README.md").read_text(encoding="utf-8").startswith("---")
    assert PromptTemplate.load(trained_prompt(name) or "")
    assert sum(file.stat().st_size for file in folder.iterdir()) < 20e6


def test_a_folder_wins_over_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert adapter_folder("own") == Path("own")
    (tmp_path / "majority").mkdir()
    assert adapter_folder("majority") == Path("majority")


def test_the_prompt_is_the_adapters_unless_another_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / WORDING).write_text('{"prompt": "compact"}', encoding="utf-8")
    adapter = {"adapter": str(tmp_path)}
    assert load_config(settings=adapter).prompt == "compact"
    assert load_config(settings={**adapter, "prompt": "planner"}).prompt == "planner"
    assert load_config(settings={**adapter, "planner": "sayplan"}).prompt == "planner"
    assert load_config().prompt == "planner"
    assert trained_prompt(tmp_path / "nowhere") is None


@pytest.mark.parametrize("content", ["", "{}", "[]", "{"])
def test_a_damaged_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / WORDING).write_text(content, encoding="utf-8")
    with pytest.raises(ChatModelError, match=WORDING):
        trained_prompt(tmp_path)
