"""Draws kitchen profiles at random, for training and for tests of cooks.

An invented profile is none of the sixteen of ``housekeep_configs/people/adapt``; single preferences may coincide with
theirs. The preferences are drawn here and put into words with ``housekeep_configs/adapt/invented.yaml``.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError, UserError
from housewise.core.validation import StrictModel, read_model
from housewise.people.kitchen.consistency import find_contradiction
from housewise.people.kitchen.profile_files import parse_profile
from housewise.people.kitchen.profiles import KitchenPreference, KitchenProfile
from housewise.worlds.kitchen.kitchen_data import load_kitchen

PHRASINGS_FILE = CONFIGS / "adapt" / "invented.yaml"
PREFERENCE_RANGE = (10, 19)
"""Smallest and greatest number of preferences of a person, as among the sixteen."""
_MAX_DRAWS = 300
"""Preferences drawn for one person; those that contradict an earlier one are discarded."""


@dataclass(frozen=True)
class _Dish:
    """Preferences that are possible for one dish.

    Attributes:
        base: Group of the main ingredient.
        with_it: Groups of things that go with it.
        variants: Groups of variants of the ingredients.
        instead: Pairs of groups, of which the first can replace the second.
        tasks: Name of the tasks; by default the base.
        dishes: Dishes of these tasks; by default the base.
        name: The dish in words; by default the base.
    """

    base: str
    with_it: tuple[str, ...]
    variants: tuple[str, ...]
    instead: tuple[tuple[str, str], ...]
    tasks: str = ""
    dishes: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        for field, default in (("tasks", self.base), ("dishes", (self.base,)), ("name", self.base)):
            object.__setattr__(self, field, getattr(self, field) or default)


_DISHES = (
    _Dish(
        "egg",
        (
            *("cheese", "vegetable", "herb", "salt", "pepper", "hot_sauce", "butter", "oil_olive", "milk_dairy"),
            *("meat", "chili", "spice_other", "condiment", "cheese_vegan"),
        ),
        ("egg_hen", "egg_substitute"),
        (("egg_substitute", "egg_hen"), ("cheese_vegan", "cheese_dairy"), ("oil_olive", "butter")),
        tasks="savory",
        dishes=("eggs",),
        name="eggs",
    ),
    _Dish(
        "sweet_base",
        (
            *("nut", "seed", "berry", "fruit", "honey", "maple", "cinnamon", "whipped_cream", "granola"),
            *("sweetener", "cardamom"),
        ),
        ("milk_dairy", "milk_plant"),
        (("milk_plant", "milk_dairy"), ("honey", "sugar"), ("sweetener_low", "sugar")),
        tasks="sweet",
        dishes=("cereal", "yoghurt"),
        name="sweet breakfast",
    ),
    _Dish(
        "cereal",
        ("milk_plant", "milk_dairy", "fruit", "berry", "nut"),
        ("cereal_gluten_free", "granola"),
        (("milk_plant", "milk_dairy"), ("milk_dairy", "milk_plant")),
    ),
    _Dish(
        "bread",
        ("butter", "jam", "honey", "avocado", "hummus", "cheese", "nut_butter"),
        ("bread_whole_grain", "bread_gluten_free"),
        (("bread_gluten_free", "bread_with_gluten"), ("avocado", "butter"), ("jam", "butter")),
        tasks="toast",
        dishes=("toast",),
        name="toast",
    ),
    _Dish(
        "tea",
        ("milk", "milk_plant", "sugar", "honey", "lemon", "ice", "sweetener"),
        ("tea_herbal", "tea_caffeine"),
        (("tea_herbal", "tea_caffeine"), ("honey", "sugar")),
    ),
    _Dish(
        "coffee",
        ("milk", "milk_plant", "milk_dairy", "sugar", "ice", "cinnamon", "whipped_cream", "sweetener"),
        ("coffee_decaf", "coffee_caffeine"),
        (("coffee_decaf", "coffee_caffeine"), ("milk_plant", "milk_dairy"), ("sweetener_low", "sugar")),
    ),
    _Dish(
        "yoghurt",
        ("granola", "nut", "berry", "fruit", "honey"),
        ("yoghurt_plain", "yoghurt_dairy", "yoghurt_plant"),
        (("yoghurt_plant", "yoghurt_dairy"),),
    ),
)
_SIDES = ("fruit", "avocado", "berry", "nut", "hash_brown", "bacon", "condiment", "vegetable")
_AVOIDED = ("meat", "milk_dairy", "nut", "sugar", "honey", "chili", "cheese_dairy", "bread_with_gluten")
_TOOLS = (
    ("savory", "eggs", ("cast_iron", "pan_nonstick", "pan_metal", "spatula_silicone")),
    ("coffee", "coffee", ("espresso_machine", "pour_over")),
    ("all", "", ("fancy", "fancy_glass")),
)
_NAMES = (("scrambl", "scrambled"), ("omelet", "as an omelette"), ("poach", "poached"), ("over easy", "over easy"))
_PLACES = ("dining_table", "patio_table", "island", "desk")


class _Phrasings(StrictModel):
    """Sentences for each kind of preference, and words for groups."""

    phrasings: dict[str, tuple[str, ...]]
    words: dict[str, tuple[str, ...]]

    def say(self, rng: random.Random, kind: str, **groups: str) -> str:
        """Draw a sentence for a kind of preference and fill in words for groups."""
        slots = {key: self._word(rng, name) for key, name in groups.items()}
        slots |= {key.capitalize(): name[:1].upper() + name[1:] for key, name in slots.items()}
        return rng.choice(self.phrasings[kind]).format(**slots)

    def _word(self, rng: random.Random, name: str) -> str:
        """Draw a word for a group, or for several groups joined by ``|``."""
        each = name.split(" | ")
        return " or the ".join(rng.choice(self.words.get(one, (one.replace("_", " "),))) for one in each)


@cache
def _phrasings() -> _Phrasings:
    return read_model(PHRASINGS_FILE, _Phrasings)


def _say(rng: random.Random, kind: str, **groups: str) -> str:
    return _phrasings().say(rng, kind, **groups)


def invent_profile(seed: int, preferences: tuple[int, int] = PREFERENCE_RANGE) -> KitchenProfile:
    """Draw a profile whose preferences do not contradict each other.

    Args:
        seed: Seed of the random number generator.
        preferences: Smallest and greatest number of preferences.

    Raises:
        UserError: Too few preferences without contradictions were found.
    """
    return parse_profile(invent_profile_fields(seed, preferences), load_kitchen(), f"invented-{seed}")


def invent_profile_fields(seed: int, preferences: tuple[int, int] = PREFERENCE_RANGE) -> dict[str, object]:
    """Draw a profile in the form of a profile file; see ``invent_profile``."""
    rng = random.Random(seed)
    count = rng.randint(*preferences)
    lines: dict[str, dict[str, object]] = {}
    known: list[KitchenPreference] = []
    for _ in range(_MAX_DRAWS):
        line = rng.choice(_KINDS)(rng)
        # Nobody has eggs in several ways at once.
        key = "style" if line["category"] == "preparation" else f"{line['tasks']}: {line['wants']}"
        if key not in lines and (preference := _parse_beside(line, known)):
            lines[key] = line
            known.append(preference)
            if len(lines) == count:
                return _profile_fields(seed, lines.values())
    raise UserError(
        f"invented-{seed}: {count} preferences without contradictions were not found in {_MAX_DRAWS} draws; "
        "ask for fewer"
    )


def _profile_fields(seed: int, lines: Iterable[dict[str, object]]) -> dict[str, object]:
    return {
        "name": f"invented-{seed}",
        "preferences": [{"id": str(number), **line} for number, line in enumerate(lines, 1)],
    }


def _parse_beside(line: dict[str, object], others: Sequence[KitchenPreference]) -> KitchenPreference | None:
    """Return a preference, or None where it cannot be satisfied, alone or with one of the others."""
    kitchen = load_kitchen()
    try:
        [preference] = parse_profile(_profile_fields(0, [line]), kitchen, "").preferences
    except DataError:
        return None
    return None if any(find_contradiction([other, preference], kitchen) for other in others) else preference


def _line(
    text: str, category: str, tasks: str, dishes: tuple[str, ...], wants: str, if_: str = ""
) -> dict[str, object]:
    line = {"text": text, "category": category, "tasks": tasks, "dishes": list(dishes), "wants": wants, "if": if_}
    return {name: value for name, value in line.items() if name != "if" or value}


def _addition(rng: random.Random) -> dict[str, object]:
    dish = rng.choice(_DISHES)
    one, other = rng.sample(dish.with_it, 2)
    if rng.random() < 0.3:
        text = _say(rng, "choice", one=one, other=other, dish=dish.name)
        wants = f"together({one} | {other}, {dish.base})"
        return _line(text, "addition", dish.tasks, dish.dishes, wants, f"available({one} | {other})")
    text = _say(rng, "addition", one=one, dish=dish.name)
    return _line(text, "addition", dish.tasks, dish.dishes, f"together({one}, {dish.base})", f"available({one})")


def _exclusion(rng: random.Random) -> dict[str, object]:
    if rng.random() < 0.2:
        one = rng.choice(_AVOIDED)
        return _line(_say(rng, "avoidance", one=one), "exclusion", "all", (), f"not used({one})")
    dish = rng.choice(_DISHES)
    one = rng.choice(dish.with_it)
    text = _say(rng, "exclusion", one=one, dish=dish.name)
    return _line(text, "exclusion", dish.tasks, dish.dishes, f"not together({one}, {dish.base})")


def _variation(rng: random.Random) -> dict[str, object]:
    dish = rng.choice(_DISHES)
    if rng.random() < 0.5:
        one, other = rng.choice(dish.instead)
        text = _say(rng, "replacement", one=one, other=other, dish=dish.name)
        wants, if_ = f"used({one}) and not used({other})", f"available({one})"
        return _line(text, "variation", dish.tasks, dish.dishes, wants, if_)
    one = rng.choice(dish.variants)
    text = _say(rng, "variation", one=one, dish=dish.name)
    return _line(text, "variation", dish.tasks, dish.dishes, f"used({one})", f"available({one})")


def _side(rng: random.Random) -> dict[str, object]:
    one = rng.choice(_SIDES)
    tasks, dishes = rng.choice((("savory", ("eggs",)), ("sweet", ("cereal", "yoghurt")), ("all", ())))
    if one in ("vegetable", "condiment") and rng.random() < 0.5:
        text = _say(rng, "several", one=one)
        return _line(text, "addition", tasks, dishes, f"used({one}, kinds=2)", f"available({one}, kinds=2)")
    return _line(_say(rng, "side", one=one), "addition", tasks, dishes, f"used({one})", f"available({one})")


def _tool(rng: random.Random) -> dict[str, object]:
    tasks, dish, tools = rng.choice(_TOOLS)
    tool = rng.choice(tools)
    dishes = (dish,) if dish else ()
    if rng.random() < 0.3:
        return _line(_say(rng, "no_tool", one=tool), "tool", tasks, dishes, f"not used({tool})")
    return _line(_say(rng, "tool", one=tool), "tool", tasks, dishes, f"used({tool})", f"available({tool})")


def _style(rng: random.Random) -> dict[str, object]:
    chosen = rng.sample(_NAMES, rng.choice((1, 1, 2)))
    text = _say(rng, "style", one=" or ".join(words for _, words in chosen))
    wanted = ", ".join(f'"{word}"' for word, _ in chosen)
    return _line(text, "preparation", "savory", ("eggs",), f"made({wanted}, of=egg)")


def _order(rng: random.Random) -> dict[str, object]:
    kind = rng.randrange(3)
    if kind == 0:
        phrasing, first, second = rng.choice((("drinks_first", "beverage", "food"), ("food_first", "food", "beverage")))
        text = _say(rng, phrasing)
        return _line(text, "order", "beverages", ("tea", "coffee"), f"served_before({first}, {second})")
    if kind == 1:
        first, second = rng.choice((("milk", "cereal"), ("cereal", "milk")))
        text = _say(rng, "poured", one=first, other=second)
        return _line(text, "order", "cereal", ("cereal",), f"before({first}, {second})", "available(milk)")
    first, second = rng.sample(("fruit", "nut", "honey", "cinnamon"), 2)
    text = _say(rng, "topped", one=first, other=second)
    if_ = f"available({first}) and available({second})"
    return _line(text, "order", "sweet", ("cereal", "yoghurt"), f"before({first}, {second})", if_)


def _place(rng: random.Random) -> dict[str, object]:
    places = " | ".join(rng.sample(_PLACES, rng.randint(1, 2)))
    return _line(_say(rng, "place", place=places), "place", "all", (), f"served_at({places})")


_KINDS = (_addition, _addition, _exclusion, _variation, _side, _tool, _style, _order, _place)
