"""Former options of commands: they act as the current ones, are not shown, and say by what they are replaced."""

from pathlib import Path

import pytest

from housewise.core.migrations.options import FORMER_OPTIONS
from housewise.people.kitchen.profile_files import ADAPT_PROFILES
from tests.commands import housewise, one_line, output
from tests.in_process import call_housewise, leaf_commands, memory_command

ENTRIES = [(command, old, new) for command, options in FORMER_OPTIONS.items() for old, new in options.items()]
ARGUMENTS = {"learn": ("ada",), "rules show": ("ada",), "rules add": ("ada", "x"), "rules edit": ("ada",)}


@pytest.mark.parametrize(("command", "old", "new"), ENTRIES)
def test_the_help_shows_the_current_option_alone(command: str, old: str, new: str) -> None:
    options = leaf_commands()[command].params
    is_hidden = {flag: option.hidden for option in options for flag in option.opts if "--" in flag}
    assert is_hidden[old] and not is_hidden[new]


@pytest.mark.parametrize(("command", "old", "new"), [each for each in ENTRIES if each[0] != "play kitchen"])
def test_both_options_at_once_are_refused(command: str, old: str, new: str) -> None:
    words = (*command.split(), *ARGUMENTS.get(command, ()), old, "3", new, "3")
    assert f"{old} is now {new}, and both are given; leave out {old}" in one_line(call_housewise(*words))


def test_a_former_option_acts_as_the_current_one(tmp_path: Path) -> None:
    for text in ("no shoes", "no hats"):
        memory_command(tmp_path, "add", "ada", text)
    current = output(memory_command(tmp_path, "show", "ada", "--max-notes", "1"))
    former = memory_command(tmp_path, "show", "ada", "--most", "1")
    assert (former.returncode, former.stdout) == (0, current)
    assert former.stderr == "note: --most is now --max-notes\n"
    assert "'--most'" in one_line(memory_command(tmp_path, "show", "ada", "--most", "0"))


def test_former_repeats_are_played(tmp_path: Path) -> None:
    words = ("--houses", "1", "--planner", "scripted", "--runs", "2", "max_steps=1", "--out", tmp_path)
    result = housewise("run", *words)
    assert result.returncode == 0 and "note: --runs is now --repeats" in result.stderr
    assert len(list((tmp_path / "episodes").iterdir())) == 2


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("--people", ADAPT_PROFILES / "p07_nalini.yaml"), "Nalini"),
        (("--people", ADAPT_PROFILES, "--person", "maya"), "Maya"),
        (("--person", ADAPT_PROFILES / "p07_nalini.yaml"), "Nalini"),
        (("--person", f"{ADAPT_PROFILES}:maya"), "Maya"),
        (("--person", "maya"), "Maya"),
        ((), "Miranda"),
    ],
)
def test_people_of_a_kitchen_are_named_by_one_option(words: tuple[str | Path, ...], name: str) -> None:
    result = call_housewise("play", "kitchen", *words, input="quit\n")
    assert result.returncode == 0 and f"in {name}'s house" in " ".join(result.stdout.split())
    assert ("--people is now --person" in result.stderr) == ("--people" in words)


def test_a_run_in_the_kitchen_takes_a_person_of_a_file(tmp_path: Path) -> None:
    words = ("--system", "adapt", "planner=cook", "task=1", "max_episodes=1")
    chosen = f"{ADAPT_PROFILES / 'p07_nalini.yaml'}:nalini"
    housewise("run", *words, "--person", chosen, "--out", tmp_path, code=0)
    assert [path.name.split("-")[0] for path in (tmp_path / "episodes").glob("*.jsonl")] == ["nalini"]
