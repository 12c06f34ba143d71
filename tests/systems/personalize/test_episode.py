import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from housewise.agent.personalize.planner import Attempt, Plan
from housewise.agent.personalize.prompt_notes import NotesContext, NotesTemplate
from housewise.agent.personalize.wrappers.compose import make_llm_planner
from housewise.controller.robot import ACTION_LETTERS, room_anchors
from housewise.controller.skills import Controller
from housewise.core.record_files import RecordWriter, format_event
from housewise.language.base import ChatRequest, Reply, Sampling
from housewise.language.replay import ReplayChatModel
from housewise.report.views.house import HouseView
from housewise.rollout.episode_loop import EpisodeLimits
from housewise.rollout.scores import summarize
from housewise.selftrain.personalize.record_demonstrations import demonstrations_from_record
from housewise.systems.personalize.record import read_house_record
from housewise.systems.personalize.system import Personalize
from housewise.worlds.house.env import RearrangementEnv, RearrangementTask
from housewise.worlds.house.scene_graph import ROBOT, SceneGraph
from housewise.worlds.house.simulator.base import Camera, LowLevelAction
from housewise.worlds.house.simulator.raycast import RaycastSimulator
from tests.houses import BEGINNING, MUG_TO_COUNTER, HouseEpisode, PlayedEpisode, header
from tests.worlds.house.toy import BED, COUNTER, TABLE


