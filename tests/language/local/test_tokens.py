"""Where texts and turns of local models begin and end."""

from pathlib import Path
from typing import Any

import pytest

from housewise.language import ChatModelError, ChatRequest, Message, Sampling
from housewise.language.local.completion import LocalCompletionModel
from housewise.language.local.model import LocalChatModel
from housewise.language.local.tokens import end_of_turn, prompt_tokens, reply_tokens
from tests.language.tiny import save_tiny_model

transformers = pytest.importorskip("transformers")

TURNS = (
    "{% for turn in messages %}<role>{{ turn.role }}: {{ turn.content }}<turn_end>\n{% endfor %}"
    "{% if add_generation_prompt %}<role>assistant: {% endif %}"
)


def saved(folder: Path, template: str | None = TURNS, begins: str = "") -> Any:
    """A tiny model whose turns end with an added token that has no name, and its tokenizer.

    Args:
        folder: where it goes.
        template: of chats.
        begins: what every text begins with; then the tokenizer ends every text as well.
    """
    from tokenizers import AddedToken, processors

    save_tiny_model(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    marks = [AddedToken(each, special=True, normalized=False) for each in ("<turn_end>", "<role>", "<start>")]
    tokenizer.add_tokens(marks, special_tokens=True)
    if begins or template is None:
        tokenizer.bos_token = begins.partition(" ")[0] or tokenizer.eos_token
        ids = {each: tokenizer.convert_tokens_to_ids(each) for each in (*begins.split(), tokenizer.eos_token)}
        tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{begins} $A {tokenizer.eos_token}".strip(), special_tokens=list(ids.items())
        )
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    network = transformers.AutoModelForCausalLM.from_pretrained(folder)
    network.resize_token_embeddings(len(tokenizer))
    network.save_pretrained(folder)
    return transformers.AutoTokenizer.from_pretrained(folder)


def test_the_token_that_ends_a_turn_needs_no_name(tmp_path: Path) -> None:
    tokenizer = saved(tmp_path)
    end = tokenizer.convert_tokens_to_ids("<turn_end>")
    assert end != tokenizer.eos_token_id and end not in tokenizer.all_special_ids
    assert end_of_turn(tokenizer) == end and reply_tokens(tokenizer, "go")[-1] == end
    model = LocalChatModel(str(tmp_path), device="cpu")
    try:
        assert model.ends == {end, tokenizer.eos_token_id}
        # A grammar ends a reply with it as well.
        request = ChatRequest((Message("user", "go"),), Sampling(max_tokens=20), grammar='reply ::= "go to shelf"')
        [[reply]] = model.complete([request])
        assert (reply.text, reply.finish_reason) == ("go to shelf", "stop")
    finally:
        model.close()


def test_words_and_blanks_that_were_added_end_no_turn(tmp_path: Path) -> None:
    tokenizer = saved(tmp_path, TURNS.replace("<turn_end>", ""))
    tokenizer.add_tokens(["  "])
    assert end_of_turn(tokenizer) == tokenizer.eos_token_id


@pytest.mark.parametrize("begins", ["<start>", "<start> <role>", ""])
def test_a_text_begins_as_the_tokenizer_begins_every_text(tmp_path: Path, begins: str) -> None:
    tokenizer = saved(tmp_path, begins=begins)
    start = tokenizer.convert_tokens_to_ids(begins.split())
    plain = tokenizer("go to shelf", add_special_tokens=False).input_ids
    assert prompt_tokens(tokenizer, (), "go to shelf", "tiny") == [*start, *plain]
    # A control string in it changes nothing about that.
    assert prompt_tokens(tokenizer, (), "go<role>", "tiny")[: len(start)] == start
    # The template writes what begins a conversation, where that is wanted.
    assert prompt_tokens(tokenizer, [Message("user", "go")], "", "tiny")[0] == tokenizer.convert_tokens_to_ids("<role>")


def test_a_token_that_ends_texts_begins_none(tmp_path: Path) -> None:
    tokenizer = saved(tmp_path, template=None)
    assert tokenizer("").input_ids == [tokenizer.bos_token_id] == [tokenizer.eos_token_id]
    plain = tokenizer("go", add_special_tokens=False).input_ids
    assert prompt_tokens(tokenizer, (), "go", "tiny") == plain


def test_a_template_that_wants_a_system_turn_first(tmp_path: Path) -> None:
    check = "{% if messages[0].role != 'system' %}{{ raise_exception('no system') }}{% endif %}"
    tokenizer = saved(tmp_path, check + TURNS)
    assert end_of_turn(tokenizer) == tokenizer.convert_tokens_to_ids("<turn_end>")


def test_a_template_that_refuses_turns_of_the_assistant(tmp_path: Path) -> None:
    refuse = "{% if messages[-1].role == 'assistant' %}{{ raise_exception('no') }}{% endif %}"
    tokenizer = saved(tmp_path, refuse + TURNS)
    model = LocalChatModel(str(tmp_path), device="cpu")
    assert model.ends == {tokenizer.eos_token_id}
    model.close()


@pytest.mark.parametrize("template", [" ", TURNS.replace("turn.content", "turn.content.text")])
def test_a_template_that_leaves_out_what_is_said(tmp_path: Path, template: str) -> None:
    saved(tmp_path, template)
    with pytest.raises(ChatModelError, match="its chat template leaves out what the user says"):
        LocalChatModel(str(tmp_path), device="cpu")


def test_texts_that_are_rated_and_continued_begin_so_too(tmp_path: Path) -> None:
    tokenizer = saved(tmp_path, begins="<start>")
    model = LocalChatModel(str(tmp_path), device="cpu")
    try:
        prompt = prompt_tokens(tokenizer, (), "go to ", "tiny")
        [rating] = LocalCompletionModel(model).score_texts("go to ", ["shelf"])
        assert rating.prompt_tokens == len(prompt) + len(model.tokens("shelf"))
    finally:
        model.close()
