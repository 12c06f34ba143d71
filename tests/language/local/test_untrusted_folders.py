"""Folders of models and adapters that somebody else has made: nothing in them is run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra housewise[local] is not installed")

from housewise.language import ChatModelError, adapters
from housewise.language.local.weights import check_weights
from tests.commands import run_module
from tests.language.tiny import save_tiny_model

TIDY = Path(adapters.__file__).parent / "tidy"
PROGRAM = """
from pathlib import Path
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
Path(__file__).with_name("it-ran").touch()
Path({folder!r}, "it-ran").touch()
class OwnConfig(LlamaConfig):
    model_type = "own"
class OwnModel(LlamaForCausalLM):
    config_class = OwnConfig
class OwnTokenizer(PreTrainedTokenizerFast):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that brings programs along."""
    made = save_tiny_model(tmp_path / "model")
    (made / "own.py").write_text(PROGRAM.format(folder=str(made)))
    return made


def change(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_chat_template_that_does_not_parse_is_named(tmp_path: Path) -> None:
    made = save_tiny_model(tmp_path / "model")
    change(made / "tokenizer_config.json", chat_template="{% for turn in messages %}\n{{ turn.content }")
    (made / "chat_template.jinja").unlink(missing_ok=True)
    code, said = run(made)
    last = said.strip().splitlines()[-1]
    assert code == 2 and last.startswith("error: ") and str(made) in last
    assert "its chat template (" in last and "does not parse: line 2" in last


def run(folder: Path) -> tuple[int, str]:
    """What comes of a run whose user says yes to whatever is asked."""
    arguments = ["run", "--houses", "1", "--model", f"local:{folder}", "--out", str(folder.parent / "run")]
    short = ["max_steps=5", "most_plans=1", "sampling.max_tokens=2"]
    done = run_module("housewise.cli", [*arguments, *short], timeout=120, input="y\n" * 20)
    assert not (folder / "it-ran").exists() and "[y/N]" not in done.stdout + done.stderr
    return done.returncode, done.stderr


def test_a_model_of_a_kind_of_its_own_is_refused(folder: Path) -> None:
    auto = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    change(folder / "config.json", model_type="own", auto_map=auto)
    code, errors = run(folder)
    assert code == 2 and len(errors.strip().splitlines()) == 1 and "never run" in errors and "auto_map" in errors


def test_a_tokenizer_of_a_kind_of_its_own_is_not_run(folder: Path) -> None:
    change(
        folder / "tokenizer_config.json",
        auto_map={"AutoTokenizer": [None, "own.OwnTokenizer"]},
        tokenizer_class="OwnTokenizer",
    )
    code, errors = run(folder)
    assert code == 0 or len(errors.strip().splitlines()) == 1


def test_a_model_that_is_known_goes_without_its_programs(folder: Path) -> None:
    auto = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    change(folder / "config.json", auto_map=auto)
    assert run(folder)[0] == 0


def test_pickled_weights_of_an_adapter_are_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(TIDY, tmp_path / "tidy")
    (folder / "adapter_model.safetensors").rename(folder / "adapter_model.bin")
    with pytest.raises(ChatModelError, match=r"adapter_model\.bin.* save them as adapter_model\.safetensors"):
        check_weights("smollm2", folder)
    (folder / "adapter_model.bin").unlink()
    with pytest.raises(ChatModelError, match="it has no weights"):
        check_weights("smollm2", folder)


def test_an_adapter_names_no_module_to_import(tmp_path: Path) -> None:
    folder = shutil.copytree(TIDY, tmp_path / "tidy")
    change(folder / "adapter_config.json", megatron_config={"a": 1}, megatron_core="own")
    with pytest.raises(ChatModelError, match="Megatron"):
        check_weights("smollm2", folder)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a": ' * 100_000 + "1" + "}" * 100_000, "3", "null", '"x"'])
def test_settings_that_are_none_are_refused(tmp_path: Path, content: str) -> None:
    folder = shutil.copytree(TIDY, tmp_path / "tidy")
    (folder / "adapter_config.json").write_text(content)
    with pytest.raises(ChatModelError, match="no readable adapter_config"):
        check_weights("smollm2", folder)
    model = save_tiny_model(tmp_path / "model")
    (model / "config.json").write_text(content)
    with pytest.raises(ChatModelError, match="it cannot be read"):
        check_weights(str(model), None)
