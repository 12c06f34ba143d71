"""Replies of a model of random weights, held to a grammar."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")
pytest.importorskip("llguidance")

from transformers import AutoTokenizer

from housewise.agent.personalize.grammar import choice_grammar, plan_grammar
from housewise.agent.personalize.plan_normalizer import parse_any_plan
from housewise.language import ChatModelError, ChatRequest, Message, Sampling
from housewise.language.grammar_matching import matches_grammar
from housewise.language.local.grammar_constraints import GrammarCompiler, GrammarConstraint
from housewise.language.local.model import LocalChatModel
from housewise.language.local.model_runner import ModelRunner
from housewise.worlds.house.high_level_actions import ActionKind
from housewise.worlds.house.scene_graph import SceneGraph, SymbolicObservation
from tests.language.tiny import SPECIAL, save_tiny_model

COLOURS = choice_grammar(["red", "green", 'gré "n\\', "blue"])


@pytest.fixture(scope="module", params=["bytes", "words"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalChatModel]:
    folder = save_tiny_model(tmp_path_factory.mktemp("tiny") / "model", request.param)
    opened = LocalChatModel(str(folder), device="cpu", dtype="float32", batch_size=6)
    yield opened
    opened.close()


def ask(grammar: str | None, prefix: str = "", **sampling: Any) -> ChatRequest:
    return ChatRequest((Message("user", "Where to?"),), Sampling(**{"max_tokens": 1200, **sampling}), prefix, grammar)


# Prepositions and articles are no parts of names.
_NOT_IN_NAMES = {"on", "in", "at", "from", "off", "onto", "into", "a", "an", "the", "my", "your", "our", "this", "that"}
names = st.from_regex(r"[a-z]{1,8}(-[a-z]{2,4})?( [a-z]{2,6})?", fullmatch=True).filter(
    lambda name: not _NOT_IN_NAMES & {*name.replace("-", " ").split()}
)


@st.composite
def graphs(draw: st.DrawFn) -> SceneGraph:
    """Houses as a robot may know them: empty, or with things in their places and in the hand."""
    rooms = [f"{name} {number}" for number, name in enumerate(draw(st.lists(names, min_size=1, max_size=3)))]
    places = [
        f"{rooms[number % len(rooms)]} {name} {number}" for number, name in enumerate(draw(st.lists(names, max_size=4)))
    ]
    things = [f"{name} {number + 50}" for number, name in enumerate(draw(st.lists(names, max_size=4)))]
    held = things.pop() if things and draw(st.booleans()) else None
    graph = SceneGraph(rooms)
    where = {place: rooms[number % len(rooms)] for number, place in enumerate(places)}
    graph.update(SymbolicObservation(where, {thing: draw(st.sampled_from(places)) for thing in things if places}, held))
    return graph


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), most=st.integers(1, 12), seed=st.integers(0, 9))
def test_every_grounded_reply_can_be_parsed_and_resolved(
    model: LocalChatModel, graph: SceneGraph, most: int, seed: int
) -> None:
    request = ask(plan_grammar(graph, most), "step 1:", seed=seed, n=6, temperature=1.5)
    for reply in model.complete([request])[0]:
        plan = parse_any_plan(f"step 1:{reply.text}", graph.vocabulary)
        assert reply.finish_reason == "stop"
        assert [step.problem for step in plan.steps] == [""] * len(plan.steps)
        assert len(plan.steps) <= most and (plan.steps or plan.complete)
        lines = reply.text.splitlines()
        said = [line.removeprefix(f"step {number}:").strip() for number, line in enumerate(lines, start=1)]
        assert said == [str(step.action) for step in plan.steps] + ["mission complete"] * plan.complete
        held = graph.holding
        for step in plan.steps:
            assert step.action is not None
            if step.action.kind == ActionKind.PICK_UP:
                assert held is None
                held = step.action.target
            if step.action.kind == ActionKind.PLACE:
                assert held == step.action.target
                held = None


def test_rows_with_and_without_a_grammar_are_written_together(model: LocalChatModel) -> None:
    requests = [ask(COLOURS, n=3, seed=1), ask(None, max_tokens=9, seed=2), ask(choice_grammar(["a very long answer"]))]
    colours, free, long = model.complete(requests)
    assert {reply.text for reply in colours} <= {" red", " green", ' gré "n\\', " blue"}
    assert long[0].text == " a very long answer"
    assert [reply.text for reply in free] == [reply.text for reply in model.complete(requests[1:2])[0]]
    assert [reply.text for reply in colours] == [reply.text for reply in model.complete(requests[:1])[0]]


def test_the_likeliest_allowed_reply_and_its_probability(model: LocalChatModel) -> None:
    reply = model.complete([ask(choice_grammar(["red"]), temperature=0.0, logprobs=True)])[0][0]
    assert reply.text == " red" and reply.token_logprobs is not None
    assert len(reply.token_logprobs) == reply.completion_tokens
    # As the model is, not as it is held: an allowed token is not certain.
    assert all(logprob < -0.01 for logprob in reply.token_logprobs)


def test_a_reply_that_is_cut_keeps_to_the_grammar(model: LocalChatModel) -> None:
    reply = model.complete([ask(choice_grammar(["kitchen counter"]), max_tokens=2)])[0][0]
    assert reply.finish_reason == "length" and " kitchen counter".startswith(reply.text)


@pytest.mark.parametrize("kind", ["bytes", "words"])
def test_control_strings_of_a_grammar_are_plain_text(tmp_path: Path, kind: Literal["bytes", "words"]) -> None:
    tokenizer = AutoTokenizer.from_pretrained(save_tiny_model(tmp_path, kind))
    end, name = tokenizer.eos_token_id, f"mug {SPECIAL[1]} 1"
    constraint = GrammarCompiler(tokenizer, len(tokenizer), [end]).constraint(choice_grammar([name], lead=""))
    forced = constraint.take_forced_tokens()
    assert end not in forced and tokenizer.decode(forced, skip_special_tokens=False) == name


def test_what_is_no_grammar_is_refused(model: LocalChatModel) -> None:
    for grammar in ("reply ::= nothing", "what", '"a" | ', ""):
        with pytest.raises(ChatModelError, match="grammar"):
            model.complete([ask(grammar)])


@pytest.mark.parametrize(
    ("text", "whether"),
    [
        ("step 1: red", True),
        ("step 1: re", True),
        ("", True),
        ("step 1:red", False),
        ("red", False),
        ("step 1: reds", False),
    ],
)
def test_whether_a_text_follows_a_grammar(text: str, whether: bool) -> None:
    assert matches_grammar(text, COLOURS, "step 1:") == whether


def test_any_text_can_be_compared_with_a_grammar() -> None:
    assert not matches_grammar("\ud800 \0", COLOURS)
    assert matches_grammar(' gré "n', COLOURS)


def test_what_can_only_follow_is_read_not_written(model: LocalChatModel, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = choice_grammar([f"{first} and then it goes on in one way only" for first in ("red", "green", "blue")])
    requests = [ask(lines, n=4, temperature=0.0), ask(None, max_tokens=30, temperature=0.0)]
    replies = [[reply.text for reply in several] for several in model.complete(requests)]
    widths = []
    step = ModelRunner.append_tokens

    def counted(reader: ModelRunner, tokens: Any) -> Any:
        widths.append(max(map(len, tokens)))
        return step(reader, tokens)

    monkeypatch.setattr(ModelRunner, "append_tokens", counted)
    assert [[reply.text for reply in several] for several in model.complete(requests)] == replies
    assert max(widths) > 10
    monkeypatch.setattr(GrammarConstraint, "take_forced_tokens", lambda constraint: [])
    assert [[reply.text for reply in several] for several in model.complete(requests)] == replies


def test_a_reply_is_cut_in_the_midst_of_what_can_only_follow(model: LocalChatModel) -> None:
    grammar = choice_grammar(["all of this follows, whatever was meant"])
    reply = model.complete([ask(grammar, max_tokens=7)])[0][0]
    assert reply.finish_reason == "length" and reply.completion_tokens == 7


@pytest.mark.parametrize("seed", range(3))
def test_a_reply_follows_a_json_schema_if_it_can_be_restricted(
    model: LocalChatModel, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = ["fine", 'the "blue" shelf', "elsewhere"]
    schema = {
        "type": "object",
        "properties": {"mug 1": {"$ref": "#/$defs/place"}, "cap 1": {"$ref": "#/$defs/place"}},
        "required": ["mug 1", "cap 1"],
        "additionalProperties": False,
        "$defs": {"place": {"type": "string", "enum": places}},
    }
    request = replace(ask(None, seed=seed, n=3, temperature=1.5), json_schema=json.dumps(schema))
    for reply in model.complete([request])[0]:
        read = json.loads(reply.text)
        assert list(read) == ["mug 1", "cap 1"] and set(read.values()) <= set(places) and "\n" not in reply.text
    # Without llguidance the model replies freely.
    monkeypatch.setattr("housewise.language.local.model.has_llguidance", lambda: False)
    free = model.complete([replace(request, sampling=replace(request.sampling, max_tokens=9))])[0][0].text
    assert free == model.complete([ask(None, seed=seed, n=3, temperature=1.5, max_tokens=9)])[0][0].text


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", "not a JSON schema with keys and values"),
        ("[1]", "not a JSON schema with keys and values"),
        ('{"type": "objekt"}', "the JSON schema of the reply cannot be followed (Invalid type: objekt)"),
    ],
)
def test_what_is_no_json_schema_is_named(model: LocalChatModel, schema: str, said: str) -> None:
    with pytest.raises(ChatModelError, match=re.escape(said)):
        model.complete([replace(ask(None), json_schema=schema)])
