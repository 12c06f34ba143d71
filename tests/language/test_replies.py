"""What a model wrote becomes a reply: thoughts apart, ended where the turn ends, tokens aligned with the text."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.language.base import ChatRequest, Message, Reply, Sampling, TokenLogprob
from housewise.language.replay import ReplayChatModel
from housewise.language.replies import RawReply, ThinkingBudget, finish_reason, is_blank_reply, read_reply
from housewise.language.thoughts import speech_spans

ROOT = Path(__file__).parents[2]
PLAN = "step 1: go to hall 0\nstep 2: go to study 0"
THOUGHT = "It is new to me.\nstep 1: go to attic 0\nNo, others first."
ASKED = ChatRequest((Message("user", "plan"),))

MARKED = {
    "tags": "<think>{}</think>\n\n",
    "other case": "<THINKING>\n{}\n</THINKING>\n",
    "thought": "<thought>{}</thought>",
    "name space": "<seed:think>{}</seed:think>",
    "brackets": "[THINK]{}[/THINK]",
    "triangles": "◁think▷{}◁/think▷",
    "command": "<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>",
    "long chains": "<|begin_of_thought|>{}<|end_of_thought|>\n\n<|begin_of_solution|>",
    "inner": "<|inner_prefix|>{}<|inner_suffix|>",
    "unused": "<unused94>thought\n{}<unused95>",
    "channels": "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    "two channels": "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>commentary<|message|>"
    "Wait.<|end|><|start|>assistant<|channel|>final<|message|>",
    "bare channels": "analysis{}assistantfinal",
    "begun by the template": "{}</think>\n",
    "in words": "Here is my thought process:\n{}\nHere is my response:\n",
    "final": "Here are my reasoning steps:\n{}\n[BEGIN FINAL RESPONSE]\n",
}
ENDS = ["<|im_end|>", "<|eot_id|>", "<end_of_turn>", "</s>", "<|end|>", "<|endoftext|>", "<｜end▁of▁sentence｜>"]
BEGINS = ["", "<s> ", "<|im_start|>assistant\n", "<|start_header_id|>assistant<|end_header_id|>\n\n"]
READERS = (
    "replies.py",
    "control_tokens.py",
    "thoughts.py",
    "base.py",
    "server/responses.py",
    "server/response_reader.py",
)
FOLDERS = ("housewise", "agent", "controller", "selftrain")


def reply_of(text: str, request: ChatRequest = ASKED, **raw: object) -> Reply:
    return read_reply(RawReply(text, **raw), request)  # type: ignore[arg-type]


@pytest.mark.parametrize("marks", MARKED.values(), ids=MARKED)
@pytest.mark.parametrize("end", ["", "<|im_end|>\n<|im_start|>user\nstep 9: go to attic 0"], ids=["", "runs on"])
def test_thoughts_are_not_the_reply(marks: str, end: str) -> None:
    reply = reply_of(marks.format(THOUGHT) + PLAN + end)
    assert reply.text == PLAN and reply.finish_reason == "stop"
    assert "go to attic 0\nNo" in reply.thoughts and "think" not in reply.thoughts.lower()


@pytest.mark.parametrize("marks", [each for each in MARKED.values() if not each.startswith(("{", "Here are"))])
def test_thoughts_that_were_cut_are_no_reply(marks: str) -> None:
    reply = reply_of(marks.partition("{}")[0] + THOUGHT, finish_reason="length")
    assert reply.text == "" and reply.thoughts and is_blank_reply(reply, ASKED)


def test_thoughts_between_the_words() -> None:
    reply = reply_of("step 1: go to hall 0<think>attic?</think>\nstep 2: go to study 0<think>done")
    assert reply.text == PLAN and reply.thoughts == "attic?\ndone"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # Another kind of mark within thoughts is thought about; marks of one kind may be nested.
        ("<think>I may write [THINK]x[/THINK]\ngo to attic</think>go to hall", "go to hall"),
        ("<think>a <think>b</think>\ngo to attic</think>go to hall", "go to hall"),
        ("<|think|>go to attic<|end|><|begin|>assistant<|content|>go to hall<|end|>", "go to hall"),
        ("<think time='3s'>go to attic</think>go to hall", "go to hall"),
        ("<longcat_think>go to attic", ""),
        ("Thinking...\ngo to attic\n...done thinking.\n\ngo to hall", "go to hall"),
        ("analysiswe go to attic.assistantfinalgo to hall", "go to hall"),
        ("<|channel|>final<|message|><think>go to attic</think>go to hall", "go to hall"),
        ("Here are my reasoning steps:\ngo to attic", ""),
        ("<|begin_of_box|>go to hall<|end_of_box|>", "go to hall"),
        ("[gMASK]<sop><|assistant|>\ngo to hall", "go to hall"),
        ("go to hall[|endofturn|]\n[|user|]go to attic", "go to hall"),
        ("<|im_end|>\n<|im_start|>user\ngo to attic", ""),
        ("<answer>\ngo to hall\n</answer>", "go to hall\n"),
        # The small form of this letter has two characters.
        ("<Answer>tidy İrem's desk</ANSWER> and more", "tidy İrem's desk"),
        ("go to <s>hall", "go to <s>hall"),
    ],
)
def test_marks_of_many_families(text: str, said: str) -> None:
    assert reply_of(text).text == said


def test_thoughts_that_the_template_begins() -> None:
    reply = reply_of("I could go to attic 0", starts_thinking=True, finish_reason="length")
    assert (reply.text, reply.thoughts) == ("", "I could go to attic 0")
    assert reply_of("hm</think>go to hall", starts_thinking=True).text == "go to hall"
    assert reply_of("go to hall", starts_thinking=True, thoughts="told apart").text == "go to hall"


@pytest.mark.parametrize("reason", ["COMPLETE", "FinishReason.STOP", "eos_found", "done", "tool_use", None])
def test_unknown_reasons_end_a_reply(reason: str | None) -> None:
    assert finish_reason(reason) == "stop" and finish_reason("model_context_window_exceeded") == "length"
    assert finish_reason("SAFETY") is None and finish_reason("error") is None


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("begin", BEGINS)
def test_marks_of_turns_are_no_words(begin: str, end: str) -> None:
    assert reply_of(f"{begin}{PLAN}{end}", finish_reason="length").text == PLAN
    assert reply_of(f"{begin}{PLAN}{end}", finish_reason="length").finish_reason == "stop"


@pytest.mark.parametrize(
    "text", [PLAN, f" {PLAN}\n", "", "analysis: go to hall 0", "a < b, <b>bold</b> and [x]", "I think so"]
)
def test_plain_words_stay_as_they_are(text: str) -> None:
    assert reply_of(text) == Reply(text)


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_of_a_cut_reply_the_complete_lines_count(reason: str) -> None:
    reply = reply_of(f"{PLAN}\nstep 3: go to hall", finish_reason=reason)
    assert reply.is_cut and reply.complete_lines == PLAN
    assert reply_of("go to hall", finish_reason=reason).complete_lines == ""
    assert reply_of("go to hall").complete_lines == "go to hall"


def test_prefix_and_stop_texts_are_left_out() -> None:
    request = ChatRequest((), Sampling(stop=("\nstep 2", "###")), prefix="step 1:")
    reply = reply_of("<think>###</think>\nStep 1: go to hall 0\nstep 2: go", request, finish_reason="length")
    assert (reply.text, reply.finish_reason) == (" go to hall 0", "stop")


def test_empty_texts_are_replies_where_they_may_be() -> None:
    assert is_blank_reply(Reply(" \n"), ASKED)
    assert not is_blank_reply(Reply(""), ChatRequest((), may_be_empty=True))
    assert is_blank_reply(Reply("", thoughts="hm"), ChatRequest((), may_be_empty=True))
    assert not is_blank_reply(Reply(""), ChatRequest((), grammar='reply ::= "a"?'))


def places(*texts: str) -> tuple[tuple[TokenLogprob, ...], ...]:
    return tuple((TokenLogprob(text, -1.0 * number), TokenLogprob("x", -9.0)) for number, text in enumerate(texts))


@pytest.mark.parametrize(
    ("content", "tokens"),
    [
        ("<think>hm</think>\n\n2. so<|im_end|>", ["<think>", "hm", "</think>", "\n\n2", ".", " so", "<|im_end|>"]),
        # A server that took the thoughts apart tells the tokens of both.
        ("2. so", ["<think>", "hm", "</think>", "\n\n", "2", ".", " so", "<|im_end|>"]),
    ],
)
def test_tokens_are_those_of_the_text(content: str, tokens: list[str]) -> None:
    found = places(*tokens)
    logprobs = tuple(place[0].logprob for place in found)
    reply = reply_of(content, alternatives=found, token_logprobs=logprobs)
    assert reply.text == "2. so" and reply.alternatives is not None and reply.token_logprobs is not None
    assert [place[0].text for place in reply.alternatives] == ["2", ".", " so", "<|im_end|>"]
    assert [place[0].logprob for place in reply.alternatives] == list(reply.token_logprobs)
    apart = reply_of(content, token_logprobs=logprobs, token_texts=lambda: tokens)
    assert apart.token_logprobs == reply.token_logprobs


@pytest.mark.parametrize("said", ["", " in"])
@pytest.mark.parametrize("tells_stop", [True, False])
def test_the_token_that_stops_a_reply_is_told(said: str, tells_stop: bool) -> None:
    """Servers leave the stop text out, or have never heard of it and write on."""
    tokens = [*filter(None, [said]), ".", *([" More", "."] if tells_stop else [])]
    text = "".join(tokens) if tells_stop else said
    reply = reply_of(text, ChatRequest((), Sampling(stop=(".",))), alternatives=places(*tokens))
    assert reply.text == said and reply.alternatives == places(*filter(None, [said]), ".")


def test_tokens_that_cannot_be_told_apart_are_none() -> None:
    reply = reply_of("<think>hm</think>2", alternatives=places("?", "2"), token_logprobs=(-1.0, -2.0))
    assert (reply.text, reply.alternatives, reply.token_logprobs) == ("2", None, None)


def test_records_with_thoughts_replay_without_them() -> None:
    model = ReplayChatModel([f"<think>{THOUGHT}</think>\n{PLAN}", PLAN])
    first, second = (model.complete([ASKED])[0][0] for _ in range(2))
    assert first.text == second.text == PLAN


def test_a_budget_is_added_from_the_first_thoughts_on() -> None:
    budget = ThinkingBudget(512)
    budget.observe(Reply("so"))
    assert budget.tokens == 0
    budget.observe(Reply("so", thoughts="hm"))
    assert budget.tokens == 512
    budget.shrink(512)
    assert budget.tokens == 256
    # Requests that were under way together shrink it once.
    budget.shrink(512)
    assert budget.tokens == 256
    assert ThinkingBudget(512, is_on=True).tokens == 512


MARKS = ["<think>", "</think>", "[THINK]", "<|channel|>", "final<|message|>", "<|end|>", "a\n", "step 1: "]
marked = st.lists(st.sampled_from(MARKS), max_size=8).map("".join)


@given(st.text(max_size=40) | marked, st.sampled_from(["stop", "length", None]))
def test_whatever_a_model_writes_is_a_part_of_it(text: str, reason: str | None) -> None:
    reply = reply_of(text, finish_reason=reason)
    place = 0
    for letter in reply.text:
        place = text.index(letter, place) + 1
    assert all(0 <= first <= last <= len(text) for first, last in speech_spans(text))


def test_no_other_module_reads_what_models_answer() -> None:
    """Choices, finish reasons and marks of thoughts are the business of the modules that make replies."""
    readers = {ROOT / "housewise" / "language" / name for name in READERS}
    paths = {path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")} - readers
    assert len(paths) > 200
    assert not [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        for path in sorted(paths)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if _reads_an_answer(node)
    ]


def _reads_an_answer(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return any(isinstance(part, ast.Attribute) and part.attr == "finish_reason" for part in ast.walk(node))
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "choices"
    return isinstance(node, ast.Constant) and re.search(r"</?think|<.channel", str(node.value), re.I) is not None
