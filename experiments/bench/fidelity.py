"""How close the embedded simulator comes to Habitat: recorded episodes of LLM-Personalize, played again.

* Parser: do recorded steps resolve to the recorded action and target?
* Effects: from the recorded placements before each action, does the same object end up in the same place?
* Perception: does each action discover the same objects and receptacles, given what was known before it? Also over the
  actions before the first whose number of steps differs (in step): until then the robot stands where the recorded one
  stood.
* Whole episodes: played without looking at the record again, how far is our success rate from the recorded one?
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from statistics import fmean

from housewise.agent.personalize.plan_normalizer import parse_any_step
from housewise.core.errors import UserError
from housewise.core.processes import process_pool
from housewise.experiments.bench.recorded_player import Player, RememberingSimulator
from housewise.experiments.bench.recordings import (
    MissingEpisodeError,
    RecordedStep,
    Recording,
    list_recordings,
    scene_and_condition,
)
from housewise.experiments.measured_values import MeasuredValue
from housewise.worlds.house.env import MAX_STEPS
from housewise.worlds.house.high_level_actions import ActionKind, HighLevelAction
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.simulator import open_simulator
from housewise.worlds.house.simulator.base import Simulator

_Values = defaultdict[str, list[float]]
"""Values by measure, of each of which the mean is taken."""

_MOMENTS = {True: "in_step", False: "out_of_step"}


def play_recordings(
    scene: str,
    conditions: Collection[str],
    data: str,
    recordings: str,
    every: int = 1,
    simulator: str = "raycast",
    workers: int = 2,
) -> Iterator[MeasuredValue]:
    """Play recordings in a simulator, and yield how each compares with the record.

    Args:
        scene: Scene of the recordings.
        conditions: Their conditions, or names of published runs.
        data: The Housekeep folder.
        recordings: Folder of the recordings.
        every: One of so many is played.
        simulator: Name of the simulator.
        workers: Number of processes.

    Raises:
        UserError: There are no such recordings, or the data has none of their episodes.
    """
    wanted = {(scene.lower(), condition) for condition in conditions}
    paths = [path for path in list_recordings(Path(recordings)) if scene_and_condition(path) in wanted][::every]
    repeats: Counter[str] = Counter()
    with process_pool(workers) as pool:
        for found in pool.map(compare_recording, paths, repeat(data), repeat(simulator)):
            if found is not None:
                task, values = found
                yield from (MeasuredValue(task, repeats[task], *each) for each in values)
                repeats[task] += 1
    if not repeats:
        raise UserError(
            f"{recordings}: no recordings of {scene} ({', '.join(conditions)}) whose episodes the data has; name a "
            "folder with <run>/demo/<scene>/data_<time>.json or <scene>/<condition>/<episode>.json"
        )


def compare_recording(
    path: Path, data: str, simulator: str = "raycast"
) -> tuple[str, list[tuple[str, float, float]]] | None:
    """Play a recording in a simulator, action by action and as a whole.

    Returns:
        Name of the task, and (measure, mean, weight) for each measure. None if the data lacks the recorded episode.
    """
    try:
        recording = Recording(path, _data(data))
    except MissingEpisodeError:
        return None
    values: _Values = defaultdict(list)
    _compare_parsing(recording, values)
    remembering = RememberingSimulator(_simulator(simulator))
    counts = _compare_actions(recording, remembering, values)
    _compare_episode(recording, remembering, values)
    means = [(measure, fmean(each), float(len(each))) for measure, each in values.items() if each]
    episode = recording.task.episode
    return f"{episode.scene}-{episode.id:04}", [*means, *((measure, float(n), 1.0) for measure, n in counts.items())]


def _compare_parsing(recording: Recording, values: _Values) -> None:
    vocabulary = recording.vocabulary
    for step in recording.steps:
        ours = parse_any_step(step.raw, vocabulary).action
        if step.kind is None:
            values["skipped_steps_left_open"].append(ours is None)
        else:
            agreed = ours is not None and _resolve_keys(ours, recording) == (step.kind, step.thing, step.place)
            values["steps_parsed_as_recorded"].append(agreed)


def _resolve_keys(action: HighLevelAction, recording: Recording) -> tuple[ActionKind, str | None, str | None]:
    """Return an action in the record's terms: kind, object key, receptacle key."""
    keys, objects = recording.keys, {thing.key for thing in recording.task.episode.objects}
    if action.destination is not None:
        return action.kind, keys[action.target], keys[action.destination]
    if action.target not in keys:
        anchor = {room.name: room.anchor for room in recording.task.scene.rooms}[action.target]
        return action.kind, None, anchor
    key = keys[action.target]
    return (action.kind, key, None) if key in objects else (action.kind, None, key)


