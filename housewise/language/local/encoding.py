"""Encodes texts so that only the chat template can write control tokens.

A tokenizer reads ``<|im_end|>`` as the token that ends a turn wherever it occurs. Here a control string in a message, a
prefix, a reply or a plain text becomes ordinary tokens, like any other text.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

Render = Callable[[Sequence[str]], str]


def encode(tokenizer: Any, contents: Sequence[str], render: Render = "".join, *, begins: bool = False) -> list[int]:
    """Encode the text that a template builds from untrusted contents.

    Without control strings in the contents this is ``tokenizer(render(contents)).input_ids``. If the tokenizer is not a
    fast one, control strings get a space after their first character.

    Args:
        tokenizer: Tokenizer of transformers.
        contents: Untrusted texts.
        render: Builds one text from them. Control tokens in what it adds remain. It receives stand-ins for control
            strings of the contents, so that a template cannot act on those either.
        begins: Whether to prepend the tokens that the tokenizer begins every text with.

    Returns:
        Token ids.
    """
    encoder = _encoder_of(tokenizer)
    start = encoder.start if begins else []
    if any(map(encoder.has_control, contents)):
        if tokenizer.is_fast:
            return [*start, *encoder.encode(contents, render)]
        contents = [encoder.break_up(content) for content in contents]
    return [*start, *tokenizer(render(contents), add_special_tokens=False).input_ids]


def token_spans(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    """Return the first and last character of each token of an untrusted text, as ``encode`` encodes it alone.

    Args:
        tokenizer: Fast tokenizer of transformers.
        text: The text.
    """
    encoder = _encoder_of(tokenizer)
    if encoder.has_control(text):
        return encoder.spans(text)
    spans: list[tuple[int, int]] = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True).offset_mapping
    return spans


def tokenizer_json_without_controls(tokenizer: Any) -> str:
    """Return the JSON of a fast tokenizer with the same ids that reads control strings as plain text."""
    return _encoder_of(tokenizer).renamed_json


class _ContentEncoder:
    """Encodes texts whose contents have control strings.

    It uses a copy of the tokenizer in which control tokens have other names, which contain a random number and so
    cannot occur in a content. The whole text is encoded in one call, so that merges between template and content, and
    the spaces that SentencePiece puts at the beginning of a text, are as for any other content.

    Args:
        tokenizer: Tokenizer of transformers. It is not kept; only the backend of a fast one is.

    Attributes:
        start: Tokens that the tokenizer begins every text with.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._backend: Any = tokenizer.backend_tokenizer if tokenizer.is_fast else None
        tokens = [token for token in tokenizer.added_tokens_decoder.values() if is_control(token)]
        self._controls = [token.content for token in tokens]
        self._pattern = _longest_match(self._controls)
        self.start = _text_prefix(tokenizer)
        self._nonce = secrets.randbelow(10**18)
        # Some tokens are searched in the normalized text, which may contain them although the content does not.
        self._normalizer = self._backend.normalizer if self._backend else None
        forms = [self._normalize(token.content) for token in tokens if token.normalized]
        self._normalized_pattern = _longest_match(forms) if forms and self._normalizer else None

    def has_control(self, text: str) -> bool:
        """Whether the tokenizer would find a control token in a text."""
        if self._pattern.search(text):
            return True
        return self._normalized_pattern is not None and bool(self._normalized_pattern.search(self._normalize(text)))

    def break_up(self, text: str) -> str:
        """Return a text with a space after the first character of every control string."""
        return self._pattern.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)

    def encode(self, contents: Sequence[str], render: Render) -> list[int]:
        """See the function ``encode``."""
        numbers = {text: number for number, text in enumerate(self._controls)}

        def mark(kind: str, text: str) -> str:
            return self._mark(kind, numbers[text])

        text = render([self._pattern.sub(lambda found: mark("text", found[0]), content) for content in contents])
        marks = re.compile(f"{self._mark('text', '([0-9]+)')}|({self._pattern.pattern})")
        text = marks.sub(lambda found: mark("token", found[2]) if found[2] else self._controls[int(found[1])], text)
        return list(self._copy.encode(text, add_special_tokens=False).ids)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """See token_spans."""
        return list(self._copy.encode(text, add_special_tokens=False).offsets)

    def _mark(self, kind: str, number: object) -> str:
        """Return the stand-in for a control string, which templates and normalizers do not change."""
        return f"~{kind}-{self._nonce}-{number}~"

    def _normalize(self, text: str) -> str:
        return text if self._normalizer is None else str(self._normalizer.normalize_str(text))

    @cached_property
    def _copy(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_str(self.renamed_json)

    @property
    def renamed_json(self) -> str:
        """The backend as JSON, with other names for control tokens and the same ids."""
        names = {text: self._mark("token", number) for number, text in enumerate(self._controls)}
        made = json.loads(self._backend.to_str())
        for token in made["added_tokens"]:
            token["content"] = names.get(token["content"], token["content"])
        model, vocabulary = made["model"], made["model"]["vocab"]
        if isinstance(vocabulary, dict):
            model["vocab"] = {names.get(text, text): number for text, number in vocabulary.items()}
        else:
            model["vocab"] = [[names.get(text, text), score] for text, score in vocabulary]
        if "merges" in model:
            # Leave out merges that build a control string from plain text.
            pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]]
            model["merges"] = [pair for pair in pairs if names.keys().isdisjoint([*pair, "".join(pair)])]
        if "unk_token" in model:
            model["unk_token"] = names.get(model["unk_token"], model["unk_token"])
        return json.dumps({**made, "truncation": None, "padding": None})


_encoders: WeakKeyDictionary[Any, _ContentEncoder] = WeakKeyDictionary()


def _encoder_of(tokenizer: Any) -> _ContentEncoder:
    """Return the cached encoder of a tokenizer; finding its control strings takes time."""
    encoder = _encoders.get(tokenizer)
    if encoder is None:
        encoder = _encoders[tokenizer] = _ContentEncoder(tokenizer)
    return encoder


def _text_prefix(tokenizer: Any) -> list[int]:
    """Return the tokens before every text; some tokenizers also put one after it, which would end it."""
    whole, text = tokenizer("a").input_ids, tokenizer("a", add_special_tokens=False).input_ids
    places = [place for place in range(len(whole)) if whole[place : place + len(text)] == text]
    return list(whole[: min(places, default=0)])


def is_control(token: Any) -> bool:
    """Whether an added token is a mark, not one of the words and blanks that some tokenizers add too."""
    text = re.sub(r"[\s▁_]", "", token.content)
    return bool(text) and (token.special or not text.isalnum())


def _longest_match(texts: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches the longest of some texts."""
    return re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True))) or "(?!)")
