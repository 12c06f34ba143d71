"""Plays recorded LLM-Personalize episodes again, action by action, as their robot would have."""

from __future__ import annotations

from collections.abc import Sequence

from housewise.controller.published_controller import PublishedController
from housewise.controller.robot import room_anchors
from housewise.controller.skills import Skill
from housewise.experiments.bench.recordings import Recording
from housewise.worlds.house.env import RearrangementEnv
from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.simulator.base import BodyPose, Observation, Simulator
from housewise.worlds.house.simulator.delegating import DelegatingSimulator


class RememberingSimulator(DelegatingSimulator):
    """Takes each picture once: an episode is played twice, and mostly from the same places."""

    def __init__(self, simulator: Simulator) -> None:
        super().__init__(simulator)
        self._poses: dict[str, Pose | None] = {}
        self._pictures: dict[tuple[BodyPose, frozenset[tuple[str, Pose | None]]], Observation] = {}

    def move_object(self, key: str, pose: Pose | None) -> None:
        """See Simulator.move_object."""
        self._poses[key] = pose
        super().move_object(key, pose)

    def reset(self, scene: Scene, receptacles: Sequence[str], objects: Sequence[HouseObject], body: BodyPose) -> None:
        """See Simulator.reset; always the same house."""
        self._poses = {thing.key: thing.pose for thing in objects}
        super().reset(scene, receptacles, objects, body)

    def observe(self, body: BodyPose | None = None) -> Observation:
        """See Simulator.observe."""
        moment = (body or self.body, frozenset(self._poses.items()))
        if moment not in self._pictures:
            self._pictures[moment] = super().observe(body)
        return self._pictures[moment]


class Player:
    """Plays a recording in our house with the published robot's habits.

    The published robot knew where every object was, but after "placing" with an empty hand it took the object to be
    there until its next low-level step.

    Args:
        recording: what to play.
        simulator: where to play it.
        max_steps: low-level steps until the episode is over.
    """

    def __init__(self, recording: Recording, simulator: Simulator, max_steps: int) -> None:
        self.env = RearrangementEnv(simulator, [recording.task], max_steps, look_down=0.0)
        self.env.reset()
        self.world = self.env.world
        self.seen: set[str] = set()
        self._recording = recording
        self._controller = PublishedController(self.env)
        self._anchors = room_anchors(recording.task)
        self._belief: dict[str, str] = {}
        self._belief_step = -1
        self._look()

    def play(self, action: HighLevelAction) -> None:
        """Carry an action out, as far as the robot can."""
        skill = self._skill(action)
        if skill is None:
            return
        try:
            low_level = next(skill)
            while self.env.steps < self.env.max_steps:
                self.env.step(low_level)
                self._look()
                low_level = skill.send(None)
        except StopIteration:
            pass

    def _skill(self, action: HighLevelAction) -> Skill | None:
        keys = self._recording.keys
        if action.kind == ActionKind.PICK_UP:
            return self._controller.pick_up(keys[action.target])
        if action.kind == ActionKind.PLACE:
            thing, goal = keys[action.target], keys[action.destination or ""]
            if self.world.holding is None:
                self._believe(thing, goal)
            return self._controller.place(thing, goal)
        place = self._place(action.target)
        if place is None or (action.kind == ActionKind.GO_TO and not self._is_known(action.target)):
            return None
        return self._controller.go_to(place) if action.kind == ActionKind.GO_TO else self._controller.look_at(place)

    def _place(self, name: str) -> str | None:
        """The receptacle to go to or look at for a room, a receptacle or an object."""
        if name in self._anchors:
            return self._anchors[name]
        key = self._recording.keys.get(name)
        if key is None or key not in self.world.objects:
            return key
        if self._belief_step == self.env.steps and key in self._belief:
            return self._belief[key]
        return self.world.placements[key]

    def _is_known(self, name: str) -> bool:
        return name in self._anchors or self._recording.keys.get(name) in self.seen

    def _believe(self, thing: str, place: str) -> None:
        if self._belief_step != self.env.steps:
            self._belief, self._belief_step = {}, self.env.steps
        self._belief[thing] = place

    def _look(self) -> None:
        visible = self.env.visible
        self.seen |= {key for key in visible if key in self._recording.usable or key in self.world.objects}
        # What stands in view makes its receptacle known too.
        self.seen |= set(self.world.visible_placements(visible).values())
