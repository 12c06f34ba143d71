"""The task in habitat-lab gives the same results as the Gymnasium environment."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from housewise.core.errors import UserError
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.simulator import SimulatorName, open_simulator
from housewise.worlds.house.simulator.base import SENSORS, BodyPose, Camera, LowLevelAction
from housewise.worlds.house.tasks import generated_task, housekeep_task
from tests.worlds.house.toy import STOOL, TABLE

habitat = pytest.importorskip("habitat", reason="habitat-lab is not installed")
make_gym = pytest.importorskip("habitat.gym").make_gym_from_config
gym = pytest.importorskip("gym")

from housewise.worlds.house import habitat_lab  # noqa: E402
from housewise.worlds.house.habitat_lab.dataset import HousewiseDataset  # noqa: E402

SMALL = Camera(width=48, height=32)
SIZE = ["habitat.simulator.camera.width=48", "habitat.simulator.camera.height=32"]


class Wanderer(habitat.Agent):
    """Draws the same random actions in every episode, in all forms that habitat-lab accepts."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def reset(self) -> None:
        rng = np.random.default_rng(3)
        self.plan = [LowLevelAction(number) for number in rng.integers(1, len(LowLevelAction), self.steps)]
        self.acted = 0

    def act(self, observations: dict[str, Any]) -> int | str | dict[str, Any]:
        if self.acted == len(self.plan):
            return "stop"
        action = self.plan[self.acted]
        self.acted += 1
        return (int(action), action.name.lower(), {"action": action.name.lower()})[self.acted % 3]


@pytest.fixture(scope="session", params=["raycast", "habitat"])
def backend(request: pytest.FixtureRequest, toy: RearrangementTask) -> SimulatorName:
    """All simulators that can render here."""
    name: SimulatorName = request.param
    try:
        env = twin(name, toy)
        env.reset()
    except UserError as error:
        pytest.skip(str(error))
    env.close()
    return name


def config(*overrides: str, backend: SimulatorName = "raycast", name: str = "rearrange") -> Any:
    return habitat_lab.config(name, [f"habitat.simulator.backend={backend}", *SIZE, *overrides])


def twin(backend: SimulatorName, *tasks: RearrangementTask) -> RearrangementEnv:
    return RearrangementEnv(open_simulator(backend, SENSORS, SMALL), tasks)


def same_as_ours(seen: dict[str, Any], ours: dict[str, Any]) -> None:
    near, far = SMALL.min_depth, SMALL.max_depth
    ours = ours | {"depth": (ours["depth"] - near) / (far - near), "holding": [ours["holding"]]}
    assert set(seen) == set(ours)
    for name, value in seen.items():
        assert value == pytest.approx(np.reshape(ours[name], value.shape), abs=1e-5)


def play(env: Any, ours: RearrangementEnv, agent: Wanderer) -> None:
    """Play an episode in both environments and compare all results."""
    seen, (expected, info) = env.reset(), ours.reset()
    agent.reset()
    while not env.episode_over:
        same_as_ours(seen, expected)
        seen = env.step(agent.act(seen))
        last = agent.plan[agent.acted - 1] if not env.sim.over else LowLevelAction.STOP
        expected, reward, ended, _, info = ours.step(last)
        told = env.get_metrics()
        assert (told["placement_reward"], told["success_rate"]) == (reward, info["success_rate"])
        assert told["steps"] == info["steps"]
        assert told["correct_placements"] == sum(ours.world.correct_by_object.values())
        assert env.observation_space.contains(seen)
    assert ended and told["steps"] == agent.steps + 1


def test_agents_play_as_in_the_gymnasium_environment(backend: SimulatorName) -> None:
    ours = twin(backend, generated_task(4), generated_task(5))
    with habitat.Env(config("habitat.dataset.houses=2", "habitat.dataset.seed=4", backend=backend)) as env:
        assert env.number_of_episodes == 2
        for number in (4, 5, 4):
            play(env, ours, Wanderer(40))
            assert env.current_episode.scene_id == f"generated-{number}"
            start = generated_task(number).episode.start
            assert env.current_episode.start_position == list(start.position)
            assert env.current_episode.start_rotation == list(start.rotation)
    ours.close()


@pytest.mark.housekeep
def test_agents_play_the_housekeep_data(housekeep: HousekeepData, backend: SimulatorName) -> None:
    data = [f"habitat.dataset.data={housekeep.root}", "habitat.dataset.episodes=test"]
    with habitat.Env(config(*data, backend=backend, name="housekeep")) as env:
        ids = [int(episode.episode_id) for episode in env.episodes]
        assert len(ids) == 5
        ours = twin(backend, housekeep_task(housekeep, "Merom_1_int", ids[0]))
        play(env, ours, Wanderer(20))
        ours.close()


