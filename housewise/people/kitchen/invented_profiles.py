"""People who do not exist: wishes drawn at random, for training and for trying out cooks.

No invented person is one of the sixteen of ``housekeep_configs/people/adapt``; single wishes may coincide with theirs.
Their wishes are drawn here, and put into words with ``housekeep_configs/adapt/invented.yaml``.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from pydantic import BaseModel, ConfigDict

from housewise.core.configs import CONFIGS
from housewise.core.errors import DataError, UserError
from housewise.people.kitchen.profile_files import KitchenProfile, parse_profile
from housewise.worlds.kitchen.kitchen_data import Kitchen, load_kitchen, read_model

PHRASINGS_FILE = CONFIGS / "adapt" / "invented.yaml"
PREFERENCE_RANGE = (10, 19)
"""How many a person has, at least and at most, as the sixteen have."""
_TRIES = 300  # wishes that are drawn for one person, of whom those are kept that contradict none before


@dataclass(frozen=True)
class _Dish:
    """What can be wished for one dish.

    Attributes:
        tasks: that it concerns.
        dishes: of them.
        base: what it is made of.
        with_it: what goes with it.
        variants: of what it is made of, and of what goes with it.
        instead: one of these and not the other.
        name: in words.
    """

    tasks: str
    dishes: tuple[str, ...]
    base: str
    with_it: tuple[str, ...]
    variants: tuple[str, ...]
    instead: tuple[tuple[str, str], ...]
    name: str


_DISHES = (
    _Dish(
        "savory",
        ("eggs",),
        "egg",
        (
            *("cheese", "vegetable", "herb", "salt", "pepper", "hot_sauce", "butter", "oil_olive", "milk_dairy"),
            *("meat", "chili", "spice_other", "condiment", "cheese_vegan"),
        ),
        ("egg_hen", "egg_substitute"),
        (("egg_substitute", "egg_hen"), ("cheese_vegan", "cheese_dairy"), ("oil_olive", "butter")),
        "eggs",
    ),
    _Dish(
        "sweet",
        ("cereal", "yoghurt"),
        "sweet_base",
        (
            *("nut", "seed", "berry", "fruit", "honey", "maple", "cinnamon", "whipped_cream", "granola"),
            *("sweetener", "cardamom"),
        ),
        ("milk_dairy", "milk_plant"),
        (("milk_plant", "milk_dairy"), ("honey", "sugar"), ("sweetener_low", "sugar")),
        "sweet breakfast",
    ),
    _Dish(
        "cereal",
        ("cereal",),
        "cereal",
        ("milk_plant", "milk_dairy", "fruit", "berry", "nut"),
        ("cereal_gluten_free", "granola"),
        (("milk_plant", "milk_dairy"), ("milk_dairy", "milk_plant")),
        "cereal",
    ),
    _Dish(
        "toast",
        ("toast",),
        "bread",
        ("butter", "jam", "honey", "avocado", "hummus", "cheese", "nut_butter"),
        ("bread_whole_grain", "bread_gluten_free"),
        (("bread_gluten_free", "bread_with_gluten"), ("avocado", "butter"), ("jam", "butter")),
        "toast",
    ),
    _Dish(
        "tea",
        ("tea",),
        "tea",
        ("milk", "milk_plant", "sugar", "honey", "lemon", "ice", "sweetener"),
        ("tea_herbal", "tea_caffeine"),
        (("tea_herbal", "tea_caffeine"), ("honey", "sugar")),
        "tea",
    ),
    _Dish(
        "coffee",
        ("coffee",),
        "coffee",
        ("milk", "milk_plant", "milk_dairy", "sugar", "ice", "cinnamon", "whipped_cream", "sweetener"),
        ("coffee_decaf", "coffee_caffeine"),
        (("coffee_decaf", "coffee_caffeine"), ("milk_plant", "milk_dairy"), ("sweetener_low", "sugar")),
        "coffee",
    ),
    _Dish(
        "yoghurt",
        ("yoghurt",),
        "yoghurt",
        ("granola", "nut", "berry", "fruit", "honey"),
        ("yoghurt_plain", "yoghurt_dairy", "yoghurt_plant"),
        (("yoghurt_plant", "yoghurt_dairy"),),
        "yoghurt",
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


class _Phrasings(BaseModel):
    """Ways to say each kind of wish, and words for groups."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    phrasings: dict[str, tuple[str, ...]]
    words: dict[str, tuple[str, ...]]

    def say(self, rng: random.Random, kind: str, **about: str) -> str:
        """A wish in words; about what, by the names of groups."""
        named = {key: self.word(rng, name) for key, name in about.items()}
        named |= {key.capitalize(): name[:1].upper() + name[1:] for key, name in named.items()}
        return rng.choice(self.phrasings[kind]).format(**named)

    def word(self, rng: random.Random, name: str) -> str:
        """One of the words for a group; several, with a bar between, are alternatives."""
        each = name.split(" | ")
        return " or the ".join(rng.choice(self.words.get(one, (one.replace("_", " "),))) for one in each)


