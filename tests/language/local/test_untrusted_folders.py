"""Folders of models and adapters that somebody else has made: nothing in them is run."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra housewise[local] is not installed")

from housewise.language import ChatModelError, adapters
from housewise.language.local.weights import load_model, load_outline
from tests.commands import run_module
from tests.language.tiny import change_json, save_tiny_adapter, save_tiny_model

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


def test_a_chat_template_that_does_not_parse_is_named(tmp_path: Path) -> None:
    made = save_tiny_model(tmp_path / "model")
    change_json(made / "tokenizer_config.json", chat_template="{% for turn in messages %}\n{{ turn.content }")
    (made / "chat_template.jinja").unlink(missing_ok=True)
    code, said = run(made)
    last = said.strip().splitlines()[-1]
    assert code == 2 and last.startswith("error: ") and str(made) in last
    assert "its chat template (" in last and "does not parse: line 2" in last


def run(folder: Path) -> tuple[int, str]:
    """What comes of a run whose user says yes to whatever is asked."""
    arguments = ["run", "--houses", "1", "--model", f"local:{folder}", "--out", str(folder.parent / "run")]
    short = ["max_steps=5", "max_plans=1", "sampling.max_tokens=2"]
    done = run_module("housewise.cli", [*arguments, *short], timeout=120, input="y\n" * 20)
    assert not (folder / "it-ran").exists() and "[y/N]" not in done.stdout + done.stderr
    return done.returncode, done.stderr


def test_a_model_of_a_kind_of_its_own_is_refused(folder: Path) -> None:
    auto = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    change_json(folder / "config.json", model_type="own", auto_map=auto)
    code, errors = run(folder)
    assert code == 2 and len(errors.strip().splitlines()) == 1 and "never run" in errors and "auto_map" in errors


def test_a_tokenizer_of_a_kind_of_its_own_is_not_run(folder: Path) -> None:
    change_json(
        folder / "tokenizer_config.json",
        auto_map={"AutoTokenizer": [None, "own.OwnTokenizer"]},
        tokenizer_class="OwnTokenizer",
    )
    code, errors = run(folder)
    assert code == 0 or len(errors.strip().splitlines()) == 1


def test_a_model_that_is_known_goes_without_its_programs(folder: Path) -> None:
    auto = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    change_json(folder / "config.json", auto_map=auto)
    assert run(folder)[0] == 0


def test_pickled_weights_of_an_adapter_are_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(TIDY, tmp_path / "tidy")
    (folder / "adapter_model.safetensors").rename(folder / "adapter_model.bin")
    with pytest.raises(ChatModelError, match=r"adapter_model\.bin.* save them as adapter_model\.safetensors"):
        load_outline("smollm2", folder)
    (folder / "adapter_model.bin").unlink()
    with pytest.raises(ChatModelError, match="it has no weights"):
        load_outline("smollm2", folder)


def test_an_adapter_names_no_module_to_import(tmp_path: Path) -> None:
    folder = shutil.copytree(TIDY, tmp_path / "tidy")
    change_json(folder / "adapter_config.json", megatron_config={"a": 1}, megatron_core="own")
    with pytest.raises(ChatModelError, match="Megatron"):
        load_outline("smollm2", folder)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a": ' * 100_000 + "1" + "}" * 100_000, "3", "null", '"x"'])
def test_settings_that_are_none_are_refused(tmp_path: Path, content: str) -> None:
    folder = shutil.copytree(TIDY, tmp_path / "tidy")
    (folder / "adapter_config.json").write_text(content)
    with pytest.raises(ChatModelError, match="no readable adapter_config"):
        load_outline("smollm2", folder)
    model = save_tiny_model(tmp_path / "model")
    (model / "config.json").write_text(content)
    with pytest.raises(ChatModelError, match="it cannot be read"):
        load_outline(str(model), None)


@pytest.mark.parametrize(
    "odd",
    [
        {"layer_replication": [[0, 9]]},
        {"layer_replication": [[0, 10**9]]},
        {"layer_replication": [["a", None]]},
        {"layer_replication": 3},
        {"trainable_token_indices": [10**9]},
        {"trainable_token_indices": {"embed_tokens": [-1]}},
        {"trainable_token_indices": "x"},
        {"r": 10**12},
        {"r": "8"},
        {"r": -1},
        {"rank_pattern": {"q_proj": 10**12}},
        {"rank_pattern": [1]},
        {"target_modules": "("},
        {"target_modules": []},
        {"target_parameters": ["nothing"]},
        {"modules_to_save": ["nothing", 3]},
        {"peft_type": "NONE_SUCH"},
        {"peft_type": None},
        {"base_model_name_or_path": ["a"]},
        {"lora_alpha": "x"},
        {"layers_to_transform": "x"},
        # Weights.
        b"",
        b"\xff" * 8,
        (10**15).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"{}",
        (60).to_bytes(8, "little") + b'{"a":{"dtype":"F32","shape":[99999999999],"data_offsets":[0,4]}}'[:60].ljust(60),
    ],
    ids=lambda odd: repr(odd)[:50],
)
def test_odd_settings_and_weights_of_an_adapter_end_in_a_line(
    made: tuple[Path, Path], tmp_path: Path, odd: dict[str, object] | bytes
) -> None:
    model, plain = made
    adapter = shutil.copytree(plain, tmp_path / "adapter")
    if isinstance(odd, bytes):
        (adapter / "adapter_model.safetensors").write_bytes(odd)
    else:
        change_json(adapter / "adapter_config.json", **odd)
    try:
        load_model(str(model), adapter, "cpu", "float32")
    except ChatModelError as error:
        assert str(error).startswith(f"adapter {adapter}: ") and "\n" not in str(error)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model and an adapter for it."""
    place = tmp_path_factory.mktemp("adapted")
    model = save_tiny_model(place / "model")
    return model, save_tiny_adapter(model, place / "adapter")


def test_pickled_weights_of_a_model_run_nothing(folder: Path) -> None:
    """The loader reads tensors of them alone."""
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(f"cos\nsystem\n(Vtouch {folder / 'it-ran'}\ntR.".encode())
    code, errors = run(folder)
    assert code == 2 and len(errors.strip().splitlines()) == 1 and "cannot be read" in errors
