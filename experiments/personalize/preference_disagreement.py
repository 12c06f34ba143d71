"""How much people disagree about where the objects of some tasks belong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from housewise.core.errors import UserError
from housewise.selftrain.personalize.settings import SelfTrainingConfig
from housewise.systems.personalize.settings import PersonalizeSettings
from housewise.systems.personalize.tasks import list_tasks, load_task
from housewise.worlds.house.housekeep.housekeep_data import HousekeepData
from housewise.worlds.house.preferences import Preferences, bundled_people, load_preferences

CorrectReceptacles = Sequence[frozenset[str]]
"""Keys of the correct receptacles of each object of some tasks, according to one person."""


def find_most_different_people(
    config: SelfTrainingConfig, candidates: Sequence[str] = ()
) -> tuple[tuple[str, str], float]:
    """Return the two people who disagree most about the objects of the training tasks, and their disagreement.

    The test tasks do not influence the choice.

    Args:
        config: Settings that name the tasks. People are the annotators of the data, or the bundled ones without data.
        candidates: The two people, if they are given; by default, all people.

    Raises:
        UserError: If the candidates are not two different people, or one of them is unknown.
    """
    if candidates and len(set(candidates)) != 2:
        raise UserError(f"name two different people, not {', '.join(candidates)}")
    run = config.run_settings(config.training_tasks, person="majority")
    correct = {name: _correct_receptacles(preferences, run) for name, preferences in _people(run, candidates).items()}
    found = {pair: preference_disagreement(correct[pair[0]], correct[pair[1]]) for pair in combinations(correct, 2)}
    pair = max(found, key=lambda pair: found[pair])
    return pair, found[pair]


def preference_disagreement(one: CorrectReceptacles, other: CorrectReceptacles) -> float:
    """Return the mean Jaccard distance of two people's correct receptacles: 0 if they agree, 1 if nothing is common.

    Objects without a correct receptacle for either person are left out.
    """
    pairs = [(mine, yours) for mine, yours in zip(one, other, strict=True) if mine | yours]
    return sum(1 - len(mine & yours) / len(mine | yours) for mine, yours in pairs) / max(len(pairs), 1)


def _correct_receptacles(preferences: Preferences, run: PersonalizeSettings) -> CorrectReceptacles:
    tasks = [load_task(name, run.tasks).for_person(preferences) for name in list_tasks(run.tasks)]
    return [thing.correct for task in tasks for thing in task.episode.objects]


def _people(run: PersonalizeSettings, candidates: Sequence[str]) -> dict[str, Preferences]:
    if run.tasks.data is None:
        return {name: load_preferences(name) for name in candidates or bundled_people()}
    data = HousekeepData(run.tasks.data)
    return {name: data.preferences(name) for name in candidates or data.annotators()}