@pytest.fixture
def load_toy_house(monkeypatch: pytest.MonkeyPatch, toy: RearrangementTask) -> None:
    """Make every episode load the toy house."""
    monkeypatch.setattr("housewise.worlds.house.habitat_lab.simulator.load_task", lambda episode: toy)


def stand(env: Any, x: float, z: float, pitch: float) -> None:
    env.sim.household.simulator.stand(BodyPose(x, z, np.pi, pitch))


@pytest.mark.usefixtures("load_toy_house")
def test_a_grab_moves_an_object_and_is_rewarded(backend: SimulatorName) -> None:
    with habitat.Env(config(backend=backend)) as env:
        env.reset()
        assert env.get_metrics()["correct_placements"] == 1
        stand(env, 2.0, 2.9, -0.8)
        seen = env.step({"action": "grab_release", "action_args": {"target": "tea_towel_1"}})
        keys = env.sim.household.simulator.keys
        assert keys[seen["holding"][0]] == "tea_towel_1"
        assert keys.index("tea_towel_1") not in seen["instance"]
        stand(env, 5.0, 3.2, -1.0)
        seen = env.step({"action": "grab_release", "action_args": {"target": STOOL}})
        assert seen["holding"] == [0]
        assert keys.index("tea_towel_1") in seen["instance"]
        told = env.get_metrics()
        assert (told["placement_reward"], told["success_rate"], told["success"]) == (1.0, 0.5, 0.0)
        assert env.sim.household.world.placements["tea_towel_1"] == STOOL
        env.step("turn_left")
        assert env.get_metrics()["placement_reward"] == 0.0


@pytest.mark.usefixtures("load_toy_house")
def test_success_requires_all_objects_to_be_correct() -> None:
    with habitat.Env(config()) as env:
        env.reset()
        env.sim.household.world.apply_placements({"mug_1": TABLE, "tea_towel_1": STOOL})
        env.step("turn_left")
        assert (env.get_metrics()["success"], env.get_metrics()["success_rate"]) == (1.0, 1.0)


@pytest.mark.usefixtures("load_toy_house")
def test_without_a_target_the_image_centre_is_the_target() -> None:
    with habitat.Env(config()) as env:
        env.reset()
        # From (2, 2.9) at a height of 1.5 m, the towel's centre (2, 0.725, 3.4) is 0.5 m ahead and 0.775 m below.
        stand(env, 2.0, 2.9, -float(np.arctan2(0.775, 0.5)))
        env.step("grab_release")
        assert env.sim.household.world.holding == "tea_towel_1"


@pytest.mark.usefixtures("load_toy_house")
def test_gym_environments_have_discrete_actions_and_our_reward(backend: SimulatorName) -> None:
    env = make_gym(config(backend=backend))
    assert env.action_space.n == len(LowLevelAction)
    seen = env.reset()
    assert env.observation_space.contains(seen)
    inside = env.unwrapped.habitat_env
    stand(inside, 2.0, 2.9, -0.8)
    inside.sim.household.aim("tea_towel_1")
    assert env.step(LowLevelAction.GRAB_RELEASE)[1] == 0.0
    stand(inside, 5.0, 3.2, -1.0)
    inside.sim.household.aim(STOOL)
    seen, reward, done, told = env.step(LowLevelAction.GRAB_RELEASE)
    assert (reward, done, told["success_rate"]) == (1.0, False, 0.5)
    assert env.step(LowLevelAction.STOP)[1:3] == (0.0, True)
    assert env.render("rgb_array").shape == (SMALL.height, 4 * SMALL.width, 3)
    env.close()


def test_gym_environments_can_be_made_from_a_configuration_file() -> None:
    settings = ["habitat.simulator.backend=raycast", "habitat.environment.max_episode_steps=2", *SIZE]
    env = gym.make("Habitat-v0", cfg_file_path=habitat_lab.config_file(), override_options=settings)
    env.reset()
    assert [env.step(LowLevelAction.TURN_LEFT)[2] for _ in range(2)] == [False, True]
    env.close()


def test_only_configured_sensors_are_returned() -> None:
    sensors = "habitat.simulator.agents.main_agent.sim_sensors"
    fewer = [
        f"~{sensors}.rgb",
        f"~{sensors}.semantic",
        f"~{sensors}.instance",
        f"{sensors}.depth.normalize_depth=false",
    ]
    with habitat.Env(config(*fewer, "~habitat.task.lab_sensors.pose")) as env:
        seen = env.reset()
        assert set(seen) == {"depth", "holding"}
        assert seen["depth"].shape == (32, 48, 1)
        assert seen["depth"].max() > 1.0 and env.observation_space.contains(seen)


