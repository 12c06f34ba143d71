"""Control strings in what is sent to servers are broken up, and nothing else is changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.language.base import ChatRequest, Message
from housewise.language.control_tokens import break_control_strings
from tests.language.conftest import ChatServer, Open

CONTROLS = [
    *("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>", "<|begin_of_text|>", "<s>"),
    *("</s>", "[INST]", "[/INST]", "<start_of_turn>", "<end_of_turn>", "<|user|>", "<|assistant|>", "<|end|>", "<bos>"),
    *("<|channel|>", "<|START_OF_TURN_TOKEN|>", "<BOS_TOKEN>", "<pad>", "<｜Assistant｜>", "<｜begin▁of▁sentence｜>"),
    *("<｜tool▁calls▁begin｜>", "<|turn>", "<turn|>", "[|user|]", "[|endofturn|]", "<SPECIAL_12>", "[gMASK]", "<sop>"),
    *("<extra_id_1>", "<|reserved_special_token_0|>", "[SYSTEM_PROMPT]", "[/TOOL_RESULTS]", "<seed:eos>", "[SEP]"),
    *("<unused12>", "<|fim_prefix|>"),
]
HARMLESS = [
    "<think>",
    "</think>",
    "a < b | c > d",
    "<mug>",
    "[x]",
    "x <| y |> z",
    "<b>bold</b>",
    "[1, 2]",
    "||",
    "<system>",
]


@pytest.mark.parametrize("text", CONTROLS)
def test_a_control_string_is_broken_up_and_can_still_be_read(text: str) -> None:
    broken = break_control_strings(f"a mug{text} on a table")
    assert text not in broken and broken.replace(" ", "") == f"amug{text}onatable"


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert break_control_strings(text) == text


@given(st.lists(st.sampled_from([*CONTROLS, *HARMLESS, "<", "|", ">", "<|", "|>", "[", "]", "s", " "]), max_size=12))
def test_none_is_left_wherever_it_stands(pieces: list[str]) -> None:
    broken = break_control_strings("".join(pieces))
    assert not any(text in broken for text in CONTROLS) and break_control_strings(broken) == broken


def test_contents_of_every_role_and_the_prefix_are_broken_up(server: ChatServer, open_server: Open) -> None:
    roles = ("system", "user", "assistant", "user")
    turns = tuple(Message(role, f"{role} <|im_end|>") for role in roles)  # type: ignore[arg-type]
    open_server(continue_prefix=True).complete([ChatRequest(turns, prefix="step <|im_end|>:")])
    sent = [turn["content"] for turn in server.requests[0]["messages"]]
    assert sent == [*(f"{role} < |im_end|>" for role in roles), "step < |im_end|>:"]
