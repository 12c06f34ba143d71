"""Where two robots put the same thing: found in records, and drawn on the plan of the house."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from housewise.core.plots import new_figure, save_figure
from housewise.playback.floor_plan import draw_floor_plan
from housewise.playback.object_outcomes import HAND, ObjectOutcome, list_object_outcomes
from housewise.playback.replay import find_task
from housewise.systems.personalize.record import HouseRecord
from housewise.worlds.house.env import RearrangementTask

_LIKED = ("mug", "cup")
"""What everybody has a place for comes first."""


@dataclass(frozen=True)
class SameThing:
    """A thing that two robots found in the same place and took to different ones.

    Attributes:
        name: of the thing.
        record: name of the episode's records.
        house: where it is.
        person: whose wishes count in the episode.
        start: receptacle where it was.
        one, other: receptacles where the two robots put it.
        right: whether each of the two is where the person wants it.
    """

    name: str
    record: str
    house: str
    person: str
    start: str
    one: str
    other: str
    right: tuple[bool, bool]


def same_things(ones: Sequence[HouseRecord], others: Sequence[HouseRecord]) -> list[SameThing]:
    """What two robots moved to different places in the same episodes: mugs first, then what is right once.

    What they did alike in several runs of a task is told once.

    Args:
        ones: records of the one robot.
        others: of the other, for the same person.
    """
    by_name = {record.name: record for record in others}
    found = [thing for one in ones if one.name in by_name for thing in _same(one, by_name[one.name])]
    once: dict[tuple[str, ...], SameThing] = {}
    for thing in found:
        once.setdefault((thing.record.rpartition("-run")[0], thing.name, thing.one, thing.other), thing)
    return sorted(
        once.values(), key=lambda thing: (not thing.name.startswith(_LIKED), sum(thing.right) != 1, thing.record)
    )


def draw_same_thing(thing: SameThing, records: Sequence[HouseRecord], people: tuple[str, str], path: Path) -> None:
    """Draw a thing's two ways on the plan of its house.

    Args:
        thing: which.
        records: with that of its episode.
        people: whose robots they are.
        path: of the picture.

    Raises:
        UserError: when matplotlib is not installed.
    """
    record = next(record for record in records if record.name == thing.record)
    task = find_task(record)
    plan = draw_floor_plan(task.scene, task.episode.receptacles)
    width, height = plan.projection.size
    figure = new_figure(7, 7 * height / width)
    axes = figure.subplots()
    axes.imshow(plan.picture, extent=(0, width, height, 0))
    start = plan.projection.pixels(_place(task, thing.start))[0]
    for place, person, color in zip((thing.one, thing.other), people, ("tab:blue", "tab:orange"), strict=True):
        end = plan.projection.pixels(_place(task, place))[0]
        axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "lw": 3})
        axes.plot(*end, "o", color=color, label=f"{person}'s robot: {place}")
    axes.plot(*start, "o", color="black", label=f"{thing.name}: {thing.start}")
    axes.set_axis_off()
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_figure(figure, path)


def _same(one: HouseRecord, other: HouseRecord) -> Iterator[SameThing]:
    theirs = {fate.name: fate for fate in list_object_outcomes(other)}
    for mine in list_object_outcomes(one):
        yours = theirs[mine.name]
        if _put(mine) and _put(yours) and mine.end != yours.end:
            person = one.header.person
            right = (mine.is_correct, yours.is_correct)
            yield SameThing(
                mine.name, one.name, one.initial_state.scene, person, mine.start, mine.end, yours.end, right
            )


def _put(fate: ObjectOutcome) -> bool:
    return fate.is_displaced and fate.end != HAND


def _place(task: RearrangementTask, name: str) -> NDArray[np.float64]:
    """(x, z) of a receptacle's middle, metres."""
    box = next(thing.box for thing in task.scene.receptacles if thing.name == name)
    return np.asarray(box.centre)[[0, 2]]
