"""How likely a model finds each of its judgements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from housewise.core.errors import UserError
from housewise.language.base import ChatModel, ChatRequest, Message, Reply, TokenLogprob, TokenScorer


def line_probabilities(
    model: ChatModel, messages: tuple[Message, ...], prefix: str, reply: Reply, openings: Mapping[str, str]
) -> dict[str, float]:
    """The probability of the rest of each line of a reply, given its opening and all before it.

    Args:
        model: that wrote the reply; one on this machine is asked again for what it thinks of every token.
        messages, prefix: what it was asked.
        reply: what it answered.
        openings: how each line begins, by what it is about; those that are not in the reply are left out.

    Returns:
        Probabilities in [0, 1] under the model as it is, before temperature and grammar.

    Raises:
        UserError: when the model does not tell probabilities.
    """
    tokens = list(_tokens(model, messages, prefix, reply))
    ends, place = [], 0
    for token in tokens:
        place += len(token.text)
        ends.append(place)
    text = "".join(token.text for token in tokens)
    found = {}
    for name, opening in openings.items():
        start = f"{text}\n".find(opening)
        if start < 0:
            continue
        first, last = start + len(opening), f"{text}\n".index("\n", start + len(opening))
        # A token that began in the opening, such as ": " with a word's first letters, is half of the answer.
        inside = (
            token for token, end in zip(tokens, ends, strict=True) if end > first and end - len(token.text) < last
        )
        found[name] = math.exp(sum(token.logprob for token in inside))
    return found


def _tokens(
    model: ChatModel, messages: tuple[Message, ...], prefix: str, reply: Reply
) -> Iterable[TokenLogprob] | Sequence[TokenLogprob]:
    if isinstance(model, TokenScorer):
        return model.score_tokens(ChatRequest(messages, prefix=prefix), [reply.text])[0]
    if reply.alternatives is None:
        raise UserError(
            f"model {model.name} does not tell how likely its words are; set agent.confidence=0, or ask a local model"
        )
    return [choices[0] for choices in reply.alternatives if choices]
