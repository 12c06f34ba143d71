import json
import pickle
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from pydantic import Field

from housewise.core.errors import UserError
from housewise.core.literals import Literals
from housewise.core.setting_keys import short_key
from housewise.core.settings import flatten_settings
from housewise.core.settings_loading import load_settings
from housewise.language import ChatModelError, adapters
from housewise.language.server.openai import OpenAIChatModel
from housewise.rollout.run import Run
from housewise.rollout.saved_settings import read_run_settings
from housewise.rollout.settings import RunSettings
from housewise.selftrain.personalize.settings import load_selftraining
from housewise.systems.personalize.settings import PersonalizeSettings, house_settings
from housewise.systems.personalize.system import Personalize


def values(settings: PersonalizeSettings) -> dict[str, object]:
    """Return every setting by its key without sections."""
    return {short_key(key): value for key, value in flatten_settings(settings.model_dump(warnings=False)).items()}


def refusal(*overrides: str, file: Path | None = None, **settings: object) -> str:
    with pytest.raises(UserError) as refused:
        house_settings(file, settings, overrides)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_the_defaults_are_those_of_the_papers() -> None:
    config = house_settings()
    assert (config.world.max_steps, config.agent.max_steps_per_plan, config.tasks.repeats) == (1000, 10, 1)
    assert config.models.agent.sampling.temperature == 1.0
    assert config.tasks.data is None and config.agent.planner == "llm" and config.world.controller.kind == "standard"


