"""The language model as a policy: the action in its reply."""

from collections.abc import Sequence

import pytest

from housewise.agent.adapt.action_grammar import NameableThings
from housewise.agent.adapt.planner_prompt import Briefing, Interaction, PlannerPrompt
from housewise.agent.adapt.policy import LLMPolicy
from housewise.agent.adapt.prompts import SHORT_PROMPTS, load_prompts
from housewise.language.base import ChatRequest, Reply, Sampling

THERE = NameableThings(things=("fridge_0",), portions=(), filled=(), foods=())


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
        ("**Thought:** It may be there.\n**Action:** Open fridge_0", "Open fridge_0"),
        ("- Thought: It may be there.\n- Action: Open fridge_0", "Open fridge_0"),
        ("- **Open fridge_0**", "Open fridge_0"),
        ('Ask "Do you like *strong* tea?"', 'Ask "Do you like *strong* tea?"'),
        ("```\n```", ""),
    ],
)
def test_what_stands_around_an_action_is_no_part_of_it(said: str, action: str) -> None:
    prompt = PlannerPrompt(load_prompts(SHORT_PROMPTS))
    policy = LLMPolicy(Parrot(said), prompt, Sampling(0.0), ("slice",), grounded=False)
    assert policy.act(Interaction(Briefing("Prepare tea", "kitchen: fridge_0")), THERE).action == action
