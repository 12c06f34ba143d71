"""What constants of the placement kernel are worth where everything is known: tasks without a robot.

The notes are those that demonstrations would leave, and every object is judged where it stands at first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from housewise.agent.personalize.placement_kernel import KERNEL, PlacementKernel, placement_notes
from housewise.agent.personalize.preference_knowledge import PreferenceKnowledge
from housewise.experiments.measured_values import MeasuredValue
from housewise.language.embedder import cosine, shared_minilm
from housewise.people.house.reaction_notes import reaction_note
from housewise.people.memory import Memory, Note
from housewise.systems.personalize.settings import HouseTaskSettings, house_settings
from housewise.systems.personalize.tasks import list_tasks, load_task
from housewise.worlds.house.env import RearrangementTask
from housewise.worlds.house.episode import HouseObject
from housewise.worlds.house.spoken_names import kind_from_name, spoken_places

_PERSON = "person"


def judge_objects(
    notes: int | None,
    tasks: Mapping[str, Any],
    constants: Mapping[str, float] | None = None,
    shown: Mapping[str, Any] | None = None,
    only_unlike: bool = False,
) -> Iterator[MeasuredValue]:
    """Yield the success of the kernel in training tasks, if each object went where the kernel wants it.

    Args:
        notes: Number of notes, from the first; None for all.
        tasks: Settings of the training tasks.
        constants: Constants of the kernel that differ from ``KERNEL``.
        shown: Settings of the demonstrated tasks, where they are of another scene.
        only_unlike: Whether only notes about things are left that are unlike all things of the task.
    """
    learned = _load_tasks(_tasks(shown or tasks, "demo", houses=10, seed=1000))
    shown_notes = [note for task in learned for note in _demonstration_notes(task)]
    embedder, kernel_constants = shared_minilm(), replace(KERNEL, **(constants or {}))
    for task in _load_tasks(_tasks(tasks, "train", houses=20, seed=2000)):
        memory = Memory(_PERSON, (_unlike_notes(task, shown_notes) if only_unlike else shown_notes)[:notes])
        kernel = PlacementKernel(placement_notes(memory.notes), embedder, kernel_constants)
        places = spoken_places(task.scene)
        knowledge = PreferenceKnowledge(memory, places, embedder)
        moved = [
            (_target(task, thing, knowledge, kernel, kernel_constants.margin), thing) for thing in task.episode.objects
        ]
        right = sum(target in _right_places(task, thing) for target, thing in moved if thing.is_misplaced)
        damaged = sum(target not in _right_places(task, thing) for target, thing in moved if not thing.is_misplaced)
        misplaced = len(task.episode.misplaced_objects)
        yield MeasuredValue(f"{task.scene.name} {task.episode.id}", 0, "success", (right - damaged) / misplaced)


def _tasks(settings: Mapping[str, Any], episodes: str, **generated: int) -> HouseTaskSettings:
    """Return settings of tasks: recorded ones where there is data, else generated ones."""
    chosen = {"episodes": episodes} if "data" in settings else generated
    return house_settings(settings={**settings, **chosen}).tasks


def _load_tasks(settings: HouseTaskSettings) -> list[RearrangementTask]:
    return _load_tasks_once(settings.model_dump_json())


@lru_cache(maxsize=8)
def _load_tasks_once(settings: str) -> list[RearrangementTask]:
    chosen = HouseTaskSettings.model_validate_json(settings)
    return [load_task(name, chosen) for name in list_tasks(chosen)]


def _demonstration_notes(task: RearrangementTask) -> Iterator[Note]:
    """Yield what a demonstration notes: where each object stands, right or wrong, and a right place for a wrong one."""
    places = spoken_places(task.scene)
    for thing in task.episode.objects:
        here, right = _place_name(task, thing.receptacle), _right_places(task, thing)
        if here in places:
            yield reaction_note(_PERSON, thing.name, places[here], not thing.is_misplaced)
        if thing.is_misplaced and right:
            yield reaction_note(_PERSON, thing.name, places[right[0]], True)


def _unlike_notes(task: RearrangementTask, notes: Sequence[Note]) -> list[Note]:
    """Return the notes about things that are unlike all things of a task."""
    kinds = sorted({kind_from_name(thing.name) for thing in task.episode.objects})
    others = sorted({kind for note in notes for kind in note.about.things})
    cosines = cosine(shared_minilm(), kinds, others)
    unlike = {other for other, column in zip(others, cosines.T, strict=True) if max(column) < KERNEL.min_similarity}
    return [note for note in notes if unlike.issuperset(note.about.things)]


def _target(
    task: RearrangementTask, thing: HouseObject, knowledge: PreferenceKnowledge, kernel: PlacementKernel, margin: float
) -> str:
    """Return where the planner would leave an object: a known place, or one by the kernel's margin, or where it is."""
    names = _names(task)
    here = names[thing.receptacle]
    known = {name: knowledge.wants(thing.name, name) for name in names.values()}
    if known[here] is True:
        return here
    if wanted := [name for name, value in known.items() if value is True]:
        return wanted[0]
    places = spoken_places(task.scene)
    others = [name for name, value in known.items() if value is None and name != here]
    values = kernel.values(kind_from_name(thing.name), [places[name] for name in [here, *others]])
    value_here = -np.inf if known[here] is False else values[0]
    best = int(np.argmax(values[1:])) if others else None
    return others[best] if best is not None and values[1 + best] >= value_here + margin else here


def _names(task: RearrangementTask) -> dict[str, str]:
    """Return the names of the usable receptacles by key."""
    return {place.key: place.name for place in task.scene.usable_receptacles if place.key in task.episode.receptacles}


def _place_name(task: RearrangementTask, key: str) -> str:
    return {place.key: place.name for place in task.scene.receptacles}[key]


def _right_places(task: RearrangementTask, thing: HouseObject) -> Sequence[str]:
    return [_names(task)[key] for key in sorted(thing.correct) if key in _names(task)]
