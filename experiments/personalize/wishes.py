"""How much people disagree about where the things of some tasks belong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from housewise.core.errors import UserError
from housewise.selftrain.personalize.settings import SelfTrainingConfig
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.systems.personalize.tasks import list_tasks, load_task
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.preferences import Preferences, bundled_people, load_preferences

Wishes = Sequence[frozenset[str]]
"""For each thing of some tasks, keys of the receptacles where somebody wants it."""


def most_different(config: SelfTrainingConfig, named: Sequence[str] = ()) -> tuple[tuple[str, str], float]:
    """Two people and how much they differ over the training tasks' things; tests have no say.

    Args:
        config: names the tasks: with data the annotators are asked, without it our own people.
        named: the two, where they have been chosen; otherwise those who differ most are taken.

    Raises:
        UserError: when it is not two who were named, or there is no such person.
    """
    if named and len(set(named)) != 2:
        raise UserError(f"name two different people, not {', '.join(named)}")
    run = config.run_settings(config.training_tasks, person="majority")
    wishes = {who: _wishes(preferences, run) for who, preferences in _people(run, named).items()}
    found = {pair: disagreement(wishes[pair[0]], wishes[pair[1]]) for pair in combinations(wishes, 2)}
    pair = max(found, key=lambda pair: found[pair])
    return pair, found[pair]


def disagreement(one: Wishes, other: Wishes) -> float:
    """Mean share of the places wanted by either that are not wanted by both, over things that anybody wants anywhere.

    This is Jaccard's distance: 0 where two want the same, 1 where they agree on nothing.
    """
    pairs = [(mine, yours) for mine, yours in zip(one, other, strict=True) if mine | yours]
    return sum(1 - len(mine & yours) / len(mine | yours) for mine, yours in pairs) / max(len(pairs), 1)


def _wishes(preferences: Preferences, run: PersonalizeSettings) -> Wishes:
    tasks = [load_task(name, run.tasks).for_person(preferences) for name in list_tasks(run.tasks)]
    return [thing.correct for task in tasks for thing in task.episode.objects]


def _people(run: PersonalizeSettings, named: Sequence[str]) -> dict[str, Preferences]:
    if run.tasks.data is None:
        return {who: load_preferences(who) for who in named or bundled_people()}
    data = HousekeepData(run.tasks.data)
    return {who: data.preferences(who) for who in named or data.annotators()}
