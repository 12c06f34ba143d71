"""Outcomes of actions in the lab, written by hand from the paper's and Alexa Arena's descriptions of its devices."""

from dataclasses import replace

import pytest

from housewise.worlds.lab.texts import brief_state, power_state
from tests.worlds.lab.labs import APPLE, BLOCKED, COFFEE, FUSE_BOX, LASER, PANEL_MISSING, play

DONE = "ActionSuccessful"
IN_MACHINE = ("Open time_machine", "Pickup hammer", "Place time_machine")
OUTCOMES = [
    (LASER, ("Toggle laser_monitor",), DONE),
    ("fire_laser__none__assemble_laser", ("Toggle laser_monitor",), "InvalidCommand"),
    ("fire_laser__none__disinfect_computer", ("Toggle laser_monitor",), "InvalidCommand"),
    ("fire_laser__none__power", ("Toggle laser_monitor",), "ObjectUnpowered"),
    ("fire_laser__none__remove_blocker", ("Toggle laser_monitor",), "TargetInaccessible"),
    ("fire_laser__none__remove_blocker", ("Toggle robotic_arm", "Toggle laser_monitor"), DONE),
    (LASER, ("Toggle laser_cannon",), "UnsupportedAction"),
    (LASER, ("Toggle freeze_ray",), "UnsupportedAction"),
    (LASER, ("Toggle gravity_flipper",), "UnsupportedAction"),
    (LASER, ("Toggle embiggenator",), "UnsupportedAction"),
    (LASER, ("Toggle portal_generator",), "UnsupportedAction"),
    (LASER, ("Toggle embiggenator_monitor",), "InvalidCommand"),
    (LASER, ("Toggle carrot_maker",), "InvalidCommand"),
    (LASER, ("Toggle time_machine",), "InvalidCommand"),
    (LASER, ("Open time_machine", "Toggle time_machine"), "InvalidCommand"),
    (LASER, ("Toggle printer",), "InvalidCommand"),
    (LASER, ("Toggle red_button",), "InvalidCommand"),
    (LASER, ("Toggle fuse_box",), "UnsupportedAction"),
    (LASER, ("Toggle lever",), "TargetInaccessible"),
    (LASER, ("Open fuse_box", "Toggle lever"), DONE),
    (LASER, ("Open fuse_box", "Pickup lever"), "UnsupportedAction"),
    (LASER, ("Open fuse_box", "Open fuse_box"), "InvalidCommand"),
    (LASER, ("Close fuse_box",), "InvalidCommand"),
    (LASER, ("Open yellow_mug",), "UnsupportedAction"),
    (LASER, ("Pickup hammer", "Pickup yellow_mug"), "AlreadyHoldingObject"),
    (LASER, ("Pickup hammer", "Break yellow_mug"), DONE),
    (LASER, ("Pickup dart", "Break yellow_mug"), "ObjectNotPickedUp"),
    (LASER, ("Pickup hammer", "Break hammer"), "InvalidCommand"),
    (LASER, ("Pickup hammer", "Place time_machine"), "ReceptacleIsClosed"),
    (LASER, ("Pickup hammer", "Place printer"), "InvalidCommand"),
    (LASER, ("Place table",), "ObjectNotPickedUp"),
    (LASER, ("Pickup dart", "Throw dart_board"), DONE),
    (LASER, ("Pickup dart", "Throw robotic_arm"), "UnsupportedAction"),
    (LASER, ("Pickup laser_cannon",), "UnsupportedAction"),
    (LASER, ("Pickup yellow_mug", "Pour coffee_unmaker"), "InvalidCommand"),
    ("unmake_coffee__yellow_mug__simple", ("Pickup yellow_mug", "Pour coffee_unmaker"), DONE),
    ("unmake_coffee__yellow_mug__simple", ("Toggle coffee_unmaker",), "InvalidCommand"),
    ("deembiggen__new_fan__simple", ("Pickup new_fan",), "UnsupportedAction"),
    ("deembiggen__new_fan__simple", ("Toggle embiggenator_monitor", "Pickup new_fan"), DONE),
    ("landing__laser_tip__simple", ("GotoObject laser_tip",), "KilledByHazard"),
    ("landing__laser_tip__simple", ("GotoObject gravity_flipper",), "KilledByHazard"),
    ("landing__laser_tip__simple", ("Toggle gravity_flipper_monitor", "Pickup laser_tip"), DONE),
    ("print__lever__transform_carrot", ("Pickup lever_cartridge", "Place printer"), "InvalidCommand"),
    (
        "print__action_figure__simple",
        ("Pickup figure_cartridge", "Place printer", "Toggle printer"),
        DONE,
    ),
    (
        "print__action_figure__simple",
        ("Pickup figure_cartridge", "Place printer", "Toggle printer", "Toggle printer"),
        "ReceptacleIsFull",
    ),
    # Power: each fuse box has its circuit, and its lever switches it off and on.
    (LASER, ("Open fuse_box_3", "Toggle lever_3", "Toggle laser_monitor"), "ObjectUnpowered"),
    (LASER, ("Open fuse_box_3", "Toggle lever_3", "Toggle embiggenator_monitor"), "ObjectUnpowered"),
    (LASER, ("Open fuse_box_3", "Toggle lever_3", "Toggle lever_3", "Toggle laser_monitor"), "ActionSuccessful"),
    (LASER, ("Open fuse_box_1", "Toggle lever_1", "Toggle laser_monitor"), "ActionSuccessful"),
    (LASER, ("Open fuse_box_1", "Toggle lever_1", "Toggle coffee_unmaker"), "ObjectUnpowered"),
    (LASER, ("Open fuse_box_2", "Toggle lever_2", "Toggle reception_computer"), "ObjectUnpowered"),
    ("repair_broken__yellow_mug__power", ("Toggle time_machine",), "ObjectUnpowered"),
    ("make_carrot__figure_cartridge__power", ("Toggle carrot_maker",), "ObjectUnpowered"),
    ("print__action_figure__power", ("Toggle printer",), "ObjectUnpowered"),
    ("change_color__yellow_mug+blue__power", ("Toggle blue_button",), "ObjectUnpowered"),
    ("remove_blocker__robotics-lab__power", ("Toggle robotic_arm",), "ObjectUnpowered"),
    ("unmake_coffee__boss_mug__power", ("Toggle coffee_unmaker",), "ObjectUnpowered"),
    ("feed_dino__candy_bar__power", ("Toggle portal_generator_monitor",), "ObjectUnpowered"),
    ("deembiggen__dart__power", ("Toggle embiggenator_monitor",), "ObjectUnpowered"),
    ("infect_computer__gravity_flipper_monitor__power", ("Toggle gravity_flipper_monitor",), "ObjectUnpowered"),
    ("fire_freezeray__none__power", ("Toggle freeze_ray_monitor",), "ObjectUnpowered"),
    ("fire_freezeray__none__power", ("Open fuse_box_3", "Toggle lever_3", "Toggle freeze_ray_monitor"), DONE),
    # Viruses.
    ("fire_freezeray__none__disinfect_computer", ("Toggle freeze_ray_monitor",), "InvalidCommand"),
    ("embiggen__banana_bunch__disinfect_computer", ("Toggle embiggenator_monitor",), "InvalidCommand"),
    ("disinfect_computer__gravity_flipper_monitor__simple", ("Toggle gravity_flipper_monitor",), "InvalidCommand"),
    ("fire_freezeray__none__disinfect_computer",
     ("Pickup antivirus_floppy", "Place freeze_ray_monitor", "Toggle freeze_ray_monitor"), DONE),
    (LASER, ("Pickup virus_floppy", "Place reception_computer", "Toggle reception_computer"), "InvalidCommand"),
    (LASER, ("Pickup virus_floppy", "Place portal_generator_monitor", "Toggle portal_generator_monitor"),
     "InvalidCommand"),
    (LASER, ("Pickup virus_floppy", "Place laser_monitor", "Pickup antivirus_floppy", "Place laser_monitor"),
     "ReceptacleIsFull"),
    (LASER, ("Pickup hammer", "Place laser_monitor"), "InvalidCommand"),
    # Fuse boxes and levers.
    (FUSE_BOX, ("Toggle lever_1",), "UnsupportedAction"),
    (FUSE_BOX, ("Pickup lever_1", "Place fuse_box_1"), "ReceptacleIsClosed"),
    (FUSE_BOX, ("Pickup lever_1", "far Throw fuse_box_1"), "ReceptacleIsClosed"),
    (FUSE_BOX, ("Pickup lever_1", "Open fuse_box_2", "Place fuse_box_2"), "ReceptacleIsFull"),
    (FUSE_BOX, ("Toggle coffee_unmaker",), "ObjectUnpowered"),
    (FUSE_BOX, ("Pickup lever_1", "Open fuse_box_1", "Place fuse_box_1", "Toggle coffee_unmaker"), "ObjectUnpowered"),
    (FUSE_BOX, ("Pickup lever_1", "Open fuse_box_1", "Place fuse_box_1", "Toggle lever_1", "Toggle coffee_unmaker"),
     "InvalidCommand"),
    (FUSE_BOX, ("Open fuse_box_1", "Pickup hammer", "Place fuse_box_1"), "InvalidCommand"),
    # The laser's control panel.
    (PANEL_MISSING, ("Pickup control_panel", "Place laser_cannon", "Toggle laser_monitor"), DONE),
    (PANEL_MISSING, ("Pickup control_panel", "Place laser_cannon", "Pickup control_panel"), "UnsupportedAction"),
    (PANEL_MISSING, ("Pickup hammer", "Place laser_cannon"), "InvalidCommand"),
    # The box that blocks the robotics lab.
    (BLOCKED, ("Pickup control_panel",), "TargetInaccessible"),
    (BLOCKED, ("GotoObject printer",), "TargetInaccessible"),
    (BLOCKED, ("Pickup dart", "far Throw red_shelf"), "TargetInaccessible"),
    (BLOCKED, ("Pickup crate",), "UnsupportedAction"),
    (BLOCKED, ("Toggle robotic_arm", "Toggle robotic_arm"), "InvalidCommand"),
    # The gravity flipper: what floats cannot be reached, and going near hurts and ends the task.
    ("make_carrot__crushed_soda_can__landing", ("far Pickup crushed_soda_can",), "TargetInaccessible"),
    ("change_color__new_fan+blue__landing", ("far Toggle new_fan",), "TargetInaccessible"),
    ("infect_computer__reception_computer__landing", ("Pickup hammer", "far Break virus_floppy"), "TargetInaccessible"),
    ("landing__laser_tip__simple", ("Toggle gravity_flipper_monitor", "GotoObject gravity_flipper"), DONE),
    ("landing__laser_tip__simple", ("GotoObject gravity_flipper", "Pickup hammer"), "InvalidCommand"),
    (LASER, ("Toggle gravity_flipper_monitor", "GotoObject gravity_flipper"), "KilledByHazard"),
    (LASER, ("Pickup dart", "Place gravity_flipper", "Toggle gravity_flipper_monitor", "far Pickup dart"),
     "TargetInaccessible"),
    (LASER, ("Pickup dart", "Toggle gravity_flipper_monitor", "far Throw gravity_flipper", "far Pickup dart"),
     "TargetInaccessible"),
    # Sizes.
    ("embiggen__broken_fan__simple",
     ("Pickup broken_fan", "Place embiggenator", "Toggle embiggenator_monitor", "Pickup broken_fan"),
     "UnsupportedAction"),
    ("break__plate__deembiggen", ("Pickup hammer",), "UnsupportedAction"),
    ("break__plate__deembiggen", ("Toggle embiggenator_monitor", "Pickup hammer", "Break plate"), DONE),
    # The time machine.
    (LASER, (*IN_MACHINE, "Toggle time_machine"), "InvalidCommand"),
    (LASER, (*IN_MACHINE, "Close time_machine", "Toggle time_machine"), DONE),
    (LASER, (*IN_MACHINE, "Close time_machine", "Pickup hammer"), "TargetInaccessible"),
    (LASER, (*IN_MACHINE, "Pickup dart", "Place time_machine"), "ReceptacleIsFull"),
    (LASER, ("Pickup dart", "far Throw time_machine"), "ReceptacleIsClosed"),
    # The carrot maker: a carrot is no tool.
    ("break__bowl__transform_carrot", ("Pickup hammer", "Break bowl"), "ObjectNotPickedUp"),
    ("infect_computer__freeze_ray_monitor__transform_carrot", ("Pickup virus_floppy", "Place freeze_ray_monitor"),
     "InvalidCommand"),
    (COFFEE, ("Pickup yellow_mug", "Place carrot_maker", "Toggle carrot_maker", "Pickup yellow_mug",
              "Pour coffee_unmaker"), "InvalidCommand"),
    # The color changer is run by its buttons, which can be pressed by Place too.
    (APPLE, ("Toggle color_changer",), "UnsupportedAction"),
    (APPLE, ("Pickup apple", "Place color_changer", "Place green_button"), DONE),
    (APPLE, ("Place green_button",), "InvalidCommand"),
    (APPLE, ("Pickup apple", "Place color_changer", "Pickup dart", "Place color_changer"), "ReceptacleIsFull"),
    # The printer takes one cartridge.
    (LASER, ("Pickup figure_cartridge", "Place printer", "Pickup hammer_cartridge", "Place printer"),
     "ReceptacleIsFull"),
    (LASER, ("Pickup dart", "far Throw printer"), "InvalidCommand"),
    # The coffee unmaker.
    (COFFEE, ("Pour coffee_unmaker",), "ObjectNotPickedUp"),
    (COFFEE, ("Pickup yellow_mug", "Pour coffee_unmaker", "Pour coffee_unmaker"), "InvalidCommand"),
    (COFFEE, ("Pickup yellow_mug", "Pour coffee_unmaker", "Toggle coffee_unmaker"), DONE),
    (COFFEE, ("Pickup yellow_mug", "Pour coffee_unmaker", "Toggle coffee_unmaker", "Toggle coffee_unmaker"),
     "InvalidCommand"),
    # Shelves, breaking, throwing.
    (LASER, ("Pickup dart", "Place red_shelf", "Pickup virus_floppy", "Place red_shelf", "Pickup antivirus_floppy",
             "Place red_shelf", "Pickup hammer", "Place red_shelf"), "ReceptacleIsFull"),
    (LASER, ("Pickup hammer", "Break yellow_mug", "Break yellow_mug"), "InvalidCommand"),
    (LASER, ("Pickup hammer", "Break table"), "UnsupportedAction"),
    (LASER, ("far Throw dart_board",), "ObjectNotPickedUp"),
    ("dart__dart__simple", ("Pickup dart", "far Throw dart_board"), DONE),
]  # fmt: skip


