"""What a server may answer with in place of the trained adapter, in figures."""

from pathlib import Path

import numpy as np
import pytest

from housewise.core.errors import UserError
from housewise.language.base import Message
from housewise.language.local.tokens import prompt_tokens
from housewise.language.local.weights import load_outline
from housewise.selftrain.examples import Demonstration
from housewise.selftrain.rollouts.engine import QUANTIZED
from housewise.selftrain.rollouts.served_adapter_check import LogprobComparison, compare_logprobs
from housewise.selftrain.trainers import ModelReference, logprobs
from housewise.selftrain.trainers.logprobs import LogprobRequest, ScoredPair
from tests.selftrain.rollouts.scoring import score_in_this_process
from tests.selftrain.tiny import save_talker

TOKENS = 400
ROUNDING = 0.02
PAIR = Demonstration(prompt=({"role": "user", "content": "kitchen 0"},), reply=" go to counter 0")
rng = np.random.default_rng(0)
BASE = rng.normal(-2, 1, TOKENS)
EFFECT = rng.normal(0, 0.05, TOKENS)


def rounding() -> np.ndarray:
    """What differs between two machines in bfloat16."""
    return rng.normal(0, ROUNDING, TOKENS)


def compare(
    adapted: np.ndarray | None, base: np.ndarray = BASE, first: int = 0, remedy: str | None = None
) -> LogprobComparison:
    """Compare a server with a trainer whose adapter has a small effect."""
    ids = (0, *range(TOKENS))
    trained = ScoredPair(pair=PAIR, tokens=ids, reply=TOKENS, model=tuple(BASE + EFFECT), base=tuple(BASE))
    if adapted is None:
        trained = trained.model_copy(update={"model": trained.base, "base": None})
    read = [first, *range(1, TOKENS)]
    scores = [[list(zip(read, values, strict=True))] for values in (base, adapted) if values is not None]
    return compare_logprobs("model m", [trained], scores[0], scores[1] if len(scores) > 1 else None, 0.1, remedy)


def test_a_small_effect_shows_above_rounding() -> None:
    found = compare(BASE + EFFECT + rounding(), BASE + rounding())
    assert found.share == pytest.approx(1, abs=0.15)
    assert compare(None).base_difference == 0


@pytest.mark.parametrize(
    ("adapted", "message"),
    [
        (BASE + rounding(), r"does not apply the trained adapter .*rollouts\.options=\[--dtype, float32\]"),
        (BASE + 2 * EFFECT, "another adapter than the trained one, or with another scale"),
        (BASE + EFFECT / 2, r"another adapter than the trained one, .*rollouts\.options=\[--dtype, float32\]"),
        (BASE + rng.permutation(EFFECT), "adapter"),
        (BASE + EFFECT + rng.normal(0, 0.3, TOKENS), "another adapter"),
    ],
)
def test_anything_else_is_refused(adapted: np.ndarray, message: str) -> None:
    with pytest.raises(UserError, match=message):
        compare(adapted, BASE + rounding())


def test_another_base_model_or_template_is_refused() -> None:
    with pytest.raises(UserError, match="log-probabilities of its base model differ by"):
        compare(BASE + EFFECT, BASE + rng.normal(0, 1, TOKENS))
    with pytest.raises(UserError, match=r"at most 0\.1 is allowed; the weights that are trained have 4 bits"):
        compare(BASE + EFFECT, BASE + rng.normal(0, 0.5, TOKENS), remedy=QUANTIZED)
    with pytest.raises(UserError, match="reads prompt 1 in other tokens than the training, from token 2 on"):
        compare(BASE + EFFECT, first=7)


THINKING_TEMPLATE = (
    "{% for turn in messages %}{{ turn.role }}\n"
    "{% if turn.role == 'assistant' and loop.last %}<think>\n\n</think>\n\n{% endif %}"
    "{{ turn.content }}{% if not loop.last or turn.role != 'assistant' %}<|end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
"""As of Qwen3: the last turn of the assistant has thoughts, which are empty where it has none."""


def test_a_model_that_thinks_is_told_to_leave_that_out(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the extra housewise[train] is not installed")
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(save_talker(tmp_path / "talker"))
    tokenizer.chat_template = THINKING_TEMPLATE
    messages = [Message(turn["role"], turn["content"]) for turn in PAIR.prompt]
    turns = [*PAIR.prompt, {"role": "assistant", "content": "step 1:" + PAIR.reply}]

    def compare_tokens(**template: object) -> None:
        """Compare what the training reads with what vLLM does, which continues the assistant's turn."""
        read = prompt_tokens(tokenizer, messages, "step 1:" + PAIR.reply, "m", template)
        served = tokenizer.apply_chat_template(
            turns, continue_final_message=True, add_generation_prompt=False, return_dict=False, **template
        )
        trained = ScoredPair(pair=PAIR, tokens=tuple(read), reply=2, model=(-1.0, -1.0))
        compare_logprobs("model m", [trained], [[(token, -1.0) for token in served[1:]]], None, 0.1)

    with pytest.raises(UserError, match=r"run\.chat_template_kwargs=\{enable_thinking: false\}, in another folder"):
        compare_tokens()
    compare_tokens(enable_thinking=False)


def test_replies_that_were_not_scored_before_are_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a stopped training is resumed with more ``rollouts.checked_pairs``."""
    pytest.importorskip("peft", reason="the extra housewise[train] is not installed")
    scored = score_in_this_process(monkeypatch)
    prompt = ({"role": "user", "content": "kitchen 0: counter 0 with mug 1."},)
    pairs = [
        ScoredPair(pair=Demonstration(prompt=prompt, prefix="step 1:", reply=f" pick up mug {number}"))
        for number in range(3)
    ]
    model = ModelReference(model=f"local:{save_talker(tmp_path / 'talker')}")
    _, tokenizer = load_outline(str(tmp_path / "talker"), None)

    def with_tokens(each: ScoredPair) -> ScoredPair:
        turn = each.pair.prefix + each.pair.reply
        return each.model_copy(update={"tokens": tuple(prompt_tokens(tokenizer, each.pair.messages, turn, "talker"))})

    pairs = [with_tokens(each) for each in pairs]
    for count in (2, 2, 3):
        request = LogprobRequest(
            start=model, weights="digest", device="cpu", dtype="float32", pairs=tuple(pairs[:count])
        )
        found = logprobs.score_pairs(tmp_path / "logprobs.json", request)
        assert [each.pair for each in found.pairs] == [each.pair for each in pairs[:count]]
        assert all(len(each.model) == each.reply > 0 for each in found.pairs)
    assert scored == [2, 3], "equal requests are scored once"
    yesterday = pairs[0].model_copy(update={"tokens": pairs[0].tokens[1:]})
    found = logprobs.score_pairs(
        tmp_path / "logprobs.json", request.model_copy(update={"pairs": (yesterday, *request.pairs[1:])})
    )
    assert scored == [2, 3, 3], "a template that writes the date has other tokens on another day"
    assert found.pairs[0].tokens == pairs[0].tokens
