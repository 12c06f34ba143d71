"""Settings under former names."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from housewise.core.errors import UserError
from housewise.core.migrations import settings as setting_migrations
from housewise.core.migrations.settings import migrate_settings

BASE = {
    "tasks": {"repeats": 1},
    "agent": {"max_plans": 5, "wrappers": [], "tree": {"depth": 3}, "extra": {}},
    "grow": {"repeats": 2},
}


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    former = {
        "agent.most_plans": "agent.max_plans",
        "tasks.runs": "tasks.repeats",
        "grow.runs": "grow.repeats",
        "agent.branch": "agent.tree",
        "agent.tree.levels": "agent.tree.depth",
        "world.extra": "agent.extra",
    }
    monkeypatch.setattr(setting_migrations, "FORMER_SETTINGS", former)
    setting_migrations._index_names.cache_clear()
    yield
    setting_migrations._index_names.cache_clear()


LOOP, COMPLETION = "loop_recovery", "verify_completion"


@pytest.mark.parametrize(
    "given, expected",
    [
        ({"most_plans": 3}, {"agent": {"max_plans": 3}}),
        ({"agent": {"most_plans": 3, "extra": {"runs": 1}}}, {"agent": {"extra": {"runs": 1}, "max_plans": 3}}),
        ({"tasks": {"runs": 4}}, {"tasks": {"repeats": 4}}),
        ({"branch": {"levels": 2}}, {"agent": {"tree": {"depth": 2}}}),
        ({"agent": {"branch": {"levels": 2}}}, {"agent": {"tree": {"depth": 2}}}),
        ({"world": {"extra": {"a": 1}}}, {"world": {}, "agent": {"extra": {"a": 1}}}),
        ({"second_look": True, "agent": {"move_on": True}}, {"agent": {"wrappers": [LOOP, COMPLETION]}}),
        ({"unknown": 1}, {"unknown": 1}),
    ],
)  # fmt: skip
def test_former_names_become_current_ones(given: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert migrate_settings(given, BASE, "file.yaml") == expected
    # The same inside of another section, as in a recipe of self-training.
    assert migrate_settings({"run": given}, {"run": BASE}, "file.yaml") == {"run": expected} or "world" in given


def test_a_former_switch_changes_the_list_of_earlier_layers() -> None:
    current = {"agent": {"wrappers": ["loop_recovery", "of_a_plugin", "verify_completion"]}}
    found = migrate_settings({"move_on": False, "nearest_first": True}, BASE, "file.yaml", current)
    assert found == {"agent": {"wrappers": ["sort_by_distance", "verify_completion", "of_a_plugin"]}}


def test_former_switches_leave_a_list_empty() -> None:
    current = {"agent": {"wrappers": ["verify_completion"]}}
    found = migrate_settings({"second_look": False, "move_on": False}, BASE, "file.yaml", current)
    assert found == {"agent": {"wrappers": []}}


@pytest.mark.parametrize(
    "given, message",
    [
        ({"most_plans": 3, "agent": {"max_plans": 4}}, "file.yaml: setting 'most_plans' is now called"),
        ({"runs": 3}, "setting 'runs' is there more than once; write tasks.repeats or grow.repeats"),
        (
            {"second_look": True, "wrappers": []},
            "setting 'second_look' is now called 'verify_completion' in 'agent.wrappers'",
        ),
        ({"second_look": "often"}, "setting 'agent.second_look': has to be true or false, not 'often'"),
    ],
)  # fmt: skip
def test_ambiguous_names_are_refused(given: Mapping[str, Any], message: str) -> None:
    with pytest.raises(UserError, match="^.*" + message.replace("'", ".")):
        migrate_settings(given, BASE, "file.yaml")
