"""The space: what is in view and in reach, and where steps lead."""

from dataclasses import replace

import numpy as np
import pytest
import shapely

from housewise.worlds.lab.actions import LabAction
from housewise.worlds.lab.geometry import FARTHEST_VIEW, REACH, VISIBLE_PIXELS, LabSpace
from housewise.worlds.lab.layout import DANGER_RADIUS
from housewise.worlds.lab.planner import next_step
from housewise.worlds.lab.rules import HURT, step
from housewise.worlds.lab.scenarios import MAX_ACTIONS, Split
from housewise.worlds.lab.state import ROOMS
from housewise.worlds.lab.surroundings import is_enclosed
from housewise.worlds.lab.variants import VARIANTS
from tests.worlds.lab.labs import BLOCKED, FIRE, before, scenario, space, with_flag, with_new


@pytest.mark.parametrize(("seed", "split"), [(1, "training"), pytest.param(2, "test", marks=pytest.mark.slow)])
def test_everything_that_is_not_enclosed_can_be_gone_to_and_is_then_in_view_and_in_reach(
    seed: int, split: Split
) -> None:
    lab, state = space(BLOCKED, seed, split), scenario(BLOCKED, seed, split).state
    for room in ROOMS:
        state = lab.go_to_room(state, room)
        for thing in state.things:
            if thing.room == room and not is_enclosed(state, thing.id):
                there = before(lab, state, thing.id)
                assert there.room == room and lab.in_reach(there, thing.id), thing.id
                [glimpse] = [each for each in lab.glimpses(there) if each.id == thing.id]
                assert glimpse.distance <= REACH and abs(glimpse.bearing) < 35, glimpse


def test_what_is_in_view_is_large_and_near_enough_in_the_persons_room_and_sorted_by_distance() -> None:
    lab, state = space(), scenario().state
    for room in ROOMS:
        state = lab.go_to_room(state, room)
        glimpses = lab.glimpses(state)
        assert glimpses and all(state[each.id].room == room for each in glimpses)
        assert all(each.distance <= FARTHEST_VIEW and each.pixels >= VISIBLE_PIXELS for each in glimpses)
        assert [each.distance for each in glimpses] == sorted(each.distance for each in glimpses)


def test_bearings_turn_with_the_person() -> None:
    lab = space()
    there = before(lab, scenario().state, "laser_monitor_1")
    turned = lab.move(there, LabAction("RotateLeft", "45"))
    assert turned is not None and turned.body.heading == (there.body.heading - 45) % 360
    middle, right = (
        next((each.bearing for each in lab.glimpses(state) if each.id == "laser_monitor_1"), None)
        for state in (there, replace(turned, body=replace(turned.body, heading=turned.body.heading + 20)))
    )
    assert middle is not None and right is not None
    assert right - middle == pytest.approx(25, abs=8)


def test_the_threshold_of_visibility_is_a_setting_by_kind() -> None:
    lab, state = space(), with_new(scenario().state, "apple", "table_1", spot=5)
    there = before(lab, state, "apple_9")
    strict = LabSpace(lab.layout, {"apple": 300 * 300})
    assert "apple_9" in {each.id for each in lab.glimpses(there)}
    assert "apple_9" not in {each.id for each in strict.glimpses(there)}


def test_what_is_in_a_closed_thing_is_seen_only_after_it_is_opened() -> None:
    lab, state = space(), scenario().state
    closed = before(lab, state, "lever_1")
    assert lab.in_reach(closed, "fuse_box_1") and not lab.in_reach(closed, "lever_1")
    opened = before(lab, with_flag(state, "fuse_box_1", "open"), "lever_1")
    assert lab.in_reach(opened, "lever_1")


