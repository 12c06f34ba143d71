from dataclasses import replace

import numpy as np
import pytest

from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.geometry import Box
from housewise.worlds.house.grab_rules import REACH, GrabResult, grab_or_release
from housewise.worlds.house.simulator.base import BodyPose
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from housewise.worlds.house.state import HouseState
from tests.worlds.house.toy import BED, COUNTER, DOOR, FURNITURE, STOOL, TABLE, box_of, thing

ALL = frozenset(FURNITURE) | {"mug_1", "plate_1", "tea_towel_1"}
AT = {
    COUNTER: BodyPose(0.9, 2.0, np.pi / 2, -0.6),
    TABLE: BodyPose(2.0, 2.9, np.pi, -0.8),
    BED: BodyPose(6.0, 1.9, -np.pi / 4, -0.8),
    STOOL: BodyPose(5.0, 3.2, np.pi, -1.0),
}


class Play:
    """A house state with a robot that can be placed anywhere."""

    def __init__(self, task: RearrangementTask) -> None:
        self.simulator = RaycastSimulator()
        body = BodyPose(2.0, 2.0)
        self.simulator.reset(task.scene, task.episode.receptacles, task.episode.objects, body)
        self.world = HouseState(task.scene, task.episode, self.simulator)

    def grab(self, target: str | None, at: str, visible: frozenset[str] = ALL) -> GrabResult:
        self.simulator.stand(AT[at])
        return grab_or_release(self.world, target, visible)


@pytest.fixture
def play(toy: RearrangementTask) -> Play:
    return Play(toy)


def test_a_correct_placement_is_rewarded(play: Play) -> None:
    assert play.grab("mug_1", BED) == GrabResult("mug_1", BED, None, 0)
    assert play.world.holding == "mug_1"
    assert play.world.placements["mug_1"] is None
    assert not play.world.correct_by_object["mug_1"]
    assert play.grab(COUNTER, COUNTER) == GrabResult("mug_1", None, COUNTER, 1)
    assert play.world.holding is None
    assert play.world.success_rate == 0.5
    assert play.grab("tea_towel_1", TABLE).reward == 0
    assert play.grab(STOOL, STOOL).reward == 1
    assert play.world.success_rate == 1.0


def test_grabbing_a_correctly_placed_object_is_penalized(play: Play) -> None:
    assert play.grab("plate_1", COUNTER) == GrabResult("plate_1", COUNTER, None, -1)
    assert play.world.success_rate == -0.5
    assert play.grab(BED, BED) == GrabResult("plate_1", None, BED, 0)
    assert play.world.success_rate == -0.5
    assert play.grab("plate_1", BED).reward == 0
    assert play.grab(COUNTER, COUNTER).reward == 1
    assert play.world.success_rate == 0.0


def test_the_success_rate_without_misplaced_objects_is_zero(toy: RearrangementTask) -> None:
    objects = tuple(replace(each, correct=frozenset({each.receptacle})) for each in toy.episode.objects)
    world = Play(RearrangementTask(toy.scene, replace(toy.episode, objects=objects))).world
    assert world.success_rate == 0.0
    assert all(world.correct_by_object.values())


def test_the_hand_holds_one_object(play: Play) -> None:
    play.grab("plate_1", COUNTER)
    assert play.grab("tea_towel_1", TABLE) == GrabResult(reason="objects can only be placed on receptacles")
    assert play.grab("plate_1", COUNTER) == GrabResult(reason="objects can only be placed on receptacles")
    assert play.world.holding == "plate_1"


@pytest.mark.parametrize("target", [TABLE, DOOR, "no such thing"])
def test_only_objects_can_be_grabbed(play: Play, target: str) -> None:
    assert play.grab(target, TABLE) == GrabResult(reason="only objects can be picked up")


def test_targets_out_of_view_are_refused(play: Play) -> None:
    assert play.grab("mug_1", BED, frozenset({TABLE})) == GrabResult(reason="out of sight")
    # For grabbing, it is enough that the receptacle of the object is visible.
    assert play.grab("mug_1", BED, frozenset({BED})).moved == "mug_1"
    assert play.grab(COUNTER, COUNTER, frozenset({"plate_1"})) == GrabResult(reason="out of sight")
    assert play.world.holding == "mug_1"


def test_targets_out_of_reach_are_refused(play: Play) -> None:
    assert play.grab("mug_1", TABLE) == GrabResult(reason="too far away")
    play.grab("mug_1", BED)
    assert play.grab(TABLE, BED) == GrabResult(reason="too far away")
    assert play.world.holding == "mug_1"


def test_reach_is_one_and_a_half_metres_to_the_nearest_corner(play: Play) -> None:
    corner = np.array(box_of(STOOL).low)[[0, 2]]
    for away, reached in ((REACH - 0.01, True), (REACH + 0.01, False)):
        play.simulator.stand(BodyPose(*(corner - [0.0, away])))
        assert play.world.distance_to(STOOL) == pytest.approx(away)
        assert (play.world.distance_to(STOOL) <= REACH) == reached


