"""Breakfasts given by their actions, and single preferences to judge them by."""

from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profile_files import parse_profile
from housewise.people.kitchen.profiles import KitchenPreference, KitchenProfile
from housewise.worlds.kitchen.kitchen_data import load_kitchen
from housewise.worlds.kitchen.scene import build_scene
from housewise.worlds.kitchen.trace import Trace
from housewise.worlds.kitchen.world import TextKitchen

KITCHEN = load_kitchen()

EGGS = ("Move pan_1 to stove_0", "Move egg_0 to pan_1", "Cook items in pan_1 to get eggs", "Move eggs to plate_0")
MUESLI = ("Pour swiss_muesli from cereal_box_2 to bowl_0",)
FLAKES = ("Pour corn_flakes from cereal_box_5 to bowl_0",)
YOGHURT = ("Pour greek_yoghurt from yoghurt_0 to bowl_0",)
TEA = ("Pour water from sink_1 to mug_0", "Pour green_tea_bag from tea_bags_0 to mug_0")
COFFEE = (
    "Pour coffee_grounds from coffee_0 to mug_0",
    "Pour water from sink_1 to mug_0",
    "Brew items in mug_0 to get coffee",
)
TOAST = ("Move white_bread_slice from bread_0 to toaster_0", "Move white_bread_slice to plate_0")
FRUIT = "Pour blueberry from blueberries_box_0 to bowl_0"
NUTS = "Pour walnuts from walnuts_0 to bowl_0"
GRANOLA = "Pour gluten_free_granola from cereal_box_3 to bowl_0"
ICE = "Pour ice_cube from ice_tray_0 to mug_0"


def cook_breakfast(task: int, *actions: str, without: tuple[str, ...] = ()) -> Trace:
    """Return the trace of possible actions in a kitchen with all objects except ``without``."""
    present = set(KITCHEN.objects.places()) - set(without)
    if "egg_carton_0" in without:
        present -= {f"egg_{number}" for number in range(8)}
    world = TextKitchen(task, scene=build_scene(present))
    for action in actions:
        step = world.step(action)
        assert not step.failed, f"{action}: {step.observation}"
    return world.trace


def make_preference(
    wants: str, tasks: object = "all", if_: str | None = None, dishes: tuple[str, ...] = ()
) -> KitchenPreference:
    """Return a preference in the language of profile files."""
    line = {"id": "1", "text": "x", "category": "addition", "tasks": tasks, "dishes": dishes, "wants": wants}
    if if_:
        line["if"] = if_
    return parse_profile({"name": "somebody", "preferences": [line]}, KITCHEN, "test").preferences[0]


def decide(preference: KitchenPreference, task: int, trace: Trace) -> str:
    return PreferenceJudge(task).verdict(preference, trace).decision


def single_preference_profile(preference: KitchenPreference) -> KitchenProfile:
    return KitchenProfile("somebody", "", (preference,))
