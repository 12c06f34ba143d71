"""A STARS task in a 3D house: stand-ins for its fixtures and objects, and a body that carries out actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, TypeVar

from pydantic import Field, field_validator

from housewise.agent.stars.data_files import Name, read_data_file
from housewise.agent.stars.situation import PerceivedThing
from housewise.agent.stars.tasks import StarsTask
from housewise.agent.stars.vocabulary import RobotVocabulary
from housewise.controller.skills import ActionStatus, Controller, Skill, SkillOutcome
from housewise.core.errors import UserError, suggest_names
from housewise.core.validation import StrictModel
from housewise.worlds.house.env import RearrangementEnv
from housewise.worlds.house.env import RearrangementTask as HouseTask
from housewise.worlds.house.episode import HouseObject, RearrangementEpisode, ShelfState
from housewise.worlds.house.generator.furniture_sizes import SIZES
from housewise.worlds.house.generator.single_room import FurniturePiece, build_single_room
from housewise.worlds.house.geometry import Pose
from housewise.worlds.house.grab_rules import REACH
from housewise.worlds.house.scene import Scene
from housewise.worlds.house.shelf_packing import ShelfPacker
from housewise.worlds.house.simulator.base import Simulator
from housewise.worlds.kitchen.manipulation import ManipulationAction

STAND_INS = "house"
_THING = "thing"
_Metres = Annotated[float, Field(gt=0, le=10)]
_Size = tuple[_Metres, _Metres, _Metres]
_T = TypeVar("_T")


class _FurnitureShape(StrictModel):
    shape: str
    size: _Size

    @field_validator("shape")
    @classmethod
    def _check_shape(cls, shape: str) -> str:
        if shape not in SIZES:
            raise ValueError(f"no furniture shape {shape}; {suggest_names(shape, SIZES)}")
        return shape


class StandIns(StrictModel):
    """The appearance of fixtures and objects.

    Attributes:
        furniture: Shapes and sizes by noun or more general kind.
        objects: Width, height and depth in metres, by noun or more general kind.
    """

    name: str
    furniture: Mapping[Name, _FurnitureShape]
    objects: Mapping[Name, _Size]

    @field_validator("furniture", "objects")
    @classmethod
    def _of_everything(cls, found: Mapping[str, _T]) -> Mapping[str, _T]:
        if _THING not in found:
            raise ValueError(f"{_THING} is missing; it is the default shape")
        return found


def load_stand_ins(name_or_path: str = STAND_INS) -> StandIns:
    """Load bundled stand-ins by name, or a file.

    Raises:
        UserError: The file does not exist or is malformed. The message names file, field and remedy.
    """
    return read_data_file(name_or_path, StandIns)[0]


def build_house_task(task: StarsTask, words: RobotVocabulary, stand_ins: StandIns) -> HouseTask:
    """Return a one-room house in which a task can be played. Its keys are the names of the task.

    Args:
        task: The task.
        words: Vocabulary that orders kinds from specific to general.
        stand_ins: Appearance of fixtures and objects.

    Raises:
        UserError: An object does not fit on the stand-in of the fixture where it is found.
    """

    def look(of: Mapping[str, _T], thing: PerceivedThing) -> _T:
        return next((of[kind] for kind in words.lineage(thing.noun) if kind in of), of[_THING])

    looks = {fixture.name: look(stand_ins.furniture, fixture) for fixture in task.fixtures}
    pieces = [FurniturePiece(name, found.shape, found.size) for name, found in looks.items()]
    scene = build_single_room(task.name, task.room.noun, pieces)
    shelves = {place.key: ShelfPacker(ShelfState.empty(place.box)) for place in scene.receptacles}
    objects = []
    for about in task.objects:
        place, key = scene.by_key[about.place], about.thing.name
        width, height, depth = look(stand_ins.objects, about.thing)
        spot = shelves[place.key].insert(key, width, depth)
        if spot is None:
            raise UserError(f"{task.source}: object {key} does not fit on {about.place}; enlarge it in stand_ins")
        objects.append(
            HouseObject(
                key=key,
                name=key,
                category=about.thing.noun.replace("-", "_"),
                size=(spot.width, height, spot.depth),
                pose=Pose((spot.x, place.box.top + height / 2, spot.z)),
                receptacle=about.place,
                correct=frozenset(about.wanted),
            )
        )
    receptacles = tuple(scene.by_key)
    stands = {key: shelf.state for key, shelf in shelves.items()}
    return HouseTask(
        scene,
        RearrangementEpisode(0, scene.name, _scene_centre(scene), receptacles, tuple(objects), stands, split="stars"),
    )


class HouseBody:
    """Carries out actions in a simulator. Opening and closing only require being within reach.

    Args:
        simulator: Simulator in which the house is set up.
        house: House as returned by build_house_task.
        max_steps: Maximum number of low-level steps in the episode.
    """

    def __init__(self, simulator: Simulator, house: HouseTask, max_steps: int) -> None:
        self._env = RearrangementEnv(simulator, [house], max_steps)
        self._env.reset()
        self._controller = Controller(self._env)

    @property
    def places(self) -> Mapping[str, str | None]:
        """Where everything is. None means in the hand."""
        return self._env.world.placements

    def carry_out(self, act: ManipulationAction) -> tuple[str, int]:
        """Carry out an action that the symbolic state allows.

        Returns:
            Why it failed, or "" if it succeeded, and the number of low-level steps it took.
        """
        before = self._env.steps
        reason = next((end.reason for end in self._skill_outcomes(act) if end.status is not ActionStatus.SUCCEEDED), "")
        return reason, self._env.steps - before

    def _skill_outcomes(self, act: ManipulationAction) -> Iterator[SkillOutcome]:
        """Yield the outcomes of an action's skills, in order."""
        body, world = self._controller, self._env.world
        if act.verb == "go to":
            yield self._run_skill(body.go_to(act.thing))
            yield self._run_skill(body.look_at(act.thing))
        elif act.verb == "pick up":
            yield self._run_skill(body.look_at(world.placements[act.thing] or ""))
            yield self._run_skill(body.pick_up(act.thing))
        elif act.target is not None:
            yield self._run_skill(body.look_at(act.target))
            yield self._run_skill(body.place(act.thing, act.target))
        elif world.distance_to(act.thing) >= REACH:
            yield SkillOutcome(ActionStatus.FAILED, "too far away")

    def _run_skill(self, skill: Skill) -> SkillOutcome:
        try:
            action = next(skill)
            while self._env.steps < self._env.max_steps:
                self._env.step(action)
                action = skill.send(None)
        except StopIteration as end:
            outcome: SkillOutcome = end.value
            return outcome
        skill.close()
        return SkillOutcome(ActionStatus.FAILED, "out of steps")


def _scene_centre(scene: Scene) -> Pose:
    x, z = scene.navmesh.snap(scene.navmesh.area.centroid.coords[0])
    return Pose((float(x), scene.navmesh.height, float(z)))
