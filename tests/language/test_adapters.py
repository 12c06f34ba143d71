"""Adapters by name and by folder, and how they are asked."""

import json
from pathlib import Path

import pytest

from housewise.agent.adapt.prompts import find_prompts, load_prompts
from housewise.agent.personalize.prompt_notes import NotesTemplate
from housewise.language import ChatModelError
from housewise.language.adapters import (
    ADAPTER_CONFIG_FILE,
    FORMER_CONFIG_FILE,
    adapter_defaults,
    adapter_folder,
    bundled_adapters,
)
from housewise.systems.adapt.system import Adapt
from housewise.systems.clipr.system import Clipr
from housewise.systems.personalize.settings import house_settings
from housewise.systems.stars.system import Stars


@pytest.mark.parametrize("name", sorted(bundled_adapters()))
def test_what_comes_with_the_package_has_a_card_and_a_prompt(name: str) -> None:
    folder = adapter_folder(name)
    assert (folder / "README.md").read_text(encoding="utf-8").startswith("---")
    assert sum(file.stat().st_size for file in folder.iterdir()) < 20e6


def test_their_prompts_are_there() -> None:
    assert all(NotesTemplate.load(adapter_defaults(name)["prompt"]) for name in bundled_adapters("personalize"))
    for name in bundled_adapters("adapt"):
        assert load_prompts(find_prompts(adapter_defaults(name, "adapt")["prompt"]))
    assert bundled_adapters() == {**bundled_adapters("personalize"), **bundled_adapters("adapt")}


def test_an_adapter_is_refused_where_it_did_not_learn_to_act(tmp_path: Path) -> None:
    cook, other = tmp_path / "cook", {"adapter": "tidy"}
    cook.mkdir()
    (cook / ADAPTER_CONFIG_FILE).write_text('{"system": "adapt", "prompt": "short"}', encoding="utf-8")
    with pytest.raises(ChatModelError, match="--system adapt"):
        house_settings(settings={"adapter": str(cook)})
    assert Adapt.load(settings={"adapter": str(cook)}).agent.prompt == "short"
    with pytest.raises(ChatModelError, match="--system personalize, or"):
        Adapt.load(settings=other)
    for system in (Stars, Clipr):
        with pytest.raises(ChatModelError, match=r"--system personalize$"):
            system.load(settings=other)
        assert system.load(settings={"adapter": str(tmp_path)}).models.agent.adapter == str(tmp_path)


def test_a_folder_wins_over_a_name_if_it_has_an_adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert adapter_folder("own") == Path("own")
    # A folder with the records of a run, for example.
    (tmp_path / "tidy").mkdir()
    assert adapter_folder("tidy") == bundled_adapters()["tidy"]
    (tmp_path / "tidy" / "adapter_config.json").touch()
    assert adapter_folder("tidy") == Path("tidy")


def test_the_prompt_is_the_adapters_unless_another_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / ADAPTER_CONFIG_FILE).write_text('{"prompt": "compact"}', encoding="utf-8")
    adapter = {"adapter": str(tmp_path)}
    assert house_settings(settings=adapter).agent.prompt == "compact"
    assert house_settings(settings={**adapter, "prompt": "planner"}).agent.prompt == "planner"
    assert house_settings(settings={**adapter, "planner": "sayplan"}).agent.prompt == "planner"
    assert house_settings().agent.prompt == "planner"
    assert adapter_defaults(tmp_path / "nowhere") == {}