def test_vector_environments_of_habitat_lab_work() -> None:
    configs = [config(f"habitat.dataset.seed={seed}", "habitat.dataset.houses=1") for seed in (1, 2)]
    envs = habitat.VectorEnv(make_env_fn=make_gym, env_fn_args=tuple((settings,) for settings in configs))
    try:
        envs.reset()
        seen = [step[0] for step in envs.step([int(LowLevelAction.TURN_LEFT)] * 2)]
        assert [episode.scene_id for episode in envs.current_episodes()] == ["generated-1", "generated-2"]
        assert not np.array_equal(seen[0]["rgb"], seen[1]["rgb"])
    finally:
        envs.close()


def test_the_dataset_can_be_split_by_scene() -> None:
    settings = config("habitat.dataset.houses=3", "habitat.dataset.seed=7").habitat.dataset
    assert HousewiseDataset.get_scenes_to_load(settings) == ["generated-7", "generated-8", "generated-9"]
    some = config("habitat.dataset.houses=3", "habitat.dataset.content_scenes=[generated-1]").habitat.dataset
    assert [episode.episode_id for episode in habitat.make_dataset(some.type, config=some).episodes] == ["1"]


@pytest.fixture
def standing(toy: RearrangementTask, load_toy_house: None) -> Iterator[Any]:
    with habitat.Env(config()) as env:
        env.reset()
        yield env


def test_the_simulator_interface_of_habitat_lab_works(standing: Any) -> None:
    sim = standing.sim
    state = sim.get_agent_state()
    assert state.position == pytest.approx([2.0, 0.0, 2.0])
    assert (state.rotation.w, state.rotation.y) == pytest.approx((1.0, 0.0))
    assert sim.is_navigable([2.0, 0.0, 2.0]) and not sim.is_navigable([0.0, 0.0, 0.0])
    far, near = [6.0, 0.0, 2.0], [3.0, 0.0, 2.0]
    assert sim.geodesic_distance(state.position, far) == pytest.approx(4.0, abs=0.1)
    assert sim.geodesic_distance(state.position, [far, near]) == pytest.approx(1.0)
    points = sim.get_straight_shortest_path_points(state.position, near)
    assert np.allclose(points, [[2.0, 0.0, 2.0], [3.0, 0.0, 2.0]])
    assert standing.render().shape == (32, 48, 3)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("habitat.dataset.hauses=3", "Could not override 'habitat.dataset.hauses': Key 'hauses'"),
        ("habitat.dataset.houses", "houses"),
        ("habitat.dataset.houses=many", "houses=many: Value 'many'"),
        ("habitat.dataset.houses=0", "houses has to be 1 or more"),
        ("habitat.dataset.scenes=[Rs_int]", "HOUSEKEEP_DATA"),
        ("habitat.dataset.content_scenes=[nowhere]", "no episode to play"),
        ("habitat.dataset.person=nobody", "nobody"),
        ("habitat.dataset.data=/nowhere", "/nowhere"),
        ("habitat.simulator.backend=gazebo", "use habitat or raycast"),
        ("habitat.simulator.turn_angle=30", "simulator.turn_angle=30 is not played in this task; leave it at 10"),
        ("habitat.simulator.habitat_sim_v0.allow_sliding=false", "allow_sliding=False is not played"),
        ("habitat.simulator.scene=castle.glb", "simulator.scene=castle.glb is not played"),
        ("habitat.simulator.scene_dataset=hssd.json", "simulator.scene_dataset=hssd.json is not played"),
        ("habitat.simulator.step_physics=false", "step_physics=False is not played"),
        ("habitat.simulator.agents.main_agent.height=0.9", "main_agent.height=0.9 is not played in this task; leave"),
        ("habitat.simulator.agents.main_agent.radius=0.3", "main_agent.radius=0.3 .* leave it at 0.18"),
        ("+habitat.simulator.agents.main_agent.sim_sensors.rgb.width=256", "leave it at 48, or set .*camera.width"),
        ("+habitat.simulator.agents.main_agent.sim_sensors.depth.hfov=60", "sim_sensors.depth.hfov=60 is not"),
        ("+habitat.simulator.agents.main_agent.sim_sensors.rgb.noise=1", "sim_sensors.rgb.noise is unknown"),
        ("habitat.simulator.agents.main_agent.sim_sensors.rgb.type=Other", "rgb.type=Other is not played"),
        ("habitat.dataset.split=val", "dataset.split=val is not played in this task; leave it at train; data, scenes"),
        ("habitat.dataset.data_path=here.json.gz", "data_path=here.json.gz is not played"),
        ("habitat.dataset.scenes_dir=/scenes", "scenes_dir=/scenes is not played"),
        ("habitat.simulator.camera.width=0", "width"),
        ("habitat.simulator.camera.hfov=180", "hfov"),
        ("+habitat.simulator.agents.main_agent.sim_sensors.smell.type=HousewiseSensor", "no camera sensor 'smell'"),
    ],
)
def test_invalid_settings_are_refused_in_one_line(wrong: str, told: str) -> None:
    with pytest.raises(UserError, match=told) as caught:
        habitat.Env(config(wrong)).reset()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "fits",
    [
        "+habitat.simulator.agents.main_agent.sim_sensors.rgb.width=48",
        "+habitat.simulator.agents.main_agent.sim_sensors.rgb.hfov=90",
        "+habitat.simulator.agents.main_agent.sim_sensors.depth.position=[0,1.5,0]",
        "habitat.simulator.agents.main_agent.height=1.5",
        "habitat.dataset.split=train",
        "habitat.seed=7",
    ],
)
def test_settings_that_agree_with_the_task_are_accepted(fits: str) -> None:
    settings = config(fits)
    for _ in range(2):
        with habitat.Env(settings) as env:
            env.reset()
            assert env.current_episode.scene_id == "generated-0"


