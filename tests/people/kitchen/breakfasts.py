"""Breakfasts given by their actions, and single preferences to judge them by."""

from housewise.people.kitchen.preference_judge import PreferenceJudge
from housewise.people.kitchen.profile_files import parse_profile
from housewise.people.kitchen.profiles import KitchenPreference, KitchenProfile
from housewise.worlds.kitchen.kitchen_data import load_kitchen
from housewise.worlds.kitchen.scene import build_scene
from housewise.worlds.kitchen.trace import Trace
from housewise.worlds.kitchen.world import TextKitchen

KITCHEN = load_kitchen()


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
