"""A chat server that says where things belong, with the probability of every token where it is to tell them."""

import math
import re
from collections.abc import Mapping
from typing import Any

from tests.language.conftest import Answer, Body, Handler, completion

_SEEN = re.compile(r"Seen: (\S+) ")
PLACES = {
    "folder": "filing cabinet",
    "file": "filing cabinet",
    "pen": "drawer",
    "pencil": "drawer",
    "stapler": "drawer",
}
CLOSED = ("drawer", "filing cabinet", "fridge", "cupboard", "pantry")


def housekeeper(places: Mapping[str, str] = PLACES, logprobs: bool = True, also: str = "") -> Answer:
    """Says of every object that it is in the closet, or in its place; repairs name the closet again.

    Args:
        places: by noun; of all others it says the garbage.
        logprobs: whether alternatives are told.
        also: a third place that it thinks of, whatever the object.
    """

    def answer(handler: Handler, body: Body) -> None:
        text = body["messages"][-1]["content"]
        if "one number" in body["messages"][0]["content"]:
            handler.reply(200, _reply([("1", 0.9, {"2": 0.05})], logprobs))
            return
        noun = _SEEN.findall(text)[-1]
        place = places.get(noun, "garbage")
        said = text.rpartition("Goal: ")[2]
        closing = [(f" and the {place} is closed", 0.9, {" or": 0.01})] if place in CLOSED else []
        if said.endswith((f" the {place}", f" the {also or place}")):
            handler.reply(200, _reply(closing or [(".", 0.95, {"!": 0.01})], logprobs))
            return
        tokens: list[Any] = [(" in", 0.95, {" on": 0.03}), (" the", 0.97, {" a": 0.01})]
        others = {f" {place}": 0.3} | ({f" {also}": 0.08} if also else {})
        handler.reply(200, _reply([*tokens, (" closet", 0.6, others)], logprobs))

    return answer


def _reply(tokens: list[Any], logprobs: bool) -> Body:
    body = completion("".join(text for text, *_ in tokens))
    body["usage"] = {"prompt_tokens": 100, "completion_tokens": len(tokens)}
    if logprobs:
        body["choices"][0]["logprobs"] = {
            "content": [
                {
                    "token": text,
                    "logprob": math.log(probability),
                    "top_logprobs": [
                        {"token": other, "logprob": math.log(p)} for other, p in {text: probability, **others}.items()
                    ],
                }
                for text, probability, others in tokens
            ]
        }
    return body