def test_a_model_carries_the_mug_home(toy: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(toy, tmp_path, BEGINNING, MUG_TO_COUNTER)
    assert [status for status, _ in played.outcomes] == ["succeeded"] * 9
    assert played.result == played.record.result
    assert played.result.end_reason == "complete"
    assert played.record.success_rate == 0.5
    assert (
        played.result.scores["correct_start"],
        played.result.scores["correct_end"],
        played.result.scores["misplaced_start"],
    ) == (1, 2, 2)
    assert played.record.final.placements["mug 1"] == "kitchen 0 counter 1"
    assert (
        played.result.scores["plans"],
        played.result.scores["actions"],
        played.result.scores["unique_placements"],
    ) == (3, 9, 1)
    taken, put = (action for action in played.record.actions if action.moves)
    assert taken.moves == {"mug 1": ("bedroom 0 bed 3", ROBOT)} and taken.reward == 0.0
    assert put.moves == {"mug 1": (ROBOT, "kitchen 0 counter 1")} and put.reward == 1.0
    assert (taken.aim_targets, put.aim_targets) == (["mug_1"], [COUNTER])
    assert played.rollout.graph.container_of("mug 1") == "kitchen 0 counter 1"


def test_a_record_tells_every_step(toy: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(toy, tmp_path, BEGINNING, MUG_TO_COUNTER)
    actions = played.record.actions
    assert [action.start for action in actions[1:]] == [action.end for action in actions[:-1]]
    assert all(len(action.low_level_actions) == len(action.path) == action.end - action.start for action in actions)
    assert actions[-1].end == played.result.scores["steps"] == played.env.steps == len(played.progress)
    assert played.progress[-1] == (played.result.scores["steps"], 2)
    # The letters are enough to play the episode again.
    again = RearrangementEnv(RaycastSimulator(sensors=("instance",)), [toy])
    again.reset()
    meaning = {letter: action for action, letter in ACTION_LETTERS.items()}
    for action in actions:
        aims = iter(action.aim_targets)
        for letter, (x, z, _) in zip(action.low_level_actions, action.path, strict=True):
            if meaning[letter] == LowLevelAction.GRAB_RELEASE:
                again.aim(next(aims))
            again.step(meaning[letter])
            assert (again.simulator.body.x, again.simulator.body.z) == pytest.approx((x, z), abs=0.001)
    assert again.world.placements == played.env.world.placements


def test_a_record_tells_what_the_model_knew_and_found(toy: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(toy, tmp_path, BEGINNING, MUG_TO_COUNTER)
    first, second, last = played.record.plans
    assert "bedroom 0: not explored yet." in first.prompt[1]["content"]
    assert first.scene_graph["bedroom 0"] == {}
    assert "bedroom 0 bed 3 with mug 1" in second.prompt[1]["content"]
    assert second.scene_graph["bedroom 0"]["bedroom 0 bed 3"] == ("mug 1",)
    assert first.reply == BEGINNING and second.reply == MUG_TO_COUNTER
    assert (first.complete, last.complete) == (False, True)
    found = [name for action in played.record.actions for name in action.discovered]
    assert len(found) == len(set(found)) and {"mug 1", "bedroom 0 bed 3"} <= set(found)
    assert set(found) | set(second.scene_graph) <= set(played.rollout.graph.graph)


def test_the_robot_knows_what_it_put_down_even_out_of_sight(toy: RearrangementTask, tmp_path: Path) -> None:
    # Through so long a lens the counter's far end shows, but not where the mug comes to stand.
    lens = Camera(width=32, height=32, field_of_view=0.7)
    kitchen = " go to kitchen 0\nstep 2: look at kitchen 0"
    played = PlayedEpisode(toy, tmp_path, kitchen, BEGINNING, MUG_TO_COUNTER, camera=lens)
    assert played.outcomes[-1] == ("succeeded", "")
    assert "mug_1" not in played.env.visible
    assert played.rollout.graph.container_of("mug 1") == "kitchen 0 counter 1"
    assert played.rollout.graph.holding is None


def test_what_nobody_has_seen_cannot_be_used(toy: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(toy, tmp_path, "pick up mug 1\nstep 2: go to bedroom 0 bed 3\nstep 3: dance")
    assert played.outcomes[:2] == [("skipped", "unknown: mug 1"), ("skipped", "unknown: bedroom 0 bed 3")]
    assert played.outcomes[2][1].startswith("not an action")
    assert played.result.scores["steps"] == 0 and played.result.scores["skipped"] == 3
    assert [(action.action, action.low_level_actions) for action in played.record.actions] == [(None, "")] * 3


def test_failures_are_told_with_the_reason(toy: RearrangementTask, tmp_path: Path) -> None:
    far = " go to kitchen 0\nstep 2: pick up mug 1\nstep 3: place mug 1 on the bed"
    played = PlayedEpisode(toy, tmp_path, BEGINNING, far, limits=EpisodeLimits(replan_when_blocked=False))
    assert played.outcomes[-2:] == [("failed", "out of sight"), ("skipped", "holding nothing")]
    assert (played.result.scores["failed"], played.result.scores["skipped"]) == (1, 1)


def test_what_is_in_the_hand_cannot_be_gone_to(toy: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(toy, tmp_path, BEGINNING, MUG_TO_COUNTER.split("\nstep 5")[0] + "\nstep 5: go to mug 1")
    assert played.outcomes[-1] == ("failed", "mug 1 is in the hand")
    assert played.record.final.placements["mug 1"] == ROBOT
    assert played.rollout.graph.holding == "mug 1"


@pytest.mark.parametrize("most", [1, 7, 30])
def test_an_episode_is_cut_after_its_steps(toy: RearrangementTask, tmp_path: Path, most: int) -> None:
    played = PlayedEpisode(toy, tmp_path, *[BEGINNING, MUG_TO_COUNTER] * 3, max_steps=most)
    assert played.result.end_reason == "out of steps"
    assert played.result.scores["steps"] == most == played.record.actions[-1].end


def test_a_model_that_says_nothing_useful_is_not_asked_for_ever(toy: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(toy, tmp_path, *["I would rather not."] * 50, limits=EpisodeLimits(plans=20, idle_plans=4))
    assert (played.result.end_reason, played.result.scores["plans"], played.result.scores["steps"]) == (
        "out of plans",
        4,
        0,
    )
    walking = [" go to bedroom 0", " go to kitchen 0"] * 20
    played = PlayedEpisode(toy, tmp_path, *walking, limits=EpisodeLimits(plans=6, idle_plans=4))
    assert (played.result.end_reason, played.result.scores["plans"]) == ("out of plans", 6)


def test_the_end_that_the_model_announces_is_the_end(toy: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(toy, tmp_path, "go to bedroom 0\nmission complete\nstep 3: go to kitchen 0")
    assert played.result.end_reason == "complete"
    assert (played.result.scores["plans"], played.result.scores["actions"]) == (1, 1)


def test_the_scripted_planner_tidies_the_small_house(toy: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(toy, tmp_path)
    assert played.record.success_rate == 1.0 and played.result.end_reason == "complete"
    assert played.record.plans[-1].reply == "mission complete"
    assert played.record.plans[0].prompt == []


def test_rooms_are_entered_at_their_anchor(toy: RearrangementTask) -> None:
    assert room_anchors(toy) == {"kitchen 0": COUNTER, "bedroom 0": BED}


@pytest.fixture
def without_bedroom(toy: RearrangementTask) -> RearrangementTask:
    """An episode without receptacles in the bedroom."""
    places = tuple(key for key in toy.episode.receptacles if toy.scene.by_key[key].room == "kitchen 0")
    objects = [replace(thing, receptacle=TABLE, correct=frozenset({COUNTER})) for thing in toy.episode.objects]
    return RearrangementTask(toy.scene, replace(toy.episode, receptacles=places, objects=tuple(objects)))


def test_the_robot_is_told_of_no_room_without_a_receptacle(without_bedroom: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(without_bedroom, tmp_path)
    assert room_anchors(without_bedroom) == {"kitchen 0": COUNTER}
    assert played.rollout.graph.rooms == ("kitchen 0",)
    assert played.result.end_reason == "complete" and played.record.success_rate == 1.0
    assert not any("bedroom" in (action.action or "") for action in played.record.actions)


def test_a_model_that_goes_to_a_room_without_a_receptacle_goes_nowhere(
    without_bedroom: RearrangementTask, tmp_path: Path
) -> None:
    played = PlayedEpisode(without_bedroom, tmp_path, " go to bedroom 0\nstep 2: go to kitchen 0")
    assert [status for status, _ in played.outcomes[:2]] == ["skipped", "succeeded"]


BLOCKED = (
    " go to kitchen 0 counter 1\nstep 2: pick up mug 1\nstep 3: look at kitchen 0 counter 1\n"
    "step 4: place mug 1 on kitchen 0 counter 1\nmission complete"
)


@pytest.mark.parametrize(("replan", "acted"), [(True, 2), (False, 4)])
def test_a_plan_ends_where_what_it_builds_on_fails(
    toy: RearrangementTask, tmp_path: Path, replan: bool, acted: int
) -> None:
    """The mug is known but out of reach. The rest of the plan assumes that the robot holds it."""
    played = PlayedEpisode(toy, tmp_path, BEGINNING, BLOCKED, limits=EpisodeLimits(replan_when_blocked=replan))
    blocked = [action for action in played.record.actions if action.plan == 1]
    assert blocked[1].status == "failed" and len(blocked) == acted
    assert (len(played.record.plans) == 2) == (not replan)


class Twofold(ReplayChatModel):
    """Returns several replies to a prompt."""

    def __init__(self, *turns: tuple[str, ...]) -> None:
        super().__init__([])
        self._turns = list(turns)

    def complete(self, requests: Sequence[ChatRequest]) -> list[list[Reply]]:
        return [[Reply(text, completion_tokens=5) for text in self._turns.pop(0)]]


def test_other_replies_are_tried_and_taken_back(toy: RearrangementTask, tmp_path: Path) -> None:
    """The results of a second reply are recorded, and the house does not change."""
    nothing, wrong = " look at bedroom 0", MUG_TO_COUNTER.replace("kitchen 0 counter 1", "kitchen 0 table 2")
    turns = [(BEGINNING, nothing), (wrong, MUG_TO_COUNTER, nothing), (" mission complete",)]
    env = RearrangementEnv(RaycastSimulator(sensors=("instance",)), [toy])
    env.reset()
    planner = make_llm_planner(Twofold(*turns), NotesContext(NotesTemplate.load("planner")), Sampling(n=3))
    result = HouseEpisode(env, planner, Controller(env), RecordWriter(tmp_path, "tried")).play(header(toy))
    record = read_house_record(tmp_path / "tried.jsonl")
    assert [len(plan.alternatives) for plan in record.plans] == [1, 2, 0]
    better, idle = record.plans[1].alternatives
    assert (better.reply, better.reward, better.moved_objects) == (MUG_TO_COUNTER, 1.0, ["mug 1"])
    assert (idle.reward, idle.moved_objects) == (0.0, [])
    alone = PlayedEpisode(toy, tmp_path, BEGINNING, wrong, " mission complete")
    assert (
        record.final.placements == alone.record.final.placements
        and result.scores["steps"] == alone.result.scores["steps"]
    )
    assert [action.low_level_actions for action in record.actions] == [
        action.low_level_actions for action in alone.record.actions
    ]
    assert result.usage.completion_tokens == 6 * 5
    rewards = [(pair.plan, pair.reward) for pair in demonstrations_from_record(record, "step 1:")]
    assert rewards == [(0, 0.0), (0, 0.0), (1, 0.0), (1, 1.0), (1, 0.0), (2, 0.0)]


@pytest.mark.parametrize("replan", [True, False])
def test_a_reply_that_is_tried_ends_where_it_would_be_if_it_were_followed(
    toy: RearrangementTask, tmp_path: Path, replan: bool
) -> None:
    place = " place mug 1 on kitchen 0 counter 1"
    blocked = f"{place}\nstep 2:{MUG_TO_COUNTER}"
    env = RearrangementEnv(RaycastSimulator(sensors=("instance",)), [toy])
    env.reset()
    model = Twofold((BEGINNING, BEGINNING), (blocked, blocked), (" mission complete",))
    planner = make_llm_planner(model, NotesContext(NotesTemplate.load("planner")), Sampling(n=2))
    limits = EpisodeLimits(replan_when_blocked=replan)
    HouseEpisode(env, planner, Controller(env), RecordWriter(tmp_path, "tried"), limits=limits).play(header(toy))
    record = read_house_record(tmp_path / "tried.jsonl")
    rewards = [pair.reward for pair in demonstrations_from_record(record, "step 1:") if pair.plan == 1]
    assert rewards == ([0.0, 0.0] if replan else [1.0, 1.0])


def test_going_back_keeps_what_was_in_the_last_picture(toy: RearrangementTask) -> None:
    """A controller that turns the robot without a step sees what it saw before."""
    env = RearrangementEnv(RaycastSimulator(), [toy])
    env.reset()
    seen = env.visible
    env.simulator.stand(replace(env.simulator.body, yaw=env.simulator.body.yaw + 3.0))
    assert seen != env.simulator.visible()
    state = env.state
    env.step(LowLevelAction.MOVE_FORWARD)
    env.restore(state)
    assert env.visible == seen


def test_a_moment_of_an_episode_can_be_gone_back_to(toy: RearrangementTask) -> None:
    env = RearrangementEnv(RaycastSimulator(), [toy])
    env.reset()
    rng = np.random.default_rng(0)
    state, before = env.state, env._observe()
    for action in rng.choice([1, 1, 2, 3, 6], size=30):
        env.aim(toy.episode.objects[0].key)
        env.step(int(action))
    env.world.apply_placements(
        {thing.key: None if not number else COUNTER for number, thing in enumerate(toy.episode.objects)}
    )
    env.restore(state)
    after = env._observe()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert env.world.snapshot == state.world and env.steps == state.steps


def test_the_last_right_placement_and_the_efficiency_are_scored(toy: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(toy, tmp_path)
    scores, placed = played.result.scores, [action for action in played.record.actions if action.reward > 0]
    assert placed[-1].start < scores["last_correct_step"] <= placed[-1].end < scores["steps"]
    assert played.record.actions[-1] is not placed[-1], "it looked on"
    assert 0 < scores["shortest_steps"] < scores["last_correct_step"]
    assert scores["efficiency"] == pytest.approx(scores["shortest_steps"] / scores["steps"])
    assert Personalize.describe_ending(played.result).startswith("complete after")


def test_who_puts_things_right_and_looks_on_is_told_so_and_who_does_not_is_out_of_steps(
    toy: RearrangementTask, tmp_path: Path
) -> None:
    whole = PlayedEpisode(toy, tmp_path / "whole")
    last, most = whole.result.scores["last_correct_step"], int(whole.result.scores["steps"]) - 1
    looking = PlayedEpisode(toy, tmp_path / "looking", max_steps=most).result
    said = f"all in place at step {last:.0f}, kept looking until step {most}"
    assert Personalize.describe_ending(looking).startswith(said)
    assert HouseView().describe_ending(whole.record.header, looking) == said
    cut = PlayedEpisode(toy, tmp_path / "cut", max_steps=int(last) - 1)
    assert Personalize.describe_ending(cut.result).startswith(f"out of steps after {last - 1:.0f} steps")
    assert cut.result.scores["efficiency"] <= 0.5 and cut.result.scores["last_correct_step"] < last


def test_a_record_of_an_earlier_version_is_completed_as_far_as_it_tells(toy: RearrangementTask, tmp_path: Path) -> None:
    played = PlayedEpisode(toy, tmp_path)
    path, new = tmp_path / "played.jsonl", ("last_correct_step", "shortest_steps", "efficiency")
    *lines, last = path.read_text().splitlines()
    result = played.result.model_copy(
        update={"scores": {name: value for name, value in played.result.scores.items() if name not in new}}
    )
    assert json.loads(last)["type"] == "result"
    path.write_text("\n".join([*lines, format_event(result)]) + "\n")
    read = read_house_record(path).result
    assert read.scores == {**result.scores, "last_correct_step": played.result.scores["last_correct_step"]}
    found = summarize([read], Personalize.scores)
    assert found["last_correct_step"] > 0 and "efficiency" not in found


def test_the_seconds_of_models_are_those_of_their_calls(toy: RearrangementTask, tmp_path: Path) -> None:
    class Slow:
        """Asks no model."""

        name = "slow"

        def plan(self, graph: SceneGraph, attempts: Sequence[Attempt]) -> Plan:
            time.sleep(0.05)
            return Plan((), complete=True)

    env = RearrangementEnv(RaycastSimulator(None, sensors=("instance",)), [toy], max_steps=10)
    env.reset()
    writer = RecordWriter(tmp_path, "played")
    usage = HouseEpisode(env, Slow(), Controller(env), writer).play(header(toy)).usage
    assert usage.model_seconds == 0.0 and usage.seconds >= 0.05
