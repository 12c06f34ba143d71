"""The greedy follower on different floors."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st

from housewise.controller.greedy_follower import NEAR_GOAL, GreedyFollower
from housewise.controller.skills import SUCCESS, Controller, ControllerSettings
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.geometry import forward_vector
from housewise.worlds.house.navmesh import NavMesh
from housewise.worlds.house.polygon_navmesh import PolygonNavMesh
from housewise.worlds.house.simulator.base import STEP, TURN, BodyPose, LowLevelAction
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.controller.conftest import drive
from tests.worlds.house.polygons import CELL, SIDE, Floor, floors

POINTS = st.tuples(st.floats(0, SIDE * CELL), st.floats(0, SIDE * CELL))
ROOM = NavMesh(shapely.box(0, 0, 6, 6), 0.0)


def walk(
    navmesh: NavMesh, body: BodyPose, follower: GreedyFollower, most: int
) -> tuple[BodyPose, list[LowLevelAction]]:
    """Return the follower's final position and its actions."""
    actions: list[LowLevelAction] = []
    while len(actions) < most and (action := follower.next_action(body)) is not None:
        actions.append(action)
        if action == LowLevelAction.MOVE_FORWARD:
            body = body.moved_to(navmesh.move(body.point, body.point + STEP * forward_vector(body.yaw)[[0, 2]]))
        else:
            turn = TURN if action == LowLevelAction.TURN_LEFT else -TURN
            body = BodyPose(body.x, body.z, body.yaw + turn)
    return body, actions


@given(floors(), POINTS, POINTS, st.floats(-math.pi, math.pi))
def test_it_gets_to_the_goal(floor: Floor, start: tuple[float, float], end: tuple[float, float], yaw: float) -> None:
    area = shapely.union_all([shapely.Polygon(ring) for ring in floor.rings])
    navmesh = PolygonNavMesh(floor.mesh, NavMesh(area, 0.0))
    here, goal = navmesh.snap(start), navmesh.snap(end)
    body = BodyPose(float(here[0]), float(here[1]), yaw)
    length = navmesh.distance(here, goal)
    body, actions = walk(navmesh, body, GreedyFollower(navmesh, goal), 400)
    assert navmesh.distance(body.point, goal) < NEAR_GOAL
    # A step for a step of the way, and at each bend and wall some turns and small detours.
    assert actions.count(LowLevelAction.MOVE_FORWARD) <= 2 * length / STEP + 10


@given(st.floats(-math.pi, math.pi), st.floats(1.2, 1.8))
def test_in_the_open_it_turns_to_the_goal_and_walks_there(yaw: float, away: float) -> None:
    goal = np.array([3.0, 3.0 - away])
    _, actions = walk(ROOM, BodyPose(3.0, 3.0, yaw), GreedyFollower(ROOM, goal), 200)
    off = abs(yaw) / TURN
    # Where two headings are nearly as good as each other it takes the one that needs fewer turns.
    assert abs(actions.count(LowLevelAction.TURN_LEFT) + actions.count(LowLevelAction.TURN_RIGHT) - off) <= 2.5
    assert abs(actions.count(LowLevelAction.MOVE_FORWARD) - (away - NEAR_GOAL) / STEP) <= 1.5
    assume(TURN < abs(yaw) < math.pi - TURN)
    assert actions[0] == (LowLevelAction.TURN_RIGHT if yaw > 0 else LowLevelAction.TURN_LEFT)


def test_who_has_arrived_stays() -> None:
    near = GreedyFollower(ROOM, np.array([3.0, 2.6]), radius=0.5)
    assert near.next_action(BodyPose(3.0, 3.0)) is None
    just_not = GreedyFollower(ROOM, np.array([3.0, 2.5]), radius=0.5)
    assert just_not.next_action(BodyPose(3.0, 3.0)) == LowLevelAction.MOVE_FORWARD


def test_it_keeps_away_from_a_wall_beside_its_way() -> None:
    """Next to a wall it first turns away, since walking close to the wall costs more than the turns."""
    follower = GreedyFollower(ROOM, np.array([0.5, 1.0]))
    body, actions = walk(ROOM, BodyPose(0.1, 5.0), follower, 100)
    assert LowLevelAction.TURN_RIGHT in actions
    assert ROOM.clearance(body.point) >= 0.2
    assert ROOM.distance(body.point, [0.5, 1.0]) < NEAR_GOAL


@pytest.mark.slow
def test_the_option_works_in_a_generated_house(generated: RearrangementTask) -> None:
    env = RearrangementEnv(RaycastSimulator(sensors=("instance",)), [generated], max_steps=100_000)
    env.reset()
    controller = Controller(env, ControllerSettings(follower="greedy"))
    for key in generated.episode.receptacles[::5]:
        assert drive(env, controller.go_to(key))[0] == SUCCESS, key
