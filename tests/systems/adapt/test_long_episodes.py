"""A model that reads fewer turns than an episode has."""

from collections.abc import Sequence

import pytest

from housewise.agent.adapt.planner_prompt import Briefing, PlannerPrompt
from housewise.agent.adapt.policy import LLMPolicy
from housewise.agent.adapt.prompts import SHORT_PROMPTS, load_prompts
from housewise.agent.base import History
from housewise.language.base import ChatRequest, PromptTooLongError, Reply, Sampling
from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.respondent import Respondent
from housewise.systems.adapt.agents import LLMCookAgent
from housewise.systems.adapt.world import BreakfastObservation, BreakfastWorld
from housewise.worlds.kitchen.world import TextKitchen
from tests.people.kitchen.sixteen import ADAPT_PEOPLE


class Forgetful:
    """Searches one place, and reads at most so many turns."""

    name = "forgetful"

    def __init__(self, most: int) -> None:
        self.most, self.read = most, list[int]()

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        [request] = requests
        turns = sum(message.role == "assistant" for message in request.messages)
        turns += sum(message.content.count("Do you like") for message in request.messages)
        if turns > self.most:
            raise PromptTooLongError("too long", "shorten the prompt")
        self.read.append(turns)
        return [[Reply(" Search fridge_0")]]

    def close(self) -> None: ...


def nobody() -> Respondent:
    raise AssertionError("nobody is to be asked")


def read_turns(most: int, steps: int, known: int = 0) -> list[int]:
    """Return how many turns and remembered answers a model reads at each step of a breakfast."""
    kitchen, model = TextKitchen(3, 0), Forgetful(most)
    prompt, verbs = PlannerPrompt(load_prompts(SHORT_PROMPTS)), kitchen.kitchen.verbs
    policy = LLMPolicy(model, prompt, Sampling(0.0), verbs.open)
    answers = tuple(f"- Do you like thing {number}? Yes." for number in range(known))
    agent = LLMCookAgent(policy, Briefing("Prepare cereal", "", answers), verbs, "never", 0, lambda *step: None)
    world = BreakfastWorld(kitchen, ADAPT_PEOPLE["juan"], PreferenceJudge(3), nobody, "juan", {})
    observation, history = world.reset(), History[BreakfastObservation]()
    for _ in range(steps):
        [action] = agent.decide(observation, history).actions
        observation = world.step(action).observation
    return model.read


def test_the_older_half_of_the_turns_is_left_out_until_the_model_reads_the_rest() -> None:
    assert read_turns(most=3, steps=8) == [0, 1, 2, 3, 2, 2, 3, 3]


def test_answers_of_other_days_are_left_out_before_turns() -> None:
    # Three answers; an answer and a turn; two turns.
    assert read_turns(most=3, steps=3, known=7) == [3, 2, 2]


def test_what_is_too_long_without_any_turn_is_refused() -> None:
    with pytest.raises(PromptTooLongError, match="too long"):
        read_turns(most=-1, steps=1)