@cache
def _usual() -> _Phrasings:
    return read_model(PHRASINGS_FILE, _Phrasings)


def invent_profile(seed: int, wishes: tuple[int, int] = PREFERENCE_RANGE, kitchen: Kitchen | None = None) -> KitchenProfile:
    """A person with some wishes that do not contradict each other.

    Args:
        seed: of what is drawn.
        wishes: the fewest and the most of them.
        kitchen: what they are about.

    Raises:
        UserError: so many were not found in many tries.
    """
    kitchen = kitchen or load_kitchen()
    return parse_profile(invent_profile_fields(seed, wishes, kitchen), kitchen, f"invented-{seed}")


def invent_profile_fields(seed: int, wishes: tuple[int, int] = PREFERENCE_RANGE, kitchen: Kitchen | None = None) -> dict[str, object]:
    """That person as a people file holds one; see invent."""
    kitchen = kitchen or load_kitchen()
    rng = random.Random(seed)
    wanted = rng.randint(*wishes)
    lines: dict[str, dict[str, object]] = {}
    for _ in range(_TRIES):
        line = rng.choice(_KINDS)(rng)
        # Nobody has eggs in several ways at once.
        key = "style" if line["category"] == "preparation" else f"{line['tasks']}: {line['wants']}"
        if key not in lines and _agree(more := _person(seed, [*lines.values(), line]), kitchen):
            lines[key] = line
            if len(lines) == wanted:
                return more
    raise UserError(f"invented-{seed}: no {wanted} wishes without contradictions in {_TRIES} draws; ask for fewer")


def _person(seed: int, lines: list[dict[str, object]]) -> dict[str, object]:
    return {
        "name": f"invented-{seed}",
        "preferences": [{"id": str(number), **line} for number, line in enumerate(lines, 1)],
    }


def _agree(person: dict[str, object], kitchen: Kitchen) -> bool:
    try:
        parse_profile(person, kitchen, str(person["name"]))
    except DataError:
        return False
    return True


def _line(
    text: str, category: str, tasks: str, dishes: tuple[str, ...], wants: str, if_: str = ""
) -> dict[str, object]:
    line: dict[str, object] = {
        "text": text,
        "category": category,
        "tasks": tasks,
        "dishes": list(dishes),
        "wants": wants,
    }
    return {**line, "if": if_} if if_ else line


def _addition(rng: random.Random) -> dict[str, object]:
    dish = rng.choice(_DISHES)
    one, other = rng.sample(dish.with_it, 2)
    if rng.random() < 0.3:
        text = _usual().say(rng, "choice", one=one, other=other, dish=dish.name)
        wants = f"together({one} | {other}, {dish.base})"
        return _line(text, "addition", dish.tasks, dish.dishes, wants, f"available({one} | {other})")
    text = _usual().say(rng, "addition", one=one, dish=dish.name)
    return _line(text, "addition", dish.tasks, dish.dishes, f"together({one}, {dish.base})", f"available({one})")