@pytest.mark.parametrize(
    ("variant", "actions", "status"), OUTCOMES, ids=[f"{each[0]}: {', '.join(each[1])}" for each in OUTCOMES]
)
def test_the_outcome_is_that_of_the_rules(variant: str, actions: tuple[str, ...], status: str) -> None:
    assert play(variant, *actions)[1].status == status


def test_what_is_on_no_circuit_lacks_no_power() -> None:
    state, _ = play("change_color__new_fan+blue__landing", "Toggle gravity_flipper_monitor", "Pickup new_fan")
    assert state.held is not None and power_state(state, state[state.held]) == ["powered"]
    assert "lights" not in brief_state(replace(state, room="corridor"))
    dark = replace(state, powered=frozenset())
    assert "The lights are out." in brief_state(dark)


CARROT = ("Pickup banana", "Place carrot_maker", "Toggle carrot_maker")
COOLED = ("Pickup coffee_pot", "Place blue_shelf", "Toggle freeze_ray_monitor")
REWIND = ("Place time_machine", "Close time_machine", "Toggle time_machine")
EATEN = ("Pickup apple", "Place portal_generator", "Toggle portal_generator_monitor")
EFFECTS = [
    (LASER, ("Pickup yellow_mug", "Place red_shelf", "Toggle laser_monitor"), "yellow_mug", "hot"),
    (LASER, ("Pickup yellow_mug", "Place blue_shelf", "Toggle laser_monitor"), "yellow_mug", "not hot"),
    (LASER, ("Pickup dart", "Place red_shelf", "Toggle laser_monitor"), "dart", "not hot"),
    (LASER, ("Pickup virus_floppy", "Place red_shelf", "Toggle laser_monitor"), "virus_floppy", "hot, broken"),
    ("fire_freezeray_to_cool__coffee_pot__simple", COOLED, "coffee_pot", "cold"),
    ("fire_freezeray_to_cool__coffee_pot__simple",
     (*COOLED, "Pickup coffee_pot", "Place red_shelf", "Toggle laser_monitor"), "coffee_pot", "hot, not cold"),
    ("make_carrot__banana__simple", CARROT, "banana", "kind carrot"),
    ("make_carrot__banana__simple", (*CARROT, "Open time_machine", "Pickup banana", *REWIND), "banana", "kind banana"),
    ("repair_broken__boss_mug__simple", ("Open time_machine", "Pickup boss_mug", *REWIND), "boss_mug", "not broken"),
    ("feed_dino__apple__simple", ("Toggle portal_generator_monitor", "Pickup apple", "Place portal_generator"),
     "portal_generator", "fed"),
    ("feed_dino__apple__simple", EATEN, "portal_generator", "fed"),
    ("feed_dino__apple__simple", EATEN[:2], "portal_generator", "not fed"),
    ("feed_dino__apple__simple", ("Pickup dart", "Place portal_generator", "Toggle portal_generator_monitor"),
     "portal_generator", "not fed"),
    ("feed_dino__apple__simple", (*EATEN, "Open time_machine", "Pickup apple", *REWIND), "apple", "not eaten"),
    (APPLE, ("Pickup apple", "Place color_changer", "Toggle green_button"), "apple", "color green"),
    ("infect_computer__reception_computer__simple", ("Pickup virus_floppy", "Place reception_computer"),
     "reception_computer", "infected"),
    ("infect_computer__gravity_flipper_monitor__power", ("Pickup virus_floppy", "Place gravity_flipper_monitor"),
     "gravity_flipper_monitor", "not infected"),
    (LASER, ("Pickup virus_floppy", "Place red_shelf", "Toggle laser_monitor", "Pickup virus_floppy",
             "Place laser_monitor"), "laser_monitor", "not infected"),
    (LASER, ("Toggle portal_generator_monitor", "Toggle portal_generator_monitor"), "portal_generator", "not on"),
    (LASER, ("Pickup dart", "Place gravity_flipper", "Toggle gravity_flipper_monitor",
             "Toggle gravity_flipper_monitor"), "dart", "not floating"),
    ("print__lever__transform_carrot",
     ("Open time_machine", "Pickup lever_cartridge", *REWIND, "Open time_machine", "Pickup lever_cartridge",
      "Place printer", "Toggle printer"), "lever_4", "kind lever"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("variant", "actions", "kind", "wanted"),
    EFFECTS,
    ids=[f"{', '.join(each[1])}: {each[2]} {each[3]}" for each in EFFECTS],
)
def test_the_thing_is_changed_as_its_device_is_described(
    variant: str, actions: tuple[str, ...], kind: str, wanted: str
) -> None:
    state, outcome = play(variant, *actions)
    assert outcome.succeeded
    thing = next(each for each in state.things if kind in (each.kind, each.original, each.id))
    for each in wanted.split(", "):
        name, _, value = each.rpartition(" ")
        if name in ("kind", "color"):
            assert getattr(thing, name) == value
        else:
            assert (value in thing.flags) == (name != "not")
