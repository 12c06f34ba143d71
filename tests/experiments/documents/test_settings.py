"""The page about settings, whose tables are drawn from the settings' classes."""

from pathlib import Path

import pytest

from housewise.core.plugins import SYSTEMS, plugin_names
from housewise.core.settings_reference import list_settings
from housewise.experiments.documents.files import FigureFiles
from housewise.experiments.documents.settings import SETTINGS_TABLES
from housewise.rollout.system import find_system
from housewise.selftrain.adapt.settings import AdaptTrainingConfig
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.selftrain.stars.settings import GoalTrainingConfig

PAGE = (Path(__file__).parents[3] / "docs" / "settings.md").read_text(encoding="utf-8")
SHARED = {"models.person.": "models.agent.", "warm_up.training.": "training.", "imitation.": "training."}
SHARED |= {"preference.": "training.", "run.": ""}


def is_on_page(name: str) -> bool:
    return f"| `{name}` |" in PAGE or any(
        is_on_page(name.replace(prefix, shared, 1)) for prefix, shared in SHARED.items() if name.startswith(prefix)
    )


def test_every_setting_is_on_the_page() -> None:
    loaded = [find_system(name).load() for name in plugin_names(SYSTEMS)]
    loaded += [load_selftraining(), GoalTrainingConfig.load(), AdaptTrainingConfig.load()]
    names = {each.name for settings in loaded for each in list_settings(settings)} - {"system", "run.system"}
    assert len(names) > 200 and [name for name in sorted(names) if not is_on_page(name)] == []


@pytest.mark.parametrize("table", sorted(SETTINGS_TABLES))
def test_every_table_is_on_the_page(table: str, tmp_path: Path) -> None:
    drawn = SETTINGS_TABLES[table](FigureFiles(tmp_path))
    assert f"<!-- figures: {table} -->\n{drawn}\n<!-- /figures -->" in PAGE


def test_a_table_says_what_differs_only() -> None:
    own = SETTINGS_TABLES["settings of clipr"](FigureFiles(Path()))
    assert "| `agent.method` |" in own and "`tasks.seed`" not in own
    training = SETTINGS_TABLES["settings of selftrain"](FigureFiles(Path()))
    assert "| `run.agent.max_plans` | `60` |" in training and "`run.agent.max_idle_plans`" not in training
    assert "| `lessons[].houses` | required | Number of generated houses. (int, at least 1) |" in training
