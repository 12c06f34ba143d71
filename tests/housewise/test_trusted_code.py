"""Code that settings name: followed where the user names it, and never because a folder or a record does."""

import json
import shutil
from pathlib import Path

import pytest

import housewise as package
from housewise.core.errors import UserError
from housewise.core.user_code import UntrustedCodeError
from housewise.rollout.run import load_run
from housewise.selftrain.personalize.settings import read_selftraining
from tests.commands import housewise, one_line

HOSTILE = """
from pathlib import Path
Path(__file__).with_name("it-ran").touch()
from housewise.systems.personalize.planners import ScriptedFactory as Mine
def keep(pairs, settings):
    return list(pairs)
"""
SHORT = ("--houses", "1", "max_steps=5")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a planner of the user's own, beside its code."""
    place = tmp_path_factory.mktemp("own")
    code = place / "own_planner.py"
    code.write_text(HOSTILE)
    housewise("run", *SHORT, "--planner", f"{code}:Mine", "--workers", "2", "--out", place / "run", code=0)
    assert (place / "it-ran").exists()
    return place


@pytest.fixture
def sent(played: Path, tmp_path: Path) -> Path:
    """That run and its code as somebody sends them; nobody here has run the code."""
    place = shutil.copytree(played, tmp_path / "sent")
    (place / "it-ran").unlink()
    code = (place / "own_planner.py").rename(place / f"{tmp_path.name}.py")
    for path in (place / "run").rglob("*.json*"):
        path.write_text(path.read_text().replace(f"{played}/own_planner.py", str(code)))
    assert f"{code}:Mine" in (place / "run" / "config.json").read_text()
    return place


def test_code_in_a_run_is_looked_at_by_nobody(sent: Path) -> None:
    """Nothing that shows a run, or plays its replies again, needs whoever decided."""
    run = sent / "run"
    for command in (("report", run, "--no-film"), ("compare", run, run), ("replay", run, "--out", sent / "again")):
        result = housewise(*command, code=0)
    assert "same final placements: 1 of 1" in result.stdout
    assert not (sent / "it-ran").exists()


def test_opening_a_run_takes_the_users_word(sent: Path) -> None:
    run = sent / "run"
    with pytest.raises(UntrustedCodeError, match=r"config\.json: setting planner names code, '.*Mine', .* trust_code"):
        package.load_run(run)
    assert not (sent / "it-ran").exists()
    assert len(load_run(run, trust_code=True).finished_jobs) == 1
    assert (sent / "it-ran").exists()


def test_a_run_is_resumed_with_what_its_user_names(sent: Path) -> None:
    run, code = sent / "run", f"{sent / sent.parent.name}.py:Mine"
    assert "holds a run with other settings (planner)" in one_line(
        housewise("run", *SHORT, "--adapter", "none", "--out", run)
    )
    assert not (sent / "it-ran").exists()
    result = housewise("run", *SHORT, "--planner", code, "--repeats", "2", "--out", run)
    assert result.returncode == 0 and "1 of 2 episodes are finished already" in result.stdout, result.stderr


def test_a_self_training_names_no_code_for_those_who_go_on_with_it(tmp_path: Path) -> None:
    code = tmp_path / "own_filter.py"
    code.write_text(HOSTILE)
    small = ("--houses", "1", "--model", "local:/nowhere", "--out", tmp_path / "training")
    # The user's own word runs it, before it is seen that there is no such model.
    assert "nowhere" in one_line(housewise("selftrain", f"filter.name={code}:keep", *small))
    assert (tmp_path / "it-ran").exists()
    (tmp_path / "it-ran").unlink()
    from housewise.selftrain.personalize.settings import load_selftraining

    kept = json.loads(load_selftraining(overrides=[f"filter.name={code}:keep"]).model_dump_json())
    (tmp_path / "training").mkdir(exist_ok=True)
    (tmp_path / "training" / "config.json").write_text(json.dumps(kept))
    assert read_selftraining(tmp_path / "training" / "config.json").filter.name == f"{code}:keep"
    assert "nowhere" in one_line(housewise("selftrain", *small))
    assert not (tmp_path / "it-ran").exists()


@pytest.mark.parametrize(
    ("planner", "said"),
    [
        ("no_such_module:Planner", "cannot be imported"),
        ("./missing.py:Planner", "no such file"),
        ("json:nothing", "no attribute"),
        ("json:loads", "failed"),
        ("json:__name__", "cannot be called"),
        ("{folder}/json.py:Planner", "rename the file"),
        ("{folder}/exits.py:Planner", "SystemExit"),
        ("{folder}/stops.py:Planner", "Stop"),
    ],
)
def test_code_that_is_no_planner_is_named_in_a_line(planner: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("")
    (tmp_path / "exits.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "stops.py").write_text("class Stop(BaseException): pass\nraise Stop\n")
    name = planner.format(folder=tmp_path)
    line = one_line(housewise("run", *SHORT, "--planner", name, "--out", tmp_path / "run"))
    assert f"planner {name!r}" in line and said in line


def test_an_adapter_names_no_code(tmp_path: Path) -> None:
    """What an adapter says of how it is asked is text and numbers; anything else in it is refused."""
    pytest.importorskip("peft", reason="the extra housewise[local] is not installed")
    from housewise.language.adapters import adapter_defaults
    from housewise.language.base import ChatModelError

    told = {"prompt": "planner", "planner": "os:system", "filter": {"name": "os:system"}}
    (tmp_path / "housewise.json").write_text(json.dumps(told))
    with pytest.raises(ChatModelError, match="field planner"):
        adapter_defaults(tmp_path)


def test_a_record_of_another_name_is_told(sent: Path) -> None:
    (path,) = (sent / "run" / "episodes").glob("*.jsonl")
    path.rename(path.with_name("another-run0.jsonl"))
    line = one_line(housewise("replay", sent / "run", "--out", sent / "again"))
    assert "another-run0.jsonl: is a record of generated-0-0000-run0" in line


def test_settings_that_are_validated_trust_what_is_typed() -> None:
    from housewise.systems.personalize.settings import house_settings

    assert house_settings(overrides=["planner=json:loads"]).agent.planner == "json:loads"
    with pytest.raises(UserError, match="no 'sripted'; did you mean scripted"):
        house_settings(overrides=["planner=sripted"])