def test_later_words_win(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("repeats: 2\nseed: 5\nsampling: {temperature: 0.3}\ncontroller: {max_walk: 50}\n")
    config = house_settings(file, {"seed": 6, "houses": 9}, ["houses=10", "controller.kind=published"])
    assert (config.tasks.repeats, config.tasks.seed, config.tasks.houses) == (2, 6, 10)
    # Neighbours in a group keep their values.
    assert config.models.agent.sampling.temperature == 0.3 and config.models.agent.sampling.max_tokens == 160
    assert config.world.controller.max_walk == 50 and config.world.controller.kind == "published"


class Bounded(RunSettings):
    system: str = "bounded"
    bounds: dict[str, int] = Field(default={"a": 1})


def test_a_mapping_with_a_default_takes_any_keys(tmp_path: Path) -> None:
    file, defaults = tmp_path / "mine.yaml", Bounded().model_dump(mode="json")
    file.write_text("bounds: {c: 3}\nrepeats: 2\n")
    found = load_settings(Bounded, defaults, file, overrides=["bounds.b=2"])
    assert found.bounds == {"a": 1, "b": 2, "c": 3} and found.tasks.repeats == 2
    assert found.with_changes(bounds={"d": 4}).bounds == {"a": 1, "b": 2, "c": 3, "d": 4}
    with pytest.raises(UserError, match="bounds"):
        load_settings(Bounded, defaults, overrides=["bounds.b=x"])
    with pytest.raises(UserError, match="unknown setting 'b'"):
        load_settings(Bounded, defaults, overrides=["b=2"])


def test_options_of_requests_and_who_set_sampling(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("models: {agent: {sampling: {temperature: 0.5}, extra_body: {top_k: 20}}}")
    overrides = ["chat_template_kwargs.enable_thinking=false", "extra_body.guided.deep=1", "max_tokens=9"]
    agent = house_settings(file, overrides=overrides).models.agent
    assert agent.extra_body == {"top_k": 20, "guided": {"deep": 1}}
    assert agent.chat_template_kwargs == {"enable_thinking": False}
    assert agent.sampling.set_by_user == {"temperature", "max_tokens"}
    whole = house_settings(file, overrides=overrides)
    assert whole.with_changes(seed=4, top_p=0.5).models.agent.sampling.set_by_user == {
        "temperature",
        "max_tokens",
        "top_p",
    }
    assert pickle.loads(pickle.dumps(whole)).models.agent.sampling.set_by_user == {"temperature", "max_tokens"}
    (tmp_path / "config.json").write_text(whole.model_dump_json())
    assert read_run_settings(tmp_path / "config.json").models.agent.sampling.set_by_user == {
        "temperature",
        "max_tokens",
    }
    assert load_selftraining(Path("tidy")).run.models.agent.sampling.set_by_user == frozenset()
    with pytest.raises(UserError, match="extra_body: messages, stream is set by"):
        house_settings(settings={"extra_body": {"stream": True, "messages": []}})


@pytest.mark.parametrize(
    ("override", "key", "value"),
    [
        ("episodes=[1,2]", "episodes", [1, 2]),
        ("episodes=test", "episodes", "test"),
        ("episodes=null", "episodes", None),
        ("scenes=[Merom_1_int]", "scenes", ["Merom_1_int"]),
        ("model=local:/a/b=c", "model", "local:/a/b=c"),
        ("base_url=http://localhost:8000/v1", "base_url", "http://localhost:8000/v1"),
        ("look_down=0", "look_down", 0.0),
        ("person=annotator-3", "person", "annotator-3"),
    ],
)
def test_values_come_as_they_are_meant(override: str, key: str, value: object) -> None:
    assert values(house_settings(overrides=[override]))[key] == value


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("hosues=5", "the command line: unknown setting 'hosues'; did you mean houses?"),
        ("sampling.temprature=1", "unknown setting 'sampling.temprature'; did you mean sampling.temperature?"),
        ("controller.goal_raduis=1", "did you mean controller.goal_radius?"),
        ("xyzzy=1", "unknown setting 'xyzzy'; known keys: system, seed, rng_stream"),
        ("repeats.many=1", "repeats"),
        ("sampling=hot", "setting 'sampling' has keys of its own: temperature, top_p, max_tokens"),
        ("repeats", "'repeats': write settings as key=value without spaces, for example houses=5"),
        ("", "write settings as key=value"),
        (
            "repeats=many",
            "setting repeats: Input should be a valid integer, unable to parse string as an integer, not 'many'",
        ),
        ("repeats=0", "setting repeats: Input should be greater than or equal to 1, not 0"),
        ("repeats=1.5", "setting repeats: "),
        ("repeats=null", "setting repeats: "),
        ("repeats=[1]", "setting repeats: "),
        ("sampling.temperature=-1", "setting sampling.temperature: "),
        ("sampling.top_p=0", "setting sampling.top_p: "),
        ("planner=oracle", "setting planner: no 'oracle'; available: demonstrator, llm, "),
        ("planner=scriptd", "setting planner: no 'scriptd'; did you mean scripted? available: demonstrator, "),
        ("simulator=unreal", "setting simulator: "),
        ("episodes={a: 1}", "setting episodes"),
        ("wrappers={a: 1}", "the command line: setting 'wrappers' holds a list, not {'a': 1}"),
        ("prices=[1]", "the command line: setting 'prices' holds keys and values, not [1]"),
        ("person=5", "setting person: "),
        ("model=${repeats", "model=${repeats"),
        ("model=${nobody}", "nobody"),
        ("model=${model}", "model"),
        ("sampling=${nobody}", "nobody"),
        ("sampling=${oc.env:NO_SUCH_VARIABLE_HERE}", "NO_SUCH_VARIABLE_HERE"),
        ("repeats={", "repeats={"),
        ("=5", "unknown setting ''"),
        (".=5", "unknown setting ''"),
        ("a[=5", ""),
        ("wrappers=[loop_recover]", "setting wrappers: no 'loop_recover'; did you mean loop_recovery?"),
        ("wrappers=[loop_recovery,loop_recovery]", "setting wrappers: loop_recovery is named twice; name it once"),
        ("wrappers=[./a.py:B,loop_recovery,a.py:B]", "setting wrappers: loop_recovery changes how the model is asked"),
        ("wrappers=[./a.py:B,a.py:B]", "setting wrappers: a.py:B is named twice"),
        ("wrappers=[a.py]", "setting wrappers: a.py does not name a class or function in the file; use a.py:NAME"),
    ],
)
def test_what_does_not_fit_is_said(override: str, told: str) -> None:
    assert told in refusal(override)


SECRET = "a-key-of-somebodys"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """An interpolation of a secret environment variable."""
    monkeypatch.setenv("SOMEBODYS_KEY", SECRET)
    return "${oc.env:SOMEBODYS_KEY}"


def test_the_environment_is_read_where_the_user_writes_so(key: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"person: {key}\nmodel: ${{person}}-2\n")
    config = house_settings(file, overrides=[f"records={key}"])
    assert (config.tasks.person, config.models.agent.model, config.agent.records) == (SECRET, f"{SECRET}-2", SECRET)


def test_the_environment_is_not_read_for_a_record(key: str, tmp_path: Path) -> None:
    odd = f"\\\\{key} \\{key} ${{ ${{model}} ??? {{}} {key}"
    file = tmp_path / "mine.yaml"
    file.write_text("model: x-${person}\n")
    config = house_settings(file, {"person": odd, "scenes": [key], "sampling": {"n": 2}}, ["records=y-${model}"])
    assert (config.tasks.person, config.tasks.scenes, config.models.agent.model, config.agent.records) == (
        odd,
        [key],
        f"x-{odd}",
        f"y-x-{odd}",
    )
    assert config.models.agent.sampling.n == 2
    assert house_settings(settings={"seed": 4}, overrides=["repeats=${seed}"]).tasks.repeats == 4
    assert "SOMEBODYS_KEY" in refusal(episodes={key: key}) and SECRET not in refusal(planner=key)


