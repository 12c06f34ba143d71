"""Former names of settings, which files of users, runs and adapters may still have.

Former names are replaced by current ones before settings are validated, so that only current names are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BeforeValidator

from housewise.core.errors import UserError
from housewise.core.migrations.keys import rename_keys
from housewise.core.setting_keys import setting_at
from housewise.core.settings import merge_nested, nest_value, setting_paths

FORMER_SETTINGS = {
    "world.gpu": "execution.gpu",
    "agent.budget": "agent.max_questions",
    "agent.interval": "agent.feedback_interval",
    "agent.most_replayed": "agent.max_replayed",
    "agent.recent": "agent.recent_choices",
    "agent.carry": "agent.generalisation",
    "agent.generalisation.places": "agent.generalisation.other_places",
    "agent.generalisation.kinds": "agent.generalisation.max_kind_levels",
    "agent.generalisation.confirmed": "agent.generalisation.confirmed_only",
    "agent.lead": "agent.goal_prefix",
    "agent.most_tokens": "agent.max_goal_tokens",
    "agent.questions": "agent.max_questions",
    "agent.tree.sure": "agent.tree.branch_below",
    "agent.tree.worth": "agent.tree.min_alternative",
    "agent.tree.mean": "agent.tree.min_branch_mean",
    "agent.tree.most_calls": "agent.tree.max_calls",
    "world.most_steps": "world.max_steps",
    "lessons.households": "lessons.room_parts",
    "lessons.rotations": "lessons.max_orders",
    "lessons.shared": "lessons.task_object_repeats",
    "agent.most_questions": "agent.max_questions",
    "agent.most_steps": "agent.max_steps",
    "agent.turns": "agent.max_turns",
    "warm_up.told": "warm_up.share_remembered",
    "warm_up.wishes": "warm_up.preferences_per_person",
    "rollouts.runs": "rollouts.repeats",
    "reflection.most": "reflection.max_preferences",
    "reflection.most_tokens": "reflection.max_tokens",
    "own_asking.told": "own_asking.share_remembered",
    "best": "best_fraction",
    "agent.consistent": "agent.judging.constrain_to_judgements",
    "agent.rated": "agent.judging.score_placements",
    "agent.confidence_alike": "agent.judging.confidence_similar",
    "agent.familiar": "agent.familiar_kinds",
    "agent.explore": "agent.place_at_random",
    "agent.most_steps_per_plan": "agent.max_steps_per_plan",
    "agent.most_plans": "agent.max_plans",
    "agent.most_idle_plans": "agent.max_idle_plans",
    "agent.demonstrator.verdicts": "agent.demonstrator.note_all_objects",
    "controller.most_walk": "controller.max_walk",
    "controller.most_look": "controller.max_look",
    "tasks.runs": "tasks.repeats",
    "tasks.series": "tasks.rng_stream",
    "grow.runs": "grow.repeats",
    "evaluation.runs": "evaluation.repeats",
    "wording": "target",
    "rehearse": "replay_fraction",
    "review": "memory_lessons",
    "imitation_review": "imitation_memory_lessons",
    "filter.most_per_object": "filter.max_per_object",
    **{
        f"{section}.{former}": f"{section}.{current}"
        for section in ("training", "imitation", "preference")
        for former, current in (
            ("most_tokens", "max_example_tokens"),
            ("together", "max_packed_examples"),
            ("pairs_per_pass", "micro_batch"),
        )
    },
}
"""Current name by former name. Names are dotted and begin with a section, which may be inside of other sections.

A renamed setting of a renamed section stands here with the section's current name.
"""

FORMER_SWITCHES = {
    "agent.nearest_first": ("agent.wrappers", "sort_by_distance"),
    "agent.checked": ("agent.wrappers", "check_feasibility"),
    "agent.move_on": ("agent.wrappers", "loop_recovery"),
    "agent.second_look": ("agent.wrappers", "verify_completion"),
}
"""List and item by the former yes-or-no setting that stood for the item, in the order of the items."""

FORMER_ITEM_SETTINGS = {
    "tasks": {"runs": "repeats"},
    "lessons": {"held": "holding_fraction", "elsewhere": "allow_unplaceable", "remembered": "noted_fraction"},
}
"""Current by former name of the settings of a list's items, by the name of the list."""

_MAX_PASSES = 3


class _Former(NamedTuple):
    """A former name of a setting: where the setting is now, and the item of a list that it stood for."""

    path: str
    target: str
    item: str | None = None


def former_values(**current: str) -> BeforeValidator:
    """Return a validator that replaces former values of a setting.

    Args:
        current: Current value of each former value.
    """
    return BeforeValidator(lambda value: current.get(value, value) if isinstance(value, str) else value)