def test_steps_lead_straight_ahead_and_walls_stop_them() -> None:
    lab, state = space(), scenario().state
    state = lab.go_to_room(state, "main office")
    x, z = lab.layout.navmesh.snap(next(r for r in lab.layout.rooms if r.room.kind == "main office").interior.centre)
    reached = set[tuple[float, float]]()
    for heading, (dx, dz) in {0: (0, -1), 90: (1, 0), 180: (0, 1), 270: (-1, 0)}.items():
        body = replace(state.body, x=float(x), z=float(z), heading=heading)
        here = replace(state, body=body)
        if (there := lab.move(here, LabAction("MoveForward", "1"))) is not None:
            assert (there.body.x, there.body.z) == pytest.approx((x + dx, z + dz))
            back = lab.move(there, LabAction("MoveBackward", "1"))
            assert back is not None and (back.body.x, back.body.z) == pytest.approx((x, z))
            reached.add((there.body.x, there.body.z))
        for _ in range(10):
            here = lab.move(here, LabAction("MoveForward", "2")) or here
        assert lab.layout.navmesh.contains((here.body.x, here.body.z))
        assert lab.move(here, LabAction("MoveForward", "2")) is None
    assert reached


def test_the_head_cannot_be_turned_over() -> None:
    lab, state = space(), scenario().state
    for _ in range(2):
        state = lab.move(state, LabAction("LookDown", "30")) or state
    assert state.body.pitch == -60 and lab.move(state, LabAction("LookDown", "30")) is None


def test_the_active_flipper_hurts_who_comes_near_and_ways_to_other_things_avoid_it() -> None:
    lab, state = space(), with_flag(scenario().state, "gravity_flipper_1", "on")
    state = lab.go_to_room(state, "quantum lab")
    for thing in state.things:
        if thing.room == "quantum lab" and thing.kind != "gravity_flipper" and thing.container is None:
            assert not lab.is_in_danger(before(lab, state, thing.id)), thing.id
    item = lab.layout.fixtures["gravity_flipper_1"]
    close = next(
        (x, z)
        for x, z in lab.layout.navmesh.viewpoints
        if lab.places(state)["gravity_flipper_1"].distance(x, z) < DANGER_RADIUS - 0.1
    )
    toward = np.degrees(np.arctan2(item.x - close[0], close[1] - item.z))
    near = replace(state, body=replace(state.body, x=close[0], z=close[1], heading=float(toward)))
    assert lab.is_in_danger(near) and not lab.is_in_danger(replace(near, things=scenario().state.things))
    assert step(near, LabAction("RotateLeft", "45"), lab)[0].ended == HURT


def test_the_active_flipper_does_not_hurt_through_a_wall() -> None:
    lab, state = space(FIRE, 2, "test"), with_flag(scenario(FIRE, 2, "test").state, "gravity_flipper_1", "on")
    flipper = lab.places(state)["gravity_flipper_1"]
    behind = lab.layout.navmesh.area.intersection(lab.layout.interior("warehouse").polygon())
    x, z = min(shapely.get_coordinates(behind).tolist(), key=lambda point: flipper.distance(*point))
    assert flipper.distance(x, z) < DANGER_RADIUS
    state = replace(state, room="warehouse", body=replace(state.body, x=x, z=z))
    assert step(state, LabAction("RotateLeft", "45"), lab)[0].ended == ""


@pytest.mark.parametrize("variant", VARIANTS[::7], ids=lambda variant: variant.name)
def test_the_planner_solves_variants_in_the_space(variant) -> None:  # type: ignore[no-untyped-def]
    solve(variant.name, 1, "training")


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
@pytest.mark.parametrize(("seed", "split"), [(seed, split) for seed in range(2) for split in ("training", "test")])
def test_the_planner_solves_every_variant_in_the_space(variant, seed: int, split: Split) -> None:  # type: ignore[no-untyped-def]
    solve(variant.name, seed, split)


def solve(name: str, seed: int, split: Split) -> None:
    """Play the planner's actions until the goal is reached."""
    drawn, lab, events = scenario(name, seed, split), space(name, seed, split), list[str]()
    state = lab.go_to_room(drawn.state, drawn.state.room)
    for _ in range(MAX_ACTIONS):
        if drawn.goal.holds(state, events):
            return
        plan = next_step(state, drawn.goal, lab)
        assert plan is not None
        state, outcome = step(state, plan.action, lab)
        assert outcome.succeeded, (plan, outcome)
        events += outcome.events
    pytest.fail("not solved")
