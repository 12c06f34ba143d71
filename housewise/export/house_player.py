"""Replays episodes in houses for exports."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from scipy.spatial.transform import Rotation

from housewise.core.record import Event, Record
from housewise.export.episode_playback import LogLine, Playback, PlaybackFrame, clean_text, event_log
from housewise.export.step_rewards import list_step_rewards
from housewise.playback.replay import ReplayState, find_task, replay_record
from housewise.playback.simulators import CameraImage, PlaybackSimulator
from housewise.systems.personalize.record import ActionEvent, HouseRecord, PlanEvent
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.geometry import Box, Pose, quat, yaw_rotation
from housewise.worlds.house.simulator import RAYCAST, SimulatorChoice
from housewise.worlds.house.simulator.base import Camera, LowLevelAction

_STATE = ("x", "z", "yaw", "pitch", "holding")


class HousePlayer:
    """Replays episodes of LLM-Personalize through a camera like the robot's own; see `EpisodePlayer`.

    Args:
        simulator: Simulator that replays and renders the episodes.
    """

    def __init__(self, simulator: SimulatorChoice = RAYCAST) -> None:
        self._simulator = simulator
        self._camera = Camera()

    def play(self, record: Record, path: Path) -> Playback:
        """See `EpisodePlayer.play`."""
        house = HouseRecord.from_record(record, path)
        task = find_task(house)
        steps = list(list_step_rewards(house))
        with closing(PlaybackSimulator(self._camera, self._simulator)) as simulator:
            again = replay_record(house, task, simulator, frames=len(steps) + 1)
        sizes = {thing.name: thing.size for thing in task.episode.objects}
        floor, last = task.scene.navmesh.height, again.states[-1]
        # A state has the plan of the action before it, and a frame that of the action after it.
        frames = [
            self._frame(moment, again.frames[moment.step], sizes, floor, *step)
            for moment, step in zip(again.states, [*steps, (last.plan, None, 0.0)], strict=True)
        ]
        return Playback(
            job=_job(record.header.person),
            robot="housewise",
            state=_STATE,
            actions=[action.name.lower() for action in LowLevelAction],
            field_of_view=self._camera.field_of_view,
            furniture=_furniture(task),
            frames=frames,
            log=[_log_line(event, said) for event, said in zip(record.events, event_log(record), strict=True)],
            differences=again.differences,
        )

    def _frame(
        self,
        moment: ReplayState,
        shot: CameraImage,
        sizes: dict[str, tuple[float, float, float]],
        floor: float,
        plan: int,
        action: LowLevelAction | None,
        reward: float,
    ) -> PlaybackFrame:
        body = moment.body
        turned = Rotation.from_quat(yaw_rotation(body.yaw)) * Rotation.from_euler("x", body.pitch)
        return PlaybackFrame(
            plan=plan,
            picture=shot.picture,
            state=(body.x, body.z, body.yaw, body.pitch, float(moment.holding is not None)),
            feet=Pose((body.x, floor, body.z), yaw_rotation(body.yaw)),
            eye=Pose((body.x, floor + self._camera.above_floor, body.z), quat(turned.as_quat())),
            things={name: Box.from_centre(place, sizes[name]) for name, place in shot.places.items()},
            action=action,
            reward=reward,
        )


def _furniture(task: RearrangementTask) -> dict[str, Box]:
    places = (task.scene.by_key[key] for key in task.episode.receptacles)
    return {place.name: place.box for place in places}


def _job(person: str) -> str:
    whom = "most people want" if person in ("", "majority") else f"{person} wants"
    return f"Tidy the house: find what is out of place and put it where {whom} it."


def _log_line(event: Event, said: LogLine) -> LogLine:
    """Return a log line: a plan as the model's reply, an action with its outcome, any other event unchanged."""
    if isinstance(event, PlanEvent):
        return LogLine(said.kind, clean_text(event.reply), event.step, event.plan)
    if isinstance(event, ActionEvent):
        became = f"{event.status}: {event.reason}" if event.reason else event.status
        return LogLine(said.kind, clean_text(f"{event.action or event.raw} ({became})"), event.end, event.plan)
    return said
