"""Housekeep episodes with empty rooms start and can be planned."""

import pytest

from housewise.controller.robot import room_anchors
from housewise.controller.skills import Controller
from housewise.systems.personalize.planners import scripted_planner
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from housewise.worlds.house.tasks import housekeep_task
from tests.houses import HouseEpisode

pytestmark = pytest.mark.housekeep

SCENES = ("Pomaria_0_int", "Ihlen_1_int", "Benevolence_2_int")
_EACH = 8


class Ignored:
    """Discards the lines of a record."""

    def write(self, line: object) -> None:
        pass


@pytest.fixture(scope="module")
def simulator() -> RaycastSimulator:
    return RaycastSimulator(sensors=("instance",))


def start(task: RearrangementTask, simulator: RaycastSimulator) -> None:
    """Start an episode and make the first plan, which measures the way to every room."""
    env = RearrangementEnv(simulator, [task])
    env.reset()
    planner = scripted_planner(task, env, 0)
    rollout = HouseEpisode(env, planner, Controller(env), Ignored())
    anchors = room_anchors(task)
    assert list(rollout.graph.rooms) == list(anchors) and set(anchors.values()) <= set(task.episode.receptacles)
    # The nearest room is sought among all of them; a misplaced thing that is in view may be nearer still.
    first, *_ = planner.plan(rollout.graph, []).steps
    assert first.action is not None and first.action.target in {*anchors, *rollout.graph.objects}


@pytest.mark.parametrize("scene", SCENES)
def test_episodes_begin(housekeep: HousekeepData, simulator: RaycastSimulator, scene: str) -> None:
    numbers = housekeep.episode_ids(scene)
    for number in numbers[:: len(numbers) // _EACH]:
        start(housekeep_task(housekeep, scene, number), simulator)


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_all_episodes_begin(housekeep: HousekeepData, simulator: RaycastSimulator, scene: str) -> None:
    for number in housekeep.episode_ids(scene):
        start(housekeep_task(housekeep, scene, number), simulator)


def test_some_of_them_have_a_room_with_nothing_in_it(housekeep: HousekeepData) -> None:
    task = housekeep_task(housekeep, "Pomaria_0_int", 0)
    assert {room.name for room in task.scene.rooms} - set(room_anchors(task)) == {"corridor 0"}