def test_an_adapter_says_how_it_is_asked_and_whoever_asks_has_the_last_word(tmp_path: Path) -> None:
    told = {"prompt": "judging", "grounded": True, "sampling": {"temperature": 0.25, "max_tokens": 400}}
    told |= {"wrappers": ["loop_recovery"]}
    told |= {"judging": {"score_placements": True, "confidence": 0.4, "confidence_similar": 0.2}}
    (tmp_path / ADAPTER_CONFIG_FILE).write_text(json.dumps(told), encoding="utf-8")
    adapter = {"adapter": str(tmp_path)}
    config = house_settings(settings=adapter)
    assert config.agent.grounded and config.agent.prompt == "judging"
    assert config.agent.wrappers == ("loop_recovery",) and config.agent.judging.score_placements
    assert (config.agent.judging.confidence, config.agent.judging.confidence_similar) == (0.4, 0.2)
    assert (config.models.agent.sampling.temperature, config.models.agent.sampling.max_tokens) == (0.25, 400)
    assert config.models.agent.sampling.top_p == house_settings().models.agent.sampling.top_p
    own = house_settings(settings={**adapter, "grounded": False}, overrides=["sampling.max_tokens=50"])
    assert not own.agent.grounded and (own.models.agent.sampling.temperature, own.models.agent.sampling.max_tokens) == (
        0.25,
        50,
    )
    assert not house_settings(settings={**adapter, "planner": "saycan"}).agent.grounded


def test_everything_that_a_training_writes_about_judging_is_read(tmp_path: Path) -> None:
    judging = house_settings().agent.judging.model_dump(mode="json")
    (tmp_path / ADAPTER_CONFIG_FILE).write_text(json.dumps({"prompt": "planner", "judging": judging}))
    assert adapter_defaults(tmp_path)["judging"].items() <= judging.items()


def test_the_former_file_and_former_names_count(tmp_path: Path) -> None:
    former = {"prompt": "judging", "second_look": True, "move_on": True, "nearest_first": False, "rated": True}
    former |= {"confidence": 0.4, "confidence_alike": 0.2, "familiar": ["mug"], "consistent": None}
    (tmp_path / FORMER_CONFIG_FILE).write_text(json.dumps(former), encoding="utf-8")
    assert adapter_defaults(tmp_path) == {
        "prompt": "judging",
        "wrappers": ("loop_recovery", "verify_completion"),
        "judging": {"score_placements": True, "confidence": 0.4, "confidence_similar": 0.2},
        "familiar_kinds": ("mug",),
    }
    (tmp_path / FORMER_CONFIG_FILE).write_text(json.dumps({**former, "wrappers": []}), encoding="utf-8")
    with pytest.raises(ChatModelError, match=f"{FORMER_CONFIG_FILE}.* is now called .* in .agent.wrappers.; give"):
        adapter_defaults(tmp_path)
    (tmp_path / ADAPTER_CONFIG_FILE).write_text('{"prompt": "compact"}', encoding="utf-8")
    assert adapter_defaults(tmp_path) == {"prompt": "compact"}


def test_a_misspelt_setting_is_named_with_its_file(tmp_path: Path) -> None:
    (tmp_path / ADAPTER_CONFIG_FILE).write_text('{"prompt": "judging", "groundd": true}', encoding="utf-8")
    with pytest.raises(ChatModelError, match=f"{ADAPTER_CONFIG_FILE}.*groundd"):
        adapter_defaults(tmp_path)


@pytest.mark.parametrize("setting", ["temperature", "top_p", "max_tokens", "colour"])
def test_a_setting_that_does_not_fit_is_named_with_its_file(tmp_path: Path, setting: str) -> None:
    told = {"prompt": "judging", "sampling": {setting: -1}}
    (tmp_path / ADAPTER_CONFIG_FILE).write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ChatModelError, match=rf"{ADAPTER_CONFIG_FILE}.*sampling\.{setting}"):
        house_settings(settings={"adapter": str(tmp_path)})


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "[]",
        "{",
        '{"prompt": "planner", "sampling": 3}',
        '{"prompt": "planner", "judging": {"confidence": 2}}',
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / ADAPTER_CONFIG_FILE).write_text(content, encoding="utf-8")
    with pytest.raises(ChatModelError, match=ADAPTER_CONFIG_FILE):
        adapter_defaults(tmp_path)
