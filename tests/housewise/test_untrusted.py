"""The command line with words, files and places that mean no good: one line, and nothing of what they ask for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from housewise.systems.personalize.record import read_house_records
from housewise.terminal.option_values import parse_episodes
from tests.commands import housewise, one_line
from tests.in_process import call_housewise
from tests.language.conftest import ChatServer, fails
from tests.servers import serving

SCRIPTED = ("--houses", "1", "--planner", "scripted", "max_steps=20")
LONG = "a" * 300
SECRET = "a-key-that-is-nobodys-business"
ASKS = "${oc.env:OPENAI_API_KEY}"


@pytest.fixture
def played(tmp_path: Path) -> Path:
    """A finished run."""
    out = tmp_path / "run"
    assert housewise("run", *SCRIPTED, "--out", out).returncode == 0
    return out


def change(path: Path, **changes: object) -> None:
    """Change the settings in a record's first line."""
    first, *rest = path.read_text().split("\n")
    header = json.loads(first)
    settings = header["data"]["settings"]
    for key, value in changes.items():
        section = next((part for part in settings.values() if isinstance(part, dict) and key in part), None)
        (settings["models"]["agent"] if section is None else section)[key] = value
    path.write_text("\n".join([json.dumps(header), *rest]))


def said(*arguments: str | Path) -> str:
    """The line in which a command ends that cannot be carried out."""
    done = call_housewise(*arguments)
    assert "\x1b" not in done.stdout + done.stderr
    return one_line(done)


def content(folder: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())


def test_a_record_does_not_read_the_environment(played: Path, tmp_path: Path) -> None:
    (path,) = (played / "episodes").glob("*.jsonl")
    change(path, person=ASKS, model=ASKS)
    again = housewise("replay", played, "--out", tmp_path / "again", OPENAI_API_KEY=SECRET)
    change(path, prompt=ASKS)
    report = housewise("report", played, OPENAI_API_KEY=SECRET)
    assert f"no person '{ASKS}'" in one_line(again)
    assert "Traceback" not in report.stderr
    # What can be played has the words as they are.
    change(path, person="majority", prompt="planner", adapter=ASKS)
    assert housewise("replay", played, "--out", tmp_path / "more", OPENAI_API_KEY=SECRET).returncode == 0
    (record,) = read_house_records(tmp_path / "more" / "episodes")
    kept = json.loads((tmp_path / "more" / "config.json").read_text())
    for settings in (kept, record.header.settings):
        assert settings["models"]["agent"]["model"] == settings["models"]["agent"]["adapter"] == ASKS
    everything = content(tmp_path) + again.stdout + again.stderr + report.stdout + report.stderr
    assert ASKS in everything and SECRET not in everything


def test_a_password_of_an_address_is_nowhere(tmp_path: Path) -> None:
    with serving(ChatServer()) as server:
        address = server.url.replace("http://", "http://somebody:pass-word@")
        arguments = ("run", "--houses", "1", "--model", "m", "--base-url", address, "--out", tmp_path, "max_steps=20")
        short = ("max_plans=2", "max_idle_plans=2")
        done = housewise(*arguments, *short)
        again = housewise(*arguments, *short, "--repeats", "2")
        server.play(fails(401, "who is pass-word?"))
        refused = housewise(*arguments, *short, "--repeats", "3")
        assert all(sent["authorization"].startswith("Basic ") for sent in server.headers)
    assert done.returncode == again.returncode == 0 and "1 of 2 episodes are finished already" in again.stdout
    said = "".join(result.stdout + result.stderr for result in (done, again, refused))
    assert "***@127.0.0.1" in one_line(refused) and "***@127.0.0.1" in content(tmp_path)
    assert "pass-word" not in said + content(tmp_path) and "somebody" not in said + content(tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--out", LONG),
        ("run", "--config", LONG),
        ("run", "--person", LONG),
        ("run", "--adapter", LONG),
        ("run", "--model", f"local:{LONG}"),
        ("run", f"prompt={LONG}"),
        ("run", "--planner", "replay", "--records", LONG),
        ("replay", LONG),
        ("report", LONG),
        ("run", "--episodes", "²", "--data", "."),
        ("run", "--episodes", "9" * 5000, "--data", "."),
        ("run", "seed=" + "9" * 400),
        ("run", "person=" + "[" * 3000),
        ("run", "person=" + "{a: " * 400),
        ("run", "person=\x1b[31mred"),
        ("selftrain", "filter.name=.foo:bar"),
        ("selftrain", "filter.name=os:name"),
        ("selftrain", "filter.name=tests.housewise.broken_filter:keep"),
    ],
    ids=lambda arguments: " ".join(arguments)[:40].encode("ascii", "replace").decode(),
)
def test_odd_words_end_in_one_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    more = () if arguments[0] in ("replay", "report") or "--out" in arguments else ("--out", str(tmp_path / "run"))
    houses = ("--houses", "1") if arguments[0] in ("run", "selftrain") and "--data" not in arguments else ()
    assert said(*arguments, *houses, *more)


def test_settings_of_a_folder_that_are_nested_without_end(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[" * 100_000)
    (tmp_path / "episodes").mkdir()
    (tmp_path / "episodes" / "generated-0-0000-run0.jsonl").touch()
    told = said("run", *SCRIPTED, "--out", tmp_path)
    assert "config.json: not the settings of a run" in told


@pytest.mark.parametrize("text", ["²", "3,²", "٣,x", "9" * 19, "1.5", "-3", "test"])
def test_what_is_no_number_names_a_task_set(text: str) -> None:
    assert parse_episodes(text) == text


def test_numbers_of_episodes() -> None:
    assert parse_episodes(None) is None
    assert (
        parse_episodes("3") == [3] and parse_episodes(" 3, 17,4 ") == [3, 17, 4] and parse_episodes("3,,4,") == [3, 4]
    )


@pytest.mark.parametrize("name", ["[/b] :smile:", "[bold]\x1b[31mred", "ä"])
def test_the_name_of_a_folder_means_nothing_to_the_terminal(name: str, tmp_path: Path) -> None:
    result = housewise("run", *SCRIPTED, "--out", tmp_path / name, code=0)
    shown = name.replace("\x1b", "?")
    assert shown in result.stdout.replace("\n", "") and "\x1b" not in result.stdout


def test_a_server_means_nothing_to_the_terminal(tmp_path: Path) -> None:
    with serving(ChatServer()) as server:
        server.play(fails(400, "\x1b[2Jcleared \x9b31m[/red]"))
        arguments = ("--model", "\x1b]0;title\x07m", "--base-url", server.url, "--out", tmp_path / "run")
        result = housewise("run", "--houses", "1", *arguments)
    assert result.returncode == 3 and "cleared" in result.stderr + result.stdout
    assert not set("\x1b\x9b\x07") & set(result.stdout + result.stderr)


def test_an_output_that_nobody_reads(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "housewise.cli", "run", *SCRIPTED, "--out", str(tmp_path / "run")]
    result = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert result.returncode == 1 and not result.stderr
