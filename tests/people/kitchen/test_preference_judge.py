"""Evaluation of breakfasts: the order of decisions, and preferences that are easily misread."""

import pytest

from housewise.language.words import verb_forms
from housewise.people.kitchen.preference_judge import PreferenceJudge, satisfaction_rate
from tests.people.kitchen.breakfasts import (
    COFFEE,
    EGGS,
    FLAKES,
    FRUIT,
    GRANOLA,
    ICE,
    MUESLI,
    NUTS,
    TEA,
    TOAST,
    YOGHURT,
    cook_breakfast,
    decide,
    make_preference,
)
from tests.people.kitchen.sixteen import ADAPT_PEOPLE

WISHES = {preference.id: preference for person in ADAPT_PEOPLE.values() for preference in person.preferences}


def test_decisions_follow_the_order_of_the_paper():
    milk_in_tea = make_preference("together(milk, tea)", tasks="tea", if_="available(milk)", dishes=("tea",))
    milk = tuple(f"milk_{number}" for number in range(5))
    splash = "Pour whole_milk from milk_0 to mug_0"
    assert decide(milk_in_tea, 1, cook_breakfast(1, *TEA, splash)) == "inapplicable"
    assert decide(milk_in_tea, 8, cook_breakfast(8, without=milk)) == "violated"
    assert decide(milk_in_tea, 8, cook_breakfast(8, *TEA, without=milk)) == "inapplicable"
    assert decide(milk_in_tea, 8, cook_breakfast(8, *TEA, splash)) == "satisfied"
    assert decide(milk_in_tea, 8, cook_breakfast(8, *TEA)) == "violated"


def test_a_dish_of_another_task_need_not_be_made():
    warm = make_preference("not together(ice, beverage)", tasks="beverages", dishes=("tea", "coffee"))
    assert decide(warm, 6, cook_breakfast(6, *TEA)) == "satisfied"
    assert decide(warm, 4, cook_breakfast(4, *TEA)) == "violated"


@pytest.mark.parametrize(
    ("task", "dish", "actions", "made"),
    [
        (1, "eggs", EGGS, True),
        (1, "eggs", ("Move egg_0 to pan_1", "Mix items in pan_1 to get eggs"), False),
        (1, "eggs", ("Pour vegan_egg from liquid_egg_0 to pan_1", "Move pan_1 to stove_0", "Heat pan_1"), True),
        (1, "eggs", ("Move tomato_0 to pan_1", "Move pan_1 to stove_0", "Cook items in pan_1 to get eggs"), False),
        (4, "toast", TOAST, True),
        (4, "toast", ("Move white_bread_slice from bread_0 to plate_0",), False),
        (4, "toast", ("Move bread_0 to toaster_0",), False),
        (4, "toast", ("Move white_bread_slice from bread_0 to oven_0", "Heat white_bread_slice"), True),
        (3, "cereal", FLAKES, True),
        (3, "cereal", ("Move cereal_box_5 to bowl_0",), False),
        (3, "cereal", ("Pour corn_flakes from cereal_box_5 to table_0",), False),
        (5, "yoghurt", YOGHURT, True),
        (8, "tea", TEA, True),
        (8, "tea", TEA[:1], False),
        (8, "tea", TEA[1:], False),
        (7, "coffee", COFFEE, True),
        (7, "coffee", COFFEE[:2], False),
    ],
)
def test_when_a_dish_is_made(task, dish, actions, made):
    assert PreferenceJudge(task).is_made(dish, cook_breakfast(task, *actions)) is made


