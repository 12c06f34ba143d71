"""Parsing of conditions, and their meaning on a breakfast."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from housewise.people.kitchen.conditions import ConditionError, iter_predicates, normalize_words, parse_condition
from housewise.people.kitchen.preference_judge import PreferenceJudge
from tests.people.kitchen.breakfasts import KITCHEN, cook_breakfast

LATTE = (
    "Pour coffee_grounds from coffee_0 to french_press_0",
    "Pour water from sink_1 to french_press_0",
    "Brew items in french_press_0 to get coffee",
    "Pour coffee from french_press_0 to mug_0",
    "Pour oat_milk from milk_1 to mug_0",
    "Serve the object mug_0 at table_1",
)
TOAST = (
    "Move white_bread_slice from bread_0 to toaster_0",
    "Toast the object white_bread_slice to get toast",
    "Move toast to plate_8",
    "Pour butter from butter_0 to toast",
    "Serve the object plate_8 at table_1",
)


def lookup(name: str) -> frozenset[str] | None:
    return KITCHEN.groups.get(name) or (frozenset({name}) if name in KITCHEN.ids else None)


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("used(milk_plant)", True),
        ("used(milk_1)", True),
        ("used(milk_dairy)", False),
        ("used(milk_dairy | milk_plant)", True),
        ("used(bread | butter | milk_plant, kinds=3)", True),
        ("used(bread | butter | milk_plant, kinds=4)", False),
        ("used(toaster) and used(fancy) and used(french_press_0)", True),
        ("used(espresso_machine)", False),
        ("together(milk_plant, coffee)", True),
        ("together(coffee, milk_plant)", True),
        ("together(butter, bread)", True),
        ("together(butter, coffee)", False),
        ("together(coffee, coffee)", False),
        ("before(coffee, water)", True),
        ("before(water, coffee)", False),
        ("before(coffee, milk)", True),
        ("before(butter, milk)", False),
        ('made("coffee")', True),
        ('made("toasted", of=bread)', True),
        ('made("Toast", of=coffee)', False),
        ('made("brewed", of=coffee)', True),
        ('made("tea", "toast")', True),
        ("cooked(bread)", True),
        ("cooked(coffee)", False),
        ("on_appliance(bread)", True),
        ("on_appliance(milk)", False),
        ("in_container(butter)", True),
        ("in_container(cheese)", False),
        ("served_at(patio_table)", True),
        ("served_at(table_0 | table_1)", True),
        ("served_at(table_0)", False),
        ("served_before(beverage, food)", True),
        ("served_before(food, beverage)", False),
        ("served_before(coffee, egg)", False),
        ("available(cheese)", True),
        ("available(spice, kinds=11)", True),
        ("available(spice, kinds=12)", False),
        ('task_says("coffee")', True),
        ('task_says("omelette")', False),
        ("not used(egg) and (used(cheese) or used(milk))", True),
        ("not (used(milk) or used(egg))", False),
    ],
)
def test_a_condition_holds_on_a_breakfast(said, holds):
    trace = cook_breakfast(4, *LATTE, *TOAST)
    assert PreferenceJudge(4).holds(parse_condition(said, lookup), trace) is holds


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("drunk(milk)", "unknown predicate 'drunk'"),
        ("used(unicorn)", "'unicorn' is neither a group nor a thing"),
        ("used(milk", "cannot be read"),
        ("used()", "needs 1"),
        ("together(milk)", "needs 2"),
        ("together(milk, egg, salt)", "needs 2"),
        ("used(milk, kinds=0)", "kinds has to be a number from 1"),
        ("used(milk, kinds=True)", "kinds has to be a number from 1"),
        ("used(milk, sorts=2)", "has no sorts="),
        ("before(milk, egg, on_top=1)", "on_top has to be True or False"),
        ("made()", "needs words"),
        ("made(omelet)", "words in quotes"),
        ('made("omelet", of=7)', "is no name of a group"),
        ("used('milk')", "is no name of a group"),
        ("used(milk) > 2", "is no predicate"),
        ("milk", "is no predicate"),
        ("1", "is no predicate"),
        ("__import__('os').system('true')", "is no predicate"),
        ("eval('1')", "unknown predicate 'eval'"),
        ("used(milk.__class__)", "is no name of a group"),
        ("", "cannot be read"),
        ("(" * 300 + "used(milk)" + ")" * 300, "cannot be read"),
        ("not " * 50 + "used(milk)", "levels of nested brackets"),
        ("used(milk) or " * 500 + "used(milk)", "at most 2000"),
    ],
)
def test_invalid_conditions_are_refused_with_the_reason(said, words):
    with pytest.raises(ConditionError) as error:
        parse_condition(said, lookup)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@given(st.text(max_size=200))
def test_any_text_is_parsed_or_refused(text):
    try:
        condition = parse_condition(text, lookup)
    except ConditionError:
        return
    assert list(iter_predicates(condition))


def test_a_printed_predicate_can_be_parsed():
    said = 'made("omelet", of=egg) and used(spice | herb, kinds=2) and not before(nut, fruit, on_top=True)'
    condition = parse_condition(said, lookup)
    for predicate in iter_predicates(condition):
        assert parse_condition(str(predicate), lookup) == predicate


@pytest.mark.parametrize("word", ["Omelette", "omelet", "OMELETTES", "veggie_omelette_2", "omelètte"])
def test_spellings_of_omelette_are_normalized(word):
    assert "omelet" in normalize_words(word)
