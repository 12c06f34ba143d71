"""The model that cooks, where its conversation grows longer than it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from housewise.agent.adapt.grammar import Nameable
from housewise.agent.adapt.planner import Briefing, Conversation, ModelCook, Turn
from housewise.agent.adapt.prompts import SHORT, load_prompts
from housewise.language import open_model
from housewise.language.base import ChatModelError, Sampling
from tests.selftrain.tiny import save_talker

THERE = Nameable(things=("fridge_0",), portions=(), filled=(), foods=())


def test_of_what_is_longer_than_a_model_reads_the_older_half_is_left_out(tmp_path: Path) -> None:
    model = open_model(f"local:{save_talker(tmp_path / 'tiny', context=4096)}")
    try:
        cook = ModelCook(model, Conversation(load_prompts(SHORT)), Sampling(0.0, max_tokens=8), ("slice",))
        briefing = Briefing("Prepare tea", "kitchen: fridge_0")
        few = [Turn("Look for tea", "Found nothing")]
        many = [Turn("Look for tea", f"Found nothing the {number}th time") for number in range(90)]
        assert cook.act(briefing, few, "", THERE).usage.prompt_tokens < 4096
        assert 0 < cook.act(briefing, many, "", THERE).usage.prompt_tokens < 4096
        with pytest.raises(ChatModelError, match="shorten the prompt"):
            cook.act(Briefing("Prepare tea " * 1000, ""), many, "", THERE)
    finally:
        model.close()