def test_the_distance_to_a_held_object_is_zero(play: Play) -> None:
    play.grab("mug_1", BED)
    play.simulator.stand(AT[COUNTER])
    assert play.world.distance_to("mug_1") == 0.0


def test_a_placed_object_is_on_top_of_the_receptacle(play: Play) -> None:
    play.grab("mug_1", BED)
    play.grab(TABLE, TABLE)
    play.simulator.stand(BodyPose(2.0, 2.7, np.pi, -0.7))
    assert "mug_1" in play.simulator.visible()
    corner = np.array(box_of(TABLE).low)[[0, 2]]
    # Packing starts at the table's corner of least x and z.
    play.simulator.stand(BodyPose(*(corner - [0.5, 0.0])))
    assert play.world.distance_to("mug_1") < 0.55


def test_a_release_without_free_space_changes_nothing(toy: RearrangementTask) -> None:
    pillow = thing("pillow_1", BED, {STOOL}, (7.0, 0.8), (0.6, 0.2, 0.6))
    play = Play(RearrangementTask(toy.scene, replace(toy.episode, objects=(pillow,))))
    play.grab("pillow_1", BED)
    assert play.grab(STOOL, STOOL) == GrabResult(reason="no free space")
    assert play.world.holding == "pillow_1"
    assert play.world.success_rate == 0.0
    assert play.grab(BED, BED).moved == "pillow_1"


def test_removed_objects_free_their_space(toy: RearrangementTask) -> None:
    cups = tuple(thing(f"cup_{number}", BED, {STOOL}, (6.5, 0.3 * number), (0.25, 0.1, 0.25)) for number in range(3))
    play = Play(RearrangementTask(toy.scene, replace(toy.episode, objects=cups)))
    assert play.grab("cup_0", BED).moved and play.grab(STOOL, STOOL).reward == 1
    assert play.grab("cup_1", BED).moved
    assert play.grab(STOOL, STOOL).reason == "no free space"
    assert play.grab(TABLE, TABLE).target == TABLE
    assert play.grab("cup_0", STOOL).reward == -1
    assert play.grab(TABLE, TABLE).target == TABLE
    assert play.grab("cup_1", TABLE).moved
    assert play.grab(STOOL, STOOL).reward == 1


def test_visible_placements_are_those_of_objects_in_view(play: Play) -> None:
    assert play.world.visible_placements(ALL) == {"mug_1": BED, "plate_1": COUNTER, "tea_towel_1": TABLE}
    assert play.world.visible_placements(frozenset({"mug_1", TABLE})) == {"mug_1": BED}
    play.grab("mug_1", BED)
    assert "mug_1" not in play.world.visible_placements(ALL)


def test_apply_placements_reproduces_a_record(play: Play) -> None:
    record = {"mug_1": COUNTER, "plate_1": None, "tea_towel_1": STOOL}
    play.world.apply_placements(record)
    assert play.world.placements == record
    assert play.world.holding == "plate_1"
    assert play.world.correct_by_object == {"mug_1": True, "plate_1": False, "tea_towel_1": True}
    assert "plate_1" not in play.simulator.visible(AT[COUNTER])
    assert "mug_1" in play.simulator.visible(AT[COUNTER])
    back = {"mug_1": BED, "plate_1": COUNTER, "tea_towel_1": TABLE}
    play.world.apply_placements(back)
    assert play.world.placements == back and play.world.holding is None
    assert play.grab("plate_1", COUNTER).reward == -1


def test_apply_placements_stacks_objects_without_free_space(toy: RearrangementTask) -> None:
    cups = tuple(thing(f"cup_{number}", BED, {STOOL}, (6.5, 0.3 * number), (0.25, 0.1, 0.25)) for number in range(3))
    play = Play(RearrangementTask(toy.scene, replace(toy.episode, objects=cups)))
    play.world.apply_placements(dict.fromkeys(("cup_0", "cup_1", "cup_2"), STOOL))
    assert play.world.success_rate == 1.0
    play.simulator.stand(AT[STOOL])
    for key in ("cup_2", "cup_1"):
        assert play.grab(key, STOOL).moved == key
        assert play.grab(TABLE, TABLE).target == TABLE
    assert play.grab("cup_0", STOOL).moved == "cup_0"
    assert play.grab(STOOL, STOOL).reward == 1


def test_apply_placements_can_swap_objects_on_full_receptacles(toy: RearrangementTask) -> None:
    """Two objects that fill their receptacles can be exchanged."""
    one = thing("tray_1", STOOL, {TABLE}, (5.0, 3.7), (0.28, 0.05, 0.28))
    other = thing("tray_2", TABLE, {STOOL}, (2.0, 3.6), (0.28, 0.05, 0.28))
    play = Play(RearrangementTask(toy.scene, replace(toy.episode, objects=(one, other))))
    play.world.apply_placements({"tray_1": TABLE, "tray_2": STOOL})
    assert play.world.success_rate == 1.0
    play.simulator.stand(AT[STOOL])
    assert play.world.distance_to("tray_2") < REACH
    stands = Box.from_centre((5.0, 0.0, 3.7), (0.3, 1.0, 0.3))
    assert stands.low[0] < 5.0 < stands.high[0]