@pytest.mark.parametrize(
    ("id", "task", "actions", "expected"),
    [
        # Cream is a creamer, whichever milk may be in it.
        ("1.3", 7, (*FLAKES, *COFFEE, "Pour whipped_cream from whipped_cream_0 to mug_0"), "violated"),
        ("1.3", 7, (*FLAKES, *COFFEE, "Pour whipped_cream from whipped_cream_0 to bowl_0"), "satisfied"),
        # The patio counts.
        ("1.12", 1, (*EGGS, "Serve the object plate_0 at table_1"), "satisfied"),
        ("1.12", 1, (*EGGS, "Serve the object plate_0 at island_0"), "violated"),
        # All that was prepared has to be there.
        ("1.12", 1, (*EGGS, "Serve the object plate_0 at table_1", "Move honey from honey_0 to plate_1"), "violated"),
        # Nuts are nuts, and on it.
        ("2.4", 3, (*FLAKES, FRUIT), "violated"),
        ("2.4", 3, (*FLAKES, NUTS), "satisfied"),
        ("2.4", 3, (*FLAKES, "Pour walnuts from walnuts_0 to plate_0"), "violated"),
        # A hen's egg beside the substitute is no vegan breakfast.
        ("3.1", 1, (*EGGS, "Pour vegan_egg from liquid_egg_0 to plate_0"), "violated"),
        # Two tomatoes are one vegetable.
        ("4.2", 1, (*EGGS, "Move tomato_0 to plate_0", "Move tomato_1 to plate_0"), "violated"),
        ("4.2", 1, (*EGGS, "Move tomato_0 to plate_0", "Move onion_0 to plate_0"), "satisfied"),
        # Salt from the box and salt from the shaker are one spice.
        ("16.1", 1, (*EGGS, "Pour salt from salt_box_0 to eggs", "Pour salt from salt_shaker_0 to eggs"), "violated"),
        # Butter in the pan is butter with the eggs.
        ("4.4", 1, (EGGS[0], "Pour butter from butter_0 to pan_1", *EGGS[1:]), "satisfied"),
        # Condensed milk is not full-fat milk.
        ("5.4", 8, (*TEA, *TOAST, "Pour condensed_milk from milk_2 to mug_0"), "violated"),
        # The coffee comes first, whatever has caffeine.
        (
            "6.16",
            7,
            (*FLAKES, *COFFEE, "Serve the object mug_0 at table_0", "Serve the object bowl_0 at table_0"),
            "satisfied",
        ),
        (
            "6.16",
            7,
            (*FLAKES, *COFFEE, "Serve the object bowl_0 at table_0", "Serve the object mug_0 at table_0"),
            "violated",
        ),
        (
            "6.16",
            7,
            (*FLAKES, *COFFEE, "Move bowl_0 to tray_0", "Move mug_0 to tray_0", "Serve the object tray_0 at table_0"),
            "violated",
        ),
        # Milk goes into eggs that are scrambled; poached ones do without.
        ("7.2", 1, EGGS, "inapplicable"),
        ("7.2", 1, (*EGGS, "Scramble the object eggs to get breakfast"), "violated"),
        ("7.2", 2, EGGS, "violated"),
        # Fruit, then nuts, then granola; the granola that is the cereal itself does not count.
        ("8.5", 3, MUESLI, "violated"),
        ("8.5", 3, (*FLAKES, GRANOLA), "satisfied"),
        ("8.6", 3, (*MUESLI, FRUIT, NUTS), "satisfied"),
        ("8.6", 3, (*MUESLI, NUTS, FRUIT), "violated"),
        ("8.6", 3, (*FLAKES, FRUIT, GRANOLA), "satisfied"),
        ("8.6", 3, (*FLAKES, GRANOLA, FRUIT), "violated"),
        ("8.6", 5, (*YOGHURT, FRUIT, NUTS, GRANOLA), "satisfied"),
        ("8.6", 5, (*YOGHURT, GRANOLA, FRUIT), "violated"),
        ("8.7", 5, (*YOGHURT, NUTS, GRANOLA), "satisfied"),
        ("8.7", 5, (*YOGHURT, GRANOLA, NUTS), "violated"),
        ("8.7", 3, (*MUESLI, NUTS, GRANOLA), "satisfied"),
        # Milk beside the coffee, not in it.
        ("8.12", 7, (*FLAKES, *COFFEE, "Move milk_0 to table_0"), "satisfied"),
        ("8.12", 7, (*FLAKES, *COFFEE, "Pour whole_milk from milk_0 to mug_0"), "violated"),
        # Green tea has caffeine, and chocolate hazelnut spread is a nut spread.
        ("10.13", 8, (*TEA, *TOAST), "satisfied"),
        ("13.3", 8, (*TEA, *TOAST), "violated"),
        ("9.8", 4, (*TOAST, *COFFEE, "Pour chocolate_hazelnut_spread from spread_1 to plate_0"), "violated"),
        # Corn flakes are not called gluten-free.
        ("12.1", 3, FLAKES, "violated"),
        ("12.1", 3, (GRANOLA,), "satisfied"),
        # Vegan butter has no lactose.
        ("12.5", 8, (*TEA, *TOAST, "Pour vegan_butter from butter_1 to plate_0"), "satisfied"),
        ("12.5", 8, (*TEA, *TOAST, "Pour butter from butter_0 to plate_0"), "violated"),
        # Dry cereal has no order.
        ("12.16", 3, FLAKES, "inapplicable"),
        ("12.16", 3, (*FLAKES, "Pour oat_milk from milk_1 to bowl_0"), "violated"),
        ("2.9", 3, FLAKES, "violated"),
        ("2.9", 3, (*FLAKES, "Pour oat_milk from milk_1 to bowl_0"), "satisfied"),
        # Nothing but honey.
        ("13.8", 5, (*YOGHURT, "Pour honey from honey_0 to bowl_0"), "satisfied"),
        (
            "13.8",
            5,
            (*YOGHURT, "Pour honey from honey_0 to bowl_0", "Pour cane_sugar from sugar_1 to bowl_0"),
            "violated",
        ),
        # An omelette under another spelling, or by the verb alone.
        ("13.1", 1, (*EGGS, "Stir the object eggs to get scrambled_eggs"), "satisfied"),
        ("11.1", 1, (*EGGS, "Fold the object eggs to get my_omelet"), "satisfied"),
        ("11.1", 1, (*EGGS, "Move tomato_0 to bowl_0", "Mix items in bowl_0 to get omelette"), "violated"),
        # Without vegetables salt and pepper on the eggs are enough.
        ("15.9", 1, (*EGGS, "Pour salt from salt_box_0 to eggs", "Pour pepper from pepper_0 to eggs"), "satisfied"),
        (
            "15.9",
            1,
            (*EGGS, "Pour salt from salt_box_0 to eggs", "Pour pepper from pepper_0 to eggs", "Move onion_0 to bowl_0"),
            "violated",
        ),
        # Ice in the glass of water does not ice the tea.
        ("4.5", 8, (*TEA, *TOAST, "Pour ice_cube from ice_tray_0 to glass_0"), "satisfied"),
        ("4.5", 8, (*TEA, *TOAST, ICE), "violated"),
        # What came together stays so, whatever becomes of it.
        (
            "10.4",
            1,
            (EGGS[0], EGGS[1], "Pour cheddar from cheese_3 to pan_1", *EGGS[2:], "Cut the object eggs to get pieces"),
            "satisfied",
        ),
        # Plant milk or none.
        ("16.6", 4, (*TOAST, *COFFEE), "satisfied"),
        ("16.6", 4, (*TOAST, *COFFEE, "Pour almond_milk from milk_3 to mug_0"), "satisfied"),
        ("16.6", 4, (*TOAST, *COFFEE, "Pour skim_milk from milk_4 to mug_0"), "violated"),
    ],
)
def test_a_preference_is_evaluated_by_its_meaning(id, task, actions, expected):
    assert decide(WISHES[id], task, cook_breakfast(task, *actions)) == expected


