"""Tokens that a local model reads and writes, equal for inference and for training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from housewise.language.base import ChatModelError, Message
from housewise.language.local.encoding import encode, is_control
from housewise.language.messages import fold_system
from housewise.language.thoughts import thought_marks

PROBE, _SYSTEM_PROBE = "step 3b9d07", "rule 8c1f52"
"""Texts that no template contains."""

_system_roles: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def prompt_tokens(
    tokenizer: Any,
    messages: Sequence[Message],
    prefix: str,
    name: str,
    template_options: Mapping[str, Any] | None = None,
) -> list[int]:
    """Return the tokens of a conversation that awaits its next assistant turn.

    Args:
        tokenizer: Tokenizer of the model.
        messages: The conversation; empty for a plain text to continue.
        prefix: Text that the assistant's turn starts with, or the plain text.
        name: Name of the model, for errors.
        template_options: Arguments of the chat template, such as ``enable_thinking``.

    Raises:
        ChatModelError: If the model's chat template refuses the messages.
    """
    if not messages:
        return encode(tokenizer, [prefix], begins=True)
    has_template = has_chat_template(tokenizer)
    if has_template and not takes_system_role(tokenizer):
        messages = fold_system(messages)

    def render(contents: Sequence[str]) -> str:
        *texts, start = contents
        if not has_template:
            # A model without a template continues a plain text.
            return "\n\n".join(texts) + "\n\n" + start
        turns = [{**message.turn, "content": text} for message, text in zip(messages, texts, strict=True)]
        try:
            text: str = tokenizer.apply_chat_template(
                turns, tokenize=False, add_generation_prompt=True, **(template_options or {})
            )
        except Exception as error:  # a template is a program and may raise anything
            raise ChatModelError(
                f"model {name}: its chat template refuses these messages ({error}); use a model whose template takes "
                "turns of user and assistant, or correct chat_template_kwargs"
            ) from error
        return text + start

    contents = [*(message.content for message in messages), prefix]
    return encode(tokenizer, contents, render, begins=not has_template)


def takes_system_role(tokenizer: Any) -> bool:
    """Whether a chat template writes system messages; some refuse that role, and some silently ignore it."""
    found = _system_roles.get(tokenizer)
    if found is None:
        turns = [{"role": "system", "content": _SYSTEM_PROBE}, {"role": "user", "content": PROBE}]
        try:
            found = _SYSTEM_PROBE in tokenizer.apply_chat_template(turns, tokenize=False)
        except Exception:  # a template is a program and may raise anything
            found = False
        _system_roles[tokenizer] = found
    return found


def reply_tokens(tokenizer: Any, text: str, cut: bool = False) -> list[int]:
    """Return the tokens of a reply, with the token that ends the turn unless the text was cut."""
    tokens = encode(tokenizer, [text])
    if cut:
        return tokens
    end = end_of_turn(tokenizer)
    assert end is not None, "models without such a token are refused before they are trained"
    return [*tokens, end]


def token_texts(tokenizer: Any, before: Sequence[int], tokens: Sequence[int]) -> list[str]:
    """Return the text that each of several tokens adds after others.

    If a character takes several tokens, the first adds a replacement character and the last nothing.

    Args:
        tokenizer: Tokenizer of the model.
        before: Preceding tokens; only the last one matters.
        tokens: Tokens that are alternatives of each other.
    """
    anchor = list(before[-1:])

    def decode(ids: list[int]) -> str:
        text: str = tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    start = len(decode(anchor)) if anchor else 0
    return [decode([*anchor, token])[start:] for token in tokens]


def end_of_turn(tokenizer: Any) -> int | None:
    """Return the token with which the chat template ends an assistant's turn, else the one that ends a text, if any."""
    end: int | None = tokenizer.eos_token_id
    if not has_chat_template(tokenizer):
        return end
    _, found, tail = _finished_turn(tokenizer).rpartition(PROBE)
    after = tokenizer(tail.strip(), add_special_tokens=False).input_ids if found else []
    # It may be any added token, not only one that the tokenizer has a name for.
    added = tokenizer.added_tokens_decoder.get(after[0]) if after else None
    return int(after[0]) if added is not None and is_control(added) else end


def _finished_turn(tokenizer: Any) -> str:
    """Return a conversation that ends with an assistant's turn."""
    turns = [{"role": "user", "content": PROBE}, {"role": "assistant", "content": PROBE}]
    try:
        text: str = tokenizer.apply_chat_template(turns, tokenize=False)
    except Exception:  # some templates want the system's turn first
        text = tokenizer.apply_chat_template([{"role": "system", "content": PROBE}, *turns], tokenize=False)
    return text


def has_chat_template(tokenizer: Any) -> bool:
    """Whether a model was trained on turns of a conversation."""
    return bool(getattr(tokenizer, "chat_template", None))


def silent_tokens(tokenizer: Any) -> frozenset[int]:
    """Return special tokens that are not part of a text; those that mark thoughts are."""
    special = {token: str(added) for token, added in tokenizer.added_tokens_decoder.items() if added.special}
    special |= {token: tokenizer.convert_ids_to_tokens(token) for token in tokenizer.all_special_ids}
    marks = thought_marks(special.values())
    return frozenset(token for token, text in special.items() if text not in marks)


def end_tokens(network: Any, tokenizer: Any) -> frozenset[int]:
    """Return the tokens that end a turn."""
    ends = network.generation_config.eos_token_id
    listed = [*(ends if isinstance(ends, list) else [ends]), tokenizer.eos_token_id]
    # A template is a program and may raise anything; a prompt's messages show whether it works.
    with suppress(Exception):
        listed.append(end_of_turn(tokenizer))
    return frozenset(token for token in listed if token is not None)
