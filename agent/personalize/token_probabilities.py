"""Token probabilities: how likely a model finds the lines of its reply."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from housewise.core.errors import UserError
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, TokenLogprob, TokenScorer


def line_probabilities(
    model: ChatModel, messages: tuple[Message, ...], prefix: str, reply: Reply, openings: Mapping[str, str]
) -> dict[str, float]:
    """Return the probability of the rest of each line of a reply, given its opening and everything before it.

    Args:
        model: Model that wrote the reply. A local model computes the log-probabilities again.
        messages: Messages of the prompt.
        prefix: Prefix of the prompt.
        reply: The reply.
        openings: Beginning of each line, by a key. Openings that the reply does not contain are ignored.

    Returns:
        Probabilities in [0, 1] by key, before temperature and grammar.

    Raises:
        UserError: If the model does not return token probabilities.
    """
    tokens = list(_token_logprobs(model, messages, prefix, reply))
    ends, position = [], 0
    for token in tokens:
        position += len(token.text)
        ends.append(position)
    text = "".join(token.text for token in tokens)
    # Openings begin with the end of the line before, which the first line of a reply may leave out.
    indent = len(text) - len(text.lstrip())
    lines = f"\n{text[indent:]}\n"
    probabilities = {}
    for name, opening in openings.items():
        start = lines.find(opening)
        if start < 0:
            continue
        first = start + len(opening) + indent - 1
        last = f"{text}\n".index("\n", first)
        # A token that starts in the opening, such as ": " with the first letters of a word, is part of the judgement.
        inside = (
            token for token, end in zip(tokens, ends, strict=True) if end > first and end - len(token.text) < last
        )
        probabilities[name] = math.exp(sum(token.logprob for token in inside))
    return probabilities


def _token_logprobs(
    model: ChatModel, messages: tuple[Message, ...], prefix: str, reply: Reply
) -> Iterable[TokenLogprob] | Sequence[TokenLogprob]:
    if isinstance(model, TokenScorer):
        return model.score_tokens(ChatRequest(messages, prefix=prefix), [reply.text])[0]
    if reply.alternatives is None:
        raise UserError(
            f"model {model.name} does not return token probabilities; set agent.confidence=0 or use a local model"
        )
    return [choices[0] for choices in reply.alternatives if choices]