def test_wrappers_are_a_list_or_names_with_commas() -> None:
    expected = house_settings(overrides=["wrappers=[loop_recovery,sort_by_distance]"])
    assert house_settings(overrides=["wrappers=loop_recovery, sort_by_distance"]) == expected
    assert expected.agent.wrappers == ("loop_recovery", "sort_by_distance")


def test_the_environment_is_not_read_for_an_adapter(key: str, tmp_path: Path) -> None:
    tidy = shutil.copytree(Path(adapters.__file__).parent / "tidy", tmp_path / "tidy")
    (tidy / adapters.ADAPTER_CONFIG_FILE).write_text(json.dumps({"prompt": key, "sampling": {"max_tokens": 77}}))
    config = house_settings(settings={"adapter": str(tidy)})
    assert (config.agent.prompt, config.models.agent.sampling.max_tokens) == (key, 77)
    assert load_selftraining(settings={"run": {"adapter": str(tidy)}}).run.agent.prompt == key


LEAVES = st.text(alphabet="${}\\:a") | st.integers()


@given(st.recursive(LEAVES, lambda part: st.lists(part) | st.dictionaries(st.text(), part), max_leaves=8))
def test_what_is_hidden_comes_back(value: object) -> None:
    literals = Literals()
    hidden = literals.hide(value)
    assert not any("${" in str(leaf) for leaf in leaves(hidden))
    assert literals.restore(hidden) == value


def leaves(value: object) -> list[object]:
    parts = list(value.values()) if isinstance(value, dict) else value
    return [leaf for part in parts for leaf in leaves(part)] if isinstance(parts, list) else [value]


def begin(folder: Path, config: str) -> None:
    """Write a run folder with settings and an episode."""
    (folder / "episodes").mkdir(exist_ok=True)
    (folder / "episodes" / "generated-0-0000-run0.jsonl").touch()
    (folder / "config.json").write_text(config)


def test_episodes_whose_settings_were_deleted_are_not_resumed(tmp_path: Path) -> None:
    begin(tmp_path, "{}")
    (tmp_path / "config.json").unlink()
    with pytest.raises(UserError, match=r"config\.json: is missing.*; restore it, or choose another folder with --out"):
        Run(Personalize(house_settings()), tmp_path)


def test_a_password_of_an_address_is_not_kept(tmp_path: Path) -> None:
    address = "http://somebody:pass/word@127.0.0.1:9/v1?key=abc"
    config = house_settings(settings={"base_url": address, "model": "m"})
    assert config.models.agent.base_url == address
    kept = config.model_dump_json()
    assert '"http://***@127.0.0.1:9/v1?***"' in kept
    assert not any(secret in kept + repr(config) for secret in ("somebody", "pass/word", "abc"))
    begin(tmp_path, kept)
    Run(Personalize(config), tmp_path)
    # A server that has moved is the same one; another model is another run.
    Run(Personalize(house_settings(settings={"base_url": "http://127.0.0.1:9/v1", "model": "m"})), tmp_path)
    with pytest.raises(UserError, match="other settings \\(model\\)"):
        Run(Personalize(house_settings(settings={"base_url": address, "model": "other"})), tmp_path)
    with pytest.raises(ChatModelError, match="has lost its password"):
        house_settings(tmp_path / "config.json").models.agent.open()
    told = load_selftraining(settings={"run": {"base_url": address}})
    assert "pass/word" not in str(told.model_dump()) + str(told.identity(imitated=True, improved=True)) + repr(told)


@pytest.mark.parametrize(
    "override",
    [
        "base_url=[http://u:secret@h]",
        "base_url=[http://u:secret@h",
        "http://u:secret@h",
        "base_url={a: http://u:secret@h}",
    ],
)
def test_a_password_of_an_address_is_not_shown(override: str) -> None:
    assert "secret" not in refusal(override)


@pytest.mark.parametrize(("first", "second"), [("[1]", "{b: 2}"), ("{b: 2}", "[1]")])
def test_a_value_given_as_a_list_and_with_keys_is_refused(first: str, second: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"extra_body: {{a: {first}}}\n")
    for reference in ([], ["person=${planner}"]):
        told = refusal(f"extra_body.a={second}", *reference, file=file)
        assert told == "setting models.agent.extra_body.a: is given as a list and with keys; give it once"