def migrate_settings(
    given: Mapping[str, Any], base: Mapping[str, Any], source: str, current: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return values by key with current names in place of former ones.

    Args:
        given: Values by key. A key may be outside of its section.
        base: Defaults, with every current key in its section.
        source: Where the values are from, for messages.
        current: Values, in their sections, into which the given ones will be merged. Defaults to ``base``.

    Raises:
        UserError: A setting is given under its former and its current name, or a former name fits several settings.
    """
    known, migrated = _index_names(tuple(setting_paths(base))), dict(given)
    for _ in range(_MAX_PASSES):  # a renamed section may hold renamed settings
        moved: list[tuple[str, _Former, Any]] = []
        kept = _take_formers(migrated, "", known, source, moved)
        names = list(setting_paths(kept)) if moved else []
        for name, former, value in moved:
            if any(_is_name_of(other, former.target) for other in names):
                now = repr(former.target) if former.item is None else f"{former.item!r} in {former.target!r}"
                raise UserError(f"{source}: setting {name!r} is now called {now}; give one of them")
            if former.item is not None:
                whole = merge_nested(base if current is None else current, kept)
                value = _switch_item(former, value, setting_at(whole, former.target), source)
            kept = merge_nested(kept, nest_value(former.target, value))
        migrated = kept
        if not moved:
            break
    return migrated


@dataclass(frozen=True)
class _KnownNames:
    """Names of settings by their last part, since few settings share it.

    Attributes:
        formers: Former names of existing settings.
        paths: Dotted paths of existing settings.
    """

    formers: Mapping[str, Sequence[_Former]]
    paths: Mapping[str, Sequence[str]]


@lru_cache(maxsize=64)
def _index_names(paths: tuple[str, ...]) -> _KnownNames:
    """Return the former and the current names of settings, which are the same in all calls for a system."""
    formers: dict[str, list[_Former]] = {}
    current: dict[str, list[str]] = {}
    for former in _list_formers(paths):
        formers.setdefault(former.path.rpartition(".")[2], []).append(former)
    for path in paths:
        current.setdefault(path.rpartition(".")[2], []).append(path)
    return _KnownNames(formers, current)


def _list_formers(paths: Sequence[str]) -> Iterator[_Former]:
    """Yield the former names of existing settings."""
    existing = set(paths)
    renamed = [_Former(*names) for names in FORMER_SETTINGS.items()]
    for former in [*renamed, *(_Former(path, *item) for path, item in FORMER_SWITCHES.items())]:
        for path in paths:
            if f".{path}".endswith(f".{former.target}"):
                prefix = path.removesuffix(former.target)
                if f"{prefix}{former.path}" not in existing:
                    yield _Former(f"{prefix}{former.path}", path, former.item)


def _take_formers(
    given: Mapping[str, Any],
    prefix: str,
    known: _KnownNames,
    source: str,
    moved: list[tuple[str, _Former, Any]],
) -> dict[str, Any]:
    """Return values without those under former names, which are added to ``moved``."""
    kept: dict[str, Any] = {}
    for key, value in given.items():
        name = f"{prefix}{key}"
        last = name.rpartition(".")[2]
        found = [former for former in known.formers.get(last, ()) if _is_name_of(name, former.path)]
        if not found or any(_is_name_of(name, path) for path in known.paths.get(last, ())):
            if isinstance(value, Mapping) and value:
                kept[key] = _take_formers(value, f"{name}.", known, source, moved)
            elif isinstance(value, list):
                kept[key] = [_rename_item(each, FORMER_ITEM_SETTINGS.get(key, {}), name, source) for each in value]
            else:
                kept[key] = value
        elif len(found) == 1:
            moved.append((name, found[0], value))
        else:
            meant = " or ".join(former.target for former in found)
            raise UserError(f"{source}: setting {name!r} is there more than once; write {meant}")
    return kept


def _rename_item(item: Any, names: Mapping[str, str], place: str, source: str) -> Any:
    """Return an item of a list with current names of its settings."""
    if not isinstance(item, Mapping):
        return item
    return rename_keys(
        item,
        names,
        lambda former, now: f"{source}: setting {former!r} of {place} is now called {now!r}; give one of them",
    )


def _is_name_of(name: str, path: str) -> bool:
    """Return whether a name, with all, some or none of its sections, means the setting of a path."""
    *sections, key = name.split(".")
    *known, last = path.split(".")
    remaining = iter(known)
    return key == last and all(section in remaining for section in sections)


def _switch_item(former: _Former, value: Any, items: Sequence[str] | None, source: str) -> list[str]:
    """Return a list with or without an item, as a former switch says."""
    if not isinstance(value, bool):
        raise UserError(f"{source}: setting {former.path!r}: has to be true or false, not {value!r}")
    kept = [item for item in items or () if item != former.item] + [str(former.item)] * value
    order = [item for _, item in FORMER_SWITCHES.values()]
    return sorted(kept, key=lambda item: order.index(item) if item in order else len(order))
