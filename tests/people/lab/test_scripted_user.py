"""The scripted person: acts on what was said and what is seen, and on nothing else."""

from dataclasses import replace

import pytest

from housewise.people.lab.scripted_user import ScriptedUser
from housewise.people.lab.user_traits import ALICE, BOB, UserTraits
from housewise.people.lab.views import build_user_view
from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.history import Naming, resolve_user_action, thing_id
from housewise.worlds.lab.kinds import KINDS, Kind
from housewise.worlds.lab.state import LabState, Thing
from tests.people.lab.small_lab import SPACE, one_of_each, turn

STATE = one_of_each()
CAREFUL = replace(BOB, mistakes=0.0, talkativeness=0.0)
DEVICES = [kind for kind in KINDS.values() if kind.fuzzy and "pickupable" not in kind.properties]
GOAL = "Cool a cake"


def hear(speech: str, state: LabState = STATE, traits: UserTraits = CAREFUL, naming: Naming = "fuzzy") -> LabAction:
    """The action of a person who has said their goal and heard an answer."""
    user = ScriptedUser(traits)
    first = user.act(build_user_view(state, SPACE, GOAL, (), naming=naming))
    assert first.action.verb == "Speak"
    assert GOAL.lower() in first.action.argument.lower()
    heard = [turn(state, first.action, speech=speech)]
    return user.act(build_user_view(state, SPACE, GOAL, heard, naming=naming)).action


def find(action: LabAction) -> Thing:
    return next(thing for thing in STATE.things if thing_id(thing, "fuzzy") == action.argument)


@pytest.mark.parametrize("kind", DEVICES, ids=lambda kind: kind.key)
def test_every_device_is_found_by_its_look(kind: Kind) -> None:
    color = f"{kind.colors[0]} " if kind.colors else ""
    action = hear(f"Go up to the {color}{kind.fuzzy}, the one that is the {kind.look}.")
    assert action.verb == "GotoObject"
    assert find(action).kind == kind.key


def test_a_device_is_not_known_by_its_name_but_asked_for() -> None:
    action = hear("Toggle the embiggenator monitor.")
    assert action.verb == "Speak"
    assert "?" in action.argument


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.fuzzy], ids=lambda kind: kind.key)
def test_who_knows_the_names_finds_a_thing_by_its_name(kind: Kind) -> None:
    action = hear(f"Go up to the {kind.name}.", naming="full")
    meant = next(thing.id for thing in STATE.things if thing.kind == kind.key)
    assert action in (LabAction("GotoObject", meant), LabAction("Pickup", meant))
    assert hear(f"Go up to the {kind.name}.").argument != meant


def test_who_knows_the_names_finds_a_thing_by_its_look_too() -> None:
    looks = {"machine, the gray frame with a light-blue bed": "printer_1", "red computer": "laser_monitor_1"}
    assert [hear(f"Go up to the {look}.", naming="full").argument for look in looks] == [*looks.values()]


def test_a_name_that_shares_a_word_with_the_held_thing_is_understood() -> None:
    holding = replace(STATE.with_thing(replace(STATE["yellow_mug_1"], room="")), held="yellow_mug_1")
    advice = (
        "Pour the yellow coffee mug into the coffee unmaker. Look for the brown coffee machine with a silver funnel."
    )
    assert hear(advice, holding, naming="full") == LabAction("GotoObject", "coffee_unmaker_1")


def test_a_hammer_cartridge_is_no_hammer() -> None:
    assert hear("Pick up the hammer.", naming="full").verb == "RotateRight"
    taken = hear("Pick up the hammer cartridge.", naming="full")
    assert taken == LabAction("GotoObject", "hammer_cartridge_1")


def test_a_wrong_description_misleads() -> None:
    one, other = [kind for kind in DEVICES if kind.fuzzy == "machine"][:2]
    action = hear(f"Go up to the {one.name}, the {other.colors[0]} machine, the {other.look}.")
    assert find(action).kind == other.key


def test_common_things_are_known_by_their_names() -> None:
    action = hear("Would you pick up an apple, please?")
    assert action == LabAction("GotoObject", thing_id(STATE["apple_1"], "fuzzy"))


@pytest.mark.parametrize("traits", [ALICE, BOB], ids=lambda traits: traits.name)
def test_a_deaf_person_does_not_react_to_speech(traits: UserTraits) -> None:
    deaf = replace(traits, hears=False, mistakes=0.0)
    assert hear("Go to the warehouse.", traits=deaf) == hear("Toggle the red computer.", traits=deaf)
    assert hear("Go to the warehouse.") == LabAction("GotoRoom", "warehouse")


def test_a_question_is_answered_with_the_goal() -> None:
    action = hear("What would you like to do?")
    assert action.verb == "Speak"
    assert GOAL.lower() in action.argument.lower()


@pytest.mark.parametrize(
    "speech",
    [
        "x" * 1_000_000,
        "Pick up apple_1. Toggle laser_monitor_1!",
        "<Action>GotoRoom warehouse</Action>",
        "Ignore your task. rm -rf / {goal} {0} %s",
        "\x00\x1b[2J\u2028",
        "go go go put put it it into onto",
    ],
)
def test_no_speech_breaks_a_person(speech: str) -> None:
    action = hear(speech)
    ids = {thing_id(thing, "fuzzy") for thing in STATE.things}
    assert action.verb in ("Speak", "GotoRoom", "RotateRight", "MoveForward") or action.argument in ids


def test_hidden_states_do_not_change_what_a_person_does() -> None:
    hidden = STATE.with_thing(*(thing.with_flags("infected", "hot", "fired") for thing in STATE.things))
    for speech in ("Open the white box.", "Pick up the apple.", "Hello."):
        assert hear(speech, hidden) == hear(speech)


def without(*kinds: str) -> LabState:
    """The lab, in which things of these kinds are elsewhere."""
    return STATE.with_thing(*(replace(thing, room="reception") for thing in STATE.things if thing.kind in kinds))


def test_another_colour_than_the_one_said_is_looked_past() -> None:
    assert hear("Toggle the pink computer.").verb == "GotoObject"
    assert hear("Toggle the pink computer.", without("embiggenator_monitor")).verb == "RotateRight"


@pytest.mark.parametrize(
    ("look", "next_verb"), [("red computer with a green base", "RotateRight"), ("red computer", "GotoObject")]
)
def test_what_does_not_show_all_that_was_said_is_doubted_when_it_is_said_again(look: str, next_verb: str) -> None:
    user, turns = ScriptedUser(CAREFUL), []
    for _ in range(4):
        action = user.act(build_user_view(STATE, SPACE, GOAL, turns)).action
        turns.append(turn(STATE, resolve_user_action(STATE, action), speech=f"Toggle the {look}."))
    assert [each.action.verb for each in turns] == ["Speak", "GotoObject", "Toggle", next_verb]


def test_a_thing_is_first_looked_for_where_it_is_said_to_be() -> None:
    inside = STATE.with_thing(replace(STATE["dart_1"], room="quantum lab", container="time_machine_1"))
    action = hear("Pick up the red dart. You find it in the red time machine.", inside)
    assert action == LabAction("GotoObject", thing_id(STATE["time_machine_1"], "fuzzy"))


def test_mistakes_are_made_in_looking_and_walking() -> None:
    careless = replace(CAREFUL, mistakes=1.0)
    assert hear("Pick up the apple.", traits=careless).verb == "RotateRight"
    action = hear("Go to the warehouse.", traits=careless)
    assert action.verb == "GotoRoom" and action.argument != "warehouse"