def test_a_wrong_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    assert refusal(file=file).startswith(f"{file}: no such configuration file")
    file.mkdir()
    assert refusal(file=file).startswith(f"{file}: ")
    file.rmdir()
    for content in (
        b"repeats: [\n 1",
        b"- 1\n- 2",
        b"\xff\xfe\x00",
        b"\x00",
        b"{a: {b: {c",
        b"42",
        b"true",
        b"1.5",
        b"''",
    ):
        file.write_bytes(content)
        assert refusal(file=file).startswith(f"{file}: ")
    file.write_text("sampling:\n  temprature: 1")
    assert refusal(file=file) == (f"{file}: unknown setting 'sampling.temprature'; did you mean sampling.temperature?")
    file.write_text("houses 5\n")
    assert refusal(file=file) == f"{file}: has to hold keys and values"
    file.write_text("3: 4")
    assert refusal(file=file).startswith(f"{file}: unknown setting '3'")
    file.write_text("sampling: 7")
    assert refusal(file=file).startswith(f"{file}: setting 'sampling' has keys of its own")
    # The file is right, the command line is wrong.
    file.write_text("repeats: 2")
    assert refusal("rusn=1", file=file).startswith("the command line: ")


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    for content in ("", "# repeats: 3\n", "{}"):
        file.write_text(content)
        assert house_settings(file) == house_settings()


def test_the_file_that_a_run_leaves_can_be_given_again(tmp_path: Path) -> None:
    config = house_settings(overrides=["episodes=[3,4]", "sampling.temperature=0.7", "data=/somewhere"])
    file = tmp_path / "config.json"
    file.write_text(config.model_dump_json())
    assert house_settings(file) == config


def test_self_training_asks_as_its_adapter_says() -> None:
    asked = load_selftraining(settings={"run": {"adapter": "tidy"}}, overrides=["run.sampling.top_p=0.5"]).run
    alone = house_settings(settings={"adapter": "tidy"})
    assert (
        (asked.agent.prompt, asked.agent.grounded)
        == (alone.agent.prompt, alone.agent.grounded)
        == ("remembering", True)
    )
    assert asked.models.agent.sampling == alone.models.agent.sampling.model_copy(update={"top_p": 0.5})


@pytest.mark.parametrize("recipe", ["brain", "person", "small_model"])
def test_the_recipes_that_come_along_are_understood(recipe: str) -> None:
    config = load_selftraining(Path(__file__).parents[3] / "housekeep_configs" / f"{recipe}.yaml")
    assert config.run.agent.prompt == "judging" and config.run.agent.grounded


def test_how_a_model_is_asked_can_be_set() -> None:
    address = "base_url=http://127.0.0.1:9/v1"
    model = house_settings(overrides=["model=m", address, "timeout=7", "continue_prefix=true"]).models.agent.open(32)
    assert isinstance(model, OpenAIChatModel)
    assert (model.timeout, model.concurrency, model.options.continue_prefix) == (7.0, 32, True)
    few = house_settings(overrides=["model=m", address, "concurrency=2"]).models.agent.open(32)
    assert isinstance(few, OpenAIChatModel) and few.concurrency == 2


def test_two_runs_of_different_length_belong_together() -> None:
    config = house_settings()
    assert house_settings(overrides=["repeats=5", "workers=3", "houses=7"]).identity == config.identity
    assert house_settings(overrides=["seed=5"]).identity != config.identity
    assert house_settings(overrides=["sampling.temperature=0"]).identity != config.identity


KEYS = st.sampled_from(["repeats", "sampling", "sampling.top_p", "model", "episodes", "data", "person", "x.y"])

ODD_VALUES = st.sampled_from(["null", "[1]", "{a: b}", "1e9", "${repeats}", "'"])


ASSIGNMENTS = st.dictionaries(KEYS, st.text(max_size=12) | ODD_VALUES).map(
    lambda values: [f"{key}={value}" for key, value in values.items()]
)


@settings(max_examples=100)
@given(st.lists(st.text(max_size=30), max_size=3) | ASSIGNMENTS)
def test_any_words_give_settings_or_one_line(overrides: list[str]) -> None:
    try:
        assert isinstance(house_settings(overrides=overrides), PersonalizeSettings)
    except UserError as error:
        assert str(error) and "\n" not in str(error)


def test_what_is_in_generated_houses_says_nothing_of_the_data() -> None:
    assert house_settings(settings={"objects": [3, 5], "data": "somewhere"}).tasks.objects == (3, 5)


def test_defaults_of_a_system_of_ones_own_may_be_a_configuration_of_omegaconf() -> None:
    plain, own = Personalize.defaults(), {"houses": 5}
    loaded = load_settings(PersonalizeSettings, OmegaConf.create(plain), settings=own)
    assert loaded == load_settings(PersonalizeSettings, plain, settings=own)
    assert loaded.tasks.houses == 5