def _compare_actions(recording: Recording, simulator: Simulator, values: _Values) -> Counter[str]:
    """Return how many things other actions discovered than in the record.

    A thing is ``early`` if it was discovered by a later action in the record, ``missed`` if it was discovered there and
    not here, and ``only`` if it was discovered here and not there.
    """
    player = Player(recording, simulator, max_steps=10**9)
    vocabulary = recording.vocabulary
    counts = Counter({f"{how}_{moment}": 0 for how in ("missed", "early", "only") for moment in _MOMENTS.values()})
    in_step, early = True, dict[str, bool]()
    for step in recording.steps:
        ours = parse_any_step(step.raw, vocabulary).action
        if step.kind is None or ours is None:
            continue
        player.world.apply_placements(step.before)
        if step.kind == ActionKind.GO_TO and ours.target in recording.keys:
            # The robot knows what it sets out for.
            player.seen.add(recording.keys[ours.target])
        seen, start = set(player.seen), player.env.steps
        player.play(ours)
        found, steps = player.seen - seen, player.env.steps - start
        _add_steps(step, steps, values)
        in_step = in_step and steps == step.steps
        precise, recalled = [key in step.discovered for key in found], [key in found for key in step.discovered]
        values["discovery_precision"] += precise
        values["discovery_recall"] += recalled
        # The mean over both is F1.
        values["discovery_f1"] += precise + recalled
        if in_step:
            values["discovery_recall_in_step"] += recalled
            values["discovery_f1_in_step"] += precise + recalled
        early |= dict.fromkeys(found - step.discovered, in_step)
        for key in step.discovered - found:
            counts.update([f"early_{_MOMENTS[early.pop(key)]}" if key in early else f"missed_{_MOMENTS[in_step]}"])
        # What is known is brought up to date with the record after every action, as placements are.
        player.seen |= step.discovered
        if step.kind in (ActionKind.PICK_UP, ActionKind.PLACE):
            now = player.world.placements
            values["effects_as_recorded"].append(all(now[key] == step.after[key] for key in now))
    counts.update(f"only_{_MOMENTS[was_in_step]}" for was_in_step in early.values())
    return counts


def _add_steps(step: RecordedStep, steps: int, values: _Values) -> None:
    values["steps_per_action"].append(steps)
    values["recorded_steps_per_action"].append(step.steps)
    values["actions_of_recorded_length"].append(steps == step.steps)
    if step.kind == ActionKind.GO_TO and (steps or step.steps):
        values["walks_of_recorded_length"].append(steps == step.steps)


def _compare_episode(recording: Recording, simulator: Simulator, values: _Values) -> None:
    player = Player(recording, simulator, MAX_STEPS)
    vocabulary = recording.vocabulary
    for step in recording.steps:
        action = parse_any_step(step.raw, vocabulary).action
        if action is not None:
            player.play(action)
    placements, recorded = player.world.placements, recording.steps[-1].after
    values["final_places_as_recorded"] += [placements[key] == place for key, place in recorded.items()]
    values["success_rate"].append(player.world.success_rate)
    episode = recording.task.episode
    start = sum(not thing.is_misplaced for thing in episode.objects)
    end = sum(recorded[thing.key] in thing.correct for thing in episode.objects if thing.key in recorded)
    values["recorded_success_rate"].append((end - start) / len(episode.misplaced_objects))


@lru_cache(maxsize=1)
def _data(root: str) -> HousekeepData:
    return HousekeepData(root)


@lru_cache(maxsize=1)
def _simulator(name: str) -> Simulator:
    return open_simulator(name, ("instance",))