def _exclusion(rng: random.Random) -> dict[str, object]:
    if rng.random() < 0.2:
        one = rng.choice(_AVOIDED)
        return _line(_usual().say(rng, "avoidance", one=one), "exclusion", "all", (), f"not used({one})")
    dish = rng.choice(_DISHES)
    one = rng.choice(dish.with_it)
    text = _usual().say(rng, "exclusion", one=one, dish=dish.name)
    return _line(text, "exclusion", dish.tasks, dish.dishes, f"not together({one}, {dish.base})")


def _variation(rng: random.Random) -> dict[str, object]:
    dish = rng.choice(_DISHES)
    if rng.random() < 0.5:
        one, other = rng.choice(dish.instead)
        text = _usual().say(rng, "replacement", one=one, other=other, dish=dish.name)
        wants, if_ = f"used({one}) and not used({other})", f"available({one})"
        return _line(text, "variation", dish.tasks, dish.dishes, wants, if_)
    one = rng.choice(dish.variants)
    text = _usual().say(rng, "variation", one=one, dish=dish.name)
    return _line(text, "variation", dish.tasks, dish.dishes, f"used({one})", f"available({one})")


def _side(rng: random.Random) -> dict[str, object]:
    one = rng.choice(_SIDES)
    tasks, dishes = rng.choice((("savory", ("eggs",)), ("sweet", ("cereal", "yoghurt")), ("all", ())))
    if one in ("vegetable", "condiment") and rng.random() < 0.5:
        text = _usual().say(rng, "several", one=one)
        return _line(text, "addition", tasks, dishes, f"used({one}, kinds=2)", f"available({one}, kinds=2)")
    return _line(_usual().say(rng, "side", one=one), "addition", tasks, dishes, f"used({one})", f"available({one})")


def _tool(rng: random.Random) -> dict[str, object]:
    tasks, dish, tools = rng.choice(_TOOLS)
    tool = rng.choice(tools)
    dishes = (dish,) if dish else ()
    if rng.random() < 0.3:
        return _line(_usual().say(rng, "no_tool", one=tool), "tool", tasks, dishes, f"not used({tool})")
    return _line(_usual().say(rng, "tool", one=tool), "tool", tasks, dishes, f"used({tool})", f"available({tool})")


def _style(rng: random.Random) -> dict[str, object]:
    chosen = rng.sample(_NAMES, rng.choice((1, 1, 2)))
    text = _usual().say(rng, "style", one=" or ".join(said for _, said in chosen))
    wanted = ", ".join(f'"{word}"' for word, _ in chosen)
    return _line(text, "preparation", "savory", ("eggs",), f"made({wanted}, of=egg)")


def _order(rng: random.Random) -> dict[str, object]:
    kind = rng.randrange(3)
    if kind == 0:
        said, first, second = rng.choice((("drinks_first", "beverage", "food"), ("food_first", "food", "beverage")))
        text = _usual().say(rng, said)
        return _line(text, "order", "beverages", ("tea", "coffee"), f"served_before({first}, {second})")
    if kind == 1:
        first, second = rng.choice((("milk", "cereal"), ("cereal", "milk")))
        text = _usual().say(rng, "poured", one=first, other=second)
        return _line(text, "order", "cereal", ("cereal",), f"before({first}, {second})", "available(milk)")
    first, second = rng.sample(("fruit", "nut", "honey", "cinnamon"), 2)
    text = _usual().say(rng, "topped", one=first, other=second)
    if_ = f"available({first}) and available({second})"
    return _line(text, "order", "sweet", ("cereal", "yoghurt"), f"before({first}, {second})", if_)


def _place(rng: random.Random) -> dict[str, object]:
    places = " | ".join(rng.sample(_PLACES, rng.randint(1, 2)))
    return _line(_usual().say(rng, "place", place=places), "place", "all", (), f"served_at({places})")


_KINDS = (_addition, _addition, _exclusion, _variation, _side, _tool, _style, _order, _place)
