"""Invented people: what their rules say is what they choose, and nothing but the rules tells."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.agent.clipr.finetuned_chooser import choice_request, format_choice_reply, parse_choice_reply
from housewise.agent.clipr.local_steps.contrasts import distinctive_words
from housewise.agent.clipr.prompt_templates import CliprPrompts
from housewise.core.errors import DataError
from housewise.language.base import Reply
from housewise.selftrain.clipr.invented_choices import ChoiceGenerator, read_recipe, split_scenarios
from housewise.worlds.choices.kitchen_choices import read_kitchen_choices

KITCHEN = read_kitchen_choices().examples
CHOICES = ChoiceGenerator(KITCHEN, read_recipe())
ORDERED = re.compile(r"prefer (.+?)(?:; avoid .+)?\.$|choose (.+) over|: (.+) rather than|I like (.+) better than")


def first_of(rule: str) -> str:
    """What a rule names first of all that it wants."""
    found = ORDERED.search(rule)
    assert found is not None, rule
    return next(filter(None, found.groups()))


@given(person=st.integers(), seed=st.integers())
def test_the_deciding_rule_says_what_is_chosen(person: int, seed: int) -> None:
    scenario, ruled = CHOICES.draw(str(person), str(seed))
    values = distinctive_words(scenario.situation.actions)
    order = [scenario.situation.actions.index(action) for action in ruled.situation.actions]
    chosen = order[ruled.action]
    assert chosen in scenario.satisfying
    wanted = first_of(ruled.rules[ruled.deciding]).split(", then ")
    here = [value for value in wanted if value in {values[number] for number in scenario.satisfying}]
    assert here[0] == values[chosen]
    fewest, most = CHOICES.recipe.rules
    assert 1 <= len(ruled.rules) <= most and len(set(ruled.rules)) == len(ruled.rules) and fewest <= most


def test_people_want_different_things_and_each_the_same_always() -> None:
    scenario = KITCHEN[0]
    drawn = [CHOICES.draw(str(person), "1")[1] for person in range(200)]
    places = Counter((ruled.situation.id, ruled.action) for ruled in drawn)
    assert len({name for name, _ in places}) == 1 and len(places) == len(scenario.satisfying)
    assert min(places.values()) > 60, "nothing but the rules tells what is wanted"
    assert CHOICES.draw("1", "2") == CHOICES.draw("1", "2")
    other = ChoiceGenerator(KITCHEN[:9], read_recipe())
    scenario = KITCHEN[1]
    alike = [
        CHOICES.apply_rules(scenario, "ada", rng()).situation.actions[
            CHOICES.apply_rules(scenario, "ada", rng()).action
        ]
    ]
    assert alike == [
        other.apply_rules(scenario, "ada", rng()).situation.actions[other.apply_rules(scenario, "ada", rng()).action]
    ]


def rng():  # type: ignore[no-untyped-def]
    import random

    return random.Random(3)


def test_a_choice_is_asked_and_read_in_the_words_of_an_option() -> None:
    _, ruled = CHOICES.draw("ada", "4")
    pair = ruled.demonstration(CliprPrompts(), 7)
    request = choice_request(CliprPrompts(), ruled.situation, ruled.rules)
    assert pair.messages == request.messages and pair.prefix == request.prefix
    assert all(rule in request.messages[1].content for rule in ruled.rules)
    choice = parse_choice_reply(Reply(pair.reply, token_logprobs=(-0.1, -0.1)), ruled.situation, ruled.rules)
    assert (choice.action, choice.reasoning, choice.confidence) == (ruled.action, ruled.rules[ruled.deciding], 9)
    option = ruled.situation.actions[0]
    for said in (
        "",
        " 1",
        option,
        format_choice_reply(option, len(ruled.rules)),
        format_choice_reply("anything", 0),
        format_choice_reply(option, -1),
    ):
        assert parse_choice_reply(Reply(said), ruled.situation, ruled.rules).action is None


def test_what_repeats_is_on_one_side_and_one_kind_is_too_few() -> None:
    known, held = split_scenarios([*KITCHEN, *read_kitchen_choices().test], 0.3)
    assert 10 < len(held) < len(known) and len(known) + len(held) == 70
    assert split_scenarios(KITCHEN, 0.3)[1] == [scenario for scenario in KITCHEN if scenario in held]
    with pytest.raises(DataError, match="two kinds or more"):
        ChoiceGenerator(KITCHEN[:2], read_recipe())
