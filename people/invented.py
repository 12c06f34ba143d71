"""People who do not exist: wishes drawn at random, for training and for trying out cooks.

No invented person is one of the sixteen of ``housekeep_configs/people/adapt``; single wishes may coincide with theirs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from housewise.core.errors import DataError
from housewise.people.person import Person, read_person
from housewise.worlds.kitchen.data import Kitchen, load_kitchen

_TRIES = 200  # draws of one person until the wishes do not contradict each other


@dataclass(frozen=True)
class _Dish:
    """What can be wished for one dish: of which tasks, what it is made of, and what goes with it."""

    tasks: str
    dishes: tuple[str, ...]
    base: str
    with_it: tuple[str, ...]
    variants: tuple[str, ...]
    said: str


_DISHES = (
    _Dish(
        "savory",
        ("eggs",),
        "egg",
        ("cheese", "vegetable", "herb", "salt", "pepper", "hot_sauce", "butter", "oil_olive", "milk_dairy", "meat"),
        ("egg_hen", "egg_substitute"),
        "eggs",
    ),
    _Dish(
        "sweet",
        ("cereal", "yoghurt"),
        "sweet_base",
        ("nut", "seed", "berry", "fruit", "honey", "maple", "cinnamon", "whipped_cream", "granola"),
        ("milk_dairy", "milk_plant"),
        "a sweet breakfast",
    ),
    _Dish("cereal", ("cereal",), "cereal", ("milk_plant", "milk_dairy", "fruit"), ("cereal_gluten_free",), "cereal"),
    _Dish(
        "toast",
        ("toast",),
        "bread",
        ("butter", "jam", "honey", "avocado", "hummus", "cheese", "nut_butter"),
        ("bread_whole_grain", "bread_gluten_free"),
        "toast",
    ),
    _Dish("tea", ("tea",), "tea", ("milk", "sugar", "honey", "lemon", "ice"), ("tea_herbal", "tea_caffeine"), "tea"),
    _Dish(
        "coffee",
        ("coffee",),
        "coffee",
        ("milk_plant", "milk_dairy", "sugar", "ice", "cinnamon"),
        ("coffee_decaf", "coffee_caffeine"),
        "coffee",
    ),
    _Dish(
        "yoghurt", ("yoghurt",), "yoghurt", ("granola", "nut", "berry"), ("yoghurt_plain", "yoghurt_dairy"), "yoghurt"
    ),
)
_SIDES = ("fruit", "avocado", "berry", "nut", "hash_brown", "bacon", "condiment", "vegetable")
_TOOLS = (
    ("savory", "eggs", ("cast_iron", "pan_nonstick", "pan_metal", "spatula_silicone")),
    ("coffee", "coffee", ("espresso_machine", "pour_over")),
    ("all", "", ("fancy", "fancy_glass")),
)
_NAMES = (("scrambl", "scrambled"), ("omelet", "as an omelette"), ("poach", "poached"), ("over easy", "over easy"))
_PLACES = ("dining_table", "patio_table", "island", "desk")


def invent(seed: int, kitchen: Kitchen | None = None) -> Person:
    """A person with ten to nineteen wishes that do not contradict each other.

    Raises:
        RuntimeError: none was found in many tries.
    """
    kitchen = kitchen or load_kitchen()
    rng = random.Random(seed)
    for _ in range(_TRIES):
        lines: dict[str, dict[str, object]] = {}
        wanted = rng.randint(10, 19)
        while len(lines) < wanted:
            line = rng.choice((_addition, _addition, _exclusion, _variation, _side, _tool, _style, _order, _place))(rng)
            lines.setdefault(f"{line['tasks']}: {line['wants']}", line)
        preferences = [{"id": str(number), **line} for number, line in enumerate(lines.values(), 1)]
        try:
            return read_person({"name": f"invented-{seed}", "preferences": preferences}, kitchen, f"invented-{seed}")
        except DataError:
            continue
    raise RuntimeError(f"no person without contradictions was found from seed {seed}")


def _line(
    text: str, category: str, tasks: str, dishes: tuple[str, ...], wants: str, if_: str = ""
) -> dict[str, object]:
    line: dict[str, object] = {"text": text, "category": category, "tasks": tasks, "dishes": dishes, "wants": wants}
    return {**line, "if": if_} if if_ else line


def _words(group: str) -> str:
    return group.replace("_", " ")


def _addition(rng: random.Random) -> dict[str, object]:
    dish = rng.choice(_DISHES)
    one, other = rng.sample(dish.with_it, 2)
    if rng.random() < 0.3:
        text = f"With {dish.said} I want {_words(one)} or {_words(other)}."
        wants = f"together({one} | {other}, {dish.base})"
        return _line(text, "addition", dish.tasks, dish.dishes, wants, f"available({one} | {other})")
    text = f"With {dish.said} I want {_words(one)}."
    return _line(text, "addition", dish.tasks, dish.dishes, f"together({one}, {dish.base})", f"available({one})")


def _exclusion(rng: random.Random) -> dict[str, object]:
    dish = rng.choice(_DISHES)
    one = rng.choice(dish.with_it)
    text = f"Keep {_words(one)} away from {dish.said}."
    return _line(text, "exclusion", dish.tasks, dish.dishes, f"not together({one}, {dish.base})")


def _variation(rng: random.Random) -> dict[str, object]:
    dish = rng.choice(_DISHES)
    one = rng.choice(dish.variants)
    text = f"For {dish.said} take {_words(one)}."
    return _line(text, "variation", dish.tasks, dish.dishes, f"used({one})", f"available({one})")


def _side(rng: random.Random) -> dict[str, object]:
    one = rng.choice(_SIDES)
    tasks, dishes = rng.choice((("savory", ("eggs",)), ("sweet", ("cereal", "yoghurt")), ("all", ())))
    if one in ("vegetable", "condiment") and rng.random() < 0.5:
        text = f"I want at least two kinds of {one} with it."
        return _line(text, "addition", tasks, dishes, f"used({one}, kinds=2)", f"available({one}, kinds=2)")
    return _line(
        f"Give me some {_words(one)} beside it.", "addition", tasks, dishes, f"used({one})", f"available({one})"
    )


def _tool(rng: random.Random) -> dict[str, object]:
    tasks, dish, tools = rng.choice(_TOOLS)
    tool = rng.choice(tools)
    dishes = (dish,) if dish else ()
    if rng.random() < 0.3:
        return _line(f"Do not use the {_words(tool)}.", "tool", tasks, dishes, f"not used({tool})")
    return _line(f"Use the {_words(tool)}.", "tool", tasks, dishes, f"used({tool})", f"available({tool})")


def _style(rng: random.Random) -> dict[str, object]:
    word, said = rng.choice(_NAMES)
    return _line(f"I want eggs {said}.", "preparation", "savory", ("eggs",), f'made("{word}", of=egg)')


def _order(rng: random.Random) -> dict[str, object]:
    kind = rng.randrange(3)
    if kind == 0:
        first, second, said = rng.choice(
            (
                ("beverage", "food", "Drinks come first, then food."),
                ("food", "beverage", "Food comes first, then drinks."),
            )
        )
        return _line(said, "order", "beverages", ("tea", "coffee"), f"served_before({first}, {second})")
    if kind == 1:
        first, second = rng.choice((("milk", "cereal"), ("cereal", "milk")))
        text = f"Into the bowl goes {first} first, then {second}."
        return _line(text, "order", "cereal", ("cereal",), f"before({first}, {second})", "available(milk)")
    first, second = rng.sample(("fruit", "nut", "honey", "cinnamon"), 2)
    text = f"On sweet breakfasts {first} goes before {second}."
    if_ = f"available({first}) and available({second})"
    return _line(text, "order", "sweet", ("cereal", "yoghurt"), f"before({first}, {second})", if_)


def _place(rng: random.Random) -> dict[str, object]:
    places = rng.sample(_PLACES, rng.randint(1, 2))
    text = f"I eat at the {' or the '.join(_words(place) for place in places)}."
    return _line(text, "place", "all", (), f"served_at({' | '.join(places)})")
