"""Which runs use the bundled adapter, and which use the model without one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from housewise.core.configs import CONFIGS
from housewise.core.errors import UserError
from housewise.language.adapters import BUNDLED
from housewise.rollout.run import Run
from housewise.rollout.saved_settings import read_run_settings
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.systems.personalize.settings import house_settings
from housewise.systems.personalize.system import Personalize
from housewise.systems.stars.system import Stars
from tests.commands import run_module


def adapter_of(*overrides: str, **settings: Any) -> str | None:
    return Personalize.load(settings=settings, overrides=overrides).models.agent.adapter


def test_the_bundled_model_and_our_own_planner_begin_with_the_bundled_adapter() -> None:
    settings = Personalize.load()
    assert settings == house_settings(settings={"adapter": BUNDLED})
    assert settings.agent.prompt == "remembering"
    assert adapter_of(adapter="auto") == adapter_of("adapter=auto") == BUNDLED


@pytest.mark.parametrize(
    "settings",
    [
        {"adapter": "none"},
        {"adapter": "null"},
        {"adapter": None},
        {"planner": "sayplan"},
        {"planner": "saycan"},
        {"planner": "scripted"},
        {"model": "gpt-4o"},
        {"model": "local:somewhere/else"},
        {"prompt": "notes"},
        {"prompt": "planner"},
    ],
)
def test_all_others_begin_without_an_adapter(settings: dict[str, Any]) -> None:
    loaded = Personalize.load(settings=settings)
    assert loaded.models.agent.adapter is None
    assert loaded == house_settings(settings=settings)


def test_a_prompt_with_judgements_has_the_bundled_adapter(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    shutil.copy(CONFIGS / "prompts" / "remembering.yaml", mine)
    assert adapter_of(prompt="judging") == adapter_of(prompt=str(mine)) == BUNDLED
    assert adapter_of(prompt="notes", adapter=BUNDLED) == BUNDLED


def test_null_in_a_file_or_behind_the_command_is_no_adapter(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("adapter: null\n")
    assert Personalize.load(file).models.agent.adapter is None
    assert adapter_of("adapter=null") is None and adapter_of("adapter=none") is None


def test_trainings_experiments_and_other_systems_begin_without_an_adapter_unless_told() -> None:
    assert house_settings().models.agent.adapter is None
    assert load_selftraining().run.models.agent.adapter is None
    assert load_selftraining(Path("small_model")).run.models.agent.adapter is None
    assert Stars.load(settings={"adapter": "auto"}).models.agent.adapter is None
    told = load_selftraining(overrides=["run.adapter=auto"]).run
    assert (told.models.agent.adapter, told.agent.prompt) == (BUNDLED, "remembering")


def test_what_earlier_runs_kept_is_as_it_was(tmp_path: Path) -> None:
    kept = house_settings().model_dump(mode="json")
    assert kept["models"]["agent"]["adapter"] is None
    # Earlier versions knew fewer settings, an adapter's among them.
    del kept["models"]["agent"]["adapter"]
    del kept["agent"]["prompt"]
    file = tmp_path / "config.json"
    file.write_text(json.dumps(kept))
    assert read_run_settings(file) == house_settings()


def test_a_run_that_was_begun_without_an_adapter_says_how_it_is_resumed(tmp_path: Path) -> None:
    settings = house_settings()
    (tmp_path / "config.json").write_text(settings.model_dump_json())
    (tmp_path / "episodes").mkdir()
    (tmp_path / "episodes" / "generated-0-0000-run0.jsonl").touch()
    with pytest.raises(UserError, match="use the same settings \\(--adapter none\\) to resume it"):
        Run(Personalize(Personalize.load()), tmp_path)
    Run(Personalize(Personalize.load(settings={"adapter": "none"})), tmp_path)
    shutil.rmtree(tmp_path / "episodes")
    Run(Personalize(Personalize.load()), tmp_path)


@pytest.mark.parametrize(
    ("words", "adapter", "line"),
    [
        ([], BUNDLED, f"model: local with the adapter {BUNDLED}"),
        pytest.param(["prompt=notes"], None, "model: local without an adapter", marks=pytest.mark.slow),
    ],
)
def test_a_run_says_which_adapter_it_begins_with(
    tmp_path: Path, words: list[str], adapter: str | None, line: str
) -> None:
    play = ["run", *words, "--houses", "1", "max_steps=3", "max_plans=1", "max_tokens=4", "--out", "run"]
    done = run_module("housewise", play, cwd=tmp_path, code=0)
    assert line in " ".join(done.stdout.split())
    kept = json.loads((tmp_path / "run" / "config.json").read_text())
    assert kept["models"]["agent"]["adapter"] == adapter
