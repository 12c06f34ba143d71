"""The judge that asks any chat model in plain words, once for all objects, and reads its judgements as JSON.

The request holds a JSON schema, which servers with guided decoding and local models follow. Others reply freely: the
same parser reads JSON with text around it, JSON that was cut, and lines such as ``mug 1: kitchen 0 shelf 5``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from housewise.agent.personalize.chat_session import ChatSession
from housewise.agent.personalize.judgement_text import ELSEWHERE, FINE, Judgements
from housewise.agent.personalize.placement_candidates import CandidatesByObject
from housewise.agent.personalize.placement_judge import JudgementResult, accept_judgement
from housewise.agent.personalize.planner import Attempt, ModelCall
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.agent.personalize.prompt_notes import NotesContext
from housewise.language.base import ChatModel, Message, Sampling
from housewise.language.markup import strip_markup
from housewise.worlds.house.scene_graph import SceneGraph

_TOKENS_PER_OBJECT, _OTHER_TOKENS = 48, 256
_MAX_CHARACTERS = 20_000
# The lengths are bounded, since replies are untrusted: reading takes time linear in the text.
_STRING = r'"(?:[^"\\]|\\.){0,200}"'
_PAIR = re.compile(rf"({_STRING})\s*:\s*({_STRING})")
_LINE = re.compile(
    r"^\W{0,9}(\w[^:\n]{0,120}?)\s{0,9}(?::|->|=>|\bbelongs (?:on|in|at)\b)\W{0,9}(\w[^:\n]{0,120}?)\W{0,9}$",
    re.MULTILINE,
)


class JsonJudge:
    """The model judges all open objects in one reply in JSON. Objects that it does not judge are left out.

    Args:
        model: Model that judges.
        context: Describes the state in words; its template has texts for judgements.
        knowledge: What is recalled about the person.
        sampling: Sampling configuration. A seed is increased by one per request.
    """

    def __init__(
        self, model: ChatModel, context: NotesContext, knowledge: PreferenceKnowledge, sampling: Sampling
    ) -> None:
        self._context, self._knowledge, self._max_tokens = context, knowledge, sampling.max_tokens
        # The limit of each request follows from its objects.
        self._session = ChatSession(model, replace(sampling, n=1, max_tokens=sys.maxsize))

    def judge(
        self, graph: SceneGraph, options: CandidatesByObject, messages: tuple[Message, ...], attempts: Sequence[Attempt]
    ) -> JudgementResult:
        """See Judge.judge. The prompt is that of the plan, with another question."""
        names = self._context.template.prompt_names(graph)
        things = [thing for thing, each in options.items() if not each.is_decided]
        written: Mapping[str, str | None] = {}
        calls: tuple[ModelCall, ...] = ()
        if things:
            prompt = self._context.judging_messages(graph, things, self._knowledge)
            limit = max(self._max_tokens, _TOKENS_PER_OBJECT * len(things) + _OTHER_TOKENS)
            schema = judgement_schema(things, graph, names)
            reply = self._session.ask(prompt, max_tokens=limit, json_schema=schema)
            written = parse_json_judgements(reply.text, things, graph, names)
            calls = (ModelCall(prompt, reply),)
        # The plan's prompt states judgements as facts, so that it must have none that the model did not make.
        judgements = {
            thing: accept_judgement(each, written.get(thing))
            for thing, each in options.items()
            if each.is_decided or thing in written
        }
        return JudgementResult(judgements, calls)


def judgement_schema(things: Sequence[str], graph: SceneGraph, names: Mapping[str, str] = {}) -> str:
    """Return the JSON schema of judgements: an object with a place for each thing, in their order.

    Args:
        things: Objects to judge.
        graph: Scene graph of the robot.
        names: Names used in the prompt, by full name.
    """
    places = [FINE, *(names.get(place, place) for place in graph.receptacles), ELSEWHERE]
    asked = [names.get(thing, thing) for thing in things]
    schema = {
        "type": "object",
        "properties": {name: {"$ref": "#/$defs/place"} for name in asked},
        "required": asked,
        "additionalProperties": False,
        "$defs": {"place": {"type": "string", "enum": places}},
    }
    return json.dumps(schema)


def parse_json_judgements(
    text: str, things: Sequence[str], graph: SceneGraph, names: Mapping[str, str] = {}
) -> Judgements:
    """Parse the judgements in a reply. What is not a known object with a known receptacle is ignored.

    Args:
        text: The reply, of which the first 20,000 characters are read.
        things: Objects to judge.
        graph: Scene graph of the robot.
        names: Names used in the prompt, by full name.
    """
    full = {short: name for name, short in names.items()}
    vocabulary, found, subject = graph.vocabulary, dict[str, str | None](), ""
    for key, value in _pairs(strip_markup(text[:_MAX_CHARACTERS])):
        thing = vocabulary.resolve(full.get(key, key), things).name
        # Some models write {"object": "mug 1", "place": "shelf 5"} whatever they are asked for.
        if thing is None and (said := vocabulary.resolve(full.get(value, value), things).name) is not None:
            subject = said
            continue
        judged = thing or subject
        if not judged:
            continue
        verdict = value.strip().lower()
        place = vocabulary.resolve(full.get(value, value), graph.receptacles).name
        if verdict == ELSEWHERE:
            found.setdefault(judged, None)
        elif verdict == FINE or place is not None:
            found.setdefault(judged, graph.container_of(judged) if verdict == FINE else place)
    return found


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of JSON, also of JSON that was cut, or else those of lines."""
    pairs = [(_unquote(pair[1]), _unquote(pair[2])) for pair in _PAIR.finditer(text)]
    yield from pairs or ((line[1], line[2]) for line in _LINE.finditer(text))


def _unquote(text: str) -> str:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text[1:-1]