def test_verdicts_have_a_reason_and_a_step():
    person = ADAPT_PEOPLE["miranda"]
    trace = cook_breakfast(1, *EGGS, "Pour salt from salt_box_0 to eggs", "Serve the object plate_0 at table_1")
    found = PreferenceJudge(1).verdicts(person, trace, with_steps=True)
    verdicts = {verdict.preference.id: verdict for verdict in found}
    assert (verdicts["10.2"].decision, verdicts["10.2"].step) == ("satisfied", 5)
    assert (verdicts["10.17"].decision, verdicts["10.17"].step) == ("satisfied", 6)
    assert (verdicts["10.3"].decision, verdicts["10.3"].step) == ("violated", 0)
    assert verdicts["10.6"].why == "the task does not concern it"
    assert "together(pepper, egg)" in verdicts["10.3"].why


def test_satisfaction_counts_applicable_preferences():
    person = ADAPT_PEOPLE["miranda"]
    trace = cook_breakfast(1, *EGGS, "Pour salt from salt_box_0 to eggs", "Serve the object plate_0 at table_1")
    verdicts = PreferenceJudge(1).verdicts(person, trace)
    assert satisfaction_rate(verdicts) == pytest.approx(3 / 8)  # salt, sturdy pan, patio
    assert satisfaction_rate([]) is None


@pytest.mark.parametrize("word", ["fry", "fried"])
@pytest.mark.parametrize("made", ["Fry items in pan_1 to get eggs", "Cook items in pan_1 to get fried_eggs"])
def test_food_may_be_named_by_any_form_of_the_verb(word, made):
    trace = cook_breakfast(1, "Move pan_1 to stove_0", "Move egg_0 to pan_1", made)
    assert decide(make_preference(f'made("{word}", of=egg)'), 1, trace) == "satisfied"
    assert decide(make_preference(f'done("{word}", of=egg)'), 1, trace) == (
        "satisfied" if made.startswith("Fry") else "violated"
    )


@pytest.mark.parametrize(
    ("verb", "called"), [("chop", "chopped"), ("dice", "diced"), ("fry", "fried"), ("boil", "boiled")]
)
def test_verbs_match_their_forms(verb, called):
    assert called in verb_forms(verb)