def derived_config(folder: Path, more: str) -> str:
    """Write a configuration that includes ours."""
    file = folder / "mine.yaml"
    ours = "simulator: {backend: raycast, camera: {width: 32, height: 32}}, dataset: {houses: 2}"
    defaults = "[/housewise: rearrange, /habitat/task/measurements: [num_steps, collisions], _self_]"
    file.write_text(f"# @package _global_\ndefaults: {defaults}\nhabitat: {{{ours}, {more}}}\n")
    return str(file)


def test_other_configurations_can_include_ours(tmp_path: Path) -> None:
    told = habitat.Benchmark(derived_config(tmp_path, "seed: 1")).evaluate(Wanderer(10))
    assert told["steps"] == told["num_steps"] == 11.0


def test_other_configurations_can_include_ours_from_any_folder(tmp_path: Path) -> None:
    """The package works as installed, without a checkout."""
    file = derived_config(tmp_path, "seed: 1")
    (tmp_path / "empty").mkdir()
    code = (
        f"import habitat; from housewise.worlds.house import habitat_lab; print(habitat.get_config({file!r}).habitat)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "empty", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "'houses': 2" in done.stdout and "HousewiseRearrange-v0" in done.stdout


@pytest.mark.usefixtures("load_toy_house")
def test_only_blocked_steps_are_collisions(tmp_path: Path) -> None:
    with habitat.Env(habitat.get_config(derived_config(tmp_path, "seed: 1"))) as env:
        env.reset()
        for action in ("move_forward", "turn_left", "turn_right", "look_up"):
            env.step(action)
        assert env.get_metrics()["collisions"] == {"count": 0, "is_collision": False}
        # The wall is at z = 0.
        env.sim.household.simulator.stand(BodyPose(2.0, 0.3))
        for count in (1, 2, 3):
            env.step("move_forward")
            assert env.get_metrics()["collisions"] == {"count": count, "is_collision": True}
        env.step("turn_left")
        assert env.get_metrics()["collisions"] == {"count": 3, "is_collision": False}


def test_a_closed_environment_refuses_calls() -> None:
    env = habitat.Env(config())
    env.reset()
    env.close()
    with pytest.raises(UserError, match="the environment is closed"):
        env.step("turn_left")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("lab_sensors: {smell: {type: HousewiseSensor}}", "no sensor 'smell' in this task; available: rgb"),
        ("actions: {dance: {type: HousewiseAction}}", "no action 'dance' in this task; available: stop"),
        ("measurements: {joy: {type: HousewiseMeasure}}", "no measure 'joy' in this task; available: success_rate"),
    ],
)
def test_unknown_sensors_actions_and_measures_are_refused(tmp_path: Path, wrong: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        habitat.Env(habitat.get_config(derived_config(tmp_path, f"task: {{{wrong}}}")))


def test_the_example_of_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    manual = Path(__file__).parents[3] / "docs" / "habitat.md"
    agent, as_gym, *_ = re.findall(r"```python\n(.*?)```", manual.read_text(encoding="utf-8"), re.DOTALL)
    exec(agent + as_gym, {"__name__": "__main__"})
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["generated-0", "generated-1"]


def test_an_unknown_configuration_is_refused() -> None:
    with pytest.raises(UserError, match=r"'tidy'; available: housekeep, rearrange$"):
        habitat_lab.config("tidy")


def test_housekeep_without_its_data_is_refused() -> None:
    with pytest.raises(UserError, match="HOUSEKEEP_DATA"):
        habitat.Env(config(name="housekeep"))
