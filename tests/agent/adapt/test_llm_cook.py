"""The model that cooks, where its conversation grows longer than it reads."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from housewise.agent.adapt.action_grammar import NameableThings
from housewise.agent.adapt.llm_cook import Briefing, CookingConversation, CookingTurn, LLMCook
from housewise.agent.adapt.prompts import SHORT_PROMPTS, load_prompts
from housewise.language import open_model
from housewise.language.base import ChatModelError, ChatRequest, Reply, Sampling
from tests.selftrain.tiny import save_talker

THERE = NameableThings(things=("fridge_0",), portions=(), filled=(), foods=())


def test_of_what_is_longer_than_a_model_reads_the_older_half_is_left_out(tmp_path: Path) -> None:
    model = open_model(f"local:{save_talker(tmp_path / 'tiny', context=4096)}")
    try:
        cook = LLMCook(model, CookingConversation(load_prompts(SHORT_PROMPTS)), Sampling(0.0, max_tokens=8), ("slice",))
        briefing = Briefing("Prepare tea", "kitchen: fridge_0")
        few = [CookingTurn("Look for tea", "Found nothing")]
        many = [CookingTurn("Look for tea", f"Found nothing the {number}th time") for number in range(90)]
        assert cook.act(briefing, few, "", THERE).usage.prompt_tokens < 4096
        assert 0 < cook.act(briefing, many, "", THERE).usage.prompt_tokens < 4096
        with pytest.raises(ChatModelError, match="shorten the prompt"):
            cook.act(Briefing("Prepare tea " * 1000, ""), many, "", THERE)
    finally:
        model.close()


class Parrot:
    """A chat model that always says the same."""

    name = "parrot"

    def __init__(self, words: str) -> None:
        self._words = words

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        return [[Reply(self._words)] for _ in requests]

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("said", "action"),
    [
        (" Open fridge_0", "Open fridge_0"),
        ("```text\nOpen fridge_0\n```", "Open fridge_0"),
        ("1. Open fridge_0\n2. Close fridge_0", "Open fridge_0"),
        ("**Action:** Open fridge_0", "Open fridge_0"),
        ("Thought: It may be there.\nAction: `Open fridge_0`", "Open fridge_0"),
        ("- **Open fridge_0**", "Open fridge_0"),
        ('Ask "Do you like *strong* tea?"', 'Ask "Do you like *strong* tea?"'),
        ("```\n```", ""),
    ],
)
def test_what_stands_around_an_action_is_no_part_of_it(said: str, action: str) -> None:
    cook = LLMCook(
        Parrot(said), CookingConversation(load_prompts(SHORT_PROMPTS)), Sampling(0.0), ("slice",), grounded=False
    )
    assert cook.act(Briefing("Prepare tea", "kitchen: fridge_0"), [], "", THERE).action == action
